"""From shares to the rows of a smoother.

It owns the local polynomials: what is fitted around a query, a constant or a
plane, says how shares of observations become coefficients of their values.
"""

from __future__ import annotations

import numpy as np

from lowpass.registry import Refusal
from lowpass.smoothing.checks import Sample
from lowpass.smoothing.weights import extent, images, shares_of

# Eigenvalues of a covariance are known to about 1e-16 of the largest one.
UNDETERMINED = 1e-11
# Below it, what is left of a weight has no digits.
VANISHED = 1e-290


def matrix_of(
    sample: Sample,
    *,
    kernel: str = "gaussian",
    degree: int = 0,
    beyond: str = "nearest",
    hidden: np.ndarray | None = None,
) -> np.ndarray:
    """Give the matrix that maps values to fits, for a sample that was checked.

    Parameters
    ----------
    sample : Sample
    kernel : str
        Name in ``PROFILES``.
    degree : {0, 1}
    beyond : {"nearest", "refuse", "nan"}
        What a query gets that no key reaches.
    hidden : (query, key) bool, optional
        Keys that a query does not see: the diagonal leaves each observation out of its own fit.

    Returns
    -------
    (query, key) float
        Rows sum to one; of degree 0, they are non-negative.

    Raises
    ------
    Refusal
        See :func:`lowpass.smoothing.estimators.smoother_matrix`.
    """
    if degree not in (0, 1):
        raise Refusal(
            f"degree is {degree!r}; local constants (0) and local planes (1) can be fitted. Use "
            "one of them."
        )
    around = images(sample, kernel)
    n_images = len(around.key) // len(sample.key)
    if hidden is not None:
        hidden = np.tile(hidden, n_images)
    matrix = shares_of(around, kernel, beyond=beyond, hidden=hidden)
    if degree:
        matrix = local_linear(around, matrix)
    return matrix.reshape(len(sample.query), n_images, len(sample.key)).sum(axis=1)


def local_linear(sample: Sample, share: np.ndarray) -> np.ndarray:
    r"""Fit a plane around each query by weighted least squares, and read it there.

    .. math::
        l_i = w_i \big(1 + (q - \bar k)^\top C^+ (k_i - \bar k)\big), \quad
        \bar k = \textstyle\sum_i w_i k_i, \quad
        C = \textstyle\sum_i w_i (k_i - \bar k)(k_i - \bar k)^\top

    Where keys do not determine a slope, as where all of them lie in a plane of fewer
    dimensions, the pseudo-inverse leaves that part of the slope at zero; where they determine
    none, the fit is the local average.

    Parameters
    ----------
    sample : Sample
    share : (query, key) float
        w, whose rows sum to one.

    Returns
    -------
    (query, key) float
        Rows sum to one; entries may be negative.

    References
    ----------
    .. [1] fan1992.
    """
    heaviest = sample.key[share.argmax(axis=1)]
    # From the key with the largest share, small shares of other keys lose no digits.
    unit = sample.bandwidth / sample.bandwidth.min()
    # Near one, squares stay in range, whatever the unit of length is.
    unit = unit * extent(sample.key / unit)
    apart = (sample.key.T[:, None, :] - heaviest.T[:, :, None]) / unit[:, None, None]
    mean = np.einsum("qk,fqk->fq", share, apart)
    apart -= mean[:, :, None]
    covariance = np.einsum("qk,fqk,gqk->qfg", share, apart, apart)
    reach = (sample.query - heaviest).T / unit[:, None] - mean
    slope = _solved(covariance, reach.T, np.square(apart).max(axis=(0, 2), initial=0.0))
    return share * (1 + np.einsum("qf,fqk->qk", slope, apart))


def _solved(covariance: np.ndarray, reach: np.ndarray, size: np.ndarray) -> np.ndarray:
    """Apply the pseudo-inverse of each covariance (query, feature, feature) to a vector."""
    lost = np.isnan(covariance[:, 0, 0])
    variance, mode = np.linalg.eigh(np.where(lost[:, None, None], 0.0, covariance))
    floor = np.maximum(UNDETERMINED * variance[:, -1], VANISHED * size)
    kept = variance > floor[:, None]
    part = np.einsum("qfm,qf->qm", mode, reach) / np.where(kept, variance, 1.0)
    slope = np.einsum("qfm,qm->qf", mode, np.where(kept, part, 0.0))
    return np.where(lost[:, None], np.nan, slope)
