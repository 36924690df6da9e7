r"""Tokens as a part that is kept beside a part that dies.

It owns the form

.. math:: X = 2^f\, 1 s^\top + 2^e R, \qquad p^\top R = 0,

with weights p that sum to one, and its arithmetic: neither part is ever added
to the other, so that neither rounds the other away.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

# Below any exponent that a layer reaches, and what an array of floats is shifted by at most.
LOWEST = -(2**30)


def along(weights: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Average tokens with weights (..., token): (..., token, feature) to (..., 1, feature)."""
    return weights[..., None, :] @ x


def remove_stationary(
    stationary: np.ndarray, x: np.ndarray, out: np.ndarray | None = None
) -> np.ndarray:
    """Apply I - 1πᵀ; a constant vanishes exactly, not only to rounding.

    Parameters
    ----------
    stationary : (..., token) float
    x : (..., token, feature) float
    out : (..., token, feature) float, optional
        Where the result goes, which may be ``x`` itself.

    Returns
    -------
    (..., token, feature) float
        Its average with the stationary weights is zero to rounding.
    """
    rest = np.subtract(x, x[..., :1, :].copy(), out=out)
    rest -= along(stationary, rest)
    return rest


def binary_exponent(rest: np.ndarray) -> np.ndarray:
    """Find the exponent e of 2^e that brings the largest entry below one: (...) int."""
    largest = np.maximum(rest.max(axis=(-2, -1)), -rest.min(axis=(-2, -1)))
    # Its inverse has to be a float, and 2^1023 is the largest power of two that is.
    return np.maximum(np.frexp(largest)[1], -1023)


@dataclass(frozen=True)
class Split:
    r"""Tokens as a part that is kept and one that dies, :math:`X = 2^f 1 s^\top + 2^e R`.

    Attributes
    ----------
    kept : (..., feature) float
        s. With the stationary distribution as weights it is the stationary part, and with
        uniform weights the token mean.
    rest : (..., token, feature) float
        R, with max|R| in [1/2, 1), or all zero. Smaller only where R was given
        in floats below 2^-1023, whose digits are lost anyhow.
    exponent : (...) int
        e, exact.
    kept_exponent : (...) int
        f, exact.
    """

    kept: np.ndarray
    rest: np.ndarray
    exponent: np.ndarray
    kept_exponent: np.ndarray

    @classmethod
    def of(
        cls,
        kept: np.ndarray,
        rest: np.ndarray,
        exponent: np.ndarray | int = 0,
        kept_exponent: np.ndarray | int = 0,
    ) -> Split:
        """Bring the rest to its scale, exactly, and leave the kept part as it is.

        Parameters
        ----------
        kept : (..., feature) float
            As given by an entry of ``STARTS``.
        rest : (..., token, feature) float
        exponent, kept_exponent : (...) int
            Binary exponents that ``rest`` and ``kept`` already carry.

        Returns
        -------
        Split
        """
        shift = binary_exponent(rest)
        scaled = rest * np.ldexp(1.0, -shift)[..., None, None]
        whole = np.asarray(exponent, dtype=np.int64) + shift
        return cls(kept, scaled, whole, np.broadcast_to(np.int64(kept_exponent), whole.shape))

    @classmethod
    def scaled(
        cls,
        kept: np.ndarray,
        rest: np.ndarray,
        exponent: np.ndarray,
        kept_exponent: np.ndarray,
    ) -> Split:
        """Bring both parts to scale, exactly; arguments are those of :meth:`of`."""
        shift = binary_exponent(kept[..., None, :])
        whole = kept * np.ldexp(1.0, -shift)[..., None]
        return cls.of(whole, rest, exponent, kept_exponent + shift)


def by_mean(x: np.ndarray) -> Split:
    """Split tokens into their mean and what differs from it.

    Parameters
    ----------
    x : (..., token, feature) float

    Returns
    -------
    Split
        With uniform weights.
    """
    even = np.full(x.shape[-2], 1 / x.shape[-2])
    return Split.of(along(even, x)[..., 0, :], remove_stationary(even, x))


def combined(terms: Sequence[tuple[float, Split]]) -> Split:
    """Add multiples of states that are split with the same weights.

    Parameters
    ----------
    terms : sequence of (float, Split)
        Factors and states.

    Returns
    -------
    Split
        Each of the two parts is added on the larger of the terms' scales.
    """
    return weighed([(factor, factor, state) for factor, state in terms])


