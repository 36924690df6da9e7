"""From affinities to the generator of diffusion.

It owns the Laplacians, with the weights whose average each of them keeps; what
a flow does with them is not its business.
"""

from __future__ import annotations

import numpy as np

from lowpass.registry import Refusal, Registry

LAPLACIANS = Registry("Laplacian")

# Affinities that should agree come from sums of a few hundred products, each exact to 1e-16.
SYMMETRY = 1e-12


def first_place(bad: np.ndarray) -> tuple[tuple[int, ...], str]:
    """Give the first place where something is true, as an index and in words.

    Parameters
    ----------
    bad : (...) bool
        True somewhere.

    Returns
    -------
    index : tuple of int
    words : str
        The index with commas, as messages print it.
    """
    index = tuple(int(i) for i in np.argwhere(bad)[0])
    return index, ", ".join(map(str, index))


def _refuse_asymmetric(affinity: np.ndarray, scale: np.ndarray) -> None:
    """Insist that there and back weigh the same, up to rounding of a scale."""
    unusable = ~np.isfinite(affinity)
    if unusable.any():
        index, words = first_place(unusable)
        raise Refusal(
            f"affinity [{words}] is {affinity[index]:.3g}; diffusion needs finite numbers. "
            "Check the tokens and beta."
        )
    back = np.swapaxes(affinity, -1, -2)
    apart = np.abs(affinity - back)
    if (apart > SYMMETRY * scale).any():
        index, words = first_place(apart == apart.max())
        raise Refusal(
            f"affinity [{words}] is {affinity[index]:.6g} and its mirror image is "
            f"{back[index]:.6g}, {apart[index]:.3g} apart; a graph without directions needs equal "
            "ones. Take the mean of the matrix and its transpose."
        )


def _refuse_directions(affinity: np.ndarray) -> None:
    """Insist that each affinity weighs as much as its mirror image, however small."""
    _refuse_asymmetric(affinity, np.maximum(np.abs(affinity), np.abs(affinity.swapaxes(-1, -2))))


def _refuse_negative(affinity: np.ndarray) -> None:
    """Insist on affinities that are not negative."""
    negative = affinity < 0
    if negative.any():
        index, words = first_place(negative)
        raise Refusal(
            f"affinity [{words}] is {affinity[index]:.3g}; this Laplacian needs affinities that "
            "are not negative. Exponentiate them, or use the Laplacian 'signed'."
        )


def _degree(affinity: np.ndarray) -> np.ndarray:
    """Sum the affinities of each token, which must be positive."""
    _refuse_directions(affinity)
    degree = affinity.sum(axis=-1)
    below = degree < 0
    if below.any():
        index, words = first_place(below)
        raise Refusal(
            f"token [{words}] has the degree {degree[index]:.3g}; affinities are divided by it or "
            "its root, which needs a positive one. Exponentiate them, or use the Laplacian "
            "'signed'."
        )
    _refuse_negative(affinity)
    lost = degree == 0
    if lost.any():
        _, words = first_place(lost)
        raise Refusal(
            f"token [{words}] has no neighbours, not even itself; its affinities are divided by "
            "their sum. Join it with another token, or use the Laplacian 'combinatorial'."
        )
    return degree


def _leaving(weight: np.ndarray) -> np.ndarray:
    """Put what leaves a token on the diagonal and minus its parts beside it.

    Summing what leaves, instead of subtracting what stays, keeps every digit of a token that
    hardly has neighbours.
    """
    laplacian = -weight
    diagonal = np.arange(weight.shape[-1])
    laplacian[..., diagonal, diagonal] = 0
    laplacian[..., diagonal, diagonal] = -laplacian.sum(axis=-1)
    # Otherwise the zeros of an affinity would be written as -0.
    return laplacian + 0.0


@LAPLACIANS.add("combinatorial", constant_mode=True, positive=True, symmetric=True)
def combinatorial(affinity: np.ndarray) -> np.ndarray:
    r"""Subtract affinities from the degrees.

    .. math:: L = D - W, \qquad D_{ii} = \textstyle\sum_j W_{ij}

    Parameters
    ----------
    affinity : (..., token, token) float
        Symmetric, not negative. Its diagonal has no influence.

    Returns
    -------
    (..., token, token) float
        Symmetric, positive semi-definite; rows sum to zero.

    Raises
    ------
    Refusal
        If an affinity is negative, not finite, or unlike its mirror image.

    References
    ----------
    .. [1] chung1997.
    """
    _refuse_directions(affinity)
    _refuse_negative(affinity)
    return _leaving(affinity)


@LAPLACIANS.add("random_walk", constant_mode=True, positive=True, symmetric=False, alpha=0.0)
def random_walk(affinity: np.ndarray) -> np.ndarray:
    r"""Subtract from the identity the steps of a walk along affinities.

    .. math:: L = I - D^{-1} W, \qquad D_{ii} = \textstyle\sum_j W_{ij}

    Parameters
    ----------
    affinity : (..., token, token) float
        Symmetric, not negative; its diagonal makes the walk stay.

    Returns
    -------
    (..., token, token) float
        Rows sum to zero; π_i L_ij = π_j L_ji with π in proportion to degrees,
        and eigenvalues in [0, 2].

    Raises
    ------
    Refusal
        As for ``combinatorial``; also if a token has no neighbours.

    References
    ----------
    .. [1] chung1997.
    """
    return _leaving(affinity / _degree(affinity)[..., :, None])


