"""Whether what is nearer counts more.

It owns the comparison of two orders of the keys, that of their weights and that of their
distances, as a query sees them.
"""

from __future__ import annotations

import numpy as np


def distances(query: np.ndarray, key: np.ndarray) -> np.ndarray:
    """Give the squared distance of every query (query, feature) from every key (key, feature)."""
    return np.square(query[:, None, :] - key[None, :, :]).sum(axis=-1)


def disorder(logit: np.ndarray, distance: np.ndarray) -> np.ndarray:
    r"""Give the share of pairs of keys of which the farther one counts more.

    Of two keys it is so for the queries between two parallel planes,

    .. math:: 0 < q \cdot (k_1 - k_2) < \tfrac12 \big(\|k_1\|^2 - \|k_2\|^2\big),

    where logits are dot products. The planes are one exactly where both keys are equally long.

    Parameters
    ----------
    logit : (query, key) float
        Weights, or what rises with them.
    distance : (query, key) float
        Or what rises with it.

    Returns
    -------
    (query,) float
        From 0, where weights fall with distance, to 1, where they rise.
    """
    n_keys = logit.shape[1]
    pairs = np.triu_indices(n_keys, 1)
    return np.array(
        [
            np.mean((w[pairs[0]] - w[pairs[1]]) * (s[pairs[0]] - s[pairs[1]]) > 0)
            for w, s in zip(logit, distance, strict=True)
        ]
    )


def nearest_wins(logit: np.ndarray, distance: np.ndarray) -> np.ndarray:
    """Say for each query (query,) whether the key that counts most is the nearest."""
    return logit.argmax(axis=1) == distance.argmin(axis=1)


def equal_norms(key: np.ndarray) -> np.ndarray:
    """Scale every key to the root-mean-square norm of all.

    Parameters
    ----------
    key : (key, feature) float
        None is zero.

    Returns
    -------
    (key, feature) float
        In the directions of ``key``.
    """
    square = np.square(key).sum(axis=1, keepdims=True)
    return key * np.sqrt(square.mean() / square)


def moved(key: np.ndarray, direction: np.ndarray, distance: float) -> np.ndarray:
    """Move all keys (key, feature) alike, along a direction (feature,) that is not zero."""
    return key + distance * direction / np.linalg.norm(direction)
