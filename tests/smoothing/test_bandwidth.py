"""Leave-one-out by refitting, degrees of freedom in closed form, the grid's edges."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from lowpass.registry import Refusal
from lowpass.smoothing.bandwidth import effective_dof, loo_residuals, loo_score, select
from lowpass.smoothing.estimators import nadaraya_watson, smoother_matrix


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
