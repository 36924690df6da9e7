"""How wide to smooth.

It owns the choice of a bandwidth, which for attention is the choice of a
temperature: the score of leaving one observation out, the degrees of freedom
of a fit, and the minimum on a grid.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from lowpass.kernels import softmax
from lowpass.registry import Refusal
from lowpass.scores import l2


def loo_residuals(key: np.ndarray, value: np.ndarray, bandwidth: float) -> np.ndarray:
    r"""Predict each observation from all others and take the difference.

    The observation leaves the average by a logit of -inf on the diagonal. The
    shortcut :math:`r_i / (1 - A_{ii})` divides zero by zero at an isolated
    point; here such a point is predicted by its nearest neighbour.

    Parameters
    ----------
    key : (key, feature) float
    value : (key,) float
    bandwidth : float
        In the units of a feature.

    Returns
    -------
    (key,) float
        In the units of ``value``; always finite.
    """
    logit = l2(key, key) / bandwidth**2
    np.fill_diagonal(logit, -np.inf)
    return value - softmax(logit) @ value


def loo_score(key: np.ndarray, value: np.ndarray, bandwidths: Iterable[float]) -> np.ndarray:
    """Give the mean squared leave-one-out residual at each bandwidth.

    Parameters
    ----------
    key : (key, feature) float
    value : (key,) float
    bandwidths : (bandwidth,) float
        In the units of a feature.

    Returns
    -------
    (bandwidth,) float
        In the squared units of ``value``.
    """
    return np.array([np.square(loo_residuals(key, value, h)).mean() for h in bandwidths])


def effective_dof(matrix: np.ndarray) -> np.ndarray:
    """Give the effective degrees of freedom of a linear smoother, its trace.

    Parameters
    ----------
    matrix : (..., key, key) float
        Maps observed values to fits at the same positions.

    Returns
    -------
    (...) float
        From 1 (the mean) to the number of keys (no smoothing), for a Gaussian
        smoother.

    References
    ----------
    .. [1] hastie1990, section 3.5.
    """
    return np.trace(matrix, axis1=-2, axis2=-1)


def select(bandwidths: np.ndarray, scores: np.ndarray) -> float:
    """Choose the bandwidth with the lowest score.

    Parameters
    ----------
    bandwidths : (bandwidth,) float
        A grid, in increasing order.
    scores : (bandwidth,) float

    Returns
    -------
    float
        A member of the grid.

    Raises
    ------
    Refusal
        If the minimum lies at an end of the grid, where it may be no minimum.
    """
    best = int(np.argmin(scores))
    if best in (0, len(bandwidths) - 1):
        raise Refusal(
            f"the lowest score lies at bandwidth {bandwidths[best]:.3g}, an end of the grid "
            f"{bandwidths[0]:.3g} ... {bandwidths[-1]:.3g}; the minimum may lie beyond it. "
            "Widen the grid."
        )
    return float(bandwidths[best])
