r"""How strongly one mixing matrix contracts what differs between tokens.

It owns gains in the Euclidean norm, coefficients of ergodicity, and the bounds on both that
follow from logits alone. J = 11ᵀ/n averages tokens, and C = I - J removes the average.
"""

from __future__ import annotations

import numpy as np

from lowpass.registry import Refusal

# An entry of a heat kernel that should be zero is off by less.
NEGATIVE = 1e-12


def _without_column_means(attention: np.ndarray) -> np.ndarray:
    """Form CA."""
    return attention - attention.mean(axis=-2, keepdims=True)


def _high_to_high(attention: np.ndarray) -> np.ndarray:
    """Form CAC."""
    lower = _without_column_means(attention)
    return lower - lower.mean(axis=-1, keepdims=True)


def hc_gain(attention: np.ndarray) -> np.ndarray:
    r"""Give the largest factor by which one layer enlarges the high-frequency component.

    .. math:: \sigma_{HC} = \|CAC\|_2 = \max_X \|HC(AX)\|_F / \|HC(X)\|_F

    Parameters
    ----------
    attention : (..., query, key) float
        Rows sum to one.

    Returns
    -------
    (...) float
        Not negative; zero for J. May exceed one although no eigenvalue does.
    """
    return np.linalg.svd(_high_to_high(attention), compute_uv=False)[..., 0]


def hc_gain_rms(attention: np.ndarray) -> np.ndarray:
    r"""Give the root mean square factor by which one layer changes a random component.

    .. math:: \|CAC\|_F / \sqrt{n - 1}

    Parameters
    ----------
    attention : (..., query, key) float
        Of two tokens or more.

    Returns
    -------
    (...) float
        Not negative; one for the identity, zero for J, at most the largest gain.
    """
    n_tokens = attention.shape[-1]
    return np.linalg.norm(_high_to_high(attention), axis=(-2, -1)) / np.sqrt(n_tokens - 1)


def ca_gain(attention: np.ndarray) -> np.ndarray:
    r"""Bound the largest gain by a norm that needs no singular value.

    .. math:: \|CA\|_F \ge \|CAC\|_2

    Parameters
    ----------
    attention : (..., query, key) float

    Returns
    -------
    (...) float
        Not negative; zero where all rows are equal.
    """
    return np.linalg.norm(_without_column_means(attention), axis=(-2, -1))


def column_gain(attention: np.ndarray) -> np.ndarray:
    r"""Bound the largest gain by column sums.

    .. math:: \sqrt{\|A\|_1 \|A\|_\infty} = \sqrt{\max_j \textstyle\sum_i A_{ij}}
              \ge \|A\|_2 \ge \|CAC\|_2

    Parameters
    ----------
    attention : (..., query, key) float
        Non-negative; rows sum to one.

    Returns
    -------
    (...) float
        In [1, √n].
    """
    return np.sqrt(attention.sum(axis=-2).max(axis=-1))


def dobrushin(attention: np.ndarray) -> np.ndarray:
    r"""Give the largest factor by which one layer changes the oscillation of a signal.

    .. math:: \tau_1 = \tfrac12 \max_{i, k} \sum_j |A_{ij} - A_{kj}|
              = \max_z \operatorname{osc}(Az) / \operatorname{osc}(z)

    Parameters
    ----------
    attention : (..., query, key) float
        Rows sum to one.

    Returns
    -------
    (...) float
        In [0, 1] for non-negative entries: zero where all rows are equal, one
        where two rows share no key.

    References
    ----------
    .. [1] seneta2006, chapter 4, coefficients of ergodicity.
    """
    largest = np.zeros(attention.shape[:-2])
    for query in range(attention.shape[-2] - 1):
        apart = np.abs(attention[..., query + 1 :, :] - attention[..., query, None, :])
        largest = np.maximum(largest, apart.sum(axis=-1).max(axis=-1))
    return largest / 2


