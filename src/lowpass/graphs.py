"""From tokens to affinities.

A graph says how near any two tokens are. It owns these numbers; a Laplacian
turns them into the generator of diffusion.
"""

from __future__ import annotations

import numpy as np

from lowpass.registry import Refusal, Registry
from lowpass.scores import SCORES, logits

GRAPHS = Registry("graph")

Weights = tuple[np.ndarray, np.ndarray]


def _for_every_sequence(affinity: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Repeat one affinity for every sequence of tokens, without a copy."""
    return np.broadcast_to(affinity, (*x.shape[:-2], *affinity.shape))


@GRAPHS.add("ring", needs_place=False, needs_beta=False, needs_weights=False, signed=False)
def ring(
    x: np.ndarray, place: np.ndarray | None, beta: float, weights: Weights | None = None
) -> np.ndarray:
    """Join every token with the next one, and the last with the first.

    Parameters
    ----------
    x : (..., token, feature) float
        Only its shape is used.
    place : (token, axis) int or None
        Not used.
    beta : float
        Not used.
    weights : (w_q, w_k) or None
        Not used.

    Returns
    -------
    (..., token, token) float
        One for neighbours, else zero; read-only.

    Raises
    ------
    Refusal
        If there are fewer than three tokens.
    """
    n_tokens = x.shape[-2]
    if n_tokens < 3:
        raise Refusal(
            f"the graph 'ring' got {n_tokens} tokens; below three, both neighbours of a token are "
            "the same one. Use 'path' or more tokens."
        )
    one_way = np.roll(np.eye(n_tokens), 1, axis=-1)
    return _for_every_sequence(one_way + one_way.T, x)


@GRAPHS.add("path", needs_place=False, needs_beta=False, needs_weights=False, signed=False)
def path(
    x: np.ndarray, place: np.ndarray | None, beta: float, weights: Weights | None = None
) -> np.ndarray:
    """Join every token with the next one.

    Parameters
    ----------
    x : (..., token, feature) float
        Only its shape is used.
    place : (token, axis) int or None
        Not used.
    beta : float
        Not used.
    weights : (w_q, w_k) or None
        Not used.

    Returns
    -------
    (..., token, token) float
        One for neighbours, else zero; read-only.

    Raises
    ------
    Refusal
        If there is only one token.
    """
    n_tokens = x.shape[-2]
    if n_tokens < 2:
        raise Refusal(f"the graph 'path' got {n_tokens} token; an edge joins two. Use more tokens.")
    one_way = np.eye(n_tokens, k=1)
    return _for_every_sequence(one_way + one_way.T, x)


def _refuse_misplaced(place: np.ndarray | None, n_tokens: int) -> np.ndarray:
    """Insist on one place for each token."""
    if place is None:
        raise Refusal(
            "the graph 'grid' got tokens without a place; neighbours are found by row and column. "
            "Use tokens that have coordinates, such as those of an image, or the graph 'tokens'."
        )
    if len(place) != n_tokens:
        raise Refusal(
            f"there are {n_tokens} tokens and {len(place)} places; a grid needs one place for "
            "each token. Take both from the same data."
        )
    _, first, back = np.unique(place, axis=0, return_index=True, return_inverse=True)
    again = np.flatnonzero(first[back.ravel()] != np.arange(n_tokens))
    if again.size:
        here = ", ".join(str(c) for c in place[again[0]])
        raise Refusal(
            f"tokens {first[back.ravel()][again[0]]} and {again[0]} share the place ({here}); "
            "a grid has one token at a place. Remove one of them."
        )
    return np.asarray(place)


@GRAPHS.add("grid", needs_place=True, needs_beta=False, needs_weights=False, signed=False)
def grid(
    x: np.ndarray, place: np.ndarray | None, beta: float, weights: Weights | None = None
) -> np.ndarray:
    """Join tokens that are one step apart along one axis.

    Parameters
    ----------
    x : (..., token, feature) float
        Only its shape is used.
    place : (token, axis) int
        Row and column of each token, in any order; gaps are allowed.
    beta : float
        Not used.
    weights : (w_q, w_k) or None
        Not used.

    Returns
    -------
    (..., token, token) float
        One for neighbours (four, where a picture goes on), else zero; read-only.

    Raises
    ------
    Refusal
        If tokens have no place, two share one, or one has no neighbour.
    """
    where = _refuse_misplaced(place, x.shape[-2])
    distance = np.zeros((len(where), len(where)))
    for coordinate in where.T:
        distance += np.abs(coordinate[:, None] - coordinate[None, :])
    affinity = (distance == 1).astype(np.float64)
    alone = np.flatnonzero(affinity.sum(axis=-1) == 0)
    if alone.size:
        here = ", ".join(str(c) for c in where[alone[0]])
        raise Refusal(
            f"token {alone[0]} at ({here}) has no neighbour on the grid; nothing would diffuse to "
            "it. Count places in steps of one, or remove it."
        )
    return _for_every_sequence(affinity, x)


@GRAPHS.add("tokens", needs_place=False, needs_beta=True, needs_weights=False, signed=False)
def tokens(
    x: np.ndarray, place: np.ndarray | None, beta: float, weights: Weights | None = None
) -> np.ndarray:
    r"""Join tokens by how near they are to each other.

    .. math:: W_{ij} = e^{-\beta \|x_i - x_j\|^2 / 2}

    With this affinity I - L of the ``random_walk`` Laplacian is softmax
    attention with the l2 score, exactly.

    Parameters
    ----------
    x : (..., token, feature) float
    place : (token, axis) int or None
        Not used.
    beta : float
        Inverse temperature, one over a squared bandwidth.
    weights : (w_q, w_k) or None
        Not used.

    Returns
    -------
    (..., token, token) float
        In [0, 1], one on the diagonal, symmetric to the last bit.

    References
    ----------
    .. [1] coifman2006.
    """
    return np.exp(SCORES["l2"](x, x) * beta)


@GRAPHS.add("logits", needs_place=False, needs_beta=True, needs_weights=True, signed=True)
def symmetrised(
    x: np.ndarray, place: np.ndarray | None, beta: float, weights: Weights | None = None
) -> np.ndarray:
    r"""Join tokens by the symmetric part of the logits of dot-product attention.

    .. math:: \tilde S = (S + S^\top)/2, \qquad S = \beta\, X W_Q W_K^\top X^\top / \sqrt d

    Parameters
    ----------
    x : (..., token, feature) float
    place : (token, axis) int or None
        Not used.
    beta : float
        Inverse temperature.
    weights : (w_q, w_k), each (..., feature, projected) float
        Projections of queries and keys.

    Returns
    -------
    (..., token, token) float
        Of either sign, symmetric to the last bit.

    Raises
    ------
    Refusal
        If there are no projections.
    """
    if weights is None:
        raise Refusal(
            "the graphs 'logits' and 'affinity' compare tokens by projections, and got none. Give "
            "those of queries and keys, or use the graph 'tokens'."
        )
    w_q, w_k = weights
    s = logits(x @ w_q, x @ w_k, score="dot", mask="none", beta=beta)
    return (s + np.swapaxes(s, -1, -2)) / 2


@GRAPHS.add("affinity", needs_place=False, needs_beta=True, needs_weights=True, signed=False)
def affinity(
    x: np.ndarray, place: np.ndarray | None, beta: float, weights: Weights | None = None
) -> np.ndarray:
    r"""Exponentiate the symmetric part of the logits entry by entry.

    .. math:: W_{ij} = e^{\tilde S_{ij}}

    With this affinity I - L of the ``random_walk`` Laplacian is softmax
    attention of the symmetrised logits, exactly.

    Parameters
    ----------
    x : (..., token, feature) float
    place : (token, axis) int or None
        Not used.
    beta : float
        Inverse temperature.
    weights : (w_q, w_k), each (..., feature, projected) float
        Projections of queries and keys.

    Returns
    -------
    (..., token, token) float
        Positive, symmetric to the last bit; infinite above a logit of 709,
        which every Laplacian refuses.

    Raises
    ------
    Refusal
        If there are no projections.

    References
    ----------
    .. [1] chung1997.
    """
    with np.errstate(over="ignore"):
        return np.exp(symmetrised(x, place, beta, weights))
