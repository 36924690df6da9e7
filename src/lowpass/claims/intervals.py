"""Medians and shares over replicates, with intervals that assume no distribution."""

from __future__ import annotations

from math import comb
from typing import TYPE_CHECKING

import numpy as np

from lowpass.claims.names import Number

if TYPE_CHECKING:
    import xarray as xr

LEVEL = 0.95


def ranked(each: xr.DataArray) -> xr.DataArray:
    """Put draws in ascending order along the last dimension, ``replicate``.

    A sum rounds by the order of its terms, and by how they lie in memory; draws have neither.
    """
    turned = each.transpose(..., "replicate")
    return turned.copy(data=np.sort(np.ascontiguousarray(turned.values), axis=-1))


def median_interval(values: np.ndarray) -> Number:
    """Give the median of a sample and an interval for the population's median.

    The interval ends at order statistics. Its coverage is binomial whatever the
    distribution, and at least 95 % where the sample has six values or more; a smaller
    sample gives its whole range.

    Parameters
    ----------
    values : (replicate,) float
        Independent draws.

    Returns
    -------
    Number
        Median and the two order statistics.

    Examples
    --------
    >>> median_interval(np.arange(1.0, 8.0))
    Number(value=4.0, low=1.0, high=7.0)
    """
    ordered = np.sort(np.asarray(values, dtype=float).ravel())
    n = len(ordered)
    cut, tail = 0, 1 / 2**n
    while 2 * (tail + comb(n, cut + 1) / 2**n) <= 1 - LEVEL:
        cut += 1
        tail += comb(n, cut) / 2**n
    return Number(float(np.median(ordered)), float(ordered[cut]), float(ordered[n - 1 - cut]))


def share_interval(happened: np.ndarray) -> Number:
    """Give the share of draws in which something happened, and an interval for its probability.

    Where it happened always, or never, the interval is what so many draws can show and no more.

    Parameters
    ----------
    happened : (replicate,) bool
        Independent draws.

    Returns
    -------
    Number
        Share, and the ends of the interval: its coverage is at least 95 % whatever the
        probability.

    References
    ----------
    .. [1] clopper1934.

    Examples
    --------
    >>> round(share_interval(np.full(20, True)).low, 4)
    0.8316
    """
    from scipy.special import betaincinv

    flags = np.asarray(happened, dtype=bool).ravel()
    n, hits = len(flags), int(flags.sum())
    tail = (1 - LEVEL) / 2
    low = float(betaincinv(hits, n - hits + 1, tail)) if hits else 0.0
    high = float(betaincinv(hits + 1, n - hits, 1 - tail)) if hits < n else 1.0
    return Number(hits / n, low, high)
