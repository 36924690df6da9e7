"""What note 1 makes of logits.

It owns the symmetric part of logits, read as the adjacency of a graph, and how
far the steps that the note takes from there are from being identities.
"""

from __future__ import annotations

import numpy as np

from lowpass.diffusion import heat_kernel
from lowpass.kernels import softmax
from lowpass.laplacians import normalised, signed

# Eigenvalues that should be equal come apart by rounding, in units of the largest.
SAME = 1e-10


def symmetric_part(logits: np.ndarray) -> np.ndarray:
    r"""Average logits with their transpose.

    .. math:: \tilde S = (S + S^\top) / 2

    Parameters
    ----------
    logits : (..., query, key) float

    Returns
    -------
    (..., token, token) float
        Symmetric to the bit. A shift of rows, S + c1ᵀ, changes it, and does not
        change softmax attention.
    """
    return (logits + np.swapaxes(logits, -1, -2)) / 2


def symmetrised_attention(logits: np.ndarray) -> np.ndarray:
    """Take the softmax of the symmetric part of logits.

    Parameters
    ----------
    logits : (..., query, key) float

    Returns
    -------
    (..., query, key) float
        Rows are distributions; reversible, with π in proportion to row sums of
        exp(S̃).
    """
    return softmax(symmetric_part(logits))


