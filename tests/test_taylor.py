"""A Taylor polynomial against its series, and its error against the bound, in many digits."""

from __future__ import annotations

import math

import numpy as np
import pytest
from mpmath import mp
from numpy.testing import assert_allclose

from lowpass.registry import Refusal
from lowpass.taylor import action, log10_error_bound, polynomial, refuse_overflow

TINY = np.finfo(np.float64).eps


@pytest.mark.parametrize("z", [0.0, 0.3, -2.0, 1 + 2j])
@pytest.mark.parametrize("order", [1, 2, 7])
def test_a_polynomial_is_its_sum(z, order):
    expected = sum(z**k / math.factorial(k) for k in range(order + 1))
    assert_allclose(polynomial(np.array([z, z]), order), [expected] * 2, rtol=1e-14)


def test_an_action_is_the_polynomial_of_its_slope(rng):
    m, x = rng.standard_normal((5, 5)), rng.standard_normal((5, 2))
    ours = action(lambda y: m @ y, x, 0.3, 4)
    z = 0.3 * m
    powers = [np.linalg.matrix_power(z, k) / math.factorial(k) for k in range(5)]
    assert_allclose(ours, sum(powers) @ x, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("reach", [1e-3, 0.5, 3.0, 12.0])
@pytest.mark.parametrize("order", [1, 4, 12, 40])
def test_what_is_left_out_is_below_its_bound(reach, order):
    """For a mode of either sign, computed in floats against fifty digits; and it is not idle."""
    for z, growth in ((-reach, 0.0), (reach, reach)):
        ours = float(action(lambda y, z=z: z * y, np.ones((1, 1)), 1.0, order)[0, 0])
        with mp.workdps(50):
            error = float(abs(mp.mpf(ours) - mp.exp(z)) / mp.exp(growth))
        bound = 10 ** float(log10_error_bound(np.array(reach), np.array(growth), order, 1))
        assert error <= bound
        if error > 1000 * TINY * np.exp(reach - growth):
            assert bound < (order + 2 + reach) * np.exp(reach) * error


def test_the_bound_of_a_long_time_is_as_large_as_the_error_that_it_warns_of():
    """Order 30 at τλ_max = 60 is off by 1e21."""
    with mp.workdps(50):
        error = abs(mp.nsum(lambda k: (-mp.mpf(60)) ** k / mp.factorial(k), [0, 30]))
    bound = float(log10_error_bound(np.array(60.0), np.array(0.0), 30, 64))
    assert 20 < float(mp.log10(error)) < bound < 22


def test_terms_that_leave_the_range_of_floats_are_refused():
    refuse_overflow(np.array([1e30, 1.0]), 9)
    with pytest.raises(Refusal, match=r"^a step of order 11 with .* 1e\+30 leaves the range"):
        refuse_overflow(np.array([1e30, 1.0]), 11)
