r"""Leaving one out, the short way and the long way.

It owns two ways that no criterion takes, to compare the one they take with: the
formula of textbooks, :math:`r_i / (1 - A_{ii})`, as it stands; and as many
fits as there are observations, each without one of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lowpass.smoothing.checks import checked
from lowpass.smoothing.estimators import smooth, smoother_matrix


def shortcut(
    key: ArrayLike, value: ArrayLike, bandwidth: ArrayLike, **smoother: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Divide each residual by what its weight leaves, subtracted as the formula says.

    Parameters
    ----------
    key : (key, feature) or (key,) float
    value : (key,) or (key, output) float
    bandwidth : float or (feature,) float
        In the units of each feature.
    **smoother
        ``kernel``, ``degree``, ``period``: see :func:`lowpass.smoothing.trials.trial`.

    Returns
    -------
    residual : (key, output) float
        In the units of ``value``; not finite where a point keeps its whole weight.
    own_weight : (key,) float
        The diagonal of the smoother.

    References
    ----------
    .. [1] hastie1990, section 3.4.
    """
    sample = checked(key, key, value, bandwidth)
    matrix = smoother_matrix(sample.key, sample.key, sample.bandwidth, **smoother)
    own = np.diag(matrix)
    with np.errstate(divide="ignore", invalid="ignore"):
        return (sample.value - matrix @ sample.value) / (1 - own)[:, None], own


def refitted(key: ArrayLike, value: ArrayLike, bandwidth: ArrayLike, **smoother: Any) -> np.ndarray:
    """Fit anew without each observation, and take the difference from what it was.

    Parameters
    ----------
    key, value, bandwidth, **smoother
        As for :func:`shortcut`.

    Returns
    -------
    (key, output) float
        In the units of ``value``; always finite.
    """
    sample = checked(key, key, value, bandwidth)
    k, v = sample.key, sample.value
    kept = ~np.eye(len(k), dtype=bool)
    fits = [
        smooth(k[i : i + 1], k[rest], v[rest], sample.bandwidth, **smoother)[0]
        for i, rest in enumerate(kept)
    ]
    return v - np.array(fits)
