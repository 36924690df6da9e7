r"""The heat flow of a Laplacian.

It owns :math:`X(\tau) = e^{-\tau L} X`: as a matrix, as an action at several
times, and layer by layer in split form, far below machine precision.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import numpy as np

from lowpass import chebyshev
from lowpass.modes import Modes, balanced, changing_modes, refuse_missing, refuse_other_limits
from lowpass.registry import Refusal, Registry
from lowpass.splits import Split, remove_stationary

HEATS = Registry("heat method")
FLOWS = Registry("heat flow")

# The logarithm of the largest float is 709.
LARGEST_GROWTH = 700.0
# A sum whose terms are e^9 times its value has lost four of sixteen digits.
CANCELLING = 9.0


def _usable_times(times: np.ndarray | float) -> np.ndarray:
    """Insist on times that are finite and not negative."""
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
            "large. Use less time, or 'iterate_heat', which keeps an exponent."
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
    times = _usable_times(time)
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
    times = _usable_times(times)
    refuse_missing(x, "token")
    return HEATS[method](laplacian, x, times, stationary)


def _scaled_sum(modes: Modes, amplitude: np.ndarray, log2: np.ndarray) -> tuple:
    """Sum modes of amplitude times 2**log2, with the binary exponent of the largest."""
    largest = np.abs(amplitude).max(axis=-1)
    mantissa, own = np.frexp(largest)
    size = np.where(mantissa > 0, log2 + own, -np.inf)
    top = size.max(axis=-1)
    exponent = np.where(np.isfinite(top), np.ceil(top), 0.0)
    unit = np.ldexp(amplitude, -own[..., None])
    weight = np.exp2(size - exponent[..., None])
    return modes.vector @ (weight[..., None] * unit), exponent.astype(np.int64)


@FLOWS.add("eigh")
def eigh_flow(
    laplacian: np.ndarray, start: Split, stationary: np.ndarray, time: float
) -> Iterator[Split]:
    """Weigh the start's modes anew for each layer, so that no error adds up.

    The weights are kept relative to the largest, with an exact binary
    exponent, so that nothing underflows; the modes have no stationary part
    that could come back. A mode that the start lacks is there with its
    rounding, 1e-16, and shows once all others have fallen below that.

    Parameters
    ----------
    laplacian : (..., token, token) float
    start : Split
    stationary : (..., token) float
    time : float
        Diffusion time of one layer.

    Yields
    ------
    Split
    """
    yield start
    modes = changing_modes(laplacian, stationary)
    weighted = stationary[..., :, None] * start.rest
    amplitude = np.swapaxes(modes.vector, -1, -2) @ weighted
    for layer in count(1):
        total, exponent = _scaled_sum(
            modes, amplitude, -(layer * time) * modes.eigenvalue / np.log(2)
        )
        yield Split.of(start.kept, total, start.exponent + exponent, start.kept_exponent)


@FLOWS.add("chebyshev")
def chebyshev_flow(
    laplacian: np.ndarray, start: Split, stationary: np.ndarray, time: float
) -> Iterator[Split]:
    """Repeat one polynomial step, rescaling exactly after each.

    A layer is cut into steps in which the slowest mode keeps a good part of
    itself; otherwise the rounding of the sum would hide it.

    Parameters
    ----------
    laplacian : (..., token, token) float
    start : Split
    stationary : (..., token) float
    time : float
        Diffusion time of one layer.

    Yields
    ------
    Split
    """
    low, high = chebyshev.interval(laplacian)
    # The slowest of the changing modes is no faster than their mean.
    mean = np.trace(laplacian, axis1=-2, axis2=-1).max() / (laplacian.shape[-1] - 1)
    n_steps = max(1, int(np.ceil(time * max(mean, -low))))
    step = np.array([time / n_steps])
    state = start
    while True:
        yield state
        for _ in range(n_steps):
            total = chebyshev.exponential(laplacian, state.rest, step, (low, high))[0]
            rest = remove_stationary(stationary, total)
            state = Split.of(state.kept, rest, state.exponent, state.kept_exponent)


def iterate_heat(
    laplacian: np.ndarray, start: Split, stationary: np.ndarray, *, time: float, method: str
) -> Iterator[Split]:
    r"""Let heat flow for ever, in split form.

    .. math:: X_t = e^{-t \tau L} X_0 = 1 s^\top + e^{-t \tau L} R_0

    The part along the constant never changes; the rest keeps its own binary
    exponent, so that it can fall (or, where L is indefinite, rise) far beyond
    the range of floats.

    Parameters
    ----------
    laplacian : (..., token, token) float
        Its rows sum to zero: any entry of ``LAPLACIANS`` but ``normalised``.
    start : Split
        Such as ``Split.of(*STARTS["tokens"](x, laplacian, stationary))``.
    stationary : (..., token) float
        As given by :func:`lowpass.laplacians.stationary_of`.
    time : float
        Diffusion time τ of one layer, not negative.
    method : str
        A name in ``FLOWS``.

    Returns
    -------
    iterator of Split
        The start (layer 0), then one state for each layer, without end.

    Raises
    ------
    Refusal
        If the time is negative, a number is not finite, rows do not sum to
        zero, or the balance does not hold.
    """
    _usable_times(time)
    refuse_missing(start.rest, "token")
    balanced(laplacian, stationary)
    refuse_other_limits(laplacian)
    return FLOWS[method](laplacian, start, stationary, time)