def weighed(
    terms: Sequence[tuple[float, float, Split]], weights: np.ndarray | None = None
) -> Split:
    """Add multiples of states, with factors of their own for the kept parts.

    Parameters
    ----------
    terms : sequence of (float, float, Split)
        The factor of the rest, that of the kept part, and the state.
    weights : (..., token) float, optional
        Those of the split. Rounding leaves in the rest what belongs to the kept part, which a
        skip connection hands on while the rest dies; with the weights it is taken out.

    Returns
    -------
    Split
    """
    rest, exponent = summed([(factor, each.rest, each.exponent) for factor, _, each in terms])
    rest = rest if weights is None else remove_stationary(weights, rest, out=rest)
    kept, kept_exponent = summed(
        [(factor, each.kept[..., None, :], each.kept_exponent) for _, factor, each in terms]
    )
    return Split.scaled(kept[..., 0, :], rest, exponent, kept_exponent)


def summed(
    terms: Sequence[tuple[float, np.ndarray, np.ndarray]],
) -> tuple[np.ndarray, np.ndarray]:
    """Add multiples of arrays that carry binary exponents.

    Parameters
    ----------
    terms : sequence of (float, (..., row, column) float, (...) int)
        Factor, array, which may have one row for all, and exponent.

    Returns
    -------
    total : (..., row, column) float
    exponent : (...) int
        The largest of the terms' scales; the sum is ``total * 2**exponent``.
    """
    # A term that is zero has no scale.
    scales = [
        np.where(array.any(axis=(-2, -1)) & (factor != 0), exponent, LOWEST)
        for factor, array, exponent in terms
    ]
    top = reduce(np.maximum, scales)
    shared = np.where(top == LOWEST, 0, top)
    added = [
        array * np.ldexp(factor, np.clip(exponent - shared, LOWEST, 0))[..., None, None]
        for factor, array, exponent in terms
    ]
    return reduce(np.add, added), shared


def mapped(state: Split, matrix: np.ndarray) -> Split:
    """Multiply every token from the right, X -> X W.

    Parameters
    ----------
    state : Split
    matrix : (..., feature, feature) float

    Returns
    -------
    Split
        Split with the same weights, which act from the left.
    """
    kept = (state.kept[..., None, :] @ matrix)[..., 0, :]
    return Split.scaled(kept, state.rest @ matrix, state.exponent, state.kept_exponent)


def dc_scaled(state: Split, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    r"""Give the token mean with a binary exponent, so that it cannot underflow.

    .. math:: \tfrac1n 1^\top X = 2^f s + 2^e (\tfrac1n 1 - p)^\top R

    Parameters
    ----------
    state : Split
    weights : (..., token) float
        p, those of the split; where they are exactly uniform the mean is exactly 2^f s.

    Returns
    -------
    mean : (..., feature) float
    exponent : (...) int
        The token mean is ``mean * 2**exponent``, the larger of the two exponents.
    """
    n_tokens = state.rest.shape[-2]
    leak = along(1 / n_tokens - weights, state.rest)
    mean, exponent = summed(
        [(1.0, state.kept[..., None, :], state.kept_exponent), (1.0, leak, state.exponent)]
    )
    return mean[..., 0, :], exponent


def dc(state: Split, weights: np.ndarray) -> np.ndarray:
    """Give the token mean, the row that DC(X) repeats.

    Parameters
    ----------
    state : Split
    weights : (..., token) float
        Those of the split.

    Returns
    -------
    (..., feature) float
        Underflows to zero where s is zero and the rest is below 1e-323;
        :func:`dc_scaled` does not.
    """
    mean, exponent = dc_scaled(state, weights)
    return np.ldexp(mean, exponent[..., None])


def hc(state: Split) -> tuple[np.ndarray, np.ndarray]:
    """Give everything but the token mean, HC(X).

    Parameters
    ----------
    state : Split

    Returns
    -------
    high : (..., token, feature) float
        C R; its token mean is zero to rounding.
    exponent : (...) int
        HC(X) is ``high * 2**exponent``.
    """
    return state.rest - state.rest.mean(axis=-2, keepdims=True), state.exponent
