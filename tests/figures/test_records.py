"""Records and the textbook's example, number for number."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from lowpass.figures.palette import PAPER
from lowpass.figures.pooling import pooling
from lowpass.figures.records import FAR, records

from .exhibits import drawn, experiment

NAMES = ("co2", "penguins", "penguins-2d", "pooling")


@pytest.fixture(scope="module")
def shown(shared_laboratory):
    return {name: experiment(shared_laboratory, name) for name in NAMES}


@pytest.fixture
def panels(shown):
    return records(shown, PAPER).axes


@pytest.fixture
def sums(shown):
    return pooling(shown, PAPER).axes


def dots(panel) -> list[list[float]]:
    return [row for line in panel.lines if line.get_marker() == "o" for row in drawn(line).tolist()]


def test_weeks_lie_under_two_of_the_stored_fits(panels, shown):
    weeks, alone, around = panels[0].lines
    run = shown["co2"]
    assert_array_equal(drawn(weeks)[:, 1], run["value"].isel(window=0))
    assert_array_equal(drawn(alone)[:, 1], run["fit"].sel(window=0))
    assert_array_equal(drawn(around)[:, 1], run["fit"].sel(window=0.5))


def test_dots_are_the_smallest_errors_of_each_window(panels, shown):
    run = shown["co2"]
    least = [run["bandwidth_selected"].values, run["blocked_score_selected"].values]
    assert_array_equal(dots(panels[1]), np.transpose(least))
    curves = [line for line in panels[1].lines if line.get_marker() != "o"]
    for curve, window in zip(curves, run["window"].values, strict=True):
        assert_array_equal(drawn(curve)[:, 1], run["blocked_score"].sel(window=window))


def test_birds_and_their_fit_stand_in_the_order_of_flippers(panels, shown):
    birds, fit = panels[2].lines
    run = shown["penguins"]
    flipper = drawn(birds)[:, 0]
    assert (np.diff(flipper) >= 0).all()
    assert sorted(drawn(birds).tolist()) == sorted(
        np.stack([run["key_position"].values[:, 0], run["value"].values], 1).tolist()
    )
    assert sorted(drawn(fit)[:, 1]) == sorted(run["fit"].values)


def test_nothing_is_drawn_where_no_bird_is_near(panels, shown):
    run = shown["penguins-2d"]
    (birds,) = panels[3].lines
    assert_array_equal(drawn(birds), run["key_position"])
    assert (run["plane_reach"] > FAR).any()
    corner = run.isel(abscissa=0, ordinate=0)
    at = float(corner["abscissa"]), float(corner["ordinate"])
    assert float(corner["plane_reach"]) > FAR
    filled = panels[3].collections[0]
    assert not any(path.contains_point(at) for path in filled.get_paths())


def test_fits_of_rules_are_stored(sums, shown):
    run = shown["pooling"].isel(correlation=0)
    truth, *rules = sums[0].lines
    assert_array_equal(drawn(truth)[:, 1], run["truth_at_query"])
    for line, rule in zip(rules, ("average", "fixed", "learned"), strict=True):
        assert_array_equal(drawn(line)[:, 1], run["rule_fit"].sel(pooling_rule=rule))


def test_errors_bear_the_rules_and_the_ends_of_training(sums, shown):
    run = shown["pooling"].isel(correlation=0)
    rules = run.sel(pooling_rule=["fixed", "learned"])
    assert_array_equal(dots(sums[1]), np.transpose([rules["rule_bandwidth"], rules["rule_error"]]))
    (ticks,) = [line for line in sums[1].lines if line.get_marker() == "|"]
    assert_array_equal(drawn(ticks).T, [run["trained_bandwidth"], run["trained_error"]])


def test_dots_of_the_criterion_are_where_it_is_least(sums, shown):
    runs = shown["pooling"]
    for place in (0, 1):
        run = runs.isel(correlation=place)
        learned, best = (run.sel(pooling_rule=rule) for rule in ("learned", "best"))
        expected = [
            [float(learned["rule_bandwidth"]), float(run["learned_score"])],
            [float(learned["rule_bandwidth"]), float(learned["rule_error"])],
            [float(best["rule_bandwidth"]), float(best["rule_error"])],
        ]
        assert dots(sums[2])[3 * place : 3 * place + 3] == expected
