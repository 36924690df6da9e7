"""From scores to a mixing matrix.

An attention kernel turns masked scores into a matrix whose rows sum to one. It
owns that step and nothing else: it never sees values, depth, or files. Three
facts of an entry say what may be relied on: ``positive``, every allowed weight
is positive; ``negative``, weights may be negative; ``doubly_stochastic``, columns
sum to one as well. The fact ``reads`` says what a score must give, see
:mod:`lowpass.scores`; without it anything will do. ``split_form`` is true of what
:mod:`lowpass.consensus` follows beyond machine precision, of kernels and of scores.
"""

from __future__ import annotations

import numpy as np

from lowpass.balance import doubly_stochastic
from lowpass.compact import shares_within_reach
from lowpass.registry import Refusal, Registry
from lowpass.scores import SCORES, first, logits, refuse_unusable
from lowpass.shapes import cubes, level, parabola, slope

KERNELS = Registry("attention kernel")
# Which score gives what some kernels read.
READABLE = {"product": "score 'dot'", "squared distance": "score 'l2'"}


@KERNELS.add("softmax", positive=True, negative=False, doubly_stochastic=False, split_form=True)
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
    refuse_unusable(scores)
    weight = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return weight / weight.sum(axis=-1, keepdims=True)


@KERNELS.add("sinkhorn", positive=True, negative=False, doubly_stochastic=True)
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
    refuse_unusable(scores)
    plan = np.empty(scores.shape)
    # One matrix at a time, so that a replicate does not depend on its neighbours' convergence.
    for index in np.ndindex(scores.shape[:-2]):
        plan[index] = doubly_stochastic(scores[index])
    return plan


@KERNELS.add("density_corrected", positive=True, negative=False, doubly_stochastic=False)
def density_corrected(scores: np.ndarray) -> np.ndarray:
    r"""Divide exponentiated scores by the degrees of both tokens, then each row by its sum.

    .. math:: A_{ij} \propto \frac{e^{S_{ij}}}{d_i d_j}, \qquad d_j = \textstyle\sum_i e^{S_{ij}}

    Of symmetric scores d estimates the density of the tokens, and a key then weighs as much
    as the room that it stands for. What a row shares, such as d_i, its sum removes: this is
    one sweep of the alternating normalisation that ``sinkhorn`` repeats, columns first.

    Parameters
    ----------
    scores : (..., query, key) float
        Adding a constant to a column leaves the result unchanged. An entry of
        -inf is masked.

    Returns
    -------
    (..., query, key) float
        Rows are non-negative and sum to one; masked entries are exactly zero.

    Raises
    ------
    Refusal
        As for softmax.

    References
    ----------
    .. [1] coifman2006, section 3, with α = 1.
    """
    refuse_unusable(scores)
    top = scores.max(axis=-2, keepdims=True)
    # A key that no query sees has no degree, and needs none.
    top = np.where(top > -np.inf, top, 0.0)
    degree = np.exp(scores - top).sum(axis=-2, keepdims=True)
    return softmax(scores - top - np.log(np.where(degree > 0, degree, 1.0)))


@KERNELS.add("signed", positive=False, negative=True, doubly_stochastic=False, reads="product")
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
    refuse_unusable(scores)
    weight = np.where(scores == -np.inf, 0.0, scores)
    total = weight.sum(axis=-1, keepdims=True)
    # The rounding of a sum of n numbers is at most n units of its absolute sum.
    rounding = weight.shape[-1] * np.finfo(np.float64).eps * np.abs(weight).sum(axis=-1)
    lost = np.abs(total[..., 0]) <= rounding
    if lost.any():
        raise Refusal(
            f"score row [{first(lost)}] sums to {total[..., 0][lost][0]:.3g}, zero up to "
            "rounding; signed weights divide by that sum. Use a positive kernel such as softmax."
        )
    return weight / total


@KERNELS.add("uniform", positive=True, negative=False, doubly_stochastic=False)
def uniform(scores: np.ndarray) -> np.ndarray:
    r"""Weigh every allowed key alike.

    .. math:: A_{ij} = 1 / n_i

    Parameters
    ----------
    scores : (..., query, key) float
        Only where they are -inf counts.

    Returns
    -------
    (..., query, key) float
        One over the number of keys that the query sees; else zero.

    Raises
    ------
    Refusal
        As for softmax.
    """
    refuse_unusable(scores)
    allowed = scores > -np.inf
    return allowed / allowed.sum(axis=-1, keepdims=True)


