"""What a similarity has to be like to average values with it.

It owns the signs of the weights that a table of similarities gives and where the averages lie,
and how far a table is from one that a scalar product in some space could give.
"""

from __future__ import annotations

import numpy as np


def share_left(similarity: np.ndarray) -> np.ndarray:
    r"""Compare the sum of a query's similarities with the sum of their moduli.

    .. math:: \Big|\sum_j \alpha_{ij}\Big| \Big/ \sum_j |\alpha_{ij}|

    Parameters
    ----------
    similarity : (query, key) float

    Returns
    -------
    (query,) float
        One where all have the same sign, zero where they cancel and no weights exist. Rounding
        of weights is its inverse times larger.
    """
    return abs(similarity.sum(axis=1)) / abs(similarity).sum(axis=1)


def weights_of(similarity: np.ndarray) -> np.ndarray:
    """Divide similarities (query, key) by their sum over the keys, whatever their signs."""
    return similarity / similarity.sum(axis=1, keepdims=True)


def outside_share(weights: np.ndarray, value: np.ndarray) -> float:
    """Give the share of averages that lie beyond the least or the largest value.

    Parameters
    ----------
    weights : (query, key) float
        Rows sum to one.
    value : (key,) float

    Returns
    -------
    float
        In [0, 1]; zero where no weight is negative.
    """
    fit = weights @ value
    # Rounding may carry an average of equal values beyond them.
    slack = 8 * np.finfo(np.float64).eps * abs(value).max()
    return float(((fit < value.min() - slack) | (fit > value.max() + slack)).mean())


def asymmetry(similarity: np.ndarray) -> float:
    r"""Measure how far a similarity changes when its arguments change places.

    .. math:: \|\alpha - \alpha^\top\|_F \big/ 2 \|\alpha\|_F

    Parameters
    ----------
    similarity : (point, point) float

    Returns
    -------
    float
        From 0, symmetric, to 1, where the places decide the sign.
    """
    return float(np.linalg.norm(similarity - similarity.T) / (2 * np.linalg.norm(similarity)))


def negative_eigenvalue(similarity: np.ndarray) -> float:
    r"""Give how far below zero the quadratic form of a similarity reaches.

    .. math:: \max(0, -\lambda_1) / \max_m |\lambda_m|,
              \qquad \lambda \text{ of } (\alpha + \alpha^\top) / 2

    Parameters
    ----------
    similarity : (point, point) float

    Returns
    -------
    float
        From 0, which every scalar product has [1]_, to 1. Rounding leaves some units of
        float64.

    References
    ----------
    .. [1] mercer1909.
    """
    eigenvalue = np.linalg.eigvalsh((similarity + similarity.T) / 2)
    return float(max(0.0, -eigenvalue[0]) / abs(eigenvalue).max())
