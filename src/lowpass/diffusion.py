r"""The heat flow of a Laplacian.

It owns :math:`X(\tau) = e^{-\tau L} X` at given times: as a matrix, as an action,
as the norm of what is left.
"""

from __future__ import annotations

import numpy as np

from lowpass import chebyshev
from lowpass.modes import balanced, changing_modes, refuse_missing
from lowpass.registry import Refusal, Registry
from lowpass.splits import Split, along, remove_stationary

HEATS = Registry("heat method")

# The logarithm of the largest float is 709.
LARGEST_GROWTH = 700.0
# A sum whose terms are e^9 times its value has lost four of sixteen digits.
CANCELLING = 9.0


def usable_times(times: np.ndarray | float) -> np.ndarray:
    """Insist on times that are finite and not negative.

    Parameters
    ----------
    times : (...) float

    Returns
    -------
    (...) float

    Raises
    ------
    Refusal
        Naming the first time that is not.
    """
    times = np.asarray(times, dtype=np.float64)
    for time in times[~np.isfinite(times)]:
        raise Refusal(f"the diffusion time is {time}; heat flows for a finite time. Give a number.")
    for time in times[times < 0]:
        raise Refusal(
            f"the diffusion time is {time:g}; heat that flows backwards is ill-posed, since it "
            "multiplies the finest differences, and so the rounding, the most. Give a time of "
            "zero or more."
        )
    return times


def _refuse_overflow(lowest: float, times: np.ndarray) -> None:
    """Insist that amplified modes stay within floats."""
    growth = -lowest * float(times.max(initial=0.0))
    if growth > LARGEST_GROWTH:
        raise Refusal(
            f"the heat flow at time {times.max():g} grows by e^{growth:.3g}; no float is that "
            "large. Give a layer less time, or keep an exponent: by 'iterate_heat', or the method "
            "'chebyshev', which forms no kernel."
        )


def heat_kernel(
    laplacian: np.ndarray, time: float, stationary: np.ndarray | None = None
) -> np.ndarray:
    r"""Exponentiate a Laplacian.

    .. math:: e^{-\tau L}

    Parameters
    ----------
    laplacian : (..., token, token) float
        Any entry of ``LAPLACIANS``.
    time : float
        Diffusion time τ, not negative.
    stationary : (..., token) float or None
        Weights π with π_i L_ij = π_j L_ji, as given by
        :func:`lowpass.laplacians.stationary_of`; None where L is symmetric.

    Returns
    -------
    (..., token, token) float
        Right to rounding of the largest entry, so that an entry that should be
        tiny may be as tiny and negative. Rows sum to one where those of L sum
        to zero.

    Raises
    ------
    Refusal
        If the time is negative, an entry is not finite, the balance does not
        hold, or the result overflows.

    References
    ----------
    .. [1] chung1997.
    """
    times = usable_times(time)
    symmetric, root = balanced(laplacian, stationary)
    value, vector = np.linalg.eigh(symmetric)
    _refuse_overflow(float(value.min()), times)
    half = vector * np.exp(-times / 2 * value)[..., None, :]
    return half @ np.swapaxes(half, -1, -2) * (root[..., None, :] / root[..., :, None])


@HEATS.add("eigh")
def eigh_action(
    laplacian: np.ndarray, x: np.ndarray, times: np.ndarray, stationary: np.ndarray | None
) -> np.ndarray:
    """Apply the heat kernel in the basis of its modes.

    One eigendecomposition serves all times, however long.

    Parameters
    ----------
    laplacian : (..., token, token) float
    x : (..., token, feature) float
    times : (time,) float
    stationary : (..., token) float or None

    Returns
    -------
    (time, ..., token, feature) float
    """
    symmetric, root = balanced(laplacian, stationary)
    value, vector = np.linalg.eigh(symmetric)
    _refuse_overflow(float(value.min()), times)
    amplitude = np.swapaxes(vector, -1, -2) @ (root[..., :, None] * x)
    gain = np.exp(-np.multiply.outer(times, value))
    return vector @ (gain[..., None] * amplitude) / root[..., :, None]


