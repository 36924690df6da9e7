"""How far the modes of a mixing matrix are from orthogonal or real ones.

It owns the defects that let powers of a matrix grow or turn before its second eigenvalue wins.
"""

from __future__ import annotations

import numpy as np

from lowpass.spectra import eigenvalues


def henrici_number(attention: np.ndarray) -> np.ndarray:
    r"""Give the departure of a matrix from normality, relative to its norm.

    .. math:: \sqrt{\|A\|_F^2 - \textstyle\sum_k |\lambda_k|^2} \Big/ \|A\|_F = \|N\|_F / \|A\|_F

    Here N is the strictly upper triangle of a Schur form of A, from which it is
    computed: the difference under the root loses half of all digits where A is
    nearly normal.

    Parameters
    ----------
    attention : (..., query, key) float
        Not zero.

    Returns
    -------
    (...) float
        In [0, 1]: zero where eigenvectors are orthogonal, as for symmetric and
        circulant matrices; large where powers may grow before they shrink.

    References
    ----------
    .. [1] henrici1962, definition of the departure from normality.
    """
    from scipy.linalg import schur

    number = np.empty(attention.shape[:-2])
    for index in np.ndindex(number.shape):
        triangle = schur(attention[index], output="complex")[0]
        number[index] = np.linalg.norm(np.triu(triangle, 1)) / np.linalg.norm(triangle)
    return number


def reversibility_defect(attention: np.ndarray, stationary: np.ndarray) -> np.ndarray:
    r"""Give the largest net flow between two tokens in the stationary state.

    .. math:: \max_{i, j} |\pi_i A_{ij} - \pi_j A_{ji}|

    Parameters
    ----------
    attention : (..., query, key) float
    stationary : (..., token) float
        π, with πᵀA = πᵀ.

    Returns
    -------
    (...) float
        In [0, 1]: zero where A is reversible, so that its eigenvalues are real.
    """
    flow = stationary[..., :, None] * attention
    return np.abs(flow - np.swapaxes(flow, -1, -2)).max(axis=(-2, -1))


def second_imaginary_share(attention: np.ndarray) -> np.ndarray:
    r"""Give how much of the second eigenvalue is imaginary.

    .. math:: |\operatorname{Im} \lambda_2| / |\lambda_2|

    Parameters
    ----------
    attention : (..., query, key) float
        At least 2 x 2.

    Returns
    -------
    (...) float
        In [0, 1]: zero where λ₂ is real, or zero itself. The logarithm of the
        transient turns with twice the phase that this is the sine of.
    """
    second = eigenvalues(attention)[..., 1]
    modulus = np.abs(second)
    return np.divide(
        np.abs(np.imag(second)), modulus, out=np.zeros(modulus.shape), where=modulus > 0
    )
