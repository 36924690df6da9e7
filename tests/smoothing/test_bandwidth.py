"""Leave-one-out by refitting, degrees of freedom in closed form, the grid's edges."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from lowpass.registry import Refusal
from lowpass.smoothing.bandwidth import (
    bracket,
    effective_dof,
    loo_residuals,
    loo_score,
    select,
    select_bandwidth,
    select_bandwidths,
)
from lowpass.smoothing.criteria import CRITERIA, curves
from lowpass.smoothing.estimators import nadaraya_watson, smoother_matrix

NILE = Path(__file__).parents[2] / "workflow" / "resources" / "nile.csv"


@pytest.fixture
def sample(rng) -> tuple[np.ndarray, np.ndarray]:
    """Give 25 keys in the plane and their values."""
    return rng.standard_normal((25, 2)), rng.standard_normal(25)


def refitted(key: np.ndarray, value: np.ndarray, bandwidth: float) -> np.ndarray:
    """Fit without each observation in turn, by the textbook formula."""
    rest = [np.arange(len(value)) != i for i in range(len(value))]
    fits = [
        nadaraya_watson(key[i : i + 1], key[r], value[r], bandwidth)[0] for i, r in enumerate(rest)
    ]
    return value - np.array(fits)


@pytest.mark.parametrize("bandwidth", [0.05, 0.5, 5.0])
def test_leaving_one_out_is_as_many_refits(bandwidth, sample):
    assert_allclose(loo_residuals(*sample, bandwidth), refitted(*sample, bandwidth), atol=1e-13)


@pytest.mark.parametrize("bandwidth", [0.5, 5.0])
def test_where_nothing_is_isolated_the_shortcut_agrees(bandwidth, sample):
    """K08: rᵢ/(1 - Aᵢᵢ)."""
    key, value = sample
    a = smoother_matrix(key, key, bandwidth)
    shortcut = (value - a @ value) / (1 - np.diag(a))
    assert_allclose(loo_residuals(key, value, bandwidth), shortcut, rtol=1e-8, atol=1e-10)


def test_an_isolated_point_is_predicted_by_its_nearest_neighbour():
    """There 1 - Aᵢᵢ is zero in floats, so the shortcut would be 0/0."""
    key, value = np.array([[0.0], [0.1], [50.0]]), np.array([1.0, 2.0, 9.0])
    assert smoother_matrix(key, key, 0.1)[2, 2] == 1
    assert loo_residuals(key, value, 0.1)[2] == 9.0 - 2.0


def test_two_observations_at_one_place_predict_each_other():
    key, value = np.array([[0.0], [0.0], [4.0]]), np.array([1.0, 2.0, 9.0])
    assert_allclose(loo_residuals(key, value, 0.1)[:2], [-1.0, 1.0], rtol=1e-15)


def test_the_score_is_the_mean_squared_residual(sample):
    grid = np.array([0.2, 1.0, 3.0])
    by_hand = [np.mean(refitted(*sample, h) ** 2) for h in grid]
    assert_allclose(loo_score(*sample, grid), by_hand, rtol=1e-12)


def test_the_selected_bandwidth_is_nearly_the_best_for_the_truth(rng):
    """A sine with noise, whose true loss the score never sees: within a factor of 1.5."""
    key = np.linspace(0, 2 * np.pi, 80)[:, None]
    truth = np.sin(key[:, 0])
    value = truth + 0.3 * rng.standard_normal(80)
    grid = np.geomspace(0.02, 5, 25)
    chosen = select(grid, loo_score(key, value, grid))
    loss = np.array([np.square(nadaraya_watson(key, key, value, h) - truth).mean() for h in grid])
    assert loss[grid == chosen] < 1.5 * loss.min()


def test_degrees_of_freedom_run_from_every_key_to_one(sample):
    key, _ = sample
    dof = effective_dof(np.stack([smoother_matrix(key, key, h) for h in (1e-4, 0.3, 1.0, 1e4)]))
    assert_allclose(dof[[0, 3]], [25, 1], rtol=1e-6)
    assert (np.diff(dof) < 0).all()


def test_degrees_of_freedom_of_two_keys_have_a_closed_form():
    """At distance r each key keeps the share 1/(1 + exp(-r²/2h²))."""
    matrix = smoother_matrix(np.array([[0.0], [3.0]]), np.array([[0.0], [3.0]]), 2**0.5)
    assert_allclose(effective_dof(matrix), 2 / (1 + np.exp(-9 / 4)), rtol=1e-14)


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
