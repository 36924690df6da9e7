"""Kernel smoothing that never forms its matrix.

It owns the exact averages in the memory of one tile: by leaves of near points where weights
depend on distances, else by rows of the matrix. What the first cannot settle, because a query
lies far from every key, the second takes relative to the nearest one.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from lowpass.registry import Refusal
from lowpass.smoothing.checks import Sample
from lowpass.smoothing.hull import Hull
from lowpass.smoothing.leafwise import FLOOR, Averages, Keys, Way, by_leaves
from lowpass.smoothing.local import matrix_of
from lowpass.smoothing.methods import METHODS
from lowpass.smoothing.profiles import PROFILES
from lowpass.smoothing.weights import images, refuse_unknown

# Numbers in a tile of rows that meet all keys at once: two megabytes.
ROW_TILE = 2**18


@METHODS.add("tiled", kernels=None, degrees=None, most_features=math.inf, error=1e-13, draws=())
def tiled(
    sample: Sample, *, kernel: str, degree: int, beyond: str, dtype: str = "float64"
) -> np.ndarray:
    r"""Average exactly, leaf by leaf of queries and keys, in the memory of one tile.

    Parameters
    ----------
    sample : Sample
    kernel : str
        Name in ``PROFILES``.
    degree : {0, 1}
    beyond : {"nearest", "refuse", "nan"}
        What a query gets that no key reaches.
    dtype : {"float64", "float32"}
        Of the weights; sums are double.

    Returns
    -------
    (query, output) float
        In float64 that of the formula to 1e-13 of the range of the values: distances come from
        differences, or, in more than three features, from products of which no term exceeds
        64 :math:`h^2`. In float32 within 1e-5 of it. No query changes what another one gets.

    Raises
    ------
    Refusal
        As :func:`lowpass.smoothing.local.matrix_of` does; also for another type.
    """
    return _passed(sample, Way(kernel, dtype), degree, beyond).fit


def recorded(
    sample: Sample,
    own: np.ndarray,
    *,
    kernel: str = "gaussian",
    degree: int = 0,
    beyond: str = "nearest",
) -> Averages:
    """Average as :func:`tiled` does, and record what bands and criteria need of the matrix.

    Parameters
    ----------
    sample : Sample
    own : (query,) int
        The key at which each query stands.
    kernel, degree, beyond
        As for :func:`tiled`.

    Returns
    -------
    Averages
    """
    return _passed(sample, Way(kernel, own=own), degree, beyond)


def left_out(
    sample: Sample,
    own: np.ndarray,
    *,
    kernel: str = "gaussian",
    degree: int = 0,
    beyond: str = "nearest",
    keys: Keys | None = None,
) -> np.ndarray:
    """Average as :func:`tiled` does, with each query kept from seeing one key.

    Parameters
    ----------
    sample : Sample
        With two keys at least.
    own : (query,) int
        The key that a query does not see.
    kernel, degree, beyond
        As for :func:`tiled`.
    keys : Keys, optional
        As :func:`divided_keys` gives them, for whom averages at other bandwidths as well.

    Returns
    -------
    (query, output) float
        An isolated query gets the value of its nearest neighbour.
    """
    return _passed(sample, Way(kernel, own=own, hides=True), degree, beyond, keys).fit


def divided_keys(sample: Sample) -> Keys:
    """Divide the keys of a sample once for all bandwidths that differ by a factor."""
    return Keys.of(replace(sample, value=Hull.of(sample.value).inward(sample.value)))


def _passed(
    sample: Sample, way: Way, degree: int, beyond: str, keys: Keys | None = None
) -> Averages:
    """Let queries meet keys by leaves where that can be done, and the others by rows."""
    refuse_unknown(beyond)
    if way.dtype not in FLOOR:
        raise Refusal(
            f"dtype is {way.dtype!r}; weights have one of two types: {', '.join(FLOOR)}. Name it."
        )
    n = len(sample.query)
    found = Averages(np.empty((n, sample.value.shape[1])), np.empty(n), np.empty(n))
    left = np.arange(n)
    hull = Hull.of(sample.value)
    is_distance = PROFILES.facts(way.kernel)["reads"] == "squared distance"
    unit = replace(sample, value=hull.inward(sample.value))
    if is_distance and degree == 0 and (sample.period is None or way.own is None):
        around = _unrolled(unit, way.kernel)
        left = by_leaves(around, way, found, keys or Keys.of(around, way.dtype))
    most = max(1, ROW_TILE // len(sample.key))
    for start in range(0, len(left), most):
        _by_rows(unit, left[start : start + most], way, degree, beyond, found)
    fit = hull.outward(found.fit)
    return replace(found, fit=fit if degree else hull.clipped(fit))


def _unrolled(unit: Sample, kernel: str) -> Sample:
    """Repeat keys of a circle with their values, of which leaves out of reach cost nothing."""
    if unit.period is None:
        return unit
    around = images(unit, kernel)
    return replace(around, value=np.tile(unit.value, (len(around.key) // len(unit.key), 1)))


def _by_rows(
    unit: Sample, index: np.ndarray, way: Way, degree: int, beyond: str, found: Averages
) -> None:
    """Let some queries meet all keys at once, each relative to its own largest weight."""
    own = None if way.own is None else way.own[index]
    hidden = None
    if own is not None and way.hides:
        hidden = own[:, None] == np.arange(len(unit.key))
    some = unit.at(index)
    a = matrix_of(some, kernel=way.kernel, degree=degree, beyond=beyond, hidden=hidden)
    found.fit[index] = a @ unit.value
    found.spread[index] = np.vecdot(a, a)
    if own is not None:
        found.leverage[index] = a[np.arange(len(index)), own]
