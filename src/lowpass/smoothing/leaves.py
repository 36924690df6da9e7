"""Which points lie near which.

It owns the division of points into leaves, groups of a bounded size in boxes of
their own, and how far two boxes are apart. Boxes tell which keys can be left out
of an average before any distance is taken.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

# In more dimensions nearly every box reaches nearly every other.
MOST_DIVIDED = 6
# A leaf of fewer points is not worth dividing.
FEWEST = 16


@dataclass(frozen=True)
class Leaves:
    """Hold groups of points.

    Parameters
    ----------
    order : (point,) int
        Indices of the points, leaf by leaf.
    bounds : (leaf + 1,) int
        Where in ``order`` a leaf begins, and where the last one ends.
    low, high : (leaf, feature) float
        The smallest box around each.
    """

    order: np.ndarray
    bounds: np.ndarray
    low: np.ndarray
    high: np.ndarray

    @property
    def sizes(self) -> np.ndarray:
        """How many points each leaf has, (leaf,) int."""
        return np.diff(self.bounds)


def divided(points: np.ndarray, most: int, unit: np.ndarray, *, wide: float = np.inf) -> Leaves:
    """Divide points into leaves, again and again at the middle of the widest feature.

    Parameters
    ----------
    points : (point, feature) float
    most : int
        Points of one leaf.
    unit : (feature,) float
        In which extents of features are compared.
    wide : float
        An extent of leaves in these units; wider ones are divided until few points are left.

    Returns
    -------
    Leaves
        None of them is empty. In many dimensions points keep their order.
    """
    n, d = points.shape
    order = np.argsort(points[:, 0], kind="stable") if d == 1 else np.arange(n)
    waiting, starts = [(0, n)] if n else [], []
    while waiting:
        start, stop = waiting.pop()
        placed = points[order[start:stop]] if d <= MOST_DIVIDED else points[:1]
        extent = (placed.max(axis=0) - placed.min(axis=0)) / unit
        count = stop - start
        if count <= most and (count <= FEWEST or extent.max() <= wide):
            starts.append(start)
            continue
        cut = _cut(count, most)
        if 1 < d <= MOST_DIVIDED:
            order[start:stop] = order[start:stop][np.argpartition(placed[:, extent.argmax()], cut)]
        waiting += [(start + cut, stop), (start, start + cut)]
    placed = points[order]
    low, high = (
        extreme.reduceat(placed, starts) if n else placed for extreme in (np.minimum, np.maximum)
    )
    return Leaves(order, np.array([*starts, n], dtype=np.intp), low, high)


def _cut(count: int, most: int) -> int:
    """Halve a number of points, such that whole leaves come first where there are several."""
    return count // 2 if count <= most else most * max(1, round(count / (2 * most)))


def distances(
    low: np.ndarray, high: np.ndarray, leaves: Leaves, unit: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Bound the squared distances between the points of one box and those of every leaf.

    Parameters
    ----------
    low, high : (feature,) float
        A box.
    leaves : Leaves
    unit : (feature,) float
        Of the distances along each feature.

    Returns
    -------
    least, most : (leaf,) float
        Dimensionless.
    """
    gap = np.maximum(np.maximum(leaves.low - high, low - leaves.high), 0) / unit
    span = np.maximum(leaves.high - low, high - leaves.low) / unit
    return np.vecdot(gap, gap), np.vecdot(span, span)


def runs(chosen: np.ndarray, leaves: Leaves, most: int) -> list[slice]:
    """Join chosen leaves that follow each other, up to a number of points.

    Parameters
    ----------
    chosen : (chosen,) int
        Leaves in increasing order.
    leaves : Leaves
    most : int
        Points in one run of several leaves.

    Returns
    -------
    list of slice
        Of the ordered points.
    """
    found: list[slice] = []
    for start, stop in zip(leaves.bounds[chosen], leaves.bounds[chosen + 1], strict=True):
        if found and found[-1].stop == start and stop - found[-1].start <= most:
            found[-1] = slice(found[-1].start, int(stop))
        else:
            found.append(slice(int(start), int(stop)))
    return found
