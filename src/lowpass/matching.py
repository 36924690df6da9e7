"""Heat on a grid, stopped when as much is left of it as of something else.

It owns the cosine modes of a grid, which need no eigenvalue solver, and the time at which
heat has a given norm.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lowpass.diffusion import log_left
from lowpass.ring import ring_eigenvalue

# The norm is a sum of hundreds of terms, so that a time has no more digits than these.
DIGITS = 1e-13


class GridModes(NamedTuple):
    """Hold the start of a flow in the cosine modes of its grid.

    Attributes
    ----------
    amplitude : (..., feature, row, column) float
        Of the unitary cosine transform; that of the constant is zero.
    eigenvalue : (row, column) float
        Of the grid's combinatorial Laplacian.
    """

    amplitude: np.ndarray
    eigenvalue: np.ndarray


def grid_modes(start: np.ndarray) -> GridModes:
    r"""Take apart what differs from the mean on a grid, by the modes of heat that stays on it.

    .. math:: \lambda_{kl} = 4 \sin^2 \frac{\pi k}{2 n_r} + 4 \sin^2 \frac{\pi l}{2 n_c}

    Parameters
    ----------
    start : (..., feature, row, column) float
        A side of one is a path along the other.

    Returns
    -------
    GridModes

    References
    ----------
    .. [1] strang1999.
    """
    from scipy.fft import dctn

    amplitude = np.array(dctn(start, type=2, norm="ortho", axes=(-2, -1)))
    amplitude[..., 0, 0] = 0.0
    # A path of n is half a ring of 2n.
    down, across = (ring_eigenvalue(np.pi * np.arange(n) / n) for n in start.shape[-2:])
    return GridModes(amplitude, down[:, None] + across)


def matched_time(modes: GridModes, log_norm: np.ndarray) -> np.ndarray:
    r"""Find the diffusion time after which heat has left a given norm.

    The norm falls by a factor between :math:`e^{-\tau\lambda}` of the smallest and of the
    largest eigenvalue that is not zero, which encloses the time.

    Parameters
    ----------
    modes : GridModes
        Of the start, (..., feature, row, column).
    log_norm : (..., layer) float
        Natural logarithms of the norms of all but the mean.

    Returns
    -------
    (..., layer) float
        Zero where the start has no larger norm; infinite where nothing is to be left.
    """
    rate = modes.eigenvalue.ravel()[1:]
    energy = (modes.amplitude**2).sum(axis=-3).reshape(*modes.amplitude.shape[:-3], -1)[..., 1:]
    with np.errstate(divide="ignore"):
        log_energy = np.log(energy)
    found = np.empty(log_norm.shape)
    for index in np.ndindex(log_norm.shape):
        found[index] = _time(log_energy[index[:-1]], rate, float(log_norm[index]))
    return found


def _time(log_energy: np.ndarray, rate: np.ndarray, log_norm: float) -> float:
    from scipy.optimize import brentq

    def excess(log_time: float) -> float:
        return float(log_left(log_energy, rate, np.exp(log_time))) - log_norm

    fall = float(log_left(log_energy, rate, np.zeros(()))) - log_norm
    # A start without any norm gives no number, and one that lost only rounding lost nothing.
    if not fall > DIGITS:
        return 0.0
    if np.isinf(fall):
        return np.inf
    low, high = (np.log(fall / end) for end in (rate.max() * 1.001, rate.min() / 1.001))
    return float(np.exp(brentq(excess, low, high, xtol=DIGITS, rtol=DIGITS)))  # type: ignore[arg-type]


def heat_on_grid(modes: GridModes, times: np.ndarray, log_norm: np.ndarray) -> np.ndarray:
    r"""Let heat flow from a start, in units of given norms.

    .. math:: e^{-s} \, e^{-\tau L} C X

    Parameters
    ----------
    modes : GridModes
        Of the start, (..., feature, row, column).
    times : (..., layer) float
        Diffusion times τ.
    log_norm : (..., layer) float
        Natural logarithms s of the units, so that nothing underflows.

    Returns
    -------
    (..., layer, feature, row, column) float
        Zero where the time is infinite.
    """
    from scipy.fft import idctn

    each = (..., None, None, None)
    flows = np.isfinite(times) & np.isfinite(log_norm)
    time, unit = (np.where(flows, value, 0.0)[each] for value in (times, log_norm))
    amplitude = modes.amplitude[..., None, :, :, :]
    with np.errstate(divide="ignore"):
        log_amplitude = np.log(np.abs(amplitude))
    # A mode that is not there would be zero times what overflows.
    left = np.sign(amplitude) * np.exp(log_amplitude - time * modes.eigenvalue - unit)
    grid = np.asarray(idctn(left, type=2, norm="ortho", axes=(-2, -1)))
    return np.where(flows[each], grid, 0.0)
