"""Intervals for medians and shares whose coverage is counted, not assumed."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom, binomtest

from lowpass.claims.intervals import LEVEL, median_interval, share_interval
from lowpass.claims.names import Number

SMALLEST = 6  # The whole range of five values covers the median in 1 - 2/2^5 < 95 % of all draws.
# Rank of the lower end, counted from one, as printed in tables of the sign test at 5 %.
TABLE = {6: 1, 7: 1, 8: 1, 9: 2, 10: 2, 11: 2, 12: 3, 15: 4, 20: 6, 25: 8, 30: 10, 40: 14, 50: 18}


def cut(n: int) -> int:
    """Count the values left out at each end of a sample of ranks."""
    found = median_interval(np.arange(n, dtype=float))
    assert found.high == n - 1 - found.low
    return int(found.low)


@pytest.mark.parametrize("n", range(SMALLEST, 80))
def test_the_interval_is_the_shortest_that_covers_enough(n):
    """The number of values below the median is binomial, whatever the distribution."""
    assert 1 - 2 * binom.cdf(cut(n), n, 0.5) >= LEVEL > 1 - 2 * binom.cdf(cut(n) + 1, n, 0.5)


@pytest.mark.parametrize("n", range(1, SMALLEST))
def test_a_small_sample_gives_its_whole_range(n):
    assert cut(n) == 0
    assert 1 - 2 * binom.cdf(0, n, 0.5) < LEVEL


@pytest.mark.parametrize("n", TABLE)
def test_ranks_are_those_of_printed_tables(n):
    assert cut(n) + 1 == TABLE[n]


@pytest.mark.parametrize("n", [1, 2, 5, 6, 20, 21])
def test_the_median_lies_inside(n, rng):
    values = rng.standard_exponential(n)
    found = median_interval(values)
    assert found.value == np.median(values)
    assert found.low <= found.value <= found.high
    assert {found.low, found.high} <= {*values}


def test_the_order_of_draws_does_not_matter(rng):
    values = rng.standard_normal(20)
    assert median_interval(values) == median_interval(rng.permutation(values).reshape(4, 5))


def test_a_growing_map_maps_the_interval(rng):
    values = rng.standard_normal(21)
    mapped, found = median_interval(np.exp(values)), median_interval(values)
    assert (mapped.low, mapped.high) == (np.exp(found.low), np.exp(found.high))
    mirrored = median_interval(-values)
    assert (mirrored.low, mirrored.high) == (-found.high, -found.low)


def test_ties_may_make_an_interval_a_point():
    assert median_interval(np.full(20, 0.5)) == Number(0.5, 0.5, 0.5)
    values = np.repeat([0.0, 1.0, 2.0], [4, 12, 4])
    assert median_interval(values) == Number(1.0, 1.0, 1.0)
    assert median_interval(np.repeat([0.0, 1.0], 10)) == Number(0.5, 0.0, 1.0)


def test_outliers_and_infinities_do_not_move_it():
    values = np.arange(20.0)
    wild = values.copy()
    wild[:3], wild[-3:] = -np.inf, 1e300
    assert median_interval(wild) == median_interval(values)


def test_half_of_all_draws_lie_on_either_side(rng):
    """A count of 2000 intervals of 20 skewed draws: coverage 0.9586, one part in 100 tolerated."""
    draws = rng.standard_exponential((2000, 20))
    found = [median_interval(row) for row in draws]
    covered = np.mean([each.low <= np.log(2) <= each.high for each in found])
    exact = 1 - 2 * binom.cdf(5, 20, 0.5)
    # Three standard deviations of the count.
    assert abs(covered - exact) < 3 * np.sqrt(exact * (1 - exact) / 2000)


@pytest.mark.parametrize("hits", [0, 1, 7, 19, 20])
def test_a_share_has_the_exact_interval_of_a_probability(hits, rng):
    found = share_interval(rng.permutation(np.arange(20) < hits))
    exact = binomtest(hits, 20).proportion_ci(LEVEL, method="exact")
    assert found.value == hits / 20
    assert (found.low, found.high) == pytest.approx((exact.low, exact.high), abs=1e-12)


def test_what_happened_always_may_still_be_no_law():
    """The twentieth root of 2.5 %: of twenty draws no more can be said."""
    assert share_interval(np.ones(20, bool)).low == pytest.approx(0.025 ** (1 / 20), rel=1e-12)
    assert share_interval(np.ones(20, bool)).high == 1
