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
from lowpass.smoothing.expansion import is_narrow, narrow_sums
from lowpass.smoothing.leaves import Leaves, distances, divided, runs
from lowpass.smoothing.profiles import PROFILES

# A tile of as many double precision numbers is a quarter of a megabyte, within a cache.
ROWS, COLUMNS = 128, 256
# Leaves of queries that are wider, in bandwidths, would meet more keys than each of them needs;
# in more features narrow ones would be too small.
WIDE = {1: 4.0, 2: 8.0}
# Keys on a line that meet a leaf of queries at once, where their weights can be expanded.
LONG = 4096
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
    wide = WIDE.get(sample.query.shape[1], np.inf)
    leaves = divided(sample.query, ROWS, sample.bandwidth, wide=wide)
    scratch = np.empty((2, ROWS * COLUMNS), way.dtype)
    left = [np.empty(0, np.intp)]
    for leaf in range(len(leaves.sizes)):
        index = leaves.order[leaves.bounds[leaf] : leaves.bounds[leaf + 1]]
        meeting = _Meeting(sample, keys, way, index)
        near = meeting.near(leaves.low[leaf], leaves.high[leaf])
        most = LONG if meeting.is_line else scratch.shape[1] // len(index)
        for part in runs(near, keys.leaves, most):
            meeting.walk(part, scratch)
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
        self.is_line = way.kernel == "gaussian" and sample.key.shape[1] == 1
        square = np.vecdot(self.query, self.query)[:, None]
        self.width = float(square.max())
        self.left = np.concatenate([2 * self.query, -np.ones_like(square), -square], axis=1)

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
        self.left[:, -1] += self.shift
        return near

    def walk(self, part: slice, scratch: np.ndarray) -> None:
        """Add up what a run of keys gives, at once or by halves."""
        count = part.stop - part.start
        if self.is_line and self.expand(part):
            return
        if count * len(self.query) <= scratch.shape[1]:
            self.meet(part, scratch)
            return
        middle = part.start + count // 2
        self.walk(slice(part.start, middle), scratch)
        self.walk(slice(middle, part.stop), scratch)

    def expand(self, part: slice) -> bool:
        """Add up what keys on a line give, if they are narrow and none of them is hidden."""
        ends = self.keys.key[[part.start, part.stop - 1], 0]
        middle = ends[0] / 2 + ends[1] / 2
        half, apart = (ends[1] - middle) * self.scale[0], (self.middle[0] - middle) * self.scale[0]
        if not is_narrow(apart, self.width**0.5, half):
            return False
        if self.own is not None and self.way.hides:
            if ((self.own >= part.start) & (self.own < part.stop)).any():
                return False
        columns = self.keys.columns[part]
        key = (self.keys.key[part, 0] - middle) * self.scale[0]
        knobs = {"apart": apart, "shift": float(self.shift)}
        self.sums += narrow_sums(self.query[:, 0], key, columns, **knobs)
        if self.own is not None and not self.way.hides:
            square = np.square(columns[:, -1:])
            self.squares += narrow_sums(self.query[:, 0], key, square, power=2, **knobs)[:, 0]
        return True

    def meet(self, part: slice, scratch: np.ndarray) -> None:
        """Add up what some keys give."""
        key = ((self.keys.key[part] - self.middle) * self.scale).astype(self.way.dtype, copy=False)
        n, m = len(self.query), len(key)
        tile, other = scratch[0, : n * m].reshape(n, m), scratch[1, : n * m].reshape(n, m)
        if not self._multiply(key, tile):
            _differences(self.query, key, tile, other)
            self._relate(tile)
        if self.is_deep:
            floor = FLOOR[self.way.dtype]
            np.copyto(tile, floor, where=(tile < floor) & (tile > -np.inf))
        np.exp(tile, out=tile)
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

    def _multiply(self, key: np.ndarray, tile: np.ndarray) -> bool:
        """Fill a tile with logarithms of weights by a product, if it keeps enough digits."""
        if self.is_line or self.way.kernel != "gaussian":
            return False
        d = key.shape[1]
        right = np.empty((len(key), d + 2), tile.dtype)
        np.vecdot(key, key, out=right[:, d])
        if max(right[:, d].max(), self.width) > LARGEST_SQUARE:
            return False
        right[:, :d], right[:, d + 1] = key, 1
        np.matmul(self.left, right.T, out=tile)
        return True

    def _relate(self, tile: np.ndarray) -> None:
        """Turn squared distances into logarithms of weights, relative to the shift."""
        if self.way.kernel == "gaussian":
            np.subtract(tile.dtype.type(self.shift), tile, out=tile)
        else:
            np.subtract(self.way.log(tile), tile.dtype.type(self.shift), out=tile)

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


def _differences(query: np.ndarray, key: np.ndarray, tile: np.ndarray, other: np.ndarray) -> None:
    """Fill a tile with squared distances by differences, which lose no digits near a key."""
    for feature, (q, k) in enumerate(zip(query.T, np.ascontiguousarray(key.T), strict=True)):
        out = other if feature else tile
        np.subtract.outer(q, k, out=out)
        out *= out
        if feature:
            tile += other
