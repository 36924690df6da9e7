r"""Shifts of the rows of logits, which attention does not see and its heat kernel does.

It owns what a heat kernel becomes under a shift :math:`S + c 1^\top`: one number for
all rows, or one number for each, chosen so that the kernel is as near to attention
as it can be. The symmetric part becomes :math:`\tilde S + (c 1^\top + 1 c^\top)/2`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lowpass.heat_fit import nearest_time, overlaps
from lowpass.laplacians import signed
from lowpass.registry import Refusal
from lowpass.symmetrised import uniform_distance

# One number for all rows, in units of ρ(L)/n, so that beyond one every mode is damped. One itself
# is left out: rounding would say whether a mode is.
GAUGES = (
    0.0,
    0.2,
    0.4,
    0.6,
    0.8,
    0.9,
    0.95,
    1.05,
    1.1,
    1.25,
    1.5,
    1.75,
    2.0,
    2.5,
    3.0,
    4.0,
    6.0,
    10.0,
)
# The search holds a matrix for each unknown: 256 tokens take half a gigabyte.
MOST_TOKENS = 256
# Where searches begin is said in starting_points.
SEARCHES = 3
# Steps of a search, most of which end long before; what ends here creeps towards a shift that is
# infinite.
STEPS, SETTLED = 100, 1e-7
# Damping at the start, its change after a good and a bad step, and between what it stays.
DAMPING, EASED, STIFFENED = 1e-3, 0.2, 4.0
LOOSE, STUCK = 1e-12, 1e12
# Smallest slope that counts, in units of the largest.
LEAST = 1e-7
# An exponential beyond this is far from any attention, and its square must be finite.
LARGEST = 300.0


def constant_gauges(attention: np.ndarray, symmetric: np.ndarray) -> np.ndarray:
    r"""Give the distance of attention from its heat kernel for several constant shifts.

    .. math:: L \to L + c n C, \qquad e^{-\tau L} \to J + e^{-\tau c n} (e^{-\tau L} - J)

    Parameters
    ----------
    attention : (..., query, key) float
    symmetric : (..., token, token) float
        S̃.

    Returns
    -------
    (..., gauge) float
        At the best time for each of ``GAUGES``; these are in units of ρ(L)/n. Beyond
        one, where every mode is damped, no more than ‖A - J‖.
    """
    eigenvalue, overlap = overlaps(attention, signed(symmetric))
    far = uniform_distance(attention)
    radius = np.abs(eigenvalue).max(axis=-1)[..., None]
    shifted = [eigenvalue + gauge * radius for gauge in GAUGES]
    return np.stack([nearest_time(far, overlap, each)[1] for each in shifted], axis=-1)


class Fit(NamedTuple):
    """Hold searches (start) of one matrix: unknowns, modes, residual and its square."""

    unknowns: np.ndarray
    value: np.ndarray
    vector: np.ndarray
    residual: np.ndarray
    square: np.ndarray


def gauged_laplacian(symmetric: np.ndarray, unknowns: np.ndarray) -> np.ndarray:
    r"""Give the Laplacian of τS + c1ᵀ.

    Parameters
    ----------
    symmetric : (token, token) float
        S̃.
    unknowns : (start, 1 + token) float
        τ, and n c.

    Returns
    -------
    (start, token, token) float
    """
    shift = unknowns[:, 1:] / symmetric.shape[-1]
    pairs = (shift[:, :, None] + shift[:, None, :]) / 2
    return signed(unknowns[:, 0, None, None] * symmetric + pairs)


def fit_at(even: np.ndarray, symmetric: np.ndarray, unknowns: np.ndarray) -> Fit:
    """Compare the heat kernels of some gauges with the symmetric part of attention.

    Parameters
    ----------
    even : (token, token) float
        (A + Aᵀ)/2; what is left of A is out of reach.
    symmetric : (token, token) float
    unknowns : (start, 1 + token) float

    Returns
    -------
    Fit
        The residual is that in the basis of the modes, (start, mode, mode).
    """
    value, vector = np.linalg.eigh(gauged_laplacian(symmetric, unknowns))
    value = np.maximum(value, -LARGEST)
    residual = -(np.swapaxes(vector, -1, -2) @ even @ vector)
    diagonal = np.arange(value.shape[-1])
    residual[:, diagonal, diagonal] += np.exp(-value)
    return Fit(unknowns, value, vector, residual, (residual**2).sum(axis=(-2, -1)))


def divided_differences(value: np.ndarray) -> np.ndarray:
    r"""Divide differences of exponentials by those of their exponents.

    .. math:: \Gamma_{ab} = \frac{e^{-\lambda_a} - e^{-\lambda_b}}{\lambda_b - \lambda_a}
              = e^{-(\lambda_a + \lambda_b)/2}\, \frac{\sinh x}{x},
              \qquad x = (\lambda_a - \lambda_b) / 2

    Parameters
    ----------
    value : (..., mode) float

    Returns
    -------
    (..., mode, mode) float
        Positive; :math:`e^{-\lambda_a}` on the diagonal.

    References
    ----------
    .. [1] higham2008, theorem 3.11.
    """
    half = np.abs(value[..., :, None] - value[..., None, :]) / 2
    lower = np.minimum(value[..., :, None], value[..., None, :])
    # sinh x e^-x, so that nothing overflows before it is divided.
    near = half < 1e-8
    ratio = -np.expm1(-2 * half) / np.where(near, 1.0, 2 * half)
    return np.exp(-lower) * np.where(near, 1.0, ratio)


def slopes(fit: Fit, symmetric: np.ndarray) -> np.ndarray:
    r"""Differentiate the heat kernel by all unknowns, in the basis of its modes.

    .. math:: V^\top\, \mathrm{d} e^{-L}\, V = -\Gamma \circ (V^\top\, \mathrm{d}L\, V)

    Parameters
    ----------
    fit : Fit
    symmetric : (token, token) float

    Returns
    -------
    (start, 1 + token, mode, mode) float

    References
    ----------
    .. [1] higham2008, theorem 3.11.
    """
    vector, n_tokens = fit.vector, symmetric.shape[-1]
    total = vector.sum(axis=-2, keepdims=True)
    # That of n c_k is (n e_k e_kᵀ + I - e_k 1ᵀ - 1 e_kᵀ) / 2n.
    outer = vector[..., :, None] * (n_tokens / 2 * vector - total)[..., None, :]
    rows = (outer + np.swapaxes(outer, -1, -2) + np.eye(n_tokens)) / (2 * n_tokens)
    time = np.swapaxes(vector, -1, -2) @ signed(symmetric) @ vector
    every = np.concatenate([time[:, None], rows], axis=1)
    return -divided_differences(fit.value)[:, None] * every


def next_unknowns(fit: Fit, symmetric: np.ndarray, damping: np.ndarray) -> np.ndarray:
    """Take one damped step of Gauss and Newton, in units of each unknown's own slope.

    Parameters
    ----------
    fit : Fit
    symmetric : (token, token) float
    damping : (start,) float

    Returns
    -------
    (start, 1 + token) float
        With a time that is not negative.

    References
    ----------
    .. [1] marquardt1963.
    """
    slope = slopes(fit, symmetric)
    slope = slope.reshape(*slope.shape[:2], -1)
    size = np.linalg.norm(slope, axis=-1)
    # A shift that is as good as infinite moves nothing, and must not be moved for ever.
    size = np.maximum(size, LEAST * size.max(axis=-1, keepdims=True))
    size = np.where(size > 0, size, 1.0)
    slope = slope / size[..., None]
    ascent = slope @ fit.residual.reshape(len(slope), -1, 1)
    curvature = slope @ np.swapaxes(slope, -1, -2)
    diagonal = np.arange(slope.shape[1])
    curvature[:, diagonal, diagonal] += damping[:, None]
    unknowns = fit.unknowns - np.linalg.solve(curvature, ascent)[..., 0] / size
    unknowns[:, 0] = np.maximum(unknowns[:, 0], 0)
    return unknowns


def searched(even: np.ndarray, symmetric: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Search from several starts for the time and the shifts of rows that fit best.

    Parameters
    ----------
    even : (token, token) float
    symmetric : (token, token) float
    starts : (start, 1 + token) float

    Returns
    -------
    (start,) float
        Square of the distance where each search ends, in any order.
    """
    fit = fit_at(even, symmetric, starts)
    damping, ends = np.full(len(starts), DAMPING), []
    for _ in range(STEPS):
        new = fit_at(even, symmetric, next_unknowns(fit, symmetric, damping))
        better = new.square < fit.square
        damping = np.maximum(damping * np.where(better, EASED, STIFFENED), LOOSE)
        settled = np.where(better, fit.square - new.square <= SETTLED * fit.square, damping > STUCK)
        fit = Fit(*(choose(better, one, other) for one, other in zip(new, fit, strict=True)))
        ends.extend(fit.square[settled])
        fit, damping = Fit(*(each[~settled] for each in fit)), damping[~settled]
        if not len(damping):
            break
    return np.array([*ends, *fit.square])


