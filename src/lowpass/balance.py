"""Scaling a positive matrix until it is doubly stochastic.

It owns the two questions that scaling raises: whether a doubly stochastic
matrix with the given zeros exists, and when the alternating normalisation has
arrived.
"""

from __future__ import annotations

import numpy as np

from lowpass.registry import Refusal

# Sharp scores move the potentials by about one unit a sweep, as an auction does.
SWEEPS = 20_000
# Symmetric scores take some thirty sweeps, or else are so sharp that the alternation is tried.
EVEN_SWEEPS = 200
# Below this defect no potential moves far enough for an underflowed entry to matter.
HANDOVER = 1e-3


def _refuse_without_support(allowed: np.ndarray) -> None:
    """Refuse zeros that contradict unit row and column sums (sinkhorn1967)."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components, maximum_bipartite_matching

    key_of = maximum_bipartite_matching(csr_array(allowed), perm_type="column")
    if (key_of < 0).any():
        raise Refusal(
            f"the mask leaves query {np.flatnonzero(key_of < 0)[0]} without a key of its own; no "
            "doubly stochastic matrix has these zeros. Use softmax, or a mask that holds a "
            "permutation."
        )
    # With the matching on the diagonal, an entry lies on a permutation iff it lies on a cycle.
    _, part = connected_components(csr_array(allowed[:, key_of]), connection="strong")
    part_of_key = np.empty_like(part)
    part_of_key[key_of] = part
    idle = allowed & (part[:, None] != part_of_key[None, :])
    if idle.any():
        query, key = np.argwhere(idle)[0]
        raise Refusal(
            f"the mask lets query {query} see key {key}, but every doubly stochastic matrix with "
            "its zeros is zero there too, so the scaling would never arrive. Use softmax, or mask "
            "that pair."
        )


def _log_sum(x: np.ndarray, axis: int) -> np.ndarray:
    top = x.max(axis=axis, keepdims=True)
    return top + np.log(np.exp(x - top).sum(axis=axis, keepdims=True))


def _defect(plan: np.ndarray, axis: int) -> float:
    return float(np.abs(plan.sum(axis=axis) - 1).max())


def _slow(defect: float) -> Refusal:
    return Refusal(
        f"column sums are still {defect:.1e} from one after {SWEEPS} sweeps of Sinkhorn scaling; "
        "the scores are too sharp to balance. Lower beta, or use softmax."
    )


def _rough(scores: np.ndarray) -> np.ndarray:
    """Normalise columns and rows in turn, on logarithms, until nearly balanced."""
    log_plan = scores - _log_sum(scores, -1)
    for _ in range(SWEEPS):
        plan = np.exp(log_plan)
        if _defect(plan, -2) <= HANDOVER:
            return plan
        log_plan = log_plan - _log_sum(log_plan, -2)
        log_plan = log_plan - _log_sum(log_plan, -1)
    raise _slow(_defect(plan, -2))


def _evenly(scores: np.ndarray, tolerance: float) -> np.ndarray | None:
    r"""Scale a symmetric matrix by one potential for rows and columns; None where that is slow.

    .. math:: d_i \leftarrow \Big(d_i \Big/ \textstyle\sum_j W_{ij} d_j\Big)^{1/2}

    Near the solution A an error shrinks by :math:`(1 - \lambda)/2` along each mode of A, so that
    the smooth ones, which take an alternation of rows and columns thousands of sweeps, go first.
    """
    potential = -_log_sum(scores, -1) / 2
    for _ in range(EVEN_SWEEPS):
        log_plan = scores + potential + potential.T
        if _defect(np.exp(log_plan), -1) <= HANDOVER:
            break
        potential = potential - _log_sum(log_plan, -1) / 2
    plan = np.exp(log_plan)
    for _ in range(EVEN_SWEEPS):
        total = plan.sum(axis=-1, keepdims=True)
        by_rows = plan / total
        if _defect(by_rows, -2) <= tolerance:
            return by_rows
        root = np.sqrt(total)
        plan = plan / (root * root.T)
    return None


def doubly_stochastic(scores: np.ndarray) -> np.ndarray:
    """Scale rows and columns of exponentiated scores to sum to one.

    Sharp scores need logarithms, or whole columns underflow; the last digits
    need plain numbers, because a potential of size 60 has an ulp of 7e-15. So
    the sweeps start on logarithms and end on the matrix itself. Where scores
    are symmetric, so is the result, and rows and columns are scaled at once.

    Parameters
    ----------
    scores : (token, token) float
        -inf where an entry must be zero.

    Returns
    -------
    (token, token) float
        Rows normalised last. Column sums are one within the smaller of 1e-14
        and 2 n eps.

    Raises
    ------
    Refusal
        If the scores are not square, the zeros contradict double
        stochasticity, or ``SWEEPS`` sweeps do not suffice.

    References
    ----------
    .. [1] sinkhorn1967, theorem 1 and its converse.
    .. [2] knight2014, for scaling rows and columns at once.
    """
    n_rows, n_tokens = scores.shape
    if n_rows != n_tokens:
        raise Refusal(
            f"there are {n_rows} queries and {n_tokens} keys; only a square matrix can be doubly "
            "stochastic. Use softmax."
        )
    _refuse_without_support(scores > -np.inf)
    tolerance = min(1e-14, 2 * n_tokens * np.finfo(np.float64).eps)
    # Single precision would never arrive.
    scores = scores.astype(np.float64)
    plan = _evenly(scores, tolerance) if np.array_equal(scores, scores.T) else None
    plan = _rough(scores) if plan is None else plan
    for _ in range(SWEEPS):
        if _defect(plan, -2) <= tolerance:
            return plan
        plan = plan / plan.sum(axis=-2, keepdims=True)
        plan = plan / plan.sum(axis=-1, keepdims=True)
    raise _slow(_defect(plan, -2))