@KERNELS.add(
    "boxcar", positive=False, negative=False, doubly_stochastic=False, reads="squared distance"
)
def boxcar(scores: np.ndarray) -> np.ndarray:
    r"""Weigh every key within the bandwidth alike.

    .. math:: A_{ij} \propto [u \le 1], \quad u = |q_i - k_j| / h, \quad h^2 = 1/\beta

    Parameters
    ----------
    scores : (..., query, key) float
        Logits of the score "l2"; an entry of -inf is masked.

    Returns
    -------
    (..., query, key) float
        Rows are non-negative and sum to one. A key exactly at the bandwidth
        counts, as far as rounding lets it be there.

    Raises
    ------
    Refusal
        As for softmax; also if a score is positive, or a query has no key
        within its bandwidth.
    """
    return shares_within_reach(scores, level, "boxcar")


@KERNELS.add(
    "triangle", positive=False, negative=False, doubly_stochastic=False, reads="squared distance"
)
def triangle(scores: np.ndarray) -> np.ndarray:
    r"""Let weights fall linearly to zero at the bandwidth.

    .. math:: A_{ij} \propto (1 - u)_+, \quad u = |q_i - k_j| / h, \quad h^2 = 1/\beta

    Parameters
    ----------
    scores : (..., query, key) float
        As for :func:`boxcar`.

    Returns
    -------
    (..., query, key) float
        Rows are non-negative and sum to one.

    Raises
    ------
    Refusal
        As for :func:`boxcar`.
    """
    return shares_within_reach(scores, slope, "triangle")


@KERNELS.add(
    "epanechnikov",
    positive=False,
    negative=False,
    doubly_stochastic=False,
    reads="squared distance",
)
def epanechnikov(scores: np.ndarray) -> np.ndarray:
    r"""Let weights fall as a parabola to zero at the bandwidth.

    .. math:: A_{ij} \propto (1 - u^2)_+ = (1 + 2S_{ij})_+, \quad
              u = |q_i - k_j| / h, \quad h^2 = 1/\beta

    Parameters
    ----------
    scores : (..., query, key) float
        As for :func:`boxcar`.

    Returns
    -------
    (..., query, key) float
        Rows are non-negative and sum to one.

    Raises
    ------
    Refusal
        As for :func:`boxcar`.
    """
    return shares_within_reach(scores, parabola, "epanechnikov")


@KERNELS.add(
    "tricube", positive=False, negative=False, doubly_stochastic=False, reads="squared distance"
)
def tricube(scores: np.ndarray) -> np.ndarray:
    r"""Let weights fall to zero at the bandwidth so that their first two derivatives do, too.

    .. math:: A_{ij} \propto (1 - u^3)^3_+, \quad u = |q_i - k_j| / h, \quad h^2 = 1/\beta

    Parameters
    ----------
    scores : (..., query, key) float
        As for :func:`boxcar`.

    Returns
    -------
    (..., query, key) float
        Rows are non-negative and sum to one.

    Raises
    ------
    Refusal
        As for :func:`boxcar`.

    References
    ----------
    .. [1] loader1999.
    """
    return shares_within_reach(scores, cubes, "tricube")


def check_pair(score: str, kernel: str) -> None:
    """Refuse a kernel that cannot read what a score gives.

    Parameters
    ----------
    score, kernel : str
        Names in ``SCORES`` and ``KERNELS``.

    Raises
    ------
    Refusal
        Naming both, and a score that would do.
    """
    reads, gives = KERNELS.facts(kernel).get("reads"), SCORES.facts(score)["gives"]
    if reads not in (None, gives):
        raise Refusal(
            f"the kernel '{kernel}' reads a {reads}, and the score '{score}' gives a {gives}; "
            f"the weights would mean nothing. Use {READABLE[reads]}, or kernel 'softmax'."
        )


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
    q: np.ndarray,
    k: np.ndarray,
    *,
    score: str,
    kernel: str,
    mask: str | np.ndarray,
    beta: float,
    mask_width: int | None = None,
) -> np.ndarray:
    """Compute the attention matrix of queries and keys.

    Parameters
    ----------
    q : (..., query, feature) float
    k : (..., key, feature) float
    score, kernel : str
        Names in ``SCORES`` and ``KERNELS``.
    mask : str or (..., query, key) bool
        Name in ``MASKS``, or a mask of one's own.
    beta : float
        Inverse temperature, dimensionless; see :func:`lowpass.scores.logits`.
    mask_width : int, optional
        Of the mask "window", in tokens.

    Returns
    -------
    (..., query, key) float
        Rows sum to one; what the mask forbids is exactly zero.

    Raises
    ------
    Refusal
        If the kernel cannot read what the score gives.
    """
    check_pair(score, kernel)
    return KERNELS[kernel](logits(q, k, score=score, mask=mask, beta=beta, mask_width=mask_width))