def choose(which: np.ndarray, one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Take rows of one array where something is true, and of another elsewhere."""
    return np.where(which.reshape(-1, *(1,) * (one.ndim - 1)), one, other)


def starting_points(symmetric: np.ndarray) -> np.ndarray:
    r"""List the points at which searches begin.

    Parameters
    ----------
    symmetric : (token, token) float

    Returns
    -------
    (start, 1 + token) float
        Time and n c: next to J, whose shift is large and its time zero; a constant
        shift that damps every mode; and one that gives all tokens the same degree.
    """
    laplacian = signed(symmetric)
    radius = np.abs(np.linalg.eigvalsh(laplacian)).max()
    unit = 1 / radius if radius > 0 else 1.0
    degree = symmetric.sum(axis=-1)
    level = -2 * (degree - degree.mean())
    starts = np.empty((SEARCHES, 1 + len(symmetric)))
    starts[:, 0] = [0, unit, unit]
    starts[:, 1:] = np.array([4.0, 2.0, 2.0])[:, None]
    starts[2, 1:] += unit * level
    return starts


def best_gauges(attention: np.ndarray, symmetric: np.ndarray) -> np.ndarray:
    r"""Search for the time and the shift of every row whose heat kernel is nearest to attention.

    .. math:: \min_{\tau \ge 0,\, c} \|A - e^{-L(\tau S + c 1^\top)}\|_F

    Parameters
    ----------
    attention : (..., query, key) float
    symmetric : (..., token, token) float

    Returns
    -------
    (..., search) float
        Distance found by each of several searches, the best one first; at most
        ‖A - J‖, to which a large shift tends.

    Raises
    ------
    Refusal
        If there are more tokens than memory is kept for.
    """
    n_tokens = attention.shape[-1]
    if n_tokens > MOST_TOKENS:
        raise Refusal(
            f"a search for the best shift of {n_tokens} rows holds as many matrices of their "
            f"size at once; take {MOST_TOKENS} tokens or fewer, or a constant shift."
        )
    far = uniform_distance(attention)
    found = np.empty((*far.shape, SEARCHES))
    for index in np.ndindex(far.shape):
        a = attention[index]
        even, skew = (a + a.T) / 2, (a - a.T) / 2
        squares = searched(even, symmetric[index], starting_points(symmetric[index]))
        found[index] = np.sqrt((skew**2).sum() + np.sort(squares))
    return np.minimum(found, far[..., None])
