r"""Errors of a smoother in expectation, where truth and scatter are known.

It owns bias, variance, and what criteria tend to, for keys anywhere and errors
that may be correlated. Nothing is drawn: values are :math:`v = f + \varepsilon`
with :math:`E \varepsilon = 0` and :math:`E \varepsilon \varepsilon^\top = \Sigma`,
and a smoother is linear in them.
"""

from __future__ import annotations

import numpy as np

from lowpass.smoothing.checks import checked
from lowpass.smoothing.local import matrix_of


def covariance(count: int, noise: float, correlation: float) -> np.ndarray:
    r"""Give the covariance of errors that forget their past at a constant rate.

    .. math:: \Sigma_{ij} = \sigma^2 \rho^{|i - j|}

    Parameters
    ----------
    count : int
        Number of errors, in the order of their keys.
    noise : float
        σ, in the units of a value.
    correlation : float
        ρ of two successive errors; 0 where they are independent.

    Returns
    -------
    (key, key) float
    """
    apart = abs(np.subtract.outer(np.arange(count), np.arange(count)))
    return noise**2 * float(correlation) ** apart


def moments(
    matrix: np.ndarray, truth: np.ndarray, aim: np.ndarray, scatter: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    r"""Give bias and variance of every fit.

    .. math:: E f_j - t_j = \textstyle\sum_i A_{ji} f(k_i) - t_j, \qquad
              \mathrm{Var} f_j = (A \Sigma A^\top)_{jj}

    Parameters
    ----------
    matrix : (query, key) float
        A, which maps values to fits.
    truth : (key,) float
        f at the keys.
    aim : (query,) float
        t, the truth at the queries.
    scatter : (key, key) float
        Σ.

    Returns
    -------
    bias, variance : (query,) float
        In the units of a value, and their square.

    References
    ----------
    .. [1] hastie1990, section 3.4.
    """
    return matrix @ truth - aim, np.einsum("ji,ik,jk->j", matrix, scatter, matrix, optimize=True)


def held_out(key: np.ndarray, bandwidth: float) -> np.ndarray:
    """Give the Gaussian smoother (key, key) at its own keys, each without its own value."""
    return matrix_of(checked(key, key, None, bandwidth), hidden=np.eye(len(key), dtype=bool))


def expected_score(matrix: np.ndarray, truth: np.ndarray, scatter: np.ndarray) -> float:
    r"""Give the expected mean squared difference of values from their fits at the keys.

    .. math:: \frac1n \sum_i \Big( (f - Af)_i^2 + \big((I - A) \Sigma (I - A)^\top\big)_{ii} \Big)

    Of :func:`held_out` it is what the leave-one-out score estimates; of a smoother that sees
    every value it is the training error.

    Parameters
    ----------
    matrix : (key, key) float
    truth : (key,) float
    scatter : (key, key) float

    Returns
    -------
    float
        In the squared units of a value.
    """
    left = np.eye(len(truth)) - matrix
    bias, variance = moments(left, truth, np.zeros(len(truth)), scatter)
    return float(np.mean(np.square(bias) + variance))


def score_slope(key: np.ndarray, truth: np.ndarray, scatter: np.ndarray, scale: float) -> float:
    r"""Differentiate half the sum of expected leave-one-out errors by the inverse bandwidth w.

    Weights are :math:`A_{ij} \propto e^{-w^2 d_{ij} / 2}` with squared distances d, so that
    :math:`\partial_w A_{ij} = -w A_{ij} (d_{ij} - \sum_k A_{ik} d_{ik})`.

    Parameters
    ----------
    key : (key, feature) float
    truth : (key,) float
    scatter : (key, key) float
    scale : float
        w = 1/h.

    Returns
    -------
    float
    """
    matrix = held_out(key, 1 / abs(scale))
    distance = np.square(key[:, None, :] - key).sum(axis=-1)
    mean = (matrix * distance).sum(axis=1, keepdims=True)
    change = -scale * matrix * (distance - mean)
    left = np.eye(len(truth)) - matrix
    bent = (left @ truth) @ (change @ truth)
    return -float(bent + np.sum((left @ scatter) * change))


def trained_scale(
    key: np.ndarray,
    truth: np.ndarray,
    scatter: np.ndarray,
    start: float,
    *,
    steps: int,
    rate: float,
) -> float:
    """Learn an inverse bandwidth by some steps of gradient descent on :func:`score_slope`.

    Parameters
    ----------
    key : (key, feature) float
    truth : (key,) float
    scatter : (key, key) float
    start : float
        Inverse bandwidth before the first step; its sign is of no account.
    steps : int
    rate : float
        What a slope is multiplied by.

    Returns
    -------
    float
    """
    scale = start
    for _ in range(steps):
        scale -= rate * score_slope(key, truth, scatter, scale)
    return scale