def log10_oscillation_growth(high: np.ndarray, exponent: np.ndarray) -> np.ndarray:
    r"""Compare the oscillation of every signal, layer by layer, with that of the first layer.

    .. math:: \log_{10} \max_z \frac{\operatorname{osc}(z_t)}{\operatorname{osc}(z_0)},
              \qquad \operatorname{osc}(z) = \max_i z_i - \min_i z_i

    Parameters
    ----------
    high : (..., layer, token, feature) float
        Signals z are the features; what is constant in them does not count.
    exponent : (..., layer) int
        The array meant is ``high * 2**exponent``.

    Returns
    -------
    (..., layer) float
        Decimal logarithm; zero at the first layer. -inf where nothing oscillates; a signal that
        is constant from the start does not count.
    """
    with np.errstate(divide="ignore"):
        height = np.log10(np.ptp(high, axis=-2)) + exponent[..., None] * np.log10(2)
    start = height[..., :1, :]
    none = np.full(height.shape, -np.inf)
    return np.subtract(height, start, out=none, where=np.isfinite(start)).max(axis=-1)


def projective_diameter(attention: np.ndarray) -> np.ndarray:
    r"""Give the largest distance of two rows in Hilbert's projective metric.

    .. math:: \Delta = \max_{i, j, k, l} \log \frac{A_{ij} A_{kl}}{A_{il} A_{kj}}

    A key that no query of a pair sees does not count; one that only one of them
    sees makes their distance infinite. Factors of rows and columns cancel, so
    that of softmax the logits P give :math:`\max P_{ij} + P_{kl} - P_{il} - P_{kj}`.

    Parameters
    ----------
    attention : (..., query, key) float
        Non-negative. An entry that underflows to zero counts as zero.

    Returns
    -------
    (...) float
        Not negative; zero where all rows are proportional, infinite where two
        have different zeros.

    Raises
    ------
    Refusal
        If an entry is negative.

    References
    ----------
    .. [1] seneta2006, chapter 3, on Birkhoff's contraction coefficient.
    """
    if attention.min() < -NEGATIVE:
        raise Refusal(
            f"the mixing matrix has the entry {attention.min():.3g}; a projective distance is one "
            "of ratios of positive weights. Use a positive kernel such as softmax."
        )
    seen = attention > 0
    height = np.log(np.where(seen, attention, 1))
    largest = np.zeros(attention.shape[:-2])
    for query in range(attention.shape[-2] - 1):
        apart = height[..., query + 1 :, :] - height[..., query, None, :]
        both = seen[..., query + 1 :, :] & seen[..., query, None, :]
        wide = np.where(both, apart, -np.inf).max(axis=-1) - np.where(both, apart, np.inf).min(-1)
        unlike = (seen[..., query + 1 :, :] != seen[..., query, None, :]).any(axis=-1)
        largest = np.maximum(largest, np.where(unlike, np.inf, wide).max(axis=-1))
    return largest


def birkhoff(attention: np.ndarray) -> np.ndarray:
    r"""Give the factor by which one layer contracts Hilbert's projective metric.

    .. math:: \tanh(\Delta / 4)

    Parameters
    ----------
    attention : (..., query, key) float
        Non-negative.

    Returns
    -------
    (...) float
        In [0, 1]; at least Dobrushin's coefficient.

    References
    ----------
    .. [1] seneta2006, chapter 3, on Birkhoff's contraction coefficient.
    """
    return np.tanh(projective_diameter(attention) / 4)


def wang_bound(max_logit: np.ndarray, n_tokens: int) -> np.ndarray:
    r"""Bound the largest gain of softmax attention by its largest logit.

    .. math:: \sqrt{\frac{n e^{2\alpha}}{e^{2\alpha} + n - 1}}

    Parameters
    ----------
    max_logit : (...) float
        α, the largest modulus of a logit; infinite where a key is masked.
    n_tokens : int

    Returns
    -------
    (...) float
        In [1, √n]: never below one, so that the bound alone shows no contraction.

    References
    ----------
    .. [1] wang2022, the rate of convergence, with W_V = I.
    """
    return np.sqrt(n_tokens / (1 + (n_tokens - 1) * np.exp(-2 * max_logit)))
