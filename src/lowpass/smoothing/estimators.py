"""Smooth curves through observations.

It owns the two ways to ask for a kernel smoother, its fit and its matrix.
Beside them stand the estimators that note 2 compares: the textbook form, and
attention by products and by distances.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from lowpass.kernels import softmax
from lowpass.scores import dot, l2
from lowpass.smoothing.checks import checked
from lowpass.smoothing.choosing import smoothed
from lowpass.smoothing.local import matrix_of


def smooth(
    query: ArrayLike,
    key: ArrayLike,
    value: ArrayLike,
    bandwidth: ArrayLike,
    *,
    kernel: str = "gaussian",
    degree: int = 0,
    weight: ArrayLike | None = None,
    period: ArrayLike | None = None,
    beyond: str = "nearest",
    method: str = "exact",
) -> np.ndarray:
    r"""Estimate values at queries from values observed at keys.

    Degree 0 is the estimator of Nadaraya and Watson,
    :math:`f(q) = \sum_i K(|q - k_i|/h)\, v_i / \sum_i K(|q - k_i|/h)`; degree 1 fits a plane
    around each query instead of a constant, see :func:`lowpass.smoothing.local.local_linear`.

    Parameters
    ----------
    query : (query, feature) or (query,) float
    key : (key, feature) or (key,) float
    value : (key,) or (key, output) float
    bandwidth : float or (feature,) float
        h, in the units of each feature.
    kernel : str
        Name in :data:`lowpass.smoothing.profiles.PROFILES`.
    degree : {0, 1}
        Of the local polynomial.
    weight : (key,) float, optional
        How much an observation counts, by itself: 2 is as two equal observations.
    period : float or (feature,) float, optional
        The circumference, where keys lie on a circle; inf for a feature that lies on a line.
    beyond : {"nearest", "refuse", "nan"}
        What a query gets that a kernel of bounded support leaves without a key: the value of
        the nearest key, a refusal, or nan. Other kernels always give the nearest value.
    method : str
        Name in :data:`lowpass.smoothing.methods.METHODS`, or ``"auto"`` for the fastest one that
        is as good as exact; :func:`lowpass.smoothing.choosing.choice_for` says which, and why.

    Returns
    -------
    (query,) or (query, output) float
        In the units of ``value``. Fits of degree 0 lie among the values.

    Raises
    ------
    Refusal
        See :func:`lowpass.smoothing.checks.checked`; also for an unknown name or degree, for a
        query that no key reaches where that is to be refused, where a product is to repeat, and
        for a method that is not made for the kernel, the degree or so many features.

    References
    ----------
    .. [1] nadaraya1964.
    .. [2] watson1964.
    .. [3] fan1992.

    Examples
    --------
    >>> smooth([0.5, 9.0], [0.0, 1.0, 2.0], [3.0, 5.0, 5.0], 0.1)
    array([4., 5.])
    """
    sample = checked(query, key, value, bandwidth, weight, period=period)
    fit, _ = smoothed(sample, kernel=kernel, degree=degree, beyond=beyond, method=method)
    return fit[:, 0] if np.ndim(value) == 1 else fit


def smoother_matrix(
    query: ArrayLike,
    key: ArrayLike,
    bandwidth: ArrayLike,
    *,
    kernel: str = "gaussian",
    degree: int = 0,
    weight: ArrayLike | None = None,
    period: ArrayLike | None = None,
    beyond: str = "nearest",
) -> np.ndarray:
    r"""Give the matrix that maps observed values to fits.

    Parameters
    ----------
    query : (query, feature) or (query,) float
    key : (key, feature) or (key,) float
    bandwidth : float or (feature,) float
        In the units of each feature.
    kernel, degree, weight, period, beyond
        As for :func:`smooth`.

    Returns
    -------
    (query, key) float
        Rows sum to one; of degree 0, they are non-negative.

    Raises
    ------
    Refusal
        As for :func:`smooth`.

    Examples
    --------
    >>> smoother_matrix([0.5], [0.0, 1.0, 9.0], 1.0, kernel="boxcar")
    array([[0.5, 0.5, 0. ]])
    """
    sample = checked(query, key, None, bandwidth, weight, period=period)
    return matrix_of(sample, kernel=kernel, degree=degree, beyond=beyond)


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


def distance_attention(query: np.ndarray, key: np.ndarray, temperature: float) -> np.ndarray:
    r"""Attend by distance, as a Gaussian smoother does.

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
