"""How wide to smooth.

It owns the choice of a bandwidth, which for attention is the choice of a
temperature: the bracket that keys suggest, and the search through it. An
answer says where in its bracket it lies, for a criterion may have several
valleys, or go on falling where nobody looked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lowpass.registry import Refusal
from lowpass.smoothing.checks import Sample
from lowpass.smoothing.criteria import criterion
from lowpass.smoothing.minimum import RESOLUTION, Minimum, Place, Watch, minimise
from lowpass.smoothing.trials import trial

Judge = Callable[[np.ndarray], float]
Point = tuple[np.ndarray, float]
# A bandwidth of a quarter of the usual distance to the next key sees that key only, and one of
# twice the range sees all of them nearly alike.
NARROW, WIDE = 0.25, 2.0
# An improvement that would not show in print.
SETTLED = 1e-7
ROUNDS = 12


@dataclass(frozen=True)
class Selection:
    """Hold one bandwidth for each feature.

    Parameters
    ----------
    bandwidth : (feature,) float
        In the units of each feature.
    score : float
        Of the criterion.
    places : tuple of str
        Where in its bracket each bandwidth lies: see :class:`lowpass.smoothing.minimum.Minimum`.
        A feature that does not matter has the widest bandwidth, at the high end.
    settled : bool
        Whether no single bandwidth of the bracket lowers the score, the others being kept.
    """

    bandwidth: np.ndarray
    score: float
    places: tuple[Place, ...]
    settled: bool


def select(bandwidths: np.ndarray, scores: np.ndarray) -> float:
    """Choose the bandwidth with the lowest score.

    Parameters
    ----------
    bandwidths : (bandwidth,) float
        A grid, in increasing order.
    scores : (bandwidth,) float

    Returns
    -------
    float
        A member of the grid.

    Raises
    ------
    Refusal
        If the minimum lies at an end of the grid, where it may be no minimum.
    """
    best = int(np.argmin(scores))
    if best in (0, len(bandwidths) - 1):
        raise Refusal(
            f"the lowest score lies at bandwidth {bandwidths[best]:.3g}, an end of the grid "
            f"{bandwidths[0]:.3g} ... {bandwidths[-1]:.3g}; the minimum may lie beyond it. "
            "Widen the grid."
        )
    return float(bandwidths[best])


def bracket(key: ArrayLike) -> tuple[float, float]:
    """Span the bandwidths that keys can tell apart.

    Parameters
    ----------
    key : (key, feature) or (key,) float
        At least two of them differ.

    Returns
    -------
    low, high : float
        A fraction of the median distance to the next other place, and a multiple of the
        widest range; in the units of a feature.
    """
    places = np.asarray(key, dtype=float).reshape(len(np.asarray(key)), -1)
    places = np.unique(places, axis=0)
    gap = float(np.median(next_place(places)))
    return NARROW * gap, WIDE * float(np.ptp(places, axis=0).max())


def next_place(places: np.ndarray) -> np.ndarray:
    """Measure how far from each place (place, feature) the next one is; all of them differ."""
    if places.shape[1] == 1:
        gap = np.concatenate([[np.inf], np.diff(places[:, 0]), [np.inf]])
        return np.minimum(gap[1:], gap[:-1])
    nearest = np.empty(len(places))
    for at, place in enumerate(places):
        away = np.square(places - place).sum(axis=1)
        away[at] = np.inf
        nearest[at] = away.min()
    return np.sqrt(nearest)


def select_bandwidth(
    key: ArrayLike,
    value: ArrayLike,
    *,
    by: str = "loo",
    between: tuple[float, float] | None = None,
    count: int = 41,
    watch: Watch = iter,
    options: Mapping[str, Any] | None = None,
    **smoother: Any,
) -> Minimum:
    """Find the bandwidth with the lowest score in a bracket.

    Parameters
    ----------
    key : (key, feature) or (key,) float
    value : (key,) or (key, output) float
    by : str
        Name in ``CRITERIA``.
    between : (low, high) float, optional
        The bracket; without it, that of :func:`bracket`.
    count : int
        Bandwidths of the scan that looks for valleys.
    watch : callable
        Hands on the bandwidths of the scan one by one, so that somebody may count them.
    options : mapping, optional
        ``folds``, ``window``, ``neighbours`` of the criteria that ask for them.
    **smoother
        ``kernel``, ``degree``, ``period``: see :func:`lowpass.smoothing.trials.trial`.

    Returns
    -------
    Minimum
        Where in the bracket it lies is said, and every other valley.

    Raises
    ------
    Refusal
        If an input cannot be smoothed, fewer than two keys differ, the bracket is none, or
        no score in it is finite.
    """
    tried = trial(key, value, 1.0, **smoother)
    judge = criterion(by, options or {})
    low, high = bracket(tried.key) if between is None else between
    return minimise(lambda h: judge(tried.at(h)), low, high, count=count, watch=watch)


def select_bandwidths(
    key: ArrayLike,
    value: ArrayLike,
    *,
    by: str = "loo",
    between: ArrayLike | None = None,
    count: int = 15,
    options: Mapping[str, Any] | None = None,
    **smoother: Any,
) -> Selection:
    """Find a bandwidth for every feature.

    A common bandwidth, in units of each feature's standard deviation, is the start. From
    there a simplex goes down; then each bandwidth is scanned over its whole bracket while
    the others rest, and the simplex starts again from whatever was lower.

    Parameters
    ----------
    key : (key, feature) float
    value : (key,) or (key, output) float
    by : str
        Name in ``CRITERIA``.
    between : (feature, 2) float, optional
        Low and high end for each feature; without it, :func:`bracket` of each alone.
    count : int
        Bandwidths of each scan.
    options, **smoother
        As for :func:`select_bandwidth`.

    Returns
    -------
    Selection
        Where in its bracket each bandwidth lies is said. Another valley, which no change of
        one bandwidth leads to, may be lower still.

    Raises
    ------
    Refusal
        As :func:`select_bandwidth` does.
    """
    tried = trial(key, value, 1.0, **smoother)
    judge = criterion(by, options or {})
    ends = brackets(tried.sample) if between is None else np.asarray(between, dtype=float)
    unit = np.where(np.ptp(tried.key, axis=0) > 0, tried.key.std(axis=0), ends.max(axis=1))
    start = minimise(
        lambda c: judge(tried.at(np.clip(c * unit, *ends.T))),
        *((ends.T / unit).min(axis=1)[0], (ends.T / unit).max(axis=1)[1]),
        count=count,
    )
    here = np.clip(start.at * unit, *ends.T), start.score
    return descended(lambda h: judge(tried.at(h)), here, ends, count)


def brackets(sample: Sample) -> np.ndarray:
    """Span the bandwidths of each feature (feature, 2); a constant one can have any."""
    return np.array([bracket(each) if np.ptp(each) > 0 else (1.0, 2.0) for each in sample.key.T])


def descended(judge: Judge, here: Point, ends: np.ndarray, count: int) -> Selection:
    """Go down by simplex and scans in turn, until no scan finds anything lower."""
    settled = False
    for _ in range(ROUNDS):
        here = simplex(judge, here, ends)
        before = here[1]
        for feature in range(len(ends)):
            here = scanned(judge, here, ends, feature, count)
        settled = not here[1] < before - SETTLED * abs(before)
        if settled:
            break
    places: tuple[Place, ...] = tuple(
        whereabouts(*each) for each in zip(here[0], ends, strict=True)
    )
    return Selection(*here, places, settled)


def simplex(judge: Judge, here: Point, ends: np.ndarray) -> Point:
    """Go down from one choice of bandwidths, in their logarithms."""
    from scipy.optimize import minimize

    found = minimize(
        lambda t: judge(np.exp(t)),
        np.log(here[0]),
        method="Nelder-Mead",
        bounds=np.log(ends),
        options={"xatol": 1e-4, "fatol": SETTLED * abs(here[1]), "maxfev": 100 * len(ends)},
    )
    return (np.exp(found.x), float(found.fun)) if found.fun < here[1] else here


def scanned(judge: Judge, here: Point, ends: np.ndarray, feature: int, count: int) -> Point:
    """Scan the bandwidth of one feature over its bracket."""
    only = np.arange(len(ends)) == feature
    low, high = ends[feature]
    found = minimise(lambda h: judge(np.where(only, h, here[0])), low, high, count=count)
    # Of equal scores the end of the bracket, which is told, and not a point beside it.
    return (np.where(only, found.at, here[0]), found.score) if found.score <= here[1] else here


def whereabouts(bandwidth: float, ends: np.ndarray) -> Place:
    """Say whether a bandwidth is an end (low, high) of its bracket, to what a search resolves."""
    if bandwidth <= ends[0] * (1 + RESOLUTION):
        return "low end"
    return "high end" if bandwidth >= ends[1] * (1 - RESOLUTION) else "interior"
