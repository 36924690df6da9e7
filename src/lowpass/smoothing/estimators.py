"""Weighted averages of observed values.

It owns the estimators that note 2 compares: the kernel smoother in its
textbook form, and dot-product attention with and without key weights. The
textbook form never calls an attention kernel, so that the two routes can
disagree.
"""

from __future__ import annotations

import numpy as np

from lowpass.kernels import softmax
from lowpass.scores import dot, l2


def nadaraya_watson(
    query: np.ndarray, key: np.ndarray, value: np.ndarray, bandwidth: float
) -> np.ndarray:
    r"""Average observed values with Gaussian weights.

    .. math:: f(q) = \frac{\sum_i e^{-|q - k_i|^2 / 2h^2} v_i}{\sum_i e^{-|q - k_i|^2 / 2h^2}}

    Parameters
    ----------
    query : (query, feature) float
    key : (key, feature) float
    value : (key,) or (key, output) float
    bandwidth : float
        h, in the units of a feature.

    Returns
    -------
    (query,) or (query, output) float
        A query far from every key gets the value of the nearest one.

    References
    ----------
    .. [1] nadaraya1964.
    .. [2] watson1964.
    """
    distance = np.square(query[:, None, :] - key[None, :, :]).sum(axis=-1)
    # Distances beyond the nearest keep one weight at 1, so the denominator cannot vanish.
    beyond = distance - distance.min(axis=1, keepdims=True)
    weight = np.exp(-beyond / (2 * bandwidth**2))
    return ((weight @ value).T / weight.sum(axis=1)).T


def dot_product_attention(
    query: np.ndarray, key: np.ndarray, value: np.ndarray, temperature: float
) -> np.ndarray:
    r"""Average observed values with softmax weights of dot products.

    .. math:: f(q) = \sum_i \mathrm{softmax}_i(q \cdot k_i / T)\, v_i

    Parameters
    ----------
    query : (query, feature) float
    key : (key, feature) float
    value : (key,) or (key, output) float
    temperature : float
        T; √d in a transformer.

    Returns
    -------
    (query,) or (query, output) float
    """
    return softmax(dot(query, key) / temperature) @ value


def weighted_dot_product_attention(
    query: np.ndarray, key: np.ndarray, value: np.ndarray, temperature: float
) -> np.ndarray:
    r"""Average with dot-product attention whose long keys are held back.

    .. math:: f(q) = \sum_i \mathrm{softmax}_i\big((q \cdot k_i - |k_i|^2/2) / T\big)\, v_i

    It equals :func:`nadaraya_watson` with :math:`h^2 = T` for any keys.

    Parameters
    ----------
    query : (query, feature) float
    key : (key, feature) float
    value : (key,) or (key, output) float
    temperature : float
        T, a squared bandwidth.

    Returns
    -------
    (query,) or (query, output) float
    """
    score = dot(query, key) - np.square(key).sum(axis=-1) / 2
    return softmax(score / temperature) @ value


def smoother_matrix(query: np.ndarray, key: np.ndarray, temperature: float) -> np.ndarray:
    r"""Give the matrix that maps observed values to Gaussian-kernel fits.

    .. math:: A_{ji} = \mathrm{softmax}_i(-|q_j - k_i|^2 / 2T)

    Parameters
    ----------
    query : (query, feature) float
    key : (key, feature) float
    temperature : float
        T, a squared bandwidth.

    Returns
    -------
    (query, key) float
        Rows are non-negative and sum to one.
    """
    return softmax(l2(query, key) / temperature)
