"""Curves whose valleys are known, and brackets that end on a slope."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from lowpass.registry import Refusal
from lowpass.smoothing.minimum import minimise, troughs


def two_valleys(x: float) -> float:
    """Fall to 1 at 0.1 and to 0.5 at 30, quadratically in log x, with a ridge between."""
    near, far = math.log(x / 0.1), math.log(x / 30)
    return min(1 + near**2, 0.5 + far**2 / 3)


# Closed forms.


@pytest.mark.parametrize("bottom", [0.013, 1.0, 77.0])
def test_the_bottom_of_a_parabola_is_found_to_ten_digits(bottom):
    """Only half of the digits show in the height of the bottom itself."""
    found = minimise(lambda x: 3 + math.log(x / bottom) ** 2, 1e-3, 1e3)
    assert found.place == "interior"
    assert_allclose(found.at, bottom, rtol=1e-10)
    assert_allclose(found.score, 3, rtol=1e-15)


def test_the_bottom_does_not_depend_on_the_scan():
    """The bottom of e^-t + t² is Lambert's W(1/2), from any scan."""
    bottom = 0.35173371124919584
    for count in (7, 20, 41):
        found = minimise(lambda x: math.exp(-math.log(x)) + math.log(x) ** 2, 0.1, 50, count=count)
        assert_allclose(math.log(found.at), bottom, atol=1e-10)


def test_the_lower_of_two_valleys_is_chosen_and_both_are_told():
    found = minimise(two_valleys, 1e-3, 1e3)
    assert_allclose([valley.at for valley in found.valleys], [0.1, 30], rtol=1e-8)
    assert_allclose([valley.score for valley in found.valleys], [1, 0.5], rtol=1e-12)
    assert (found.at, found.score) == (found.valleys[1].at, found.valleys[1].score)


@pytest.mark.parametrize(("slope", "place", "at"), [(1.0, "low end", 0.5), (-1.0, "high end", 8.0)])
def test_a_slope_ends_at_an_end_and_says_so(slope, place, at):
    found = minimise(lambda x: slope * math.log(x), 0.5, 8.0)
    assert found.place == place
    assert_allclose(found.at, at, rtol=1e-15)


def test_a_valley_between_an_end_and_the_next_point_is_no_end():
    found = minimise(lambda x: math.log(x / 1.1) ** 2, 1.0, 100.0, count=5)
    assert found.place == "interior"
    assert_allclose(found.at, 1.1, rtol=1e-9)


@pytest.mark.parametrize("height", [0.0, 3.7, -math.inf])
def test_of_a_flat_curve_the_widest_is_taken(height):
    found = minimise(lambda x: height, 0.5, 8.0)
    assert (found.place, found.at, len(found.valleys)) == ("flat", 8.0, 1)


def test_a_plateau_at_the_low_end_is_told_by_its_wide_edge():
    """Narrow bandwidths all predict by the nearest key: none of them is better."""
    found = minimise(lambda x: max(1.0, x), 0.25, 4.0, count=5)
    assert (found.place, found.at, found.score) == ("low end", 1.0, 1.0)


def test_what_is_infinite_is_no_valley():
    found = minimise(lambda x: math.inf if x < 1 else x, 0.1, 10.0, count=21)
    assert_allclose((found.at, found.score), 1.0, rtol=1e-7)


def test_a_step_is_followed_without_a_tangent():
    """A boxcar's criterion jumps; its lowest stretch is still found."""
    found = minimise(lambda x: 1.0 if 2 <= x < 3 else 2.0, 0.1, 10.0)
    assert found.place == "interior"
    assert found.score == 1.0
    assert 2 <= found.at < 3


# What is particular.


@pytest.mark.parametrize(
    ("scores", "runs"),
    [
        ([3.0, 1.0, 2.0], [(1, 1)]),
        ([1.0, 2.0, 1.0], [(0, 0), (2, 2)]),
        ([2.0, 1.0, 1.0, 3.0], [(1, 2)]),
        ([2.0, 2.0, 2.0], [(0, 2)]),
        ([math.inf, math.inf, 2.0, 3.0], [(2, 2)]),
        ([5.0, 5.0 * (1 + 1e-15), 5.0, 6.0], [(0, 2)]),
        ([-math.inf, 1.0, 0.0], [(0, 0), (2, 2)]),
    ],
)
def test_troughs_are_runs_that_no_neighbour_undercuts(scores, runs):
    assert troughs(np.array(scores)) == runs


def test_the_scan_can_be_watched_and_is_handed_on():
    seen: list[float] = []

    def watch(points):
        for point in points:
            seen.append(point)
            yield point

    found = minimise(two_valleys, 0.01, 100, count=9, watch=watch)
    assert seen == found.grid.tolist()
    assert_allclose(found.scores, [two_valleys(x) for x in found.grid])
    assert_allclose(found.grid[1:] / found.grid[:-1], 1e4 ** (1 / 8))


# Refusals.


@pytest.mark.parametrize(
    ("low", "high", "count"),
    [(0.0, 1.0, 9), (-1.0, 1.0, 9), (2.0, 1.0, 9), (1.0, math.inf, 9), (1.0, 2.0, 2)],
)
def test_a_bracket_that_is_none_is_refused(low, high, count):
    with pytest.raises(Refusal, match=rf"^a bracket from {low:g} to {high:g} with {count} points"):
        minimise(two_valleys, low, high, count=count)


def test_a_bracket_without_a_finite_score_is_refused():
    with pytest.raises(
        Refusal, match=r"^no score between 0\.1 and 2 is finite; .* Move the bracket up\.$"
    ):
        minimise(lambda x: math.inf, 0.1, 2.0)
