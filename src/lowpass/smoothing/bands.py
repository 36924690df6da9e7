r"""How far a smooth curve can be trusted.

It owns what a linear smoother costs in degrees of freedom, the scatter that it
leaves, and the errors and bands that follow. They say how the fit would
scatter, not how far its mean lies from the truth: smoothing bias is not in
them.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from lowpass.registry import Refusal


class DegreesOfFreedom(NamedTuple):
    r"""Hold three counts of the parameters that a smoother is worth.

    They agree where A is a projection, as in linear regression.

    Parameters
    ----------
    fit : float
        :math:`\mathrm{tr} A`, the sensitivity of the fits to their own values.
    variance : float
        :math:`\mathrm{tr} A A^\top`, the variance of the fits in units of :math:`\sigma^2`.
    error : float
        :math:`\mathrm{tr}(2A - A A^\top)`, what the residuals lose.
    """

    fit: float
    variance: float
    error: float


def degrees_of_freedom(matrix: np.ndarray) -> DegreesOfFreedom:
    """Count the parameters that a linear smoother is worth.

    Parameters
    ----------
    matrix : (key, key) float
        A, which maps observed values to fits at the same positions.

    Returns
    -------
    DegreesOfFreedom
        From 1 (the mean) to the number of keys (no smoothing), for a Gaussian smoother.

    References
    ----------
    .. [1] hastie1990, section 3.5.
    """
    fit, variance = float(np.trace(matrix)), float(np.square(matrix).sum())
    return DegreesOfFreedom(fit, variance, 2 * fit - variance)


def scatter(matrix: np.ndarray, value: np.ndarray) -> float:
    r"""Estimate the standard deviation of independent errors of equal variance.

    .. math:: \hat\sigma^2 = \frac{\|v - Av\|^2}{\|I - A\|_F^2},
              \qquad \|I - A\|_F^2 = n - 2\,\mathrm{tr} A + \mathrm{tr} A A^\top

    Parameters
    ----------
    matrix : (key, key) float
        A; its rows sum to one.
    value : (key,) float

    Returns
    -------
    float
        In the units of ``value``. Without error of its own where the mean of the values is
        as smooth as A leaves it; too large elsewhere.

    Raises
    ------
    Refusal
        If no residual degrees of freedom are left.

    References
    ----------
    .. [1] hastie1990, section 3.5.
    .. [2] loader1999, section 2.3.
    """
    others = matrix - np.diag(np.diag(matrix))
    # Summed from the other weights, neither residuals nor what is spare cancel.
    spare = others.sum(axis=1)
    left = float(np.square(spare).sum() + np.square(others).sum())
    if left < np.finfo(np.float64).tiny:
        raise Refusal(
            f"the fit leaves {left:.2g} residual degrees of freedom of {len(value)}; the scatter "
            "cannot be estimated from residuals that vanish. Use a larger bandwidth."
        )
    residual = spare * value - others @ value
    return math.sqrt(np.square(residual).sum() / left)


def standard_errors(
    matrix: np.ndarray, value: np.ndarray, at: np.ndarray | None = None
) -> np.ndarray:
    r"""Give the standard error of each fit, :math:`\hat\sigma \sqrt{\sum_i A_{ji}^2}`.

    Parameters
    ----------
    matrix : (key, key) float
        Maps observed values to fits at the same positions; it shows the scatter.
    value : (key,) float
    at : (query, key) float, optional
        Maps observed values to the fits asked about, where those are others.

    Returns
    -------
    (key,) or (query,) float
        In the units of ``value``.

    Raises
    ------
    Refusal
        If no residual degrees of freedom are left.

    References
    ----------
    .. [1] hastie1990, section 3.8.
    """
    asked = matrix if at is None else at
    return scatter(matrix, value) * np.sqrt(np.square(asked).sum(axis=1))


def pointwise_band(
    matrix: np.ndarray, value: np.ndarray, fit: np.ndarray, *, level: float = 0.95
) -> tuple[np.ndarray, np.ndarray]:
    r"""Bound a fit, point by point, for independent errors of equal variance.

    .. math:: f_j \pm z\, \hat\sigma \sqrt{\textstyle\sum_i A_{ji}^2}

    Parameters
    ----------
    matrix : (key, key) float
        A, which maps observed values to fits at the same positions.
    value : (key,) float
    fit : (key,) float
        A v.
    level : float
        Probability that the band holds the mean of the fit at one point.

    Returns
    -------
    lower, upper : (key,) float
        In the units of ``value``.

    Raises
    ------
    Refusal
        If no residual degrees of freedom are left.

    References
    ----------
    .. [1] hastie1990, section 3.8.
    .. [2] loader1999, section 2.3.
    """
    half = quantile(level) * standard_errors(matrix, value)
    return fit - half, fit + half


def quantile(level: float) -> float:
    """Give the half width of a band in standard errors, for normal errors."""
    from scipy.special import ndtri

    return float(ndtri((1 + level) / 2))
