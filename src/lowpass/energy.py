"""How much tokens differ from those they are mixed with.

It owns the weighted sum over pairs of tokens of their squared distance.
"""

from __future__ import annotations

import numpy as np


def log10_pair_energy(
    weights: np.ndarray, x: np.ndarray, exponent: np.ndarray | int = 0
) -> np.ndarray:
    r"""Sum the squared distances of all pairs of tokens, weighted.

    .. math:: \log_{10} \tfrac12 \sum_{ij} w_{ij} \|x_i - x_j\|^2

    Differences are formed one feature at a time. Expanding the square would
    cancel where tokens that are mixed are nearly equal.

    Parameters
    ----------
    weights : (..., query, key) float
        Not negative: A for the edge energy; π_i A_ij for the Dirichlet energy,
        which is :math:`\langle X, (I - A) X \rangle_\pi` for every A with that
        stationary π, reversible or not.
    x : (..., token, feature) float
        A constant added to all tokens changes nothing: give what differs from
        their mean.
    exponent : (...) int
        The tokens meant are ``x * 2**exponent``.

    Returns
    -------
    (...) float
        Decimal logarithm; -inf where no two tokens that are mixed differ.
    """
    shift = np.frexp(np.abs(x).max(axis=(-2, -1)))[1]
    scaled = np.ldexp(x, -shift[..., None, None])
    total = np.zeros(np.broadcast_shapes(weights.shape[:-2], x.shape[:-2]))
    for feature in range(x.shape[-1]):
        apart = scaled[..., :, None, feature] - scaled[..., None, :, feature]
        total += (weights * apart**2).sum(axis=(-2, -1))
    with np.errstate(divide="ignore"):
        return np.log10(total / 2) + 2 * np.log10(2) * (exponent + shift)
