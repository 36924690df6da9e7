r"""How many different things there are among weights, modes or tokens.

It owns entropies, effective ranks and cosines. Tokens come in two parts, a mean and what
differs from it, each with a binary exponent,

.. math:: X = 2^{e_1} 1 m^\top + 2^{e_2} U, \qquad 1^\top U = 0,

so that numbers which only the dying part decides keep their digits however small it is.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

# Below this ratio of HC to DC, what a perturbation of fourth order leaves out is rounding.
SMALL = 1e-4
# An exponent that stands for a part beside which the other one is nothing.
FAR = 20_000


class Tokens(NamedTuple):
    """Hold tokens as their mean and the rest, each with its binary exponent.

    Attributes
    ----------
    mean : (..., feature) float
    mean_exponent : (...) int
    rest : (..., token, feature) float
        Its mean over tokens is zero to rounding.
    rest_exponent : (...) int
    """

    mean: np.ndarray
    mean_exponent: np.ndarray
    rest: np.ndarray
    rest_exponent: np.ndarray


def entropy(attention: np.ndarray) -> np.ndarray:
    r"""Give the mean entropy of the rows.

    .. math:: -\frac1n \sum_{ij} A_{ij} \ln A_{ij}

    Parameters
    ----------
    attention : (..., query, key) float
        Non-negative; rows sum to one. An entry that is zero counts nothing.

    Returns
    -------
    (...) float
        In nats, in [0, ln n]: zero where every query sees one key, ln n where
        every one sees all alike.
    """
    seen = np.maximum(attention, 0)
    weighted = seen * np.log(np.where(seen > 0, seen, 1))
    # Adding zero makes a negative zero positive.
    return -weighted.sum(axis=-1).mean(axis=-1) + 0.0


def effective_rank(singular: np.ndarray) -> np.ndarray:
    r"""Give the exponential of the entropy of normalised singular values.

    .. math:: \exp\Bigl(-\sum_k p_k \ln p_k\Bigr), \qquad p_k = \sigma_k / \textstyle\sum_l \sigma_l

    Parameters
    ----------
    singular : (..., mode) float
        Not negative.

    Returns
    -------
    (...) float
        In [1, number of modes]; zero where every singular value is zero.

    References
    ----------
    .. [1] roy2007, definition 1.
    """
    total = singular.sum(axis=-1, keepdims=True)
    share = np.divide(singular, total, out=np.zeros(singular.shape), where=total > 0)
    spread = -(share * np.log(np.where(share > 0, share, 1))).sum(axis=-1)
    return np.where(total[..., 0] > 0, np.exp(spread), 0.0)


def stable_rank(singular: np.ndarray) -> np.ndarray:
    r"""Give the squared Frobenius norm over the squared spectral norm.

    .. math:: \sum_k \sigma_k^2 \Big/ \max_k \sigma_k^2

    Parameters
    ----------
    singular : (..., mode) float
        Not negative, largest first.

    Returns
    -------
    (...) float
        In [1, number of modes]; zero where every singular value is zero.

    References
    ----------
    .. [1] rudelson2007, section 1.
    """
    largest = singular[..., :1]
    share = np.divide(singular, largest, out=np.zeros(singular.shape), where=largest > 0)
    return (share**2).sum(axis=-1)


def _brought_to_one(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Give matrices with their largest entry in [1/2, 1), and their binary exponents."""
    shift = np.frexp(np.abs(x).max(axis=(-2, -1)))[1]
    return np.ldexp(x, -shift[..., None, None]), shift


def whole(x: Tokens) -> np.ndarray:
    """Put the mean, times √n and as one more row, above the rest, up to a common factor.

    Parameters
    ----------
    x : Tokens

    Returns
    -------
    (..., 1 + token, feature) float
        The larger part has its largest entry near one. A part that is 1e-16
        times the other is not seen beside it in a sum.
    """
    root = np.sqrt(x.rest.shape[-2])
    top, raised = _brought_to_one(root * x.mean[..., None, :])
    rest, shift = _brought_to_one(x.rest)
    e_top = np.where(top.any(axis=(-2, -1)), x.mean_exponent + raised, -FAR)
    e_rest = np.where(rest.any(axis=(-2, -1)), x.rest_exponent + shift, -FAR)
    largest = np.maximum(e_top, e_rest)
    scaled = [
        np.ldexp(part, np.maximum(exponent - largest, -FAR)[..., None, None])
        for part, exponent in ((top, e_top), (rest, e_rest))
    ]
    return np.concatenate(scaled, axis=-2)


def singular_values(x: Tokens) -> np.ndarray:
    r"""Give the singular values of the tokens, up to a common factor.

    Since 1ᵀU = 0, they are those of U with :math:`\sqrt n\, m^\top` as one more row.

    Parameters
    ----------
    x : Tokens

    Returns
    -------
    (..., mode) float
        Largest first, as many as tokens or features, whichever are fewer.
    """
    n_modes = min(x.rest.shape[-2:])
    return np.linalg.svd(whole(x), compute_uv=False)[..., :n_modes]


