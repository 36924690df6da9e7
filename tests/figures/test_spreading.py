"""Labels that make room for each other."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import isotonic_regression, minimize

from lowpass.figures.spreading import spread
from lowpass.registry import Refusal

GAP = 9.0


@pytest.mark.parametrize("n", [1, 2, 5, 12])
def test_order_and_distance_are_kept(rng, n):
    heights = rng.uniform(0, 150, n)
    placed = np.array(spread(heights, GAP, 0.0, 150.0))
    order = np.argsort(heights)
    assert (np.diff(placed[order]) >= GAP - 1e-9).all()
    assert placed.min() >= 0
    assert placed.max() <= 150 + 1e-9


def test_labels_that_have_room_stay_where_they_are(rng):
    heights = rng.permutation(np.arange(8) * 9.5)
    assert_allclose(spread(heights, GAP), heights, rtol=0, atol=1e-12)


def test_without_bounds_it_is_isotonic_regression(rng):
    heights = np.sort(rng.uniform(0, 60, 20))
    ranks = GAP * np.arange(20)
    assert_allclose(spread(heights, GAP), isotonic_regression(heights - ranks).x + ranks)


def test_with_bounds_it_still_moves_labels_least(rng):
    """A general solver with the constraints written out finds the same heights."""
    heights = np.sort(rng.uniform(60, 100, 6))
    found = minimize(
        lambda place: ((place - heights) ** 2).sum(),
        np.linspace(1, 79, 6),
        jac=lambda place: 2 * (place - heights),
        method="SLSQP",
        bounds=[(0, 80)] * 6,
        constraints={"type": "ineq", "fun": lambda place: np.diff(place) - GAP},
        options={"ftol": 1e-12},
    )
    assert_allclose(spread(heights, GAP, 0, 80), found.x, atol=1e-5)  # the solver's tolerance


def test_equal_heights_keep_the_order_they_came_in():
    assert spread([5.0, 5.0, 5.0], GAP) == [-4.0, 5.0, 14.0]


def test_refuses_a_label_that_is_nowhere():
    with pytest.raises(Refusal, match="not all finite"):
        spread([1.0, float("nan")], GAP)


def test_refuses_more_labels_than_fit():
    with pytest.raises(Refusal, match="3 labels 9 apart need 18, and there is 17"):
        spread([1.0, 2.0, 3.0], GAP, 0, 17)
