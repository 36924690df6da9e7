"""Which keys a query may see.

It owns the masks, functions of the number of tokens, which a score is combined
with before any kernel sees it.
"""

from __future__ import annotations

import numpy as np

from lowpass.registry import Refusal, Registry

MASKS = Registry("mask")


@MASKS.add("none")
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


@MASKS.add("block")
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


@MASKS.add("cycle")
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


def masked(scores: np.ndarray, mask: str) -> np.ndarray:
    """Put minus infinity where a mask forbids.

    Parameters
    ----------
    scores : (..., query, key) float
    mask : str
        Name in ``MASKS``.

    Returns
    -------
    (..., query, key) float

    Raises
    ------
    Refusal
        If there are not as many queries as keys.
    """
    allowed = MASKS[mask](scores.shape[-1])
    if scores.shape[-2:] != allowed.shape:
        raise Refusal(
            f"there are {scores.shape[-2]} queries and {scores.shape[-1]} keys; the mask '{mask}' "
            "pairs the tokens of one sequence. Give as many queries as keys."
        )
    return np.where(allowed, scores, -np.inf)
