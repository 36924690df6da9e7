"""Steps of adapted length, on equations with known solutions."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from lowpass.adaptive import solved
from lowpass.registry import Refusal


@pytest.mark.parametrize("formula", ["RK45", "DOP853"])
@pytest.mark.parametrize("tolerance", [1e-4, 1e-10])
def test_an_oscillation_turns_by_its_time(formula, tolerance):
    turn = np.array([[0.0, 1.0], [-1.0, 0.0]])
    x = np.array([[1.0, 0.0], [0.0, 0.5]])
    ours = solved(lambda y: y @ turn, x, 2.0, formula=formula, tolerance=tolerance)
    expected = x @ np.array([[np.cos(2), np.sin(2)], [-np.sin(2), np.cos(2)]])
    assert_allclose(ours, expected, atol=20 * tolerance)


def test_no_time_is_no_change():
    x = np.array([[0.3, 1.0]])
    assert np.array_equal(solved(lambda y: y, x, 0.0, formula="RK45", tolerance=1e-6), x)


def test_a_solution_that_ends_before_its_time_is_refused():
    """The square of one grows without bound at time one."""
    with (
        pytest.raises(
            Refusal, match=r"^RK45 with the tolerance 1e-06 gave up within a time of 2 .* 'eigh'\.$"
        ),
        np.errstate(all="ignore"),
    ):
        solved(lambda y: y**2, np.ones((1, 1)), 2.0, formula="RK45", tolerance=1e-6)