def distance(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Take Frobenius' norm (...) of the difference of two matrices (..., query, key)."""
    return np.linalg.norm(one - other, axis=(-2, -1))


def share(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """Divide (...); nothing of nothing is nothing, and something of it infinite."""
    beyond = np.where(part > 0, np.inf, 0.0)
    return np.divide(part, whole, out=beyond, where=whole > 0)


def uniform_distance(attention: np.ndarray) -> np.ndarray:
    r"""Give the distance of attention from the uniform one.

    .. math:: \|A - J\|_F, \qquad J = 1 1^\top / n

    Parameters
    ----------
    attention : (..., query, key) float

    Returns
    -------
    (...) float
        In [0, √(n - 1)]; what any approximation of attention has to beat.
    """
    return distance(attention, np.full_like(attention, 1 / attention.shape[-1]))


def spectral_exponential(symmetric: np.ndarray, time: float = 1.0) -> np.ndarray:
    r"""Exponentiate the eigenvalues of a symmetric matrix.

    .. math:: U e^{t \Lambda} U^\top

    Parameters
    ----------
    symmetric : (..., token, token) float
    time : float
        t, of either sign.

    Returns
    -------
    (..., token, token) float
    """
    value, vector = np.linalg.eigh(symmetric)
    return (vector * np.exp(time * value)[..., None, :]) @ np.swapaxes(vector, -1, -2)


def spectral_exponential_defect(symmetric: np.ndarray) -> np.ndarray:
    """Compare the exponential by eigenvalues with that by scaling and squaring.

    Parameters
    ----------
    symmetric : (..., token, token) float

    Returns
    -------
    (...) float
        Relative distance, of the size of rounding.

    References
    ----------
    .. [1] higham2008, chapter 10.
    """
    from scipy.linalg import expm

    direct = expm(symmetric)
    return distance(spectral_exponential(symmetric), direct) / norm(direct)


def elementwise_gap(symmetric: np.ndarray) -> np.ndarray:
    """Compare the exponential of every entry, which softmax takes, with that of the matrix.

    Parameters
    ----------
    symmetric : (..., token, token) float

    Returns
    -------
    (...) float
        Distance relative to the exponential of the matrix. As the logits
        vanish, one tends to 11ᵀ and the other to I, so that this tends to
        √(n - 1).
    """
    matrix = spectral_exponential(symmetric)
    return distance(np.exp(symmetric), matrix) / norm(matrix)


def norm(matrix: np.ndarray) -> np.ndarray:
    """Take Frobenius' norm (...) of matrices (..., query, key)."""
    return np.linalg.norm(matrix, axis=(-2, -1))


def unit_laplacian(symmetric: np.ndarray) -> np.ndarray:
    r"""Divide the note's Laplacian by the largest modulus of its eigenvalues.

    .. math:: L / \rho(L), \qquad L = D - \tilde S, \quad D_{ii} = \textstyle\sum_j \tilde S_{ij}

    Parameters
    ----------
    symmetric : (..., token, token) float

    Returns
    -------
    (..., token, token) float
        Eigenvalues in [-1, 1]; zero where L is.
    """
    laplacian = signed(symmetric)
    radius = np.abs(np.linalg.eigvalsh(laplacian)).max(axis=-1)[..., None, None]
    return np.divide(laplacian, radius, out=np.zeros_like(laplacian), where=radius > 0)


def other_modes_energy(symmetric: np.ndarray) -> np.ndarray:
    r"""Give the share of the Laplacian that no modes of the symmetric part diagonalise.

    .. math:: \sum_{\lambda_a \ne \lambda_b} (U^\top L U)_{ab}^2 \big/ \|L\|_F^2, \qquad
              \tilde S = U \Lambda U^\top

    Modes of one eigenvalue may be turned among themselves, so that what joins these is
    not counted: logits of few features have many eigenvalues that are zero.

    Parameters
    ----------
    symmetric : (..., token, token) float

    Returns
    -------
    (...) float
        In [0, 1]: zero where L and S̃ have modes in common, as they have where
        all tokens have one degree.
    """
    value, vector = np.linalg.eigh(symmetric)
    turned = np.swapaxes(vector, -1, -2) @ unit_laplacian(symmetric) @ vector
    scale = np.abs(value).max(axis=-1)[..., None, None]
    unlike = np.abs(value[..., :, None] - value[..., None, :]) > SAME * scale
    return share(norm(np.where(unlike, turned, 0.0)) ** 2, norm(turned) ** 2)


def spectral_kernel_gap(symmetric: np.ndarray) -> np.ndarray:
    r"""Compare the heat kernel as the note writes it with the heat kernel.

    .. math:: \|U e^{-\tau\Lambda} U^\top - e^{-\tau L}\|_F / \|e^{-\tau L}\|_F,
              \qquad \tau = 1 / \rho(L)

    Parameters
    ----------
    symmetric : (..., token, token) float
        U and Λ are its modes and eigenvalues.

    Returns
    -------
    (...) float
    """
    radius = np.abs(np.linalg.eigvalsh(signed(symmetric))).max(axis=-1)[..., None, None]
    scaled = np.divide(symmetric, radius, out=np.zeros_like(symmetric), where=radius > 0)
    right = heat_kernel(unit_laplacian(symmetric), 1.0)
    return distance(spectral_exponential(scaled, -1.0), right) / norm(right)


def own_modes_defect(symmetric: np.ndarray) -> np.ndarray:
    """Compare the heat kernel by the modes of L with that by scaling and squaring.

    Parameters
    ----------
    symmetric : (..., token, token) float

    Returns
    -------
    (...) float
        Relative distance at the time 1/ρ(L), of the size of rounding.
    """
    from scipy.linalg import expm

    unit = unit_laplacian(symmetric)
    direct = expm(-unit)
    return distance(heat_kernel(unit, 1.0), direct) / norm(direct)


def negative_degree_share(symmetric: np.ndarray) -> np.ndarray:
    r"""Count tokens whose degree is negative, so that :math:`D^{-1/2}` does not exist.

    Parameters
    ----------
    symmetric : (..., token, token) float

    Returns
    -------
    (...) float
        Share of the tokens with :math:`D_{ii} = \sum_j \tilde S_{ij} < 0`, in [0, 1].
    """
    return (symmetric.sum(axis=-1) < 0).mean(axis=-1)


def lowest_share(symmetric: np.ndarray) -> np.ndarray:
    r"""Give the lowest eigenvalue of the Laplacian in units of the largest modulus.

    .. math:: \lambda_{\min}(L) / \rho(L)

    Parameters
    ----------
    symmetric : (..., token, token) float

    Returns
    -------
    (...) float
        In [-1, 0], as a constant has the eigenvalue zero: negative where heat
        flow amplifies.
    """
    return np.linalg.eigvalsh(unit_laplacian(symmetric))[..., 0]


def unit_kernel(symmetric: np.ndarray) -> np.ndarray:
    """Give the heat kernel (..., token, token) of the Laplacian at the time 1/ρ(L)."""
    return heat_kernel(unit_laplacian(symmetric), 1.0)


def row_defect(kernel: np.ndarray) -> np.ndarray:
    """Give the largest distance (...) of a row sum from one."""
    return np.abs(kernel.sum(axis=-1) - 1).max(axis=-1)


def normalised_row_defect(symmetric: np.ndarray) -> np.ndarray:
    """Give the largest distance of a row sum from one for the normalised Laplacian.

    Parameters
    ----------
    symmetric : (..., token, token) float
        Exponentiated entry by entry, as degrees have to be positive.

    Returns
    -------
    (...) float
        Of the heat kernel at the time one: here rows do have to be normalised.
    """
    return row_defect(heat_kernel(normalised(affinity_of(symmetric)), 1.0))


def affinity_of(symmetric: np.ndarray) -> np.ndarray:
    r"""Exponentiate every entry, up to one factor for all of them.

    .. math:: W_{ij} = e^{\tilde S_{ij} - \max \tilde S}

    Parameters
    ----------
    symmetric : (..., token, token) float

    Returns
    -------
    (..., token, token) float
        In [0, 1]. No Laplacian that divides by degrees sees the factor.
    """
    return np.exp(symmetric - symmetric.max(axis=(-2, -1), keepdims=True))


def without_negative(symmetric: np.ndarray) -> np.ndarray:
    r"""Add the smallest constant that leaves no pair of tokens negative.

    Softmax attention does not see it, as it is a shift of rows.

    Parameters
    ----------
    symmetric : (..., token, token) float
        Two tokens or more.

    Returns
    -------
    (..., token, token) float
        Off the diagonal not negative; the same where that holds already.
    """
    other = ~np.eye(symmetric.shape[-1], dtype=bool)
    lowest = np.where(other, symmetric, np.inf).min(axis=(-2, -1), keepdims=True)
    return symmetric + np.maximum(-lowest, 0)
