"""From scores to a mixing matrix.

A score compares a query with a key, and an attention kernel turns masked scores
into a matrix whose rows sum to one. It owns that step and nothing else: it never
sees values, depth, or files.
"""

from __future__ import annotations

import numpy as np

from lowpass.balance import doubly_stochastic
from lowpass.masks import masked
from lowpass.registry import Refusal, Registry

SCORES = Registry("score")
KERNELS = Registry("attention kernel")


def _same_width(q: np.ndarray, k: np.ndarray, why: str) -> None:
    if q.shape[-1] != k.shape[-1]:
        raise Refusal(
            f"queries have {q.shape[-1]} features and keys have {k.shape[-1]}; {why} needs the "
            "same number. Check w_q and w_k."
        )


@SCORES.add("dot", per_root_feature=True)
def dot(q: np.ndarray, k: np.ndarray) -> np.ndarray:
    """Multiply every query with every key.

    Parameters
    ----------
    q : (..., query, feature) float
    k : (..., key, feature) float

    Returns
    -------
    (..., query, key) float

    Raises
    ------
    Refusal
        If the numbers of features differ.
    """
    _same_width(q, k, "a dot product")
    return q @ np.swapaxes(k, -1, -2)


@SCORES.add("l2", per_root_feature=False)
def l2(q: np.ndarray, k: np.ndarray) -> np.ndarray:
    r"""Give minus half the squared distance of every query from every key.

    .. math:: s_{ij} = -\tfrac12 \|q_i - k_j\|^2

    Differences are formed one feature at a time. Expanding the square would
    cancel where a query and a key nearly agree, far from the origin.

    Parameters
    ----------
    q : (..., query, feature) float
    k : (..., key, feature) float

    Returns
    -------
    (..., query, key) float
        Not positive.

    Raises
    ------
    Refusal
        If the numbers of features differ.
    """
    _same_width(q, k, "a distance")
    square = np.zeros((*np.broadcast_shapes(q.shape[:-2], k.shape[:-2]), q.shape[-2], k.shape[-2]))
    for feature in range(q.shape[-1]):
        square += (q[..., :, None, feature] - k[..., None, :, feature]) ** 2
    return -square / 2


def _where(bad: np.ndarray) -> str:
    return ", ".join(str(i) for i in np.argwhere(bad)[0])


def _refuse_unusable(scores: np.ndarray) -> None:
    bad = np.isnan(scores) | (scores == np.inf)
    if bad.any():
        raise Refusal(
            f"score [{_where(bad)}] is {scores[bad][0]}; a weight needs a finite score, or -inf "
            "where a key is masked. Check the tokens, the weights and beta."
        )
    blind = (scores == -np.inf).all(axis=-1)
    if blind.any():
        raise Refusal(
            f"score row [{_where(blind)}] is -inf throughout; a query that sees no key has no "
            "distribution. Let its mask allow one key."
        )


@KERNELS.add("softmax", positive=True, doubly_stochastic=False)
def softmax(scores: np.ndarray) -> np.ndarray:
    r"""Exponentiate each row and divide by its sum.

    .. math:: A_{ij} = e^{S_{ij}} \big/ \textstyle\sum_k e^{S_{ik}}

    Parameters
    ----------
    scores : (..., query, key) float
        Adding a constant to a row leaves the result unchanged. An entry of
        -inf is masked. Finite scores are never clipped.

    Returns
    -------
    (..., query, key) float
        Rows are non-negative and sum to one; masked entries are exactly zero.

    Raises
    ------
    Refusal
        If a score is nan or +inf, or a row is masked throughout.

    References
    ----------
    .. [1] wang2022, section 2.
    """
    _refuse_unusable(scores)
    weight = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return weight / weight.sum(axis=-1, keepdims=True)


