"""How far a smooth curve can be trusted.

It owns the error bands of a linear smoother. They say how the fit would
scatter, not how far its mean lies from the truth: smoothing bias is not in
them.
"""

from __future__ import annotations

import numpy as np

from lowpass.registry import Refusal


def pointwise_band(
    matrix: np.ndarray, value: np.ndarray, fit: np.ndarray, *, level: float = 0.95
) -> tuple[np.ndarray, np.ndarray]:
    r"""Bound a fit, point by point, for independent errors of equal variance.

    .. math::
        \hat\sigma^2 = \frac{\|v - f\|^2}{n - 2\,\mathrm{tr} A + \mathrm{tr} A A^\top},
        \qquad f_j \pm z\, \hat\sigma \sqrt{\textstyle\sum_i A_{ji}^2}

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
    .. [1] hastie1990, section 3.5 and 3.8.
    .. [2] loader1999, section 2.3.
    """
    from scipy.special import ndtri

    variance_factor = np.square(matrix).sum(axis=1)
    spare = len(value) - 2 * np.trace(matrix) + variance_factor.sum()
    # Interpolation leaves the difference of two sums of size n, which is rounding.
    if spare <= len(value) ** 2 * np.finfo(np.float64).eps:
        raise Refusal(
            f"the fit leaves {spare:.2g} residual degrees of freedom of {len(value)}; the scatter "
            "cannot be estimated from residuals that vanish. Use a larger bandwidth."
        )
    sigma = np.sqrt(np.square(value - fit).sum() / spare)
    half = ndtri((1 + level) / 2) * sigma * np.sqrt(variance_factor)
    return fit - half, fit + half