def _beside_mean(x: Tokens) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Divide the rest by the norm of the mean; give its parts along and across it, and 2^e."""
    length = np.linalg.norm(x.mean, axis=-1)
    there = length > 0
    unit = np.where(there, length, 1)
    rest, shift = _brought_to_one(x.rest / unit[..., None, None])
    along = (rest @ (x.mean / unit[..., None])[..., None])[..., 0]
    across = rest - along[..., None] * (x.mean / unit[..., None])[..., None, :]
    return along, across, np.where(there, x.rest_exponent - x.mean_exponent + shift, FAR)


def log10_stable_rank_excess(x: Tokens) -> np.ndarray:
    r"""Give how far the stable rank of the tokens is above one.

    .. math:: \log_{10} \bigl(\|X\|_F^2 / \|X\|_2^2 - 1\bigr)
              = \log_{10} \textstyle\sum_{k \ge 2} \sigma_k^2 / \sigma_1^2

    Where U is small beside the mean, with u and V its parts along and across m in units
    of ‖m‖, and ρ² = n + ‖u‖²,

    .. math:: \sum_{k \ge 2} \sigma_k^2 = \|V\|_F^2 - \|V^\top u\|^2 / \rho^2, \qquad
              \sigma_1^2 = \rho^2,

    but for what is of fourth order, so that no difference from one is taken.

    Parameters
    ----------
    x : Tokens

    Returns
    -------
    (...) float
        Decimal logarithm, which falls by two decades where HC/DC falls by one;
        -inf where the rank is one.
    """
    singular = singular_values(x)
    behind = (singular[..., 1:] ** 2).sum(axis=-1)
    along, across, exponent = _beside_mean(x)
    # Where the rest is not small this one is not used, and nothing may overflow in it.
    square = np.ldexp(1.0, 2 * np.minimum(exponent, 0))
    u, v = (along**2).sum(axis=-1), (across**2).sum(axis=(-2, -1))
    rho = x.rest.shape[-2] + square * u
    mixed = ((np.swapaxes(across, -1, -2) @ along[..., None]) ** 2).sum(axis=(-2, -1)) / rho
    with np.errstate(divide="ignore"):
        near = np.log10(np.maximum(v - square * mixed, 0)) - np.log10(rho)
        near += 2 * np.log10(2) * exponent
        plain = np.log10(behind) - 2 * np.log10(np.maximum(singular[..., 0], SMALL))
    return np.where((exponent <= 0) & (square * (u + v) < SMALL**2), near, plain)


def log10_cosine_gap(x: Tokens) -> np.ndarray:
    r"""Give how far the mean cosine of two different tokens is below one.

    .. math:: 1 - \frac{1}{n(n-1)} \sum_{i \ne j} \hat x_i^\top \hat x_j
              = \frac{\|C \hat X\|_F^2}{n - 1}, \qquad \hat x_i = x_i / \|x_i\|

    Where U is small beside the mean, with a and b the parts of a token along and across m in
    units of ‖m‖ and r² = (1 + a)² + b², no difference from one is taken:

    .. math:: \hat x - \hat m = \bigl(b - \hat m\, b^2 / (1 + a + r)\bigr) / r

    Parameters
    ----------
    x : Tokens
        Two or more. One that is zero has the cosine zero with every other.

    Returns
    -------
    (...) float
        Decimal logarithm, at most that of n/(n - 1); it falls by two decades
        where HC/DC falls by one; -inf where all tokens point the same way.
    """
    along, across, exponent = _beside_mean(x)
    n_tokens = along.shape[-1]
    once = np.ldexp(1.0, np.minimum(exponent, 0))[..., None]
    length = np.linalg.norm(across, axis=-1)
    radius = np.maximum(np.hypot(1 + once * along, once * length), 0.5)
    # One more feature holds the part along the mean.
    forth = -once * length**2 / np.maximum(1 + once * along + radius, 0.5)
    turned = np.concatenate([across, forth[..., None]], axis=-1) / radius[..., None]
    turned -= turned.mean(axis=-2, keepdims=True)
    with np.errstate(divide="ignore"):
        near = np.log10((turned**2).sum(axis=(-2, -1)) / (n_tokens - 1))
        near += 2 * np.log10(2) * exponent
        plain = np.log10(_plain_gap(x))
    farthest = once[..., 0] * np.hypot(along, length).max(axis=-1)
    return np.where((exponent <= 0) & (farthest < 0.5), near, plain)


def _plain_gap(x: Tokens) -> np.ndarray:
    """Compare directions of tokens that are far from equal."""
    rows = whole(x)
    n_tokens = rows.shape[-2] - 1
    tokens = rows[..., 1:, :] + rows[..., :1, :] / np.sqrt(n_tokens)
    length = np.linalg.norm(tokens, axis=-1, keepdims=True)
    unit = np.divide(tokens, length, out=np.zeros(tokens.shape), where=length > 0)
    apart = unit - unit.mean(axis=-2, keepdims=True)
    zeros = (length[..., 0] == 0).sum(axis=-1)
    return (zeros + n_tokens * (apart**2).sum(axis=(-2, -1)) / (n_tokens - 1)) / n_tokens
