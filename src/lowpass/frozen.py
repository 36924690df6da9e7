"""A frozen attention matrix, applied again and again.

It owns what one matrix does to split tokens, and the split that suits it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from lowpass.layers import PLAIN, SPLIT, Block, iterate
from lowpass.registry import Refusal
from lowpass.splits import Split, binary_exponent, remove_stationary


def waning_share(layer: int | np.ndarray) -> float | np.ndarray:
    """Give the share of attention in layer 1, 2, ... of layers that wane; halved by each."""
    return 2.0 ** -(np.asarray(layer) + 1.0)


def diluted(matrix: np.ndarray, share: float) -> np.ndarray:
    """Mix a matrix with the identity, (1 - s)I + sA."""
    return (1 - share) * np.eye(matrix.shape[-1], dtype=matrix.dtype) + share * matrix


@dataclass(frozen=True)
class Frozen:
    r"""Apply one matrix to split tokens, H 1 = g 1 with a left vector pᵀH = g pᵀ.

    The kept part is multiplied by g, and :math:`R \to (I - 1p^\top) H R`. A stored row
    of H sums to g only to rounding. In an unsplit array that error is relative to the
    surviving part and soon hides the dying one. Here H never multiplies s, and what the
    error adds to H R is relative to R itself: its part along 1 is projected out, the
    rest is one more rounding. The relative error of R therefore grows only linearly
    with depth, however small R becomes.

    Attributes
    ----------
    matrix : (..., query, key) float
        H.
    weights : (..., token) float
        p, with pᵀ1 = 1: for attention its stationary distribution, entrywise accurate.
    gain : float
        g, one for attention.
    """

    matrix: np.ndarray
    weights: np.ndarray
    gain: float = 1.0

    def __call__(self, state: Split) -> Split:
        """Give H X."""
        mixed = self.matrix @ state.rest
        remove_stationary(self.weights, mixed, out=mixed)
        shift = binary_exponent(mixed)
        # A product with a power of two is exact, as ldexp is, and takes a fraction of its time.
        mixed *= np.ldexp(1.0, -shift)[..., None, None]
        exponent = state.exponent + shift
        if self.gain == 1:
            return Split(state.kept, mixed, exponent, state.kept_exponent)
        return Split.scaled(self.gain * state.kept, mixed, exponent, state.kept_exponent)


def dual(matrix: np.ndarray, gain: float) -> np.ndarray:
    r"""Find the left vector of a matrix whose rows sum to a gain, pᵀH = g pᵀ with pᵀ1 = 1.

    Parameters
    ----------
    matrix : (..., query, key) float
    gain : float

    Returns
    -------
    (..., token) float
        Of any sign. Weights that split tokens into the constant mode and all others.

    Raises
    ------
    Refusal
        If another mode has the same gain, so that there is no such split.
    """
    n_tokens = matrix.shape[-1]
    system = np.ones((*matrix.shape[:-2], n_tokens + 1, n_tokens + 1))
    system[..., :-1, :-1] = np.swapaxes(matrix, -1, -2) - gain * np.eye(n_tokens)
    system[..., -1, -1] = 0
    right = np.zeros((n_tokens + 1, 1))
    right[-1] = 1
    if (np.linalg.cond(system) > 1 / np.finfo(np.float64).eps).any():
        raise Refusal(
            f"the constant mode has the gain {gain:.3g}, and so has another mode; no split "
            "keeps one without the other. Change the strength of the remedy a little."
        )
    return np.linalg.solve(system, np.broadcast_to(right, (*system.shape[:-1], 1)))[..., :-1, 0]


def iterate_split(attention: np.ndarray, state: Split, stationary: np.ndarray) -> Iterator[Split]:
    """Apply one attention matrix for ever, in split form.

    Parameters
    ----------
    attention : (..., query, key) float
        Row-stochastic.
    state : Split
        The start.
    stationary : (..., token) float
        Left eigenvector π of A to the eigenvalue one, entrywise accurate.

    Returns
    -------
    iterator of Split
        The start (layer 0), then one state for each layer, without end.
    """
    head = Frozen(attention, stationary)
    return iterate(SPLIT, state, lambda y, layer: [(head, None)], Block())


def iterate_plain(attention: np.ndarray, x: np.ndarray, dtype: str) -> Iterator[np.ndarray]:
    """Apply one attention matrix for ever, in one floating array.

    Parameters
    ----------
    attention : (..., query, key) float
    x : (..., token, feature) float
    dtype : str
        ``"float64"`` or ``"float32"``. The ratio of HC to DC stalls between
        :func:`lowpass.spectra.rounding_floor` and the rounding of a sum, 2 n u.

    Returns
    -------
    iterator of (..., token, feature) float
        The start (layer 0), then one array for each layer, without end.
    """
    a = attention.astype(dtype, copy=False)
    return iterate(PLAIN, x.astype(dtype), lambda y, layer: [(lambda z: a @ z, None)], Block())
