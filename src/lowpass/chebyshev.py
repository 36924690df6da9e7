r"""The exponential of a matrix as a sum of Chebyshev polynomials.

It owns the expansion of :math:`e^{-\tau L}` for a matrix with real eigenvalues
in a known interval, with a bound on what the sum leaves out.
"""

from __future__ import annotations

import numpy as np

from lowpass.registry import Refusal

# What a sum may leave out, relative to its largest value: below the rounding of one number.
TAIL = 1e-16
# Up to here a Bessel function has all its digits and a sum has at most 9000 terms.
FARTHEST = 1e6


def interval(matrix: np.ndarray) -> tuple[float, float]:
    r"""Enclose the real eigenvalues of matrices by Gershgorin's discs.

    .. math:: \lambda \in \bigcup_i \Big[A_{ii} - \sum_{j \ne i} |A_{ij}|,\;
              A_{ii} + \sum_{j \ne i} |A_{ij}|\Big]

    Parameters
    ----------
    matrix : (..., token, token) float

    Returns
    -------
    low, high : float
        For all matrices together. A Laplacian of affinities that are not
        negative gets zero, to rounding, and twice its largest diagonal entry.
    """
    centre = np.diagonal(matrix, axis1=-2, axis2=-1)
    radius = np.abs(matrix).sum(axis=-1) - np.abs(centre)
    return float((centre - radius).min()), float((centre + radius).max())


def tail_bound(order: np.ndarray | int, reach: float) -> np.ndarray:
    r"""Bound the terms beyond an order.

    The weights :math:`e^{-z} I_k(z)` over all integers k are the distribution
    of the difference of two Poisson variables with mean z/2, and what an order
    K leaves out is the probability that it lies farther from zero. Chernoff's
    bound of that, at its best, is

    .. math:: 2 \sum_{k > K} e^{-z} I_k(z) \le
              2 e^{\sqrt{z^2 + m^2} - z - m \operatorname{arsinh}(m/z)}, \qquad m = K + 1

    Parameters
    ----------
    order : (...) int
        Highest power of the matrix, K.
    reach : float
        z, time times half the length of the interval.

    Returns
    -------
    (...) float
        Relative to the exponential at the lower end of the interval.

    References
    ----------
    .. [1] olver2010, equation 10.35.2, for the sum of the weights.
    """
    m = np.asarray(order) + 1.0
    with np.errstate(divide="ignore", over="ignore"):
        rate = np.arcsinh(m / reach) if reach else np.inf
    return 2 * np.exp(m**2 / (np.hypot(reach, m) + reach) - m * rate)


def order_for(reach: float, tolerance: float = TAIL) -> int:
    """Find the least order whose tail is bounded by a tolerance.

    Parameters
    ----------
    reach : float
        Time times half the length of the interval.
    tolerance : float
        Relative to the exponential at the lower end of the interval.

    Returns
    -------
    int
        For ``TAIL``, 12 at a reach of 1/2, then growing to √(75 reach).

    Raises
    ------
    Refusal
        If the expansion would have thousands of terms.
    """
    if reach > FARTHEST:
        raise Refusal(
            f"time times half of the spectrum's bound is {reach:.3g}; a Chebyshev sum that far "
            f"(above {FARTHEST:.0e}) has thousands of terms. Use the method 'eigh'."
        )
    # Bernstein's bound is weaker and can be solved for the order.
    nats = np.log(2 / tolerance)
    enough = int(nats / 3 + np.sqrt(nats**2 / 9 + 2 * nats * reach)) + 1
    return int(np.argmax(tail_bound(np.arange(enough + 1), reach) <= tolerance))


def weights(times: np.ndarray, low: float, high: float) -> np.ndarray:
    r"""Expand :math:`e^{-\tau\lambda}` over an interval in Chebyshev polynomials.

    .. math:: e^{-\tau\lambda} = e^{-\tau\lambda_{low}} \sum_k (2 - \delta_{k0}) (-1)^k
              e^{-z} I_k(z)\, T_k(x), \qquad
              \lambda = \tfrac{high + low}2 + \tfrac{high - low}2 x

    Parameters
    ----------
    times : (time,) float
        τ, with z = τ (high - low)/2.
    low, high : float

    Returns
    -------
    (time, term) float
        Zero beyond the order of each time.

    References
    ----------
    .. [1] olver2010, equation 10.35.2.
    """
    from scipy.special import ive

    reach = times * (high - low) / 2
    orders = np.array([order_for(float(z)) for z in reach])
    term = np.arange(orders.max() + 1)
    sign = np.where(term % 2, -2.0, 2.0)
    sign[0] = 1
    each = sign * ive(term, reach[:, None]) * np.exp(-times * low)[:, None]
    return np.where(term <= orders[:, None], each, 0.0)


def log10_error_bound(times: np.ndarray, bounds: tuple[float, float], n_tokens: int) -> np.ndarray:
    r"""Bound the error of :func:`exponential`, what it leaves out and its rounding together.

    .. math:: t + (n + 3)(1 + z + \sqrt z)\, u, \qquad z = \tau (high - low)/2

    with the tail t of ``TAIL``. One step of the recurrence rounds a sum of n products that are at
    most one together, and a polynomial of order k passes it on no more than k + 1 times; the
    weights :math:`e^{-z} I_k(z)` have the mean square order z.

    Parameters
    ----------
    times : (time,) float
        Not negative.
    bounds : (low, high) of float
        Enclose the eigenvalues.
    n_tokens : int
        Length of the sums.

    Returns
    -------
    (time,) float
        Decimal logarithm, relative to e^{-τ low} |x|, in the norm in which the matrix is
        symmetric.
    """
    z = np.asarray(times) * (bounds[1] - bounds[0]) / 2
    rounding = (n_tokens + 3) * (1 + z + np.sqrt(z)) * np.finfo(np.float64).eps
    return np.log10(TAIL + rounding)


def exponential(
    matrix: np.ndarray, x: np.ndarray, times: np.ndarray, bounds: tuple[float, float]
) -> np.ndarray:
    r"""Apply :math:`e^{-\tau L}` for several times with one recurrence.

    .. math:: T_{k+1} = 2 X T_k - T_{k-1}, \qquad
              X = \frac{2L - (high + low) I}{high - low}

    Parameters
    ----------
    matrix : (..., token, token) float
        With real eigenvalues.
    x : (..., token, feature) float
    times : (time,) float
        Not negative.
    bounds : (low, high) of float
        Enclose the eigenvalues; see :func:`interval`.

    Returns
    -------
    (time, ..., token, feature) float
        The error is bounded by :func:`log10_error_bound`.
    """
    low, high = bounds
    weight = weights(times, low, high)
    shape = np.broadcast_shapes(matrix.shape[:-2], x.shape[:-2])
    now = np.broadcast_to(x, (*shape, *x.shape[-2:])).astype(np.float64)
    before = now
    total = np.zeros((len(times), *now.shape))
    for term in range(weight.shape[1]):
        for time in np.flatnonzero(weight[:, term]):
            total[time] += weight[time, term] * now
        if term + 1 < weight.shape[1]:
            turned = (2 * (matrix @ now) - (high + low) * now) / (high - low)
            before, now = now, turned if term == 0 else 2 * turned - before
    return total