@HEATS.add("chebyshev")
def chebyshev_action(
    laplacian: np.ndarray, x: np.ndarray, times: np.ndarray, stationary: np.ndarray | None
) -> np.ndarray:
    """Apply the heat kernel as a polynomial of the Laplacian.

    Only products of the Laplacian with tokens are formed; the recurrence of
    the longest time serves all others. What is left out is bounded by
    :func:`lowpass.chebyshev.tail_bound` at the order of
    :func:`lowpass.chebyshev.order_for`, 1e-16 of the start.

    Parameters
    ----------
    laplacian : (..., token, token) float
    x : (..., token, feature) float
    times : (time,) float
    stationary : (..., token) float or None

    Returns
    -------
    (time, ..., token, feature) float

    Raises
    ------
    Refusal
        If an indefinite Laplacian makes the sum cancel, or the time is so long
        that the sum has thousands of terms.
    """
    balanced(laplacian, stationary)
    low, high = chebyshev.interval(laplacian)
    growth = -low * float(times.max(initial=0.0))
    if growth > CANCELLING:
        raise Refusal(
            f"the Laplacian may have eigenvalues down to {low:.3g}; at time {times.max():g} the "
            f"Chebyshev sum may have terms e^{growth:.3g} times its value, which cancel. Use the "
            "method 'eigh', or 'iterate_heat' with less time for each layer."
        )
    return chebyshev.exponential(laplacian, x, times, (low, high))


def heat_action(
    laplacian: np.ndarray,
    x: np.ndarray,
    times: np.ndarray,
    *,
    method: str,
    stationary: np.ndarray | None = None,
) -> np.ndarray:
    r"""Let heat flow for several times.

    .. math:: X(\tau) = e^{-\tau L} X

    Parameters
    ----------
    laplacian : (..., token, token) float
        Any entry of ``LAPLACIANS``.
    x : (..., token, feature) float
    times : (time,) float
        Diffusion times τ, not negative, in any order.
    method : str
        A name in ``HEATS``.
    stationary : (..., token) float or None
        Weights π with π_i L_ij = π_j L_ji, as given by
        :func:`lowpass.laplacians.stationary_of`; None where L is symmetric.

    Returns
    -------
    (time, ..., token, feature) float
        Right to rounding of the start, and of the largest growth where L is
        indefinite. For what is far smaller see :func:`iterate_heat`.

    Raises
    ------
    Refusal
        If a time is negative, a number is not finite, the balance does not
        hold, or the method says why it cannot.
    """
    times = usable_times(times)
    refuse_missing(x, "token")
    return HEATS[method](laplacian, x, times, stationary)


def log_left(log_energy: np.ndarray, eigenvalue: np.ndarray, times: np.ndarray) -> np.ndarray:
    r"""Sum what heat leaves of modes, by its logarithm, so that nothing underflows.

    .. math:: \tfrac12 \log \sum_m w_m e^{-2\tau\lambda_m}

    Parameters
    ----------
    log_energy : (..., mode) float
        Natural logarithms of the energies w of the start's modes.
    eigenvalue : (..., mode) float
    times : (time,) float
        Diffusion times τ.

    Returns
    -------
    (time, ...) float
        Natural logarithm of the norm.
    """
    each = log_energy - 2 * np.multiply.outer(times, eigenvalue)
    return np.logaddexp.reduce(each, axis=-1) / 2


def log10_heat_norm(
    laplacian: np.ndarray, x: np.ndarray, times: np.ndarray, stationary: np.ndarray | None = None
) -> np.ndarray:
    r"""Give the norm of what heat leaves of all but the constant, however small.

    .. math:: n \sum_i \pi_i \|x_i(\tau) - \pi^\top X\|^2 = n \sum_m w_m e^{-2\tau\lambda_m}

    with the energies :math:`w_m` of the start's modes. Where L is symmetric, π is even and this
    is :math:`\|HC(e^{-\tau L} X)\|_F`. It is summed by its logarithm, so that nothing
    underflows; a mode that the start lacks is there with its rounding, 1e-16.

    Parameters
    ----------
    laplacian : (..., token, token) float
        Its rows sum to zero: any entry of ``LAPLACIANS`` but ``normalised``.
    x : (..., token, feature) float
    times : (time,) float
        Diffusion times τ, not negative, in any order.
    stationary : (..., token) float or None
        Weights π with π_i L_ij = π_j L_ji; None where L is symmetric.

    Returns
    -------
    (time, ...) float
        Decimal logarithm; minus infinity where tokens agree.

    Raises
    ------
    Refusal
        As for :func:`heat_action`; also if rows do not sum to zero.
    """
    times = usable_times(times)
    refuse_missing(x, "token")
    n_tokens = laplacian.shape[-1]
    if stationary is None:
        stationary = np.full(laplacian.shape[:-1], 1 / n_tokens)
    modes = changing_modes(laplacian, stationary)
    start = Split.of(along(stationary, x)[..., 0, :], remove_stationary(stationary, x))
    amplitude = np.swapaxes(modes.vector, -1, -2) @ (stationary[..., :, None] * start.rest)
    with np.errstate(divide="ignore"):
        weight = 2 * np.log(np.linalg.norm(amplitude, axis=-1))
    nats = log_left(weight, modes.eigenvalue, times)
    return nats / np.log(10) + 0.5 * np.log10(n_tokens) + start.exponent * np.log10(2)
