"""Heat that flows layer after layer.

It owns the iteration in split form, by which what differs between tokens falls (or rises) far
beyond the range of floats.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import numpy as np

from lowpass import chebyshev
from lowpass.diffusion import usable_times
from lowpass.modes import Modes, balanced, changing_modes, refuse_missing, refuse_other_limits
from lowpass.registry import Registry
from lowpass.splits import Split, remove_stationary

FLOWS = Registry("heat flow")


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
    usable_times(time)
    refuse_missing(start.rest, "token")
    balanced(laplacian, stationary)
    refuse_other_limits(laplacian)
    return FLOWS[method](laplacian, start, stationary, time)
