"""Integrators on flows that can be solved by hand."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import expm

from lowpass.integrators import INTEGRATORS
from lowpass.registry import Refusal

GENERATOR = np.array([[-1.0, 4.0], [-0.5, 0.2]])


def linear(x: np.ndarray) -> np.ndarray:
    return GENERATOR @ x


# Laws.


@pytest.mark.parametrize("name", INTEGRATORS)
def test_no_time_changes_nothing(name, rng):
    x = rng.standard_normal((2, 3))
    assert np.array_equal(INTEGRATORS[name](linear, x, 0.0), x)


@pytest.mark.parametrize("name", INTEGRATORS)
def test_what_does_not_move_stays(name, rng):
    x = rng.standard_normal((2, 3))
    assert_allclose(INTEGRATORS[name](np.zeros_like, x, 3.0), x, rtol=1e-15)


@pytest.mark.parametrize("name", INTEGRATORS)
def test_a_flow_from_nothing_is_followed(name):
    """Ẋ = 1 from zero, where no entry gives a tolerance its scale."""
    assert_allclose(INTEGRATORS[name](np.ones_like, np.zeros((2, 1)), 0.5), 0.5, rtol=1e-15)


@pytest.mark.parametrize("name", INTEGRATORS)
def test_the_error_of_a_step_is_within_what_the_integrator_promises(name, rng):
    """An explicit step is off by h²‖G‖²/2 at most, all others by some units of their tolerance."""
    x, time = rng.standard_normal((2, 3)), 0.01
    exact = expm(time * GENERATOR) @ x
    facts = INTEGRATORS.facts(name)
    off = np.linalg.norm(INTEGRATORS[name](linear, x, time) - exact) / np.linalg.norm(exact)
    assert off <= (10 * facts["rtol"] or (time * np.linalg.norm(GENERATOR, 2)) ** 2)


@pytest.mark.parametrize("name", INTEGRATORS)
def test_a_scaled_start_has_a_scaled_end(name, rng):
    """Tolerances are relative to the tokens, however small these are."""
    x = rng.standard_normal((2, 3))
    big, small = (INTEGRATORS[name](linear, scale * x, 1.0) for scale in (1.0, 2.0**-60))
    assert_allclose(small * 2.0**60, big, rtol=1e-13)


# Closed forms.


@pytest.mark.parametrize("name", ["rk45", "dop853"])
@pytest.mark.parametrize("time", [2.0, -1.0])
def test_a_linear_flow_is_its_exponential(name, time, rng):
    """Backwards as well."""
    x = rng.standard_normal((2, 3))
    exact = expm(time * GENERATOR) @ x
    off = np.linalg.norm(INTEGRATORS[name](linear, x, time) - exact) / np.linalg.norm(exact)
    assert off <= 30 * INTEGRATORS.facts(name)["rtol"]


@pytest.mark.parametrize("name", ["rk45", "dop853"])
def test_a_flow_that_is_not_linear_is_its_closed_form(name):
    """Of ẋ = x² it is x₀ / (1 - x₀ t)."""
    x = np.array([[0.5, -2.0]])
    tolerance = 30 * INTEGRATORS.facts(name)["rtol"]
    assert_allclose(INTEGRATORS[name](np.square, x, 1.0), x / (1 - x), rtol=tolerance)


def test_one_explicit_step_is_a_layer(rng):
    x = rng.standard_normal((2, 3))
    assert_allclose(INTEGRATORS["euler"](linear, x, 0.25), x + 0.25 * GENERATOR @ x, rtol=1e-15)


# Refusals.


@pytest.mark.parametrize("name", ["rk45", "dop853"])
def test_a_flow_that_leaves_floats_is_refused(name):
    """ẋ = x² from 0.5 ends at time two."""
    with pytest.raises(
        Refusal, match=r"^the flow of these layers leaves the range of floats within a time of 3, "
    ) as caught:
        INTEGRATORS[name](np.square, np.array([[0.5]]), 3.0)
    assert "\n" not in str(caught.value)
