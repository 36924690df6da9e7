r"""One layer of softmax attention that never forms its matrix.

It owns the layer whose values are its tokens, and what the same pass over the scores tells
of it. Rows are taken a few at a time into one array that is used again and again:

.. math:: A X = 1 \mu^\top + \operatorname{diag}(E 1)^{-1} E (X - 1\mu^\top), \qquad
   E_{ij} = e^{s_{ij}}, \quad s = X M (X - 1\mu^\top)^\top .

Keys are centred first, which adds a constant to every row of scores: softmax does not see it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from lowpass.registry import Refusal

# A product of fewer rows than this keeps the processor waiting for its operands.
ROWS_AT_ONCE = 256
FEWEST_ROWS = 64
# More of them would leave the caches: numbers in a tile of a long sequence.
TILE = 2**22
# Short sequences are taken together, until their matrices have about this many bytes.
GROUP = 2**20
# Shifted scores below it are raised to it: their exponential is nothing beside the one of
# zero, and denormal numbers would take up to a hundred times as long.
FLOOR = {"float64": -700.0, "float32": -80.0}
# Up to this magnitude, scores are exponentiated as they are; none of them is near the floor.
SAFE = {"float64": 350.0, "float32": 40.0}


@dataclass(frozen=True)
class Records:
    r"""Hold what one layer says of its tokens and its matrix, all in float64.

    Parameters
    ----------
    entropy : (...) float
        Mean over queries of :math:`H_i = \log\sum_j e^{s_{ij}} - \sum_j A_{ij} s_{ij}` in nats, in
        [0, log n]; the difference is exact to a few units in the last place of the scores.
    edge_energy : (...) float
        :math:`\tfrac12 \sum_{ij} A_{ij} \|x_i - x_j\|^2`, not negative; exact to a few units in
        the last place of the squared HC norm.
    mean_cosine : (...) float
        Mean cosine of two different tokens, where that of a zero token is zero; nan for one token.
    dc_norm, hc_norm : (...) float
        Frobenius norms of the token mean in every row, and of the rest.
    column_sums : (..., key) float
        :math:`c = A^\top 1`: how much all queries together see of a key; sums to n.
    clipped : (...) int
        How many scores were raised to the floor.
    """

    entropy: np.ndarray
    edge_energy: np.ndarray
    mean_cosine: np.ndarray
    dc_norm: np.ndarray
    hc_norm: np.ndarray
    column_sums: np.ndarray
    clipped: np.ndarray


@dataclass(frozen=True)
class _Piece:
    """Some rows of some sequences, and the keys that they may see."""

    sequences: slice
    rows: slice
    keys: slice
    hidden: np.ndarray | None


@dataclass(frozen=True)
class _Layer:
    """What all pieces share: (sequence, token, feature) arrays of one type, and masks."""

    x: np.ndarray
    q: np.ndarray
    mean: np.ndarray
    is_safe: np.ndarray
    hidden: np.ndarray | None
    is_causal: bool


class _Found:
    """What the pieces of one pass add up to, beside its result."""

    def __init__(self, n_sequences: int, n_tokens: int) -> None:
        self.entropy = np.zeros(n_sequences)
        self.inner = np.zeros(n_sequences)
        self.columns = np.zeros((n_sequences, n_tokens))
        self.clipped = np.zeros(n_sequences, np.int64)


def folded(w_q: np.ndarray, w_k: np.ndarray, beta: float) -> np.ndarray:
    r"""Put projections, temperature and width into one matrix.

    .. math:: M = \frac{\beta}{\sqrt d} W_Q W_K^\top, \qquad S = X M X^\top

    Parameters
    ----------
    w_q, w_k : (..., feature, key_feature) float
        Their common last dimension is d.
    beta : float
        Inverse temperature, dimensionless.

    Returns
    -------
    (..., feature, feature) float
        Of the type of the projections: a numpy scalar would turn float32 into float64.
    """
    return (w_q @ np.swapaxes(w_k, -1, -2)) * float(beta / np.sqrt(w_q.shape[-1]))


def mix(x: np.ndarray, m: np.ndarray, *, mask: str | np.ndarray = "none") -> np.ndarray:
    r"""Apply one layer of softmax attention, A X with :math:`A = softmax(X M X^\top)`.

    Memory beside the result is that of a few rows of A: at most 2^22 numbers, or 64 rows
    where a row is longer. In float64 the result agrees with the formula to rounding; in
    float32 a number is off by up to 4 √n + 4 max|s| units in the last place of the
    largest token.

    Parameters
    ----------
    x : (..., token, feature) float
    m : (..., feature, feature) float
        As given by :func:`folded`; its leading dimensions are matched with those of ``x``.
    mask : str or (query, key) bool
        ``"none"``, ``"causal"``, or True where attention is allowed.

    Returns
    -------
    (..., token, feature) float
        float32 where tokens and matrix are, else float64. A sequence does not depend on
        those beside it.

    Raises
    ------
    Refusal
        If a number is nan or infinite, a score overflows, a shape does not fit, or a query
        sees no key.
    """
    layer, lead = _prepared(x, m, mask)
    return _mixed(layer, None).reshape(*lead, *layer.x.shape[1:])


def mix_recorded(
    x: np.ndarray, m: np.ndarray, *, mask: str | np.ndarray = "none"
) -> tuple[np.ndarray, Records]:
    """Apply one layer as :func:`mix` does, and record what the same pass tells.

    Parameters
    ----------
    x, m, mask
        As for :func:`mix`.

    Returns
    -------
    mixed : (..., token, feature) float
        The same numbers as without records.
    records : Records
        Of the tokens ``x`` that come in, and of the matrix that mixes them.

    Raises
    ------
    Refusal
        As for :func:`mix`.
    """
    layer, lead = _prepared(x, m, mask)
    n_sequences, n_tokens, _ = layer.x.shape
    found = _Found(n_sequences, n_tokens)
    mixed = _mixed(layer, found).reshape(*lead, *layer.x.shape[1:])
    square = np.vecdot(layer.x, layer.x, dtype=np.float64)
    energy = ((1 + found.columns) * square).sum(axis=-1) / 2 - found.inner
    flat = {
        "entropy": np.maximum(found.entropy / n_tokens, 0.0),
        "edge_energy": np.maximum(energy, 0.0),
        "mean_cosine": _mean_cosine(layer),
        "dc_norm": np.sqrt(n_tokens) * np.linalg.norm(layer.mean[:, 0].astype(float), axis=-1),
        "hc_norm": np.sqrt(square.sum(axis=-1)),
        "clipped": found.clipped,
    }
    shaped = {name: value.reshape(lead) for name, value in flat.items()}
    return mixed, Records(column_sums=found.columns.reshape(*lead, n_tokens), **shaped)


def _mixed(layer: _Layer, found: _Found | None) -> np.ndarray:
    """Mix all tokens, piece by piece in one array."""
    mixed = np.empty_like(layer.x)
    scratch = np.empty(0, layer.x.dtype)
    for piece in _pieces(layer):
        count, rows = (each.stop - each.start for each in (piece.sequences, piece.rows))
        size = count * rows * piece.keys.stop
        if scratch.size < size:
            scratch = np.empty(size, layer.x.dtype)
        tile = scratch[:size].reshape(count, rows, piece.keys.stop)
        _mix_piece(layer, piece, tile, mixed, found)
    mixed += layer.mean
    return mixed


def _prepared(
    x: np.ndarray, m: np.ndarray, mask: str | np.ndarray
) -> tuple[_Layer, tuple[int, ...]]:
    if x.ndim < 2 or m.ndim < 2 or m.shape[-2:] != (x.shape[-1], x.shape[-1]):
        raise Refusal(
            f"tokens have the shape {x.shape} and the matrix between them {m.shape}; it must be "
            "(feature, feature). Fold w_q and w_k into one matrix with folded(w_q, w_k, beta)."
        )
    kind = np.float32 if x.dtype == m.dtype == np.float32 else np.float64
    mean = x.mean(axis=-2, keepdims=True, dtype=np.float64).astype(kind)
    with np.errstate(invalid="ignore", over="ignore"):
        high = x.astype(kind, copy=False) - mean
        q = x.astype(kind, copy=False) @ m.astype(kind, copy=False)
        largest = [np.sqrt(np.vecdot(each, each).max(axis=-1)) for each in (q, high)]
        bound = largest[0] * largest[1]
    if not np.isfinite(bound).all():
        _refuse_unusable(x, m, kind)
    lead = q.shape[:-2]
    flat = [np.broadcast_to(each, (*lead, *each.shape[-2:])) for each in (high, q, mean)]
    high, q, mean = (each.reshape(-1, *each.shape[-2:]) for each in flat)
    is_safe = (bound <= SAFE[np.dtype(kind).name]).reshape(-1)
    hidden = _hidden(mask, x.shape[-2])
    is_causal = isinstance(mask, str) and mask == "causal"
    return _Layer(high, q, mean, is_safe, hidden, is_causal), lead


def _refuse_unusable(x: np.ndarray, m: np.ndarray, kind: type) -> None:
    for name, values in (("token", x), ("entry of the matrix", m)):
        bad = np.argwhere(~np.isfinite(values))
        if len(bad):
            place = ", ".join(map(str, bad[0]))
            raise Refusal(
                f"{name} [{place}] is {values[tuple(bad[0])]}; attention needs finite numbers. "
                "Check the tokens, the weights and beta."
            )
    raise Refusal(
        f"scores may exceed {np.sqrt(np.finfo(kind).max):.1g}, where {np.dtype(kind).name} "
        "overflows in a square. Use smaller tokens or weights, or a smaller beta."
    )


def _hidden(mask: str | np.ndarray, n_tokens: int) -> np.ndarray | None:
    """Say which keys are forbidden, where that takes a matrix to say."""
    if isinstance(mask, str):
        if mask in ("none", "causal"):
            return None
        raise Refusal(
            f"the tiled layer got the mask '{mask}'; it knows none, causal, and matrices. "
            f"Pass MASKS['{mask}'](n_tokens)."
        )
    if mask.shape != (n_tokens, n_tokens) or mask.dtype != bool:
        raise Refusal(
            f"the mask is {mask.dtype} {mask.shape} for {n_tokens} tokens; it says of every query "
            f"and key whether they meet. Give bool ({n_tokens}, {n_tokens})."
        )
    blind = np.flatnonzero(~mask.any(axis=-1))
    if blind.size:
        raise Refusal(
            f"the mask hides every key from query {blind[0]}; a query that sees no key has no "
            "distribution. Let its mask allow one key."
        )
    return ~mask


def _pieces(layer: _Layer) -> Iterator[_Piece]:
    n_sequences, n_tokens, _ = layer.x.shape
    rows = min(ROWS_AT_ONCE, max(FEWEST_ROWS, TILE // n_tokens))
    together = 1
    if n_tokens < ROWS_AT_ONCE:
        rows = n_tokens
        together = max(1, GROUP // (n_tokens**2 * layer.x.itemsize))
    for first in range(0, n_sequences, together):
        sequences = slice(first, min(first + together, n_sequences))
        for low in range(0, n_tokens, rows):
            high = min(low + rows, n_tokens)
            if layer.is_causal:
                hidden = np.arange(high) > np.arange(low, high)[:, None]
                yield _Piece(sequences, slice(low, high), slice(0, high), hidden)
            else:
                hidden = None if layer.hidden is None else layer.hidden[low:high]
                yield _Piece(sequences, slice(low, high), slice(0, n_tokens), hidden)


def _mix_piece(
    layer: _Layer, piece: _Piece, tile: np.ndarray, mixed: np.ndarray, found: _Found | None
) -> None:
    keys, q = layer.x[piece.sequences, piece.keys], layer.q[piece.sequences, piece.rows]
    np.matmul(q, np.swapaxes(keys, -1, -2), out=tile)
    top = _exponentiate(layer, piece, tile, found)
    total = tile.sum(axis=-1)
    share = 1 / total
    out = mixed[piece.sequences, piece.rows]
    np.matmul(tile, keys, out=out)
    out *= share[..., None]
    if found is None:
        return
    found.columns[piece.sequences, piece.keys] += (share[..., None, :] @ tile)[..., 0, :]
    entropy = top + np.log(total, dtype=np.float64) - np.vecdot(q, out, dtype=np.float64)
    found.entropy[piece.sequences] += entropy.sum(axis=-1)
    inner = np.vecdot(layer.x[piece.sequences, piece.rows], out, dtype=np.float64)
    found.inner[piece.sequences] += inner.sum(axis=-1)


def _exponentiate(
    layer: _Layer, piece: _Piece, tile: np.ndarray, found: _Found | None
) -> np.ndarray | float:
    """Exponentiate scores in place, and give by how much each row was shifted down."""
    top: np.ndarray | float = 0.0
    is_safe, hidden = layer.is_safe[piece.sequences], piece.hidden
    if not is_safe.all():
        if hidden is not None:
            np.copyto(tile, -np.inf, where=hidden)
        shift = np.where(is_safe[:, None], 0, tile.max(axis=-1))
        tile -= shift[..., None]
        floor = FLOOR[tile.dtype.name]
        if found is not None:
            n_hidden = 0 if hidden is None else np.count_nonzero(hidden)
            below = np.count_nonzero(tile < floor, axis=(-2, -1))
            found.clipped[piece.sequences] += below - n_hidden
        np.maximum(tile, floor, out=tile)
        top = shift.astype(np.float64)
    np.exp(tile, out=tile)
    if hidden is not None:
        np.copyto(tile, 0.0, where=hidden)
    return top


def _mean_cosine(layer: _Layer) -> np.ndarray:
    n_tokens = layer.x.shape[-2]
    if n_tokens == 1:
        return np.full(len(layer.x), np.nan)
    x = np.add(layer.x, layer.mean, dtype=np.float64)
    length = np.sqrt(np.vecdot(x, x))
    inverse = np.divide(1, length, out=np.zeros_like(length), where=length > 0)
    total = (inverse[..., None, :] @ x)[..., 0, :]
    n_seen = np.count_nonzero(length, axis=-1)
    return (np.vecdot(total, total) - n_seen) / (n_tokens * (n_tokens - 1))
