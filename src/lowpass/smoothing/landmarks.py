"""Smoothing by few keys in the place of many.

It owns two ways to choose a few of them: to forget the others, which is the
baseline of all cleverer ways, or to interpolate the kernel between those that
were chosen.
"""

from __future__ import annotations

import numpy as np

from lowpass.registry import Refusal

# Rows that are held against all landmarks at once, which a cache still holds.
TILE = 512
# Added to the kernel between landmarks, whose diagonal is one: what interpolation loses by it is
# smaller than what it loses anyway, and landmarks that coincide do no harm.
RIDGE = 1e-8


def chosen(rng: np.random.Generator, count: int, available: int) -> np.ndarray:
    """Draw different keys, each as likely as any other.

    Parameters
    ----------
    rng : numpy.random.Generator
    count : int
        m, the number of keys that are kept.
    available : int
        n, the number of keys.

    Returns
    -------
    (landmark,) int
        In the order of the draw, so that the first ones are a smaller sample.

    Raises
    ------
    Refusal
        If more keys are asked for than there are.
    """
    if not 1 <= count <= available:
        raise Refusal(
            f"{count} of {available} keys were asked for; keep 1 of them or more, and at most "
            f"{available}."
        )
    return rng.permutation(available)[:count]


def log_gaussian(query: np.ndarray, key: np.ndarray) -> np.ndarray:
    r"""Give :math:`-\|q - k\|^2 / 2` for rows of a tile.

    Parameters
    ----------
    query : (query, feature) float
    key : (key, feature) float
        Both in units of the bandwidth, and counted from a place near to the keys, so that
        squares do not cancel.

    Returns
    -------
    (query, key) float
        Never positive.
    """
    exponent = query @ key.T
    exponent -= np.square(query).sum(axis=-1)[:, None] / 2
    exponent -= np.square(key).sum(axis=-1) / 2
    return np.minimum(exponent, 0, out=exponent)


def landmark_sums(
    key: np.ndarray, value: np.ndarray, landmarks: np.ndarray, weight: np.ndarray | None = None
) -> np.ndarray:
    """Smooth values and ones from all keys to the landmarks, without dividing.

    Parameters
    ----------
    key : (key, feature) float
        In units of the bandwidth, as landmarks are.
    value : (key, output) float
    landmarks : (landmark, feature) float
    weight : (key,) float, optional
        How much an observation counts, by itself.

    Returns
    -------
    (landmark, output + 1) float
        Sums of weighted values, and in the last column of the weights.
    """
    whole = np.zeros((len(landmarks), value.shape[1] + 1))
    for start in range(0, len(key), TILE):
        rows = slice(start, start + TILE)
        kernel = log_gaussian(key[rows], landmarks)
        np.exp(kernel, out=kernel)
        if weight is not None:
            kernel *= weight[rows, None]
        whole[:, :-1] += kernel.T @ value[rows]
        whole[:, -1] += kernel.sum(axis=0)
    return whole


def interpolated(
    query: np.ndarray,
    landmarks: np.ndarray,
    sums: np.ndarray,
    *,
    ridge: float = RIDGE,
) -> tuple[np.ndarray, np.ndarray]:
    r"""Average with the kernel that landmarks interpolate (Nyström).

    .. math:: \tilde K_{ji} = K(q_j, l)\, (K(l, l) + \rho I)^{-1} K(l, k_i), \qquad
              f(q_j) = \frac{\sum_i \tilde K_{ji} v_i}{\sum_i \tilde K_{ji}}

    Parameters
    ----------
    query : (query, feature) float
        In units of the bandwidth, as landmarks are.
    landmarks : (landmark, feature) float
        l, some of the keys.
    sums : (landmark, output + 1) float
        As :func:`landmark_sums` gives them.
    ridge : float
        ρ, which keeps landmarks that nearly coincide from being told apart by rounding.

    Returns
    -------
    output : (query, output) float
        An interpolated kernel may be negative, so it may leave the range of the values.
    normaliser : (query,) float
        Sum of the interpolated weights, in units of that of the nearest landmark. Where it
        is not positive, the output is no average.

    References
    ----------
    .. [1] williams2001.
    .. [2] xiong2021.
    """
    from scipy.linalg import cho_factor, cho_solve

    between = np.exp(log_gaussian(landmarks, landmarks))
    between[np.diag_indices_from(between)] = 1 + ridge
    coefficient = cho_solve(cho_factor(between, lower=True), sums)
    exponent = log_gaussian(query, landmarks)
    # The factor that is taken out of a row cancels in its ratio, however far its query lies.
    row = np.exp(exponent - exponent.max(axis=-1, keepdims=True)) @ coefficient
    with np.errstate(divide="ignore", invalid="ignore"):
        return row[:, :-1] / row[:, -1:], row[:, -1]