def corrected(affinity: np.ndarray, alpha: float) -> np.ndarray:
    r"""Divide affinities by powers of both degrees, so that crowds of tokens count less.

    .. math:: W^{(\alpha)}_{ij} = W_{ij} / (D_{ii} D_{jj})^\alpha

    Parameters
    ----------
    affinity : (..., token, token) float
        Symmetric, not negative.
    alpha : float
        Zero leaves affinities as they are, to the last bit; at one the limit for many tokens
        does not depend on their density.

    Returns
    -------
    (..., token, token) float
        Symmetric, not negative.

    Raises
    ------
    Refusal
        As for ``random_walk``.

    References
    ----------
    .. [1] coifman2006.
    """
    weight = _degree(affinity) ** alpha
    return affinity / (weight[..., :, None] * weight[..., None, :])


@LAPLACIANS.add("alpha_normalised", constant_mode=True, positive=True, symmetric=False, alpha=1.0)
def alpha_normalised(affinity: np.ndarray) -> np.ndarray:
    r"""Take the random walk along affinities that are divided by both degrees.

    .. math:: L = I - (D^{(1)})^{-1} W^{(1)}, \qquad W^{(1)}_{ij} = W_{ij} / D_{ii} D_{jj}

    Parameters
    ----------
    affinity : (..., token, token) float
        Symmetric, not negative.

    Returns
    -------
    (..., token, token) float
        Rows sum to zero; π_i L_ij = π_j L_ji with π in proportion to the degrees of what was
        divided, and eigenvalues in [0, 2].

    Raises
    ------
    Refusal
        As for ``random_walk``.

    References
    ----------
    .. [1] coifman2006.
    """
    return random_walk(corrected(affinity, 1.0))


@LAPLACIANS.add("normalised", constant_mode=False, positive=True, symmetric=True)
def normalised(affinity: np.ndarray) -> np.ndarray:
    r"""Divide affinities by the roots of both degrees and subtract them from the identity.

    .. math:: L = I - D^{-1/2} W D^{-1/2}, \qquad D_{ii} = \textstyle\sum_j W_{ij}

    Parameters
    ----------
    affinity : (..., token, token) float
        Symmetric, not negative.

    Returns
    -------
    (..., token, token) float
        Symmetric, positive semi-definite, similar to ``random_walk``. Rows do
        not sum to zero: what it keeps is D^{1/2} 1, not a constant.

    Raises
    ------
    Refusal
        As for ``random_walk``.

    References
    ----------
    .. [1] chung1997.
    """
    degree = _degree(affinity)
    root = np.sqrt(degree)
    laplacian = -affinity / (root[..., :, None] * root[..., None, :])
    diagonal = np.arange(affinity.shape[-1])
    laplacian[..., diagonal, diagonal] = 0
    others = affinity.copy()
    others[..., diagonal, diagonal] = 0
    laplacian[..., diagonal, diagonal] = others.sum(axis=-1) / degree
    return laplacian + 0.0


@LAPLACIANS.add("signed", constant_mode=True, positive=False, symmetric=True)
def signed(affinity: np.ndarray) -> np.ndarray:
    r"""Subtract symmetric numbers of any sign from their row sums.

    .. math:: L = D - S, \qquad D_{ii} = \textstyle\sum_j S_{ij}

    Parameters
    ----------
    affinity : (..., token, token) float
        Symmetric, such as symmetrised logits. Its diagonal has no influence.

    Returns
    -------
    (..., token, token) float
        Symmetric; rows sum to zero. A negative off-diagonal entry of S can
        make it indefinite, so that its heat flow amplifies.

    Raises
    ------
    Refusal
        If an entry is not finite, or unlike its mirror image.
    """
    largest = np.abs(affinity).max(axis=(-2, -1), keepdims=True)
    _refuse_asymmetric(affinity, largest)
    return _leaving(affinity)


def stationary_of(affinity: np.ndarray, laplacian: str) -> np.ndarray:
    r"""Find the weights whose average diffusion keeps.

    .. math:: \pi^\top e^{-\tau L} = \pi^\top, \qquad \pi_i L_{ij} = \pi_j L_{ji}

    Parameters
    ----------
    affinity : (..., token, token) float
        As given to the Laplacian.
    laplacian : str
        A name in ``LAPLACIANS``.

    Returns
    -------
    (..., token) float
        Sums to one: exactly 1/n where the Laplacian is symmetric, else in
        proportion to the degrees of what the walk goes along.

    Raises
    ------
    Refusal
        If the Laplacian does not keep constants.
    """
    facts = LAPLACIANS.facts(laplacian)
    if not facts["constant_mode"]:
        raise Refusal(
            f"the Laplacian '{laplacian}' does not keep constants, so its heat flow has no mean "
            "to tend to. Use 'random_walk', which is similar to it."
        )
    if facts["symmetric"]:
        return np.full(affinity.shape[:-1], 1 / affinity.shape[-1])
    degree = _degree(corrected(affinity, facts["alpha"]))
    return degree / degree.sum(axis=-1, keepdims=True)
