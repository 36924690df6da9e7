"""Which keys a query may see.

It owns the masks, functions of the number of tokens, which a score is combined
with before any kernel sees it. A mask's keyword-only arguments are parameters of
attention; the fact ``parameters`` lists them. The fact ``total_support`` says
whether every pair it allows can have a weight in a doubly stochastic matrix.
"""

from __future__ import annotations

import numpy as np

from lowpass.domains import Count
from lowpass.registry import Refusal, Registry

MASKS = Registry("mask")


@MASKS.add("none", parameters=(), total_support=True)
def none(n_tokens: int) -> np.ndarray:
    """Let every query see every key.

    Parameters
    ----------
    n_tokens : int

    Returns
    -------
    (query, key) bool
        True where attention is allowed.
    """
    return np.ones((n_tokens, n_tokens), dtype=bool)


@MASKS.add("block", parameters=(), total_support=True)
def block(n_tokens: int) -> np.ndarray:
    """Let each half of the tokens see only itself.

    Parameters
    ----------
    n_tokens : int
        Even.

    Returns
    -------
    (query, key) bool
        Two diagonal blocks: reducible, so the eigenvalue one is double.

    Raises
    ------
    Refusal
        If ``n_tokens`` is odd.
    """
    if n_tokens % 2:
        raise Refusal(
            f"the block mask got n_tokens = {n_tokens}; two equal blocks need an even number. "
            f"Use {n_tokens + 1}."
        )
    half = np.arange(n_tokens) < n_tokens // 2
    return half[:, None] == half[None, :]


@MASKS.add("cycle", parameters=(), total_support=True)
def cycle(n_tokens: int) -> np.ndarray:
    """Let query i see only key i + 1, and the last one only the first.

    Parameters
    ----------
    n_tokens : int

    Returns
    -------
    (query, key) bool
        A cyclic permutation: irreducible but periodic.
    """
    return np.roll(np.eye(n_tokens, dtype=bool), 1, axis=-1)


@MASKS.add("causal", parameters=(), total_support=False)
def causal(n_tokens: int) -> np.ndarray:
    """Let every query see its own key and those before it.

    Parameters
    ----------
    n_tokens : int

    Returns
    -------
    (query, key) bool
        Triangular: the eigenvalues of attention are its diagonal entries, and
        all that is kept is the first token.
    """
    return np.tri(n_tokens, dtype=bool)


@MASKS.add("window", parameters=("mask_width",), total_support=True)
def window(n_tokens: int, *, mask_width: Count) -> np.ndarray:
    """Let every query see keys within a distance, to both sides.

    Parameters
    ----------
    n_tokens : int
    mask_width : int
        The distance, in tokens; the ends of the sequence are no neighbours.

    Returns
    -------
    (query, key) bool
        A band of up to twice the width and one.
    """
    place = np.arange(n_tokens)
    return np.abs(place[:, None] - place[None, :]) <= mask_width


def check_parameters(mask: str, **parameters: object) -> None:
    """Refuse parameters that a mask lacks, and those that it has no use for.

    Parameters
    ----------
    mask : str
        Name in ``MASKS``.
    **parameters
        Nothing, None, stands for one that is not given.

    Raises
    ------
    Refusal
        Naming the mask and the parameter.
    """
    known = MASKS.facts(mask).get("parameters", ())
    given = {name: value for name, value in parameters.items() if value is not None}
    for name in known:
        if name not in given:
            raise Refusal(
                f"the mask '{mask}' needs {name}, which is not given; it has no default. "
                f"Give {name}, as 2."
            )
    for name, value in given.items():
        if name not in known:
            raise Refusal(
                f"the mask '{mask}' has no {name}, and {value} is given; it would not count. "
                f"Leave out {name}, or use a mask that has one."
            )


def _custom(mask: np.ndarray, **parameters: object) -> np.ndarray:
    """Take an array for what it says, if it says truth or falsehood and nothing else."""
    if mask.dtype != bool:
        raise Refusal(
            f"the mask is an array of {mask.dtype}; it says of every pair whether it is allowed, "
            "and a number could mean either. Give truth values, as array > 0."
        )
    given = [name for name, value in parameters.items() if value is not None]
    if given:
        raise Refusal(
            f"the mask is an array, and {given[0]} is given beside it; it would not count. "
            f"Leave out {given[0]}."
        )
    return mask


def _fits(mask: tuple[int, ...], scores: tuple[int, ...]) -> bool:
    """Say whether a mask repeats to the shape of scores, and has all their queries and keys."""
    if mask[-2:] != scores[-2:] or len(mask) > len(scores):
        return False
    pairs = zip(reversed(mask), reversed(scores), strict=False)
    return all(size in (1, whole) for size, whole in pairs)


def masked(scores: np.ndarray, mask: str | np.ndarray, **parameters: object) -> np.ndarray:
    """Put minus infinity where a mask forbids.

    Parameters
    ----------
    scores : (..., query, key) float
    mask : str or (..., query, key) bool
        Name in ``MASKS``, or a mask of one's own, true where attention is
        allowed.
    **parameters
        Those of the mask, as ``mask_width``; None stands for one that is not
        given.

    Returns
    -------
    (..., query, key) float

    Raises
    ------
    Refusal
        If a named mask meets other than as many queries as keys, or one of
        one's own other queries or keys than its own; if it is no mask; if a
        parameter is missing or would not count.
    """
    n_queries, n_keys = scores.shape[-2:]
    if isinstance(mask, np.ndarray):
        allowed = _custom(mask, **parameters)
        if not _fits(allowed.shape, scores.shape):
            raise Refusal(
                f"the scores are of shape {scores.shape}, and the mask is of shape "
                f"{allowed.shape}; it says of each pair whether it is allowed. Give one of shape "
                f"({n_queries}, {n_keys}), or of that of the scores."
            )
        return np.where(allowed, scores, -np.inf)
    check_parameters(mask, **parameters)
    given = {name: value for name, value in parameters.items() if value is not None}
    if n_queries != n_keys:
        raise Refusal(
            f"there are {n_queries} queries and {n_keys} keys; the mask '{mask}' "
            "pairs the tokens of one sequence. Give as many queries as keys."
        )
    return np.where(MASKS[mask](n_keys, **given), scores, -np.inf)