@KERNELS.add("sinkhorn", positive=True, doubly_stochastic=True)
def sinkhorn(scores: np.ndarray) -> np.ndarray:
    r"""Scale exponentiated scores until rows and columns sum to one.

    .. math:: A_{ij} = e^{f_i + S_{ij} + g_j}, \quad A 1 = 1, \quad A^\top 1 = 1

    Parameters
    ----------
    scores : (..., token, token) float
        Adding a constant to a row or to a column leaves the result unchanged.
        An entry of -inf is masked.

    Returns
    -------
    (..., token, token) float
        Doubly stochastic; the rows are normalised last. Masked entries are
        exactly zero.

    Raises
    ------
    Refusal
        As for softmax; also if the scores are not square, the mask forbids
        every such matrix, or the scaling does not converge.

    References
    ----------
    .. [1] sander2022, section 3.
    """
    _refuse_unusable(scores)
    plan = np.empty(scores.shape)
    # One matrix at a time, so that a replicate does not depend on its neighbours' convergence.
    for index in np.ndindex(scores.shape[:-2]):
        plan[index] = doubly_stochastic(scores[index])
    return plan


@KERNELS.add("signed", positive=False, doubly_stochastic=False)
def signed(scores: np.ndarray) -> np.ndarray:
    r"""Divide each row by its sum, whatever the signs.

    .. math:: A_{ij} = S_{ij} \big/ \textstyle\sum_k S_{ik}

    Parameters
    ----------
    scores : (..., query, key) float
        An entry of -inf is masked.

    Returns
    -------
    (..., query, key) float
        Rows sum to one; entries may be negative. Masked entries are exactly
        zero.

    Raises
    ------
    Refusal
        As for softmax; also if a row sum cannot be told from zero.
    """
    _refuse_unusable(scores)
    weight = np.where(scores == -np.inf, 0.0, scores)
    total = weight.sum(axis=-1, keepdims=True)
    # The rounding of a sum of n numbers is at most n units of its absolute sum.
    rounding = weight.shape[-1] * np.finfo(np.float64).eps * np.abs(weight).sum(axis=-1)
    lost = np.abs(total[..., 0]) <= rounding
    if lost.any():
        raise Refusal(
            f"score row [{_where(lost)}] sums to {total[..., 0][lost][0]:.3g}, zero up to "
            "rounding; signed weights divide by that sum. Use a positive kernel such as softmax."
        )
    return weight / total


def logits(q: np.ndarray, k: np.ndarray, *, score: str, mask: str, beta: float) -> np.ndarray:
    r"""Scale scores by the inverse temperature and mask them.

    The score "dot" is divided by the root of the number of features, so that
    :math:`S = \beta\, q k^\top / \sqrt{d}`; "l2" is not, :math:`S = -\beta \|q - k\|^2 / 2`,
    so that :math:`\beta` is one over a squared bandwidth. On a ring of unit
    radius the latter is :math:`\beta \cos(\theta_i - \theta_j)` up to a constant.

    Parameters
    ----------
    q : (..., query, feature) float
    k : (..., key, feature) float
    score, mask : str
        Names in ``SCORES`` and ``MASKS``.
    beta : float
        Inverse temperature, dimensionless.

    Returns
    -------
    (..., query, key) float
        -inf where the mask forbids.

    Raises
    ------
    Refusal
        If the mask needs as many queries as keys and there are not.
    """
    unit = beta / np.sqrt(q.shape[-1]) if SCORES.facts(score)["per_root_feature"] else beta
    return masked(SCORES[score](q, k) * unit, mask)


def scaled(scores: np.ndarray, beta: float) -> np.ndarray:
    """Multiply logits by an inverse temperature; a masked entry stays masked at any.

    Parameters
    ----------
    scores : (..., query, key) float
        An entry of -inf is masked.
    beta : float
        Inverse temperature, dimensionless.

    Returns
    -------
    (..., query, key) float
    """
    hidden = scores == -np.inf
    return np.where(hidden, -np.inf, beta * np.where(hidden, 0.0, scores))


def attend(
    q: np.ndarray, k: np.ndarray, *, score: str, kernel: str, mask: str, beta: float
) -> np.ndarray:
    """Compute the attention matrix of queries and keys.

    Parameters
    ----------
    q : (..., query, feature) float
    k : (..., key, feature) float
    score, kernel, mask : str
        Names in ``SCORES``, ``KERNELS`` and ``MASKS``.
    beta : float
        Inverse temperature, dimensionless; see :func:`logits`.

    Returns
    -------
    (..., query, key) float
        Rows sum to one; what the mask forbids is exactly zero.
    """
    return KERNELS[kernel](logits(q, k, score=score, mask=mask, beta=beta))
