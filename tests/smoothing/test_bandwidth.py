"""Bandwidths of the Nile and of observations whose best bandwidth is known."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from lowpass.registry import Refusal
from lowpass.smoothing.bandwidth import (
    bracket,
    select,
    select_bandwidth,
    select_bandwidths,
)
from lowpass.smoothing.criteria import CRITERIA, curves
from lowpass.smoothing.estimators import smoother_matrix

NILE = Path(__file__).parents[2] / "workflow" / "resources" / "nile.csv"


# On a grid.


def test_the_lowest_score_inside_the_grid_is_selected():
    assert select(np.array([1.0, 2.0, 4.0, 8.0]), np.array([3.0, 2.0, 1.0, 4.0])) == 4.0


@pytest.mark.parametrize(("scores", "end"), [([1.0, 2.0, 3.0], "1"), ([3.0, 2.0, 1.0], "4")])
def test_a_minimum_at_an_end_of_the_grid_is_refused(scores, end):
    with pytest.raises(
        Refusal,
        match=rf"^the lowest score lies at bandwidth {end}, an end of the grid 1 \.\.\. 4; "
        r".* Widen the grid\.$",
    ):
        select(np.array([1.0, 2.0, 4.0]), np.array(scores))


# The search through a bracket.


def test_the_selected_bandwidth_is_nearly_the_best_for_the_truth(rng):
    """A sine with noise, whose true loss the score never sees: within a factor of 1.5."""
    key = np.linspace(0, 2 * np.pi, 80)
    truth = np.sin(key)
    value = truth + 0.3 * rng.standard_normal(80)
    grid = np.geomspace(0.02, 5, 25)
    loss = [np.square(smoother_matrix(key, key, h) @ value - truth).mean() for h in grid]
    for name in ("loo", "gcv", "aicc"):
        chosen = select_bandwidth(key, value, by=name).at
        mine = np.square(smoother_matrix(key, key, chosen) @ value - truth).mean()
        assert mine < 1.5 * min(loss)


@pytest.fixture(scope="module")
def nile() -> tuple[np.ndarray, np.ndarray]:
    with NILE.open() as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    return tuple(np.array([float(row[name]) for row in rows]) for name in ("year", "flow"))


@pytest.mark.parametrize("degree", [0, 1])
def test_the_bandwidth_of_the_nile_is_positive_and_no_scan_finds_a_better_one(degree, nile):
    """Where statsmodels gives -1.66 and -1.68: the criterion is even in h, and its search free."""
    found = select_bandwidth(*nile, degree=degree)
    assert found.place == "interior"
    assert_allclose(found.at, {0: 1.656, 1: 1.684}[degree], atol=1e-3)
    dense = curves(*nile, np.geomspace(0.3, 200, 80), ["loo"], degree=degree)["loo"]
    assert found.score <= dense.min()


@pytest.mark.parametrize("name", CRITERIA)
@pytest.mark.parametrize("scan", [30, 41])
def test_the_answer_does_not_depend_on_the_scan(name, scan, nile):
    options = {"neighbours": 3, "folds": 10}
    fine = select_bandwidth(*nile, by=name, count=60, between=(0.6, 60.0), options=options)
    found = select_bandwidth(*nile, by=name, count=scan, between=(0.6, 60.0), options=options)
    assert_allclose(found.at, fine.at, rtol=1e-8)


def test_noise_wants_the_widest_bandwidth_and_is_told_that_it_is_the_end():
    """Alternating values: whatever is near has the other sign."""
    key = np.arange(40.0)
    found = select_bandwidth(key, (-1.0) ** key)
    assert (found.place, found.at) == ("high end", 2 * 39.0)


def test_constant_values_make_a_flat_criterion_and_the_widest_bandwidth():
    found = select_bandwidth(np.arange(9), np.full(9, 7))
    assert (found.place, found.score) == ("flat", 0.0)


def test_without_noise_the_narrowest_bandwidths_are_alike():
    """A step between two groups of keys: each key is predicted by its own group without error."""
    key = np.array([0.0, 0.1, 0.2, 10.0, 10.1, 10.2])
    found = select_bandwidth(key, np.array([1.0, 1.0, 1.0, 5.0, 5.0, 5.0]))
    assert found.place == "low end"
    assert found.score < 1e-28


def test_a_bracket_spans_what_keys_can_tell_apart():
    assert bracket(np.array([0.0, 1.0, 1.0, 2.0, 3.0, 7.0])) == (0.25, 14.0)
    assert bracket(np.array([[0.0, 0.0], [3.0, 4.0]])) == (1.25, 8.0)


# One bandwidth for each feature.


@pytest.fixture(scope="module")
def plane() -> tuple[np.ndarray, np.ndarray]:
    """Give a wave over the first feature of a chessboard, whose squares are errors."""
    first, second = np.meshgrid(np.linspace(0, 1, 10), np.arange(6.0), indexing="ij")
    value = np.sin(6 * first) + 0.2 * (-1.0) ** (9 * first + second).round()
    return np.stack([first.ravel(), 20 * second.ravel()], axis=1), value.ravel()


def test_a_feature_that_does_not_matter_gets_the_widest_bandwidth(plane):
    key, value = plane
    found = select_bandwidths(key, value)
    assert found.settled
    assert found.places == ("interior", "high end")
    assert_allclose(found.bandwidth[1], 2 * np.ptp(key[:, 1]), rtol=1e-6)
    # At the widest, five of six errors of either sign remain.
    alone = select_bandwidth(key[:, 0], value)
    assert_allclose(found.bandwidth[0], alone.at, rtol=0.02)


def test_no_change_of_one_bandwidth_lowers_the_score(plane):
    key, value = plane
    found = select_bandwidths(key, value)
    assert found.score <= select_bandwidth(key / key.std(axis=0), value).score
    for feature in range(2):
        trials = np.tile(found.bandwidth, (30, 1))
        trials[:, feature] = np.ptp(key[:, feature]) * np.geomspace(0.1, 2, 30)
        scores = curves(key, value, trials, ["loo"])["loo"]
        assert (scores >= found.score * (1 - 1e-7)).all()


def test_one_feature_alone_is_selected_as_ever(nile):
    found = select_bandwidths(nile[0][:, None], nile[1])
    one = select_bandwidth(*nile)
    assert_allclose(found.bandwidth, [one.at], rtol=1e-5)
    assert_allclose(found.score, one.score, rtol=1e-10)
    assert found.places == ("interior",)


def test_a_constant_feature_is_of_no_account(nile):
    key = np.stack([nile[0], np.full(100, 3.0)], axis=1)
    found = select_bandwidths(key, nile[1])
    assert_allclose(found.bandwidth[0], select_bandwidth(*nile).at, rtol=1e-5)


@pytest.mark.parametrize("select_one", [select_bandwidth, select_bandwidths])
def test_fewer_than_two_places_are_refused(select_one):
    with pytest.raises(Refusal, match=r"^the 4 keys are all the same; .* two distinct keys"):
        select_one(np.ones((4, 1)), np.arange(4.0))
