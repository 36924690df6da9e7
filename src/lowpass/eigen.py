"""The second-largest eigenvalue modulus of mixing matrices, large ones too.

It owns the choice between solvers, and when none but the slowest can be trusted.
"""

from __future__ import annotations

import numpy as np

# Up to this many tokens all eigenvalues cost less than an iteration for a few of them.
DENSE = 128
# One vector alone, or a tolerance of 1e-8, was seen to end at another eigenvalue, off by 1e-3.
WANTED = 4
TOLERANCE = 1e-12
BASIS = 40
# Moduli this near to each other may hide one more, so that a second opinion is asked for.
CROWDED = 0.99
AGREEMENT = 1e-9
# An eigenvalue moves by no more than the largest relative defect of the detailed balance.
BALANCE = 1e-10
ROWS_AT_ONCE = 64


def slem(attention: np.ndarray) -> np.ndarray:
    r"""Give the second-largest eigenvalue modulus |λ₂|.

    It is the largest modulus of the eigenvalues of :math:`CA`, with C the
    centring of tokens: those of A without the one of the constant vector.

    Up to 128 tokens all of them are computed. Above, Arnoldi's iteration finds
    the largest from a fixed start, without another matrix. Where it does not
    converge, or where the largest are so close together that a second run has
    to confirm it and does not, all of them are computed after all.

    Parameters
    ----------
    attention : (..., query, key) float
        Rows sum to one.

    Returns
    -------
    (...) float
        The factor by which the transient shrinks per layer, in the end. In
        [0, 1] where no weight is negative; zero for one token.

    References
    ----------
    .. [1] lehoucq1998, section 4.
    """
    if attention.shape[-1] <= DENSE:
        return _moduli(attention).max(axis=-1)
    value = np.empty(attention.shape[:-2])
    for index in np.ndindex(value.shape):
        value[index] = _of_large(np.asarray(attention[index], dtype=np.float64))
    return value[()]


def reversible_eigenvalues(attention: np.ndarray) -> np.ndarray:
    r"""List the eigenvalues of reversible matrices, which are real, from the largest down.

    With detailed balance, :math:`\pi_i A_{ij} = \pi_j A_{ji}`, A is similar to
    the symmetric matrix :math:`(A_{ij} A_{ji})^{1/2}`, whatever π is. Softmax of
    symmetric scores is reversible.

    Parameters
    ----------
    attention : (..., token, token) float
        Non-negative; that it is reversible is taken for granted, see
        :func:`is_reversible`.

    Returns
    -------
    (..., mode) float

    References
    ----------
    .. [1] levin2017, section 12.1.
    """
    root = np.sqrt(attention)
    return np.linalg.eigvalsh(root * np.swapaxes(root, -1, -2))[..., ::-1]


def is_reversible(attention: np.ndarray) -> bool:
    r"""Say whether one matrix is in detailed balance, up to rounding.

    The first row and column state what π would have to be,
    :math:`\pi_j / \pi_0 = A_{0j} / A_{j0}`; a few rows at a time are held against it.

    Parameters
    ----------
    attention : (token, token) float
        Non-negative. A zero in the first row or column counts as not
        reversible.

    Returns
    -------
    bool
        Whether :math:`(\pi_i/\pi_j)^{1/2} A_{ij}` is symmetric to 1e-10 of itself.
    """
    if not ((attention[0] > 0).all() and (attention[:, 0] > 0).all()):
        return False
    half = (np.log(attention[0]) - np.log(attention[:, 0])) / 2
    for low in range(0, len(attention), ROWS_AT_ONCE):
        rows = slice(low, low + ROWS_AT_ONCE)
        shift = half[rows, None] - half
        with np.errstate(over="ignore", invalid="ignore"):
            there, back = np.exp(shift) * attention[rows], np.exp(-shift) * attention[:, rows].T
        if not np.allclose(there, back, rtol=BALANCE, atol=np.finfo(np.float64).eps):
            return False
    return True


def _moduli(attention: np.ndarray) -> np.ndarray:
    """List the moduli of all eigenvalues but that of the constant vector, in any order."""
    return np.abs(np.linalg.eigvals(attention - attention.mean(axis=-2, keepdims=True)))


def _of_large(a: np.ndarray) -> float:
    from scipy.linalg import bandwidth

    if min(bandwidth(a)) == 0:
        # A causal mask: far from normal, so that an iteration would err, and yet trivial.
        diagonal = np.diagonal(a)
        return float(np.abs(np.delete(diagonal, np.argmin(np.abs(diagonal - 1)))).max())
    found = _arnoldi(a, BASIS)
    if found is not None and found.min() > CROWDED * found.max():
        again = _arnoldi(a, 2 * BASIS)
        is_same = again is not None and np.isclose(found.max(), again.max(), rtol=AGREEMENT, atol=0)
        found = again if is_same else None
    if found is not None:
        return float(found.max())
    if is_reversible(a):
        return float(np.abs(reversible_eigenvalues(a)[1:]).max())
    return float(_moduli(a).max())


def _arnoldi(a: np.ndarray, basis: int) -> np.ndarray | None:
    """Iterate for the largest moduli of CA; None where it did not converge."""
    from scipy.sparse.linalg import ArpackError, LinearOperator, eigs

    def centred(v: np.ndarray) -> np.ndarray:
        mixed = a @ v.ravel()
        return mixed - mixed.mean()

    rng = np.random.default_rng(basis)
    try:
        value = eigs(
            LinearOperator(a.shape, matvec=centred, dtype=np.float64),  # type: ignore[call-arg]
            k=WANTED,
            ncv=basis,
            tol=TOLERANCE,  # type: ignore[arg-type]
            # More restarts would take longer than all eigenvalues do.
            maxiter=64 + len(a) // 8,
            v0=rng.standard_normal(len(a)),
            rng=rng,
            return_eigenvectors=False,
        )
    except ArpackError:
        return None
    return np.abs(value)
