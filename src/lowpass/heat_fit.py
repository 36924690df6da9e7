r"""The heat kernel that is nearest to an attention matrix.

It owns the search over diffusion times, and what no symmetric kernel can go
below. Everything is a distance in Frobenius' norm. Both matrices keep constants,
so that they are compared on what is orthogonal to these: with the modes
:math:`v_k` of a symmetric Laplacian and :math:`a_k = v_k^\top A v_k`,

.. math:: \|A - e^{-\tau L}\|^2 = \|A - J\|^2 - \sum_k a_k^2
          + \sum_k (e^{-\tau\lambda_k} - a_k)^2
"""

from __future__ import annotations

import numpy as np

from lowpass.modes import changing_modes
from lowpass.symmetrised import uniform_distance

# Times between which the distance is looked at, per decade of them; each minimum is a sum of
# exponentials and no narrower than a factor of e or so.
PER_DECADE = 20
# Of a bracket a tenth of a decade wide, until it is as narrow as rounding.
HALVINGS = 56
# A mode that has been damped by e^-40 is gone, and one that moved by 1e-4 has not moved.
GONE, STILL = 40.0, 1e-4


def overlaps(attention: np.ndarray, laplacian: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Look at attention in the modes of a symmetric Laplacian.

    Parameters
    ----------
    attention : (..., query, key) float
        Rows sum to one.
    laplacian : (..., token, token) float
        Symmetric; rows sum to zero.

    Returns
    -------
    eigenvalue : (..., mode) float
        Those of the modes other than the constant one.
    overlap : (..., mode) float
        a_k.
    """
    n_tokens = attention.shape[-1]
    modes = changing_modes(laplacian, np.full(laplacian.shape[:-1], 1 / n_tokens))
    # The modes are normalised with the weights 1/n.
    overlap = ((attention @ modes.vector) * modes.vector).sum(axis=-2) / n_tokens
    return modes.eigenvalue, overlap


def distances(
    far: np.ndarray, overlap: np.ndarray, eigenvalue: np.ndarray, time: np.ndarray
) -> np.ndarray:
    r"""Give the distance of attention from heat kernels of several times.

    Parameters
    ----------
    far : (...) float
        ‖A - J‖.
    overlap, eigenvalue : (..., mode) float
    time : (..., time) float
        τ; infinite ones too where no eigenvalue is negative.

    Returns
    -------
    (..., time) float
        Infinite where a kernel grows beyond floats.
    """
    rest = np.maximum(far**2 - (overlap**2).sum(axis=-1), 0)
    with np.errstate(over="ignore", invalid="ignore"):
        decay = np.exp(-time[..., :, None] * eigenvalue[..., None, :])
        total = rest[..., None] + ((decay - overlap[..., None, :]) ** 2).sum(axis=-1)
    return np.sqrt(np.where(np.isnan(total), np.inf, total))


def nearest_time(
    far: np.ndarray, overlap: np.ndarray, eigenvalue: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Find the diffusion time whose heat kernel is nearest to attention.

    All times are looked at, from those at which nothing has moved to those at which
    every damped mode is gone; beside the best of them the distance is level.

    Parameters
    ----------
    far : (...) float
        ‖A - J‖.
    overlap, eigenvalue : (..., mode) float
        Given by :func:`overlaps`.

    Returns
    -------
    time : (...) float
        τ, not negative: infinite where no kernel is nearer than J, which needs
        eigenvalues that are all positive.
    distance : (...) float
        Least distance over all times.
    """
    time = candidates(eigenvalue)
    place = distances(far, overlap, eigenvalue, time).argmin(axis=-1)[..., None]
    low = np.take_along_axis(time, np.maximum(place - 1, 0), axis=-1)[..., 0]
    high = np.take_along_axis(time, np.minimum(place + 1, time.shape[-1] - 1), axis=-1)[..., 0]
    at_once = (low == 0) & (slope(overlap, eigenvalue, low) >= 0)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        falls = slope(overlap, eigenvalue, middle) < 0
        low, high = np.where(falls, middle, low), np.where(falls, high, middle)
    best = np.where(at_once, 0.0, (low + high) / 2)
    least = distances(far, overlap, eigenvalue, best[..., None])[..., 0]
    at_rest = (eigenvalue > 0).all(axis=-1) & (far <= least)
    return np.where(at_rest, np.inf, best), np.where(at_rest, far, least)


def slope(overlap: np.ndarray, eigenvalue: np.ndarray, time: np.ndarray) -> np.ndarray:
    """Give half the derivative (...) of the square of the distance by the time (...)."""
    with np.errstate(over="ignore"):
        decay = np.exp(-time[..., None] * eigenvalue)
        return -(eigenvalue * decay * (decay - overlap)).sum(axis=-1)


def candidates(eigenvalue: np.ndarray) -> np.ndarray:
    """List times (..., time), zero first, from those too short to those too long for any mode."""
    size = np.abs(eigenvalue)
    largest = size.max(axis=-1, keepdims=True)
    largest = np.where(largest > 0, largest, 1.0)
    # Slower ones than this are as good as constant.
    slowest = np.maximum(size.min(axis=-1, keepdims=True), 1e-3 * largest)
    first, last = np.log10(STILL / largest), np.log10(GONE / slowest)
    n_times = 2 + int(PER_DECADE * (last - first).max())
    log10_time = first + (last - first) * np.linspace(0, 1, n_times)
    return np.concatenate([np.zeros_like(first), 10**log10_time], axis=-1)


def log10_distance_at_one(
    far: np.ndarray, overlap: np.ndarray, eigenvalue: np.ndarray
) -> np.ndarray:
    r"""Give the distance of attention from the heat kernel at the time one.

    Parameters
    ----------
    far : (...) float
        ‖A - J‖.
    overlap, eigenvalue : (..., mode) float

    Returns
    -------
    (...) float
        Decimal logarithm; finite however much the kernel amplifies.
    """
    growth = np.maximum(-eigenvalue.min(axis=-1), 0)
    small = np.exp(-growth)
    rest = np.maximum(far**2 - (overlap**2).sum(axis=-1), 0) * small**2
    decay = np.exp(-eigenvalue - growth[..., None]) - overlap * small[..., None]
    with np.errstate(divide="ignore"):
        return growth / np.log(10) + np.log10(rest + (decay**2).sum(axis=-1)) / 2


def column_bound(attention: np.ndarray) -> np.ndarray:
    r"""Bound the distance from any symmetric kernel by column sums.

    .. math:: \|A - E\|_F \ge \|A^\top 1 - 1\| / \sqrt n

    Parameters
    ----------
    attention : (..., query, key) float

    Returns
    -------
    (...) float
        For every E whose columns sum to one.
    """
    excess = attention.sum(axis=-2) - 1
    return np.linalg.norm(excess, axis=-1) / np.sqrt(attention.shape[-1])


def symmetric_floor(attention: np.ndarray) -> np.ndarray:
    r"""Give the least distance from a symmetric matrix whose rows sum to one.

    .. math:: \min_E \|A - E\|_F^2 = \|(A - A^\top) / 2\|_F^2 + \|A^\top 1 - 1\|^2 / 2n

    Parameters
    ----------
    attention : (..., query, key) float
        Rows sum to one.

    Returns
    -------
    (...) float
        Attained, so that it is at least the bound by column sums.
    """
    skew = (attention - np.swapaxes(attention, -1, -2)) / 2
    return np.hypot(np.linalg.norm(skew, axis=(-2, -1)), column_bound(attention) / np.sqrt(2))


def heat_floor(attention: np.ndarray) -> np.ndarray:
    r"""Give the least distance from the heat kernel of any graph whatever.

    A heat kernel of a symmetric L with L1 = 0 is positive definite as well:
    beside what :func:`symmetric_floor` counts, every negative eigenvalue of
    :math:`C (A + A^\top) C / 2` is out of its reach.

    Parameters
    ----------
    attention : (..., query, key) float
        Rows sum to one.

    Returns
    -------
    (...) float
        An infimum over all such L, with weights of either sign; at most ‖A - J‖.

    References
    ----------
    .. [1] higham1988, theorem 2.1.
    """
    even = (attention + np.swapaxes(attention, -1, -2)) / 2
    even = even - even.mean(axis=-1, keepdims=True)
    even = even - even.mean(axis=-2, keepdims=True)
    below = np.minimum(np.linalg.eigvalsh(even), 0)
    return np.hypot(symmetric_floor(attention), np.linalg.norm(below, axis=-1))


def identity_distance(attention: np.ndarray) -> np.ndarray:
    """Give the distance (...) of attention from the identity, the heat kernel at the time zero."""
    return np.linalg.norm(attention - np.eye(attention.shape[-1]), axis=(-2, -1))


def nearest_heat(attention: np.ndarray, laplacian: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Find the heat kernel of a Laplacian that is nearest to attention.

    Parameters
    ----------
    attention : (..., query, key) float
        Rows sum to one.
    laplacian : (..., token, token) float
        Symmetric; rows sum to zero.

    Returns
    -------
    time, distance : (...) float
        As given by :func:`nearest_time`.
    """
    eigenvalue, overlap = overlaps(attention, laplacian)
    return nearest_time(uniform_distance(attention), overlap, eigenvalue)
