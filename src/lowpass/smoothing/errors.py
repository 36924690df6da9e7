"""How far a smoother is from the truth, exactly.

It owns bias, variance and integrated squared error of a linear smoother whose keys are evenly
spaced. Nothing is drawn: on such a design sums of weights are cumulative sums of the kernel, and
averages of a curve are convolutions with it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from lowpass.registry import Refusal
from lowpass.smoothing.profiles import PROFILES

Ends: TypeAlias = Literal["joined", "open"]
Watch: TypeAlias = Callable[[Collection[float]], Iterable[float]]
# Weights below exp(-40) of the largest are lost in the rounding of their sum.
LEAST = -40.0
# A determinant below it has lost digits to underflow: no second key has a weight.
SINGULAR = 1e-280
# Bandwidths in which the smallest error is bracketed.
SCAN = 15


class Errors(NamedTuple):
    """Hold what separates a fit at every key from the truth.

    Parameters
    ----------
    bias : (key,) float
        Expected fit less the truth.
    variance : (key,) float
        Of the fit, for errors of variance one: the sum of its squared weights.
    """

    bias: np.ndarray
    variance: np.ndarray

    def integrated(self, noise: float) -> float:
        """Average squared bias and variance over the keys: an integral by the midpoint rule."""
        return float(np.mean(self.bias**2) + noise**2 * np.mean(self.variance))


def of_distance(kernel: str) -> str:
    """Hand on the name of a kernel of distances.

    Raises
    ------
    Refusal
        If there is no such kernel, or it reads products.
    """
    if PROFILES.facts(kernel)["reads"] != "squared distance":
        raise Refusal(
            f"the smoothing kernel '{kernel}' reads {PROFILES.facts(kernel)['reads']}s; its "
            "weights depend on where a key lies, so evenly spaced ones are no convolution. "
            "Use 'gaussian'."
        )
    return kernel


def weight_at(kernel: str, distance: np.ndarray) -> np.ndarray:
    """Give the weight of a kernel of distances, in units of the bandwidth, and one at zero."""
    of_distance(kernel)
    return np.exp(PROFILES[kernel](np.square(distance)))


def reach_of(kernel: str) -> float:
    """Give the distance, in units of the bandwidth, from which weights are lost in rounding."""
    support = PROFILES.facts(kernel)["support"]
    if np.isfinite(support):
        return float(support)
    steps = np.arange(1.0, 64.0)
    return float(steps[PROFILES[kernel](steps**2) <= LEAST][0])


def pointwise_errors(
    truth: np.ndarray,
    bandwidth: float,
    *,
    kernel: str = "gaussian",
    degree: int = 0,
    ends: Ends = "open",
) -> Errors:
    r"""Compute bias and variance of a smoother at keys :math:`(i + \tfrac12)/n` of [0, 1].

    With :math:`u = (x_i - x_j)/h`, :math:`s_r = \sum_i K(u) u^r` and
    :math:`t_r = \sum_i K(u) u^r f(x_i)` the expected fit is :math:`t_0 / s_0` in degree 0 and

    .. math:: \frac{s_2 t_0 - s_1 t_1}{s_0 s_2 - s_1^2}

    in degree 1; where no other key has a weight, it is that of degree 0.

    Parameters
    ----------
    truth : (key,) float
        The curve at the keys.
    bandwidth : float
        h, as a share of the interval.
    kernel : str
        One that reads squared distances.
    degree : {0, 1}
        Local constants (Nadaraya and Watson), or local lines.
    ends : {"open", "joined"}
        Whether 0 and 1 are two ends, or one point of a ring; on a ring sums of odd powers
        vanish, and both degrees are one smoother.

    Returns
    -------
    Errors
        After some n log n operations.

    Raises
    ------
    Refusal
        If the bandwidth is not positive, the degree no choice, or the kernel reads products.

    References
    ----------
    .. [1] fan1992.
    """
    if not (np.isfinite(bandwidth) and bandwidth > 0):
        raise Refusal(
            f"the bandwidth is {bandwidth:g}; distances are divided by it. Give a positive one."
        )
    if degree not in (0, 1):
        raise Refusal(f"the degree is {degree}; a fit is locally constant, 0, or a line, 1.")
    f = np.asarray(truth, dtype=np.float64)
    if ends == "joined":
        return on_ring(f, ring_weights(kernel, len(f), bandwidth))
    u = np.arange(len(f)) / (len(f) * bandwidth)
    return on_interval(f, u, weight_at(kernel, u), degree)


def ring_weights(kernel: str, n: int, bandwidth: float) -> np.ndarray:
    """Sum a kernel over all turns around a ring of n keys (offset)."""
    turns = int(np.ceil(reach_of(kernel) * bandwidth)) + 1
    beyond = weight_at(kernel, np.arange(turns * n + 1) / (n * bandwidth))
    ahead = beyond[:-1].reshape(turns, n).sum(axis=0)
    behind = beyond[1:].reshape(turns, n).sum(axis=0)[::-1]
    return ahead + behind


def on_ring(truth: np.ndarray, weight: np.ndarray) -> Errors:
    """Average around a ring, where every key is alike."""
    share = weight / weight.sum()
    fit = np.fft.irfft(np.fft.rfft(truth) * np.fft.rfft(share), len(truth))
    return Errors(fit - truth, np.full(len(truth), np.square(share).sum()))


def on_interval(truth: np.ndarray, u: np.ndarray, weight: np.ndarray, degree: int) -> Errors:
    """Fit between two ends, from the weights at offsets 0, 1, ... of u bandwidths."""
    s0, s1, s2 = (both_sides(weight * u**power, power) for power in range(3))
    t0 = averaged(truth, weight, 0)
    q0, q1, q2 = (both_sides(weight**2 * u**power, power) for power in range(3))
    constant = Errors(t0 / s0 - truth, q0 / s0**2)
    determinant = s0 * s2 - s1**2
    line = determinant > SINGULAR
    if degree == 0 or not line.any():
        return constant
    t1 = averaged(truth, weight * u, 1)
    by = np.where(line, determinant, 1.0)
    fit = (s2 * t0 - s1 * t1) / by
    variance = (s2**2 * q0 - 2 * s1 * s2 * q1 + s1**2 * q2) / by**2
    return Errors(
        np.where(line, fit - truth, constant.bias), np.where(line, variance, constant.variance)
    )


def both_sides(ahead: np.ndarray, power: int) -> np.ndarray:
    """Sum over all keys, as each key sees them, what is even or odd in the offset."""
    total = np.cumsum(ahead)
    return total[::-1] + (-1) ** power * (total - ahead[0])


def averaged(truth: np.ndarray, ahead: np.ndarray, power: int) -> np.ndarray:
    """Sum the truth over all keys, weighted by what is even or odd in the offset."""
    n = len(truth)
    # Twice as long, or the ends would see each other; a power of two is fast.
    length = 1 << (2 * n - 1).bit_length()
    kernel = np.zeros(length)
    kernel[:n] = (-1) ** power * ahead
    kernel[length - n + 1 :] = ahead[:0:-1]
    return np.fft.irfft(np.fft.rfft(truth, length) * np.fft.rfft(kernel), length)[:n]


def best_bandwidth(
    error: Callable[[float], float], low: float, high: float, *, watch: Watch = iter
) -> float:
    """Minimise an error over a range of bandwidths, after a scan of all of it.

    Parameters
    ----------
    error : callable
        Of a bandwidth.
    low, high : float
        Ends of the range.
    watch : callable
        Hands on the bandwidths of the scan one by one, so that somebody may count them.

    Returns
    -------
    float
        The minimum nearest to the lowest point of the scan; the error there is exact to
        rounding, as it is flat.

    Raises
    ------
    Refusal
        If the lowest point of the scan is one of its ends.
    """
    from scipy.optimize import minimize_scalar

    grid = np.geomspace(low, high, SCAN)
    best = int(np.argmin([error(each) for each in watch(grid)]))
    if best in (0, SCAN - 1):
        raise Refusal(
            f"the error is least at bandwidth {grid[best]:.3g}, an end of {low:.3g} ... "
            f"{high:.3g}; it may fall further beyond. Take more keys, or less noise."
        )
    bounds = np.log(grid[[best - 1, best + 1]])
    found = minimize_scalar(
        lambda log: error(float(np.exp(log))),
        bounds=bounds,
        method="bounded",
        options={"xatol": 1e-6},
    )
    return float(np.exp(found.x))
