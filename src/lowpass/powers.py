"""Norms of high powers of one mixing matrix, far below the range of floats.

It owns iterations that carry a binary exponent beside a matrix, so that what is left of it
after many layers keeps its digits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np


def _followed(
    step: Callable[[np.ndarray], np.ndarray],
    start: np.ndarray,
    depth: int,
    norm: Callable[[np.ndarray], np.ndarray],
) -> np.ndarray:
    """Give log10 of the norm at layers 0 to ``depth``, the matrix being rescaled at each."""
    state, exponent = start, np.zeros(start.shape[:-2])
    found = np.empty((*start.shape[:-2], depth + 1))
    for layer in range(depth + 1):
        shift = np.maximum(np.frexp(np.abs(state).max(axis=(-2, -1)))[1], -1023)
        state = state * np.ldexp(1.0, -shift)[..., None, None]
        exponent += shift
        with np.errstate(divide="ignore"):
            found[..., layer] = np.log10(norm(state)) + exponent * np.log10(2)
        state = step(state)
    return found


def _spectral_norm(matrix: np.ndarray) -> np.ndarray:
    # The largest eigenvalue of a Gram matrix has all its digits; only small ones would lose theirs.
    square = np.linalg.eigvalsh(np.swapaxes(matrix, -1, -2) @ matrix)[..., -1]
    return np.sqrt(np.maximum(square, 0))


def log10_power_gain(attention: np.ndarray, depth: int) -> np.ndarray:
    r"""Give the largest factor by which t layers change the high-frequency component.

    .. math:: \log_{10} \|(CAC)^t\|_2 = \log_{10} \|C A^t C\|_2

    Parameters
    ----------
    attention : (..., query, key) float
        Rows sum to one, so that the mean of a signal adds nothing to its
        high-frequency component.
    depth : int

    Returns
    -------
    (..., layer) float
        Decimal logarithm for t = 0, 1, ..., ``depth``: zero at layer 0, above
        zero where powers grow, -inf where nothing is left. The slope tends to
        log₁₀ |λ₂|.

    References
    ----------
    .. [1] trefethen2005, on powers of matrices.
    """
    n_tokens = attention.shape[-1]
    high = np.broadcast_to(np.eye(n_tokens) - 1 / n_tokens, attention.shape)

    def layer(state: np.ndarray) -> np.ndarray:
        mixed = attention @ state
        return mixed - mixed.mean(axis=-2, keepdims=True)

    return _followed(layer, high, depth, _spectral_norm)


def log10_mixing_distance(attention: np.ndarray, stationary: np.ndarray, depth: int) -> np.ndarray:
    r"""Give the distance of the slowest token from the stationary distribution.

    .. math:: \log_{10} d(t), \qquad
              d(t) = \max_i \tfrac12 \sum_j |(A^t)_{ij} - \pi_j|

    Iterated is the deviation :math:`A^t - 1\pi^\top`, from which what rounding
    adds along 1 is projected out at each layer, as in the split form of tokens:
    subtracting π from a power would leave rounding only after some layers.

    Parameters
    ----------
    attention : (..., query, key) float
        Rows sum to one.
    stationary : (..., token) float
        π, with πᵀA = πᵀ, entrywise accurate.
    depth : int

    Returns
    -------
    (..., layer) float
        Decimal logarithm for t = 0, 1, ..., ``depth``, at most zero; -inf where
        every row has arrived. It never rises, and stays where A is periodic or
        falls apart.

    References
    ----------
    .. [1] levin2017, section 4.4.
    """
    n_tokens = attention.shape[-1]
    start = np.eye(n_tokens) - stationary[..., None, :]

    def layer(state: np.ndarray) -> np.ndarray:
        mixed = attention @ state
        return mixed - stationary[..., None, :] @ mixed

    def farthest(state: np.ndarray) -> np.ndarray:
        return np.abs(state).sum(axis=-1).max(axis=-1) / 2

    return _followed(layer, start, depth, farthest)


def log10_mixing_bounds(
    modulus: np.ndarray, smallest: np.ndarray, depth: int
) -> tuple[np.ndarray, np.ndarray]:
    r"""Bound the distance of reversible mixing from both sides.

    .. math:: \tfrac12 |\lambda_2|^t \le d(t) \le
              \tfrac12 \pi_{\min}^{-1/2} |\lambda_2|^t

    Parameters
    ----------
    modulus : (...) float
        |λ₂|.
    smallest : (...) float
        The smallest entry of π.
    depth : int

    Returns
    -------
    lower, upper : (..., layer) float
        Decimal logarithms for t = 0, 1, ..., ``depth``; -inf from layer 1 on
        where λ₂ is zero, and an infinite upper bound where a token is never
        returned to.

    References
    ----------
    .. [1] diaconis1991, proposition 3.
    .. [2] levin2017, section 12.2.
    """
    layer = np.arange(1, depth + 1)
    with np.errstate(divide="ignore"):
        later = np.log10(modulus)[..., None] * layer
        above = -np.log10(smallest)[..., None] / 2
    # Zero to the power of zero is one, of which the logarithm knows nothing.
    lower = np.concatenate([np.zeros((*modulus.shape, 1)), later], axis=-1) - np.log10(2)
    returned = smallest[..., None] > 0
    return lower, np.add(lower, above, out=np.full(lower.shape, np.inf), where=returned)


def power_error(attention: np.ndarray, orders: Sequence[int]) -> np.ndarray:
    r"""Measure how far a power is from the line through A and A² that stands for it.

    .. math:: \|A^K - (A + (K - 1)(A^2 - A))\|_\infty \le 2K - 2

    The bound adds the norms of :math:`A^K`, :math:`(K - 2)A` and :math:`(K - 1)A^2`; a
    cyclic permutation of more than K tokens attains it, K > 2.

    Parameters
    ----------
    attention : (..., query, key) float
        Row-stochastic.
    orders : (order,) int
        K, ascending, from two on, where the line is exact.

    Returns
    -------
    (..., order) float
        The largest sum of moduli in a row.

    References
    ----------
    .. [1] choi2024, section 4.
    """
    square = attention @ attention
    power, errors = attention, []
    for order in range(2, max(orders) + 1):
        power = power @ attention
        if order in orders:
            line = attention + (order - 1) * (square - attention)
            errors.append(np.abs(power - line).sum(axis=-1).max(axis=-1))
    return np.stack(errors, axis=-1)
