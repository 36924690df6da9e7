"""Medians over replicates, with intervals that assume no distribution."""

from __future__ import annotations

from math import comb

import numpy as np

from lowpass.claims.names import Number

LEVEL = 0.95


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
