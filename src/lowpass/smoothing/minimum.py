"""The lowest point of a curve with several valleys.

It owns the search for the smallest score over a bracket of positive numbers: a
scan that sees every valley, a descent into each, and an answer that says
whether it lies in a valley or at an end of the bracket.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np

from lowpass.registry import Refusal

Score = Callable[[float], float]
Watch = Callable[[Collection[float]], Iterable[float]]
Place = Literal["interior", "low end", "high end", "flat"]
GOLDEN = (math.sqrt(5) - 1) / 2
# In log x: double precision shows the bottom of a parabola to half of its digits.
RESOLUTION = 1e-7
# Half the width, in log x, of the stretch on which a score is compared with a polynomial, how
# many points of it are, and what the last coefficients may be of the whole change.
STRETCH = 0.05
NODES = 12
SMOOTH = 1e-5
# Scores that differ by less than this of themselves differ by rounding.
DIGITS = 1e-12


@dataclass(frozen=True)
class Valley:
    """Hold one local minimum."""

    at: float
    score: float
    place: Place


@dataclass(frozen=True)
class Minimum:
    """Hold the lowest point, and all others that a descent may end in.

    Parameters
    ----------
    at, score : float
        Where the score is smallest, and that score.
    place : str
        ``interior``; ``low end`` or ``high end`` of the bracket, beyond which the score
        may go on falling; ``flat`` where every scanned point has one score.
    valleys : tuple of Valley
        All local minima found, from left to right.
    grid, scores : (scan,) float
        The points that were scanned.
    """

    at: float
    score: float
    place: Place
    valleys: tuple[Valley, ...]
    grid: np.ndarray
    scores: np.ndarray


def minimise(
    score: Score, low: float, high: float, *, count: int = 41, watch: Watch = iter
) -> Minimum:
    """Find the smallest score between two positive numbers.

    The scan is geometric. A valley narrower than a step of it can be missed, which more
    points make less likely.

    Parameters
    ----------
    score : callable
        Infinite where a point is not admissible.
    low, high : float
        Ends of the bracket; positive, ascending.
    count : int
        Points of the scan, both ends among them.
    watch : callable
        Hands on the points of the scan one by one, so that somebody may count them.

    Returns
    -------
    Minimum
        Of equal scores the larger point, which smooths more.

    Raises
    ------
    Refusal
        If the bracket is none, or no point of it is admissible.
    """
    if not (0 < low < high < math.inf and count >= 3):
        raise Refusal(
            f"a bracket from {low:g} to {high:g} with {count} points cannot be scanned; its ends "
            "must be positive, finite and ascending, and a valley needs three points. Change them."
        )
    grid = np.geomspace(low, high, count)
    return lowest(score, grid, np.array([float(score(float(x))) for x in watch(grid)]))


def lowest(score: Score, grid: np.ndarray, scores: np.ndarray) -> Minimum:
    """Find the smallest score of a curve that was scanned.

    Parameters
    ----------
    score : callable
    grid : (scan,) float
        Positive, ascending.
    scores : (scan,) float
        What the callable gives at these points.

    Returns
    -------
    Minimum
        As from :func:`minimise`.

    Raises
    ------
    Refusal
        If no score is finite.
    """
    if (scores == math.inf).all():
        raise Refusal(
            f"no score between {grid[0]:g} and {grid[-1]:g} is finite; every fit of the bracket is "
            "as flexible as the values are many. Move the bracket up."
        )
    valleys = tuple(descend(score, grid, scores, *run) for run in troughs(scores))
    best = min(reversed(valleys), key=lambda valley: valley.score)
    return Minimum(best.at, best.score, best.place, valleys, grid, scores)


def troughs(scores: np.ndarray) -> list[tuple[int, int]]:
    """Find the runs of scores, equal but for rounding, that no neighbour undercuts.

    Parameters
    ----------
    scores : (scan,) float
        Infinite ones are in no trough.

    Returns
    -------
    list of (int, int)
        First and last index of each run.

    Examples
    --------
    >>> troughs(np.array([1.0, 1.0, 2.0, 0.5, 0.7, 0.6]))
    [(0, 1), (3, 3), (5, 5)]
    """
    apart = ~np.isclose(scores[1:], scores[:-1], rtol=DIGITS, atol=residue(scores))
    runs = pairwise([0, *(np.flatnonzero(apart) + 1), len(scores)])
    walled = np.concatenate([[math.inf], scores, [math.inf]])
    return [
        (int(first), int(end) - 1)
        for first, end in runs
        if scores[first] < math.inf
        and walled[first] > scores[first]
        and scores[end - 1] < walled[end + 1]
    ]


def residue(scores: np.ndarray) -> float:
    """Give the size below which scores (scan,), mostly squares, are rounding of the largest."""
    return DIGITS**2 * float(abs(scores[np.isfinite(scores)]).max(initial=0.0))


def descend(score: Score, grid: np.ndarray, scores: np.ndarray, first: int, last: int) -> Valley:
    """Go down from a trough of the scan to the bottom of its valley.

    Parameters
    ----------
    score : callable
    grid, scores : (scan,) float
    first, last : int
        Ends of a run of equal scores.
    """
    start = Valley(float(grid[last]), float(scores[last]), place(first, last, len(grid)))
    if start.place == "flat" or scores[last] == -math.inf:
        return start
    left, right = grid[max(first - 1, 0)], grid[min(last + 1, len(grid) - 1)]
    at = bottom(score, left, right)
    found = Valley(at, float(score(at)), "interior")
    below = found.score < start.score - DIGITS * abs(start.score) - residue(scores)
    return found if below or (start.place == "interior" and found.score <= start.score) else start


def place(first: int, last: int, count: int) -> Place:
    """Say where in a scan a run of equal scores lies."""
    if first == 0:
        return "flat" if last == count - 1 else "low end"
    return "high end" if last == count - 1 else "interior"


def golden(score: Score, left: float, right: float, width: float) -> tuple[float, float]:
    """Narrow a valley by golden sections, which only compare scores.

    Parameters
    ----------
    score : callable
        May be infinite at the ends.
    left, right : float
        Logarithms of the ends.
    width : float
        How far apart, in log x, they may stay.

    Returns
    -------
    left, right : float
    """
    inner = [right - GOLDEN * (right - left), left + GOLDEN * (right - left)]
    heights = [score(math.exp(each)) for each in inner]
    while right - left > width:
        if heights[0] <= heights[1]:
            right, inner[1], heights[1] = inner[1], inner[0], heights[0]
            inner[0] = right - GOLDEN * (right - left)
            heights[0] = score(math.exp(inner[0]))
        else:
            left, inner[0], heights[0] = inner[0], inner[1], heights[1]
            inner[1] = left + GOLDEN * (right - left)
            heights[1] = score(math.exp(inner[1]))
    return left, right


def bottom(score: Score, left: float, right: float) -> float:
    """Find the bottom of a valley between two points.

    Where the score is as smooth as a polynomial, the bottom is where that has no slope: at the
    bottom itself a score shows half of the digits only.
    """
    ends = math.log(left), math.log(right)
    near = golden(score, *ends, STRETCH)
    middle = sum(near) / 2
    found = stationary(score, max(middle - STRETCH, ends[0]), min(middle + STRETCH, ends[1]))
    return math.exp(sum(golden(score, *near, RESOLUTION)) / 2 if found is None else found)


def stationary(score: Score, left: float, right: float) -> float | None:
    """Find where the polynomial that a score is between two logarithms has its lowest point.

    Returns
    -------
    float or None
        None where the score is no polynomial of low degree, or has no valley there.
    """
    from numpy.polynomial import Chebyshev

    nodes = np.cos(np.pi * (np.arange(NODES) + 0.5) / NODES)
    t = (left + right + (right - left) * nodes) / 2
    heights = np.array([score(math.exp(each)) for each in t])
    if not np.isfinite(heights).all():
        return None
    curve = Chebyshev.fit(t, heights, NODES - 1, domain=(left, right))
    rough = float(np.abs(curve.coef[-3:]).max())
    if rough > SMOOTH * np.ptp(heights):
        return None
    roots = np.asarray(curve.deriv().roots())
    flat = np.real(roots)[np.abs(np.imag(roots)) < RESOLUTION]
    inside = flat[(left < flat) & (flat < right)]
    low = inside[curve(inside) <= heights.min() + rough] if len(inside) else inside
    return float(low[np.argmin(curve(low))]) if len(low) else None
