"""Attention in linear time, by features whose inner products stand in for its similarity.

It owns the maps from a query or a key to features, what is remembered of all
keys, and the averages that are read from it. No (query, key) matrix is ever
formed, and no exponent is taken before the largest one beside it is known.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from lowpass.registry import Refusal

# Rows of keys that are held as features at once, which a cache still holds.
TILE = 512


class Sums(NamedTuple):
    """Hold what linear attention remembers of its keys, however many there are.

    Parameters
    ----------
    log_scale : (feature,) float
        Logarithm of what each feature was divided by.
    weight : (feature,) float
        Sum of a feature over the keys.
    value : (feature, output) float
        The same, weighted with the values.
    """

    log_scale: np.ndarray
    weight: np.ndarray
    value: np.ndarray

    def first(self, count: int) -> Sums:
        """Keep the first features, which is what fewer of them would have remembered."""
        return Sums(*(each[:count] for each in self))


def independent_directions(rng: np.random.Generator, count: int, width: int) -> np.ndarray:
    """Draw independent directions.

    Parameters
    ----------
    rng : numpy.random.Generator
    count : int
        m, the number of directions.
    width : int
        d, the number of features of a key.

    Returns
    -------
    (direction, feature) float
        Entries ω ~ N(0, 1).
    """
    return rng.standard_normal((count, width))


def orthogonal_directions(rng: np.random.Generator, count: int, width: int) -> np.ndarray:
    r"""Draw directions that are orthogonal within blocks of d, each distributed as if alone.

    A block is G = QR, of which the rows of :math:`Q^\top` take lengths of their own. Q is
    uniform on the orthogonal group only with the diagonal of R made positive: without, its
    first column points away from the first axis in every draw, and the features are biased.

    Parameters
    ----------
    rng : numpy.random.Generator
    count : int
        m, the number of directions; the last block may be cut.
    width : int
        d, the number of features of a key.

    Returns
    -------
    (direction, feature) float
        Each row ~ N(0, I).

    References
    ----------
    .. [1] choromanski2021, section 3.
    .. [2] mezzadri2007.
    """
    blocks = -(-count // width)
    q, r = np.linalg.qr(rng.standard_normal((blocks, width, width)))
    sign = np.where(np.diagonal(r, axis1=-2, axis2=-1) < 0, -1.0, 1.0)
    length = np.sqrt(rng.chisquare(width, (blocks, width, 1)))
    rows = np.swapaxes(q * sign[:, None, :], -2, -1) * length
    return rows.reshape(blocks * width, width)[:count]


def log_positive_features(x: np.ndarray, directions: np.ndarray) -> np.ndarray:
    r"""Give the logarithms of features that are never negative (FAVOR+).

    .. math:: \phi_i(x) = \frac1{\sqrt m}\, e^{\omega_i \cdot x - \|x\|^2/2},
              \qquad \mathrm{E}\, \phi(q) \cdot \phi(k) = e^{q \cdot k}

    Parameters
    ----------
    x : (..., feature) float
    directions : (direction, feature) float
        ω, each row ~ N(0, I).

    Returns
    -------
    (..., direction) float

    References
    ----------
    .. [1] choromanski2021, lemma 1.
    """
    size = np.square(x).sum(axis=-1, keepdims=True) / 2
    return x @ directions.T - size - np.log(len(directions)) / 2


def trigonometric_features(x: np.ndarray, directions: np.ndarray) -> np.ndarray:
    r"""Give features of both signs, without their growth :math:`e^{\|x\|^2/2}`.

    .. math:: \psi(x) = \frac1{\sqrt m}\, (\cos \omega_i \cdot x,\ \sin \omega_i \cdot x),
              \qquad \mathrm{E}\, \psi(q) \cdot \psi(k) = e^{-\|q - k\|^2/2}

    Parameters
    ----------
    x : (..., feature) float
    directions : (direction, feature) float
        ω, each row ~ N(0, I).

    Returns
    -------
    (..., 2 * direction) float
        A cosine, then its sine, for each direction in turn.

    References
    ----------
    .. [1] rahimi2007.
    """
    phase = x @ directions.T
    both = np.stack([np.cos(phase), np.sin(phase)], axis=-1)
    return both.reshape(*phase.shape[:-1], -1) / np.sqrt(len(directions))


def remember(
    log_features: Callable[[np.ndarray], np.ndarray],
    key: np.ndarray,
    value: np.ndarray,
    log_weight: np.ndarray | None = None,
) -> Sums:
    """Sum positive features over the keys, tile by tile.

    Parameters
    ----------
    log_features : callable
        From (key, feature) float to the logarithms (key, positive feature).
    key : (key, feature) float
    value : (key, output) float
    log_weight : (key,) float, optional
        Logarithm of the weight of an observation.

    Returns
    -------
    Sums
        Each feature in units of its largest value, so that none overflows, and none
        underflows for all keys.
    """
    whole = None
    for start in range(0, len(key), TILE):
        rows = slice(start, start + TILE)
        exponent = log_features(key[rows])
        if log_weight is not None:
            exponent += log_weight[rows, None]
        part = _scaled(exponent, value[rows])
        whole = part if whole is None else _joined(whole, part)
    if whole is None:
        raise Refusal("there is no key to average over; give at least one.")
    return whole


def _scaled(exponent: np.ndarray, value: np.ndarray) -> Sums:
    """Sum one tile of (key, feature) exponents, which are used up."""
    scale = exponent.max(axis=0)
    exponent -= scale
    np.exp(exponent, out=exponent)
    return Sums(scale, exponent.sum(axis=0), exponent.T @ value)


def _joined(one: Sums, other: Sums) -> Sums:
    """Add sums over different keys, in units of the larger of both."""
    scale = np.maximum(one.log_scale, other.log_scale)
    left, right = np.exp(one.log_scale - scale), np.exp(other.log_scale - scale)
    return Sums(
        scale,
        left * one.weight + right * other.weight,
        left[:, None] * one.value + right[:, None] * other.value,
    )


def remember_signed(
    features: Callable[[np.ndarray], np.ndarray],
    key: np.ndarray,
    value: np.ndarray,
    log_weight: np.ndarray | None = None,
) -> Sums:
    """Sum features of both signs over the keys, tile by tile.

    Parameters
    ----------
    features : callable
        From (key, feature) float to (key, signed feature), bounded.
    key : (key, feature) float
    value : (key, output) float
    log_weight : (key,) float, optional
        Logarithm of the weight of an observation, counted from the largest.

    Returns
    -------
    Sums
        All of one scale, as large and small ones may cancel.
    """
    count = features(key[:1]).shape[1]
    whole = Sums(np.zeros(count), np.zeros(count), np.zeros((count, value.shape[1])))
    for start in range(0, len(key), TILE):
        rows = slice(start, start + TILE)
        part = features(key[rows])
        if log_weight is not None:
            part *= np.exp(log_weight[rows, None] - log_weight.max())
        whole = Sums(
            whole.log_scale, whole.weight + part.sum(axis=0), whole.value + part.T @ value[rows]
        )
    return whole


def recall(log_features: np.ndarray, sums: Sums) -> np.ndarray:
    r"""Average the values of all keys from what is remembered of them.

    .. math:: f(q) = \frac{\phi(q) \cdot \sum_j \phi(k_j) v_j}{\phi(q) \cdot \sum_j \phi(k_j)}

    Parameters
    ----------
    log_features : (query, feature) float
        Logarithms of the features of queries; a constant of a row cancels.
    sums : Sums

    Returns
    -------
    (query, output) float
        Within the range of the values: the weights are positive, and the largest is 1
        before they are normalised, so that the denominator is 1 or more.
    """
    exponent = log_features + sums.log_scale
    weight = np.exp(exponent - exponent.max(axis=-1, keepdims=True))
    return weight @ sums.value / (weight @ sums.weight)[:, None]


def recall_signed(features: np.ndarray, sums: Sums) -> tuple[np.ndarray, np.ndarray]:
    """Average with features of both signs, and say by what was divided.

    Parameters
    ----------
    features : (query, feature) float
    sums : Sums
        As :func:`remember_signed` gives them.

    Returns
    -------
    output : (query, output) float
        Anything, where the normaliser is near zero or below.
    normaliser : (query,) float
        Estimated sum of the weights. Where it is not positive, the output is no average.
    """
    normaliser = features @ sums.weight
    with np.errstate(divide="ignore", invalid="ignore"):
        return features @ sums.value / normaliser[:, None], normaliser
