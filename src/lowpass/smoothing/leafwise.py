r"""Averages of leaves of queries over leaves of keys.

It owns the pass in which every leaf of queries meets the leaves of keys within its reach,
each time in one tile of weights, an array that is used again and again:

.. math:: f(q) = \frac{\sum_i w_i K_i v_i}{\sum_i w_i K_i}, \qquad K_i = K(|q - k_i| / h)

Positions are counted from the middle of a leaf of queries, so that distances keep their
digits wherever the data lie, in single precision as well.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lowpass.smoothing.checks import Sample
from lowpass.smoothing.leaves import Leaves, distances, divided, runs
from lowpass.smoothing.profiles import PROFILES

# A tile of as many double precision numbers is a quarter of a megabyte, within a cache.
ROWS, COLUMNS = 128, 256
# Leaves of queries that are wider, in bandwidths, would meet more keys than each of them needs.
WIDE = 4.0
# Up to so many features, differences cost no more than a product of matrices.
MOST_DIFFERENT = 3
# Squared distances, in bandwidths, that lose too many digits where products cancel.
LARGEST_SQUARE = 64.0
# Columns that are summed one by one: a product with few of them is slower.
FEW = 4
# Weights that fall short of the largest by this much in the logarithm, and by the number of
# keys, change nothing that is kept.
NEGLIGIBLE = {"float64": 40.0, "float32": 20.0}
# Finite logarithms below it are raised to it: denormal numbers take up to a hundred times
# as long, and the exponential of the floor is nothing beside the sum of a row.
FLOOR = {"float64": -700.0, "float32": -80.0}
# A row of less weight is left to others, who take it relative to its own nearest key.
LEAST_MASS = {"float64": 1e-150, "float32": 1e-15}
# Boxes are known to rounding, so they reach a little further.
SLACK = 1 - 1e-9


@dataclass(frozen=True)
class Averages:
    r"""Hold what one pass over all weights tells of every query.

    Parameters
    ----------
    fit : (query, output) float
        Of local constants, within the range of the values.
    leverage : (query,) float
        :math:`A_{ji}`, the share of the key i at which the query j stands.
    spread : (query,) float
        :math:`\sum_i A_{ji}^2`, the variance of the fit for errors of variance one.
    """

    fit: np.ndarray
    leverage: np.ndarray
    spread: np.ndarray


@dataclass(frozen=True)
class Way:
    """Hold how weights are computed.

    Parameters
    ----------
    kernel : str
        Name in ``PROFILES``.
    dtype : str
        Of the weights; sums are double.
    own : (query,) int, optional
        The key at which each query stands.
    hides : bool
        Whether a query does not see its own key.
    """

    kernel: str
    dtype: str = "float64"
    own: np.ndarray | None = None
    hides: bool = False

    @property
    def unit(self) -> float:
        """What squared distances are divided by, beside the bandwidth."""
        return 2.0 if self.kernel == "gaussian" else 1.0

    def log(self, squares: np.ndarray) -> np.ndarray:
        """Give logarithms of weights from squared distances in bandwidths."""
        return PROFILES[self.kernel](squares)


@dataclass(frozen=True)
class Keys:
    """Hold keys leaf by leaf, whatever the bandwidth.

    Parameters
    ----------
    key : (key, feature) float
    columns : (key, output + 1) float
        Values and a one, both times the weight, of which the largest is one.
    leaves : Leaves
    place : (key,) int
        Where each key has gone to; -1 of one that does not count.
    contrast : float
        Logarithm of the number of keys and of the ratio of their weights.
    """

    key: np.ndarray
    columns: np.ndarray
    leaves: Leaves
    place: np.ndarray
    contrast: float

    @classmethod
    def of(cls, sample: Sample, dtype: str = "float64") -> Keys:
        """Divide the keys of a sample, in units of its bandwidth."""
        weight = np.ones(len(sample.key)) if sample.weight is None else sample.weight
        seen = np.flatnonzero(weight)
        leaves = divided(sample.key[seen], COLUMNS, sample.bandwidth)
        order = seen[leaves.order]
        place = np.full(len(sample.key), -1)
        place[order] = np.arange(len(order))
        share = (weight / weight.max())[order]
        columns = np.empty((len(order), sample.value.shape[1] + 1), dtype)
        columns[:, :-1] = share[:, None] * sample.value[order]
        columns[:, -1] = share
        contrast = float(np.log(len(seen)) - np.log(share.min()))
        return cls(sample.key[order], columns, leaves, place, contrast)


def by_leaves(sample: Sample, way: Way, found: Averages, keys: Keys) -> np.ndarray:
    """Average for every query, as far as one scale for all queries of a leaf allows.

    Parameters
    ----------
    sample : Sample
        Without a period; its values are not looked at.
    way : Way
        Its kernel is one of a squared distance.
    found : Averages
        Where the results are put.
    keys : Keys
        Those of the sample, with values of magnitude one at most.

    Returns
    -------
    (left,) int
        The queries without a result: nothing reaches them, or all weights are tiny beside
        those of other queries of their leaf.
    """
    leaves = divided(sample.query, ROWS, sample.bandwidth, wide=WIDE)
    scratch = np.empty((2, ROWS * COLUMNS), way.dtype)
    left = [np.empty(0, np.intp)]
    for leaf in range(len(leaves.sizes)):
        index = leaves.order[leaves.bounds[leaf] : leaves.bounds[leaf + 1]]
        meeting = _Meeting(sample, keys, way, index)
        near = meeting.near(leaves.low[leaf], leaves.high[leaf])
        for part in runs(near, keys.leaves, scratch.shape[1] // len(index)):
            meeting.meet(part, scratch)
        left.append(meeting.settle(sample, found))
    return np.concatenate(left)


class _Meeting:
    """One leaf of queries, and what it has seen of the keys so far."""

    def __init__(self, sample: Sample, keys: Keys, way: Way, index: np.ndarray):
        self.keys, self.way, self.index, self.unit = keys, way, index, sample.bandwidth
        # Where most of them are: one query far from the others costs these no digits.
        self.middle = np.median(sample.query[index], axis=0)
        self.scale = 1 / (sample.bandwidth * np.sqrt(way.unit))
        self.query = ((sample.query[index] - self.middle) * self.scale).astype(way.dtype)
        self.own = None if way.own is None else keys.place[way.own[index]]
        self.sums = np.zeros((len(index), keys.columns.shape[1]))
        self.squares = np.zeros(len(index))

    def near(self, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """Name the leaves of keys that the queries of a box must meet."""
        least, most = distances(low, high, self.keys.leaves, self.unit)
        top = self.way.log(least * SLACK)
        # A leaf of one key may be the one that a query does not see.
        sure = most[self.keys.leaves.sizes > 1] if self.way.hides else most
        certain = self.way.log(sure.min(initial=np.inf))
        allowance = NEGLIGIBLE[self.way.dtype] + self.keys.contrast
        near = np.flatnonzero((top >= certain - allowance) & (top > -np.inf))
        self.shift = top[near].max(initial=-np.inf)
        self.is_deep = self.way.log(most[near]).min(initial=0) - self.shift < FLOOR[self.way.dtype]
        return near

    def meet(self, part: slice, scratch: np.ndarray) -> None:
        """Add up what some keys give."""
        key = ((self.keys.key[part] - self.middle) * self.scale).astype(self.way.dtype, copy=False)
        n, m = len(self.query), len(key)
        tile, other = scratch[0, : n * m].reshape(n, m), scratch[1, : n * m].reshape(n, m)
        if not (self.way.kernel == "gaussian" and _products(self.query, key, tile)):
            _differences(self.query, key, tile, other)
        self._weigh(tile)
        if self.own is not None and self.way.hides:
            column = self.own - part.start
            rows = np.flatnonzero((column >= 0) & (column < m))
            tile[rows, column[rows]] = 0.0
        columns = self.keys.columns[part]
        if columns.shape[1] > FEW:
            self.sums += tile @ columns
        else:
            for which in range(columns.shape[1]):
                self.sums[:, which] += tile @ np.ascontiguousarray(columns[:, which])
        if self.own is not None and not self.way.hides:
            np.multiply(tile, tile, out=other)
            self.squares += other @ np.square(columns[:, -1])

    def _weigh(self, tile: np.ndarray) -> None:
        """Turn squared distances into weights, in place, relative to the shift."""
        if self.way.kernel == "gaussian":
            np.subtract(tile.dtype.type(self.shift), tile, out=tile)
        else:
            np.subtract(self.way.log(tile), tile.dtype.type(self.shift), out=tile)
        if self.is_deep:
            floor = FLOOR[self.way.dtype]
            np.copyto(tile, floor, where=(tile < floor) & (tile > -np.inf))
        np.exp(tile, out=tile)

    def settle(self, sample: Sample, found: Averages) -> np.ndarray:
        """Divide, keep what has digits, and name the queries that are left."""
        mass = self.sums[:, -1]
        done = mass > LEAST_MASS[self.way.dtype]
        index, share = self.index[done], 1 / mass[done]
        found.fit[index] = self.sums[done, :-1] * share[:, None]
        found.spread[index] = self.squares[done] * share**2
        if self.own is not None and not self.way.hides:
            found.leverage[index] = self._own_weight(sample, index) * share
        return self.index[~done]

    def _own_weight(self, sample: Sample, index: np.ndarray) -> np.ndarray:
        assert self.way.own is not None
        at = self.way.own[index]
        apart = (sample.query[index] - sample.key[at]) / sample.bandwidth
        weight = 1.0 if sample.weight is None else sample.weight[at] / sample.weight.max()
        return weight * np.exp(self.way.log(np.vecdot(apart, apart)) - self.shift)


def _products(query: np.ndarray, key: np.ndarray, tile: np.ndarray) -> bool:
    """Fill a tile with squared distances by a product, if that is fast and keeps enough digits."""
    lengths = [np.vecdot(each, each)[:, None] for each in (query, key)]
    if query.shape[1] <= MOST_DIFFERENT or max(each.max() for each in lengths) > LARGEST_SQUARE:
        return False
    ones = [np.ones((len(each), 1), tile.dtype) for each in (query, key)]
    left = np.concatenate([-2 * query, lengths[0], ones[0]], axis=1)
    right = np.concatenate([key, ones[1], lengths[1]], axis=1)
    np.matmul(left, right.T, out=tile)
    return True


def _differences(query: np.ndarray, key: np.ndarray, tile: np.ndarray, other: np.ndarray) -> None:
    """Fill a tile with squared distances by differences, which lose no digits near a key."""
    for feature, (q, k) in enumerate(zip(query.T, np.ascontiguousarray(key.T), strict=True)):
        out = other if feature else tile
        np.subtract.outer(q, k, out=out)
        out *= out
        if feature:
            tile += other
