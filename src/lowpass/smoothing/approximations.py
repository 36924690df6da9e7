"""Gaussian smoothing that is not exact: one fit for each number of terms.

It owns how features, landmarks and fewer keys become fits, from arrays in
units of the bandwidth, counted from the mean of the keys; where keys have
weights, they are positive. Larger numbers of terms extend smaller ones, so that
all of them share one pass over the keys.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from lowpass.scores import log_elu_features
from lowpass.smoothing.features import (
    log_positive_features,
    recall,
    recall_signed,
    remember,
    remember_signed,
    trigonometric_features,
)
from lowpass.smoothing.landmarks import interpolated, landmark_sums, log_gaussian

# By the number of terms: the fit (query, output), and by what it was divided (query,).
Fits = dict[int, tuple[np.ndarray, np.ndarray]]
# Weights of keys against queries that are held at once.
ENTRIES = 2**20


def by_every_key(query: np.ndarray, key: np.ndarray, value: np.ndarray) -> np.ndarray:
    """Average by the textbook formula, some queries at a time.

    Parameters
    ----------
    query : (query, feature) float
    key : (key, feature) float
    value : (key, output) float

    Returns
    -------
    (query, output) float
    """
    rows = max(1, ENTRIES // len(key))
    fit = np.empty((len(query), value.shape[1]))
    for start in range(0, len(query), rows):
        exponent = log_gaussian(query[start : start + rows], key)
        weight = np.exp(exponent - exponent.max(axis=1, keepdims=True))
        fit[start : start + rows] = weight @ value / weight.sum(axis=1, keepdims=True)
    return fit


def by_fewer_keys(
    query: np.ndarray, key: np.ndarray, value: np.ndarray, order: np.ndarray, counts: Iterable[int]
) -> Fits:
    """Average over the first keys of an order, (key,) int, and forget all others."""
    ones = np.ones(len(query))
    return {m: (by_every_key(query, key[order[:m]], value[order[:m]]), ones) for m in counts}


def by_landmarks(
    query: np.ndarray,
    key: np.ndarray,
    value: np.ndarray,
    order: np.ndarray,
    counts: Iterable[int],
    *,
    weight: np.ndarray | None = None,
) -> Fits:
    """Interpolate the kernel between the first keys of an order, (key,) int."""
    counts = list(counts)
    landmark = key[order[: max(counts)]]
    sums = landmark_sums(key, value, landmark, weight)
    return {m: interpolated(query, landmark[:m], sums[:m]) for m in counts}


def by_positive_features(
    query: np.ndarray,
    key: np.ndarray,
    value: np.ndarray,
    directions: np.ndarray,
    counts: Iterable[int],
    *,
    weight: np.ndarray | None = None,
) -> Fits:
    r"""Average with positive features of the first directions, (direction, feature) float.

    :math:`e^{-\|q-k\|^2/2}` is :math:`e^{q \cdot k}` with the key weight
    :math:`e^{-\|k\|^2/2}`, but for a factor that cancels.
    """
    own = log_positive_features(query, directions)
    log_weight = -np.square(key).sum(axis=1) / 2
    if weight is not None:
        log_weight += np.log(weight)
    sums = remember(lambda x: log_positive_features(x, directions), key, value, log_weight)
    ones = np.ones(len(query))
    return {m: (recall(own[:, :m], sums.first(m)), ones) for m in counts}


def by_trigonometric_features(
    query: np.ndarray,
    key: np.ndarray,
    value: np.ndarray,
    directions: np.ndarray,
    counts: Iterable[int],
    *,
    weight: np.ndarray | None = None,
) -> Fits:
    """Average with cosines and sines of the first directions, (direction, feature) float."""
    own = trigonometric_features(query, directions)
    log_weight = None if weight is None else np.log(weight)
    sums = remember_signed(lambda x: trigonometric_features(x, directions), key, value, log_weight)
    return {m: recall_signed(own[:, : 2 * m], sums.first(2 * m)) for m in counts}


def by_linear_attention(query: np.ndarray, key: np.ndarray, value: np.ndarray) -> np.ndarray:
    """Average with elu + 1 in the place of the exponential, and the same key weights.

    Returns
    -------
    (query, output) float
        Within the range of the values; of a similarity that no number of terms improves.
    """
    sums = remember(log_elu_features, key, value, -np.square(key).sum(axis=1) / 2)
    return recall(log_elu_features(query), sums)
