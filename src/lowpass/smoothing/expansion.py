r"""Sums of Gaussians between two narrow groups of places on a line.

It owns the expansion that makes their tile of weights one of few terms. With q counted from
the middle of the queries, k from that of the keys, and D between both middles,

.. math:: e^{-(D + q - k)^2} = e^{-(D + q)^2}\, e^{2Dk - k^2} \sum_p \frac{q^p (2k)^p}{p!},

where :math:`|2qk| \le 1`, so that nothing cancels and some terms give every digit: the tile is
exact, and costs as much as its edges.

References
----------
.. [1] greengard1991.
"""

from __future__ import annotations

import numpy as np

# Of an exponent that is expanded: beyond it, terms would cancel.
LARGEST = 1.0
# Of an exponent beside it, which only has to be no overflow.
MOST_APART = 300.0
# The first term that is left out, beside a sum of 1/e at least.
NEGLIGIBLE = 1e-17


def count_terms(size: float) -> int:
    """Count the terms that e^x needs for every \\|x\\| up to a size.

    Examples
    --------
    >>> count_terms(0.0), count_terms(0.1), count_terms(1.0)
    (1, 11, 19)
    """
    count, term = 1, size
    while term > NEGLIGIBLE:
        count += 1
        term *= size / count
    return count


def is_narrow(apart: float, query: float, key: float) -> bool:
    """Say whether groups of places are near enough to their middles to be expanded.

    Parameters
    ----------
    apart : float
        Between both middles, in units of :math:`\\sqrt 2 h`.
    query, key : float
        The largest distance from the middle, in these units.

    Returns
    -------
    bool
    """
    return 2 * query * key <= LARGEST and 2 * abs(apart) * key + key**2 <= MOST_APART


def narrow_sums(
    query: np.ndarray,
    key: np.ndarray,
    columns: np.ndarray,
    *,
    apart: float,
    shift: float,
    power: float = 1.0,
) -> np.ndarray:
    r"""Add up columns of the keys with powers of Gaussian weights, for every query.

    .. math:: \sum_i c_i \left(e^{s - (D + q - k_i)^2}\right)^r

    Parameters
    ----------
    query : (query,) float
        From their middle, in units of :math:`\sqrt 2 h`.
    key : (key,) float
        From theirs.
    columns : (key, column) float
    apart : float
        D, from the middle of the keys to that of the queries.
    shift : float
        s, which leaves no weight above one.
    power : float
        r.

    Returns
    -------
    (query, column) float
        Each weight to some units in the last place of its exponent.
    """
    n_terms = count_terms(2 * power * np.abs(query).max() * np.abs(key).max())
    factor = np.empty((n_terms, len(key)))
    factor[0] = np.exp(power * (2 * apart - key) * key)
    for p in range(1, n_terms):
        np.multiply(factor[p - 1], key, out=factor[p])
        factor[p] *= 2 * power / p
    moments = factor @ columns
    sums = np.vander(query, n_terms, increasing=True) @ moments
    sums *= np.exp(power * (shift - np.square(apart + query)))[:, None]
    return sums
