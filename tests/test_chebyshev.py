"""What a Chebyshev sum leaves out, against hundreds of digits."""

from __future__ import annotations

import numpy as np
import pytest
from mpmath import mp
from numpy.testing import assert_allclose
from scipy.linalg import expm

from lowpass.chebyshev import (
    TAIL,
    exponential,
    interval,
    log10_error_bound,
    order_for,
    tail_bound,
    weights,
)
from lowpass.laplacians import LAPLACIANS
from lowpass.registry import Refusal

from .heated import affinity


def exact_tail(order: int, reach: float) -> float:
    """Sum the Bessel functions beyond an order with 40 digits."""
    with mp.workdps(40):
        z = mp.mpf(reach)
        terms = (mp.exp(-z) * mp.besseli(k, z) for k in range(order + 1, order + 200))
        return float(2 * mp.fsum(terms))


@pytest.mark.parametrize("reach", [1e-3, 0.5, 3.0, 40.0, 300.0])
def test_what_is_left_out_is_below_its_bound(reach):
    """And the bound is not idle: its logarithm is within a tenth and a few nats."""
    for order in (0, 1, 5, 20, 60):
        exact, bound = exact_tail(order, reach), float(tail_bound(order, reach))
        assert exact <= bound
        assert np.log(bound) < 0.9 * np.log(exact) + 3


@pytest.mark.parametrize("reach", [0.0, 1e-300, 1e-3, 0.5, 40.0, 1e4, 1e6])
@pytest.mark.parametrize("tolerance", [1e-3, TAIL])
def test_the_order_is_the_least_whose_bound_is_small_enough(reach, tolerance):
    order = order_for(reach, tolerance)
    assert tail_bound(order, reach) <= tolerance
    assert order == 0 or tail_bound(order - 1, reach) > tolerance


def test_the_order_grows_as_the_root_of_a_long_time():
    """2 exp(-m²/2z) = 1e-16 has the solution m = √(75 z)."""
    assert_allclose(order_for(1e6), np.sqrt(2 * np.log(2e16) * 1e6), rtol=1e-2)
    assert order_for(0.5) == 12


@pytest.mark.parametrize(("low", "high"), [(0.0, 4.0), (-3.0, 5.0), (1.0, 1.5), (0.0, 900.0)])
def test_the_sum_is_the_exponential_everywhere_in_the_interval(low, high):
    times = np.array([0.0, 1e-3, 0.4, 2.0])
    points = np.linspace(low, high, 101)
    each = weights(times, low, high)
    argument = (2 * points - low - high) / (high - low)
    sums = np.polynomial.chebyshev.chebval(argument, each.T)
    largest = np.exp(-times * low)[:, None]
    assert_allclose(sums / largest, np.exp(-np.outer(times, points)) / largest, atol=1e-14)


def test_each_time_has_terms_up_to_its_own_order():
    times = np.array([0.0, 0.1, 30.0])
    for time, each in zip(times, weights(times, 0.0, 4.0), strict=True):
        assert np.flatnonzero(each)[-1] == order_for(2 * time)


@pytest.mark.parametrize("graph", ["ring", "affinity", "logits"])
def test_the_error_of_a_sum_is_below_its_stated_bound_for_every_time(graph, rng):
    """From 1e-3 to 1e2, against forty digits; with what grows, as long as that is a number."""
    w = affinity(graph, rng)
    laplacian = LAPLACIANS["signed"](w)
    x, bounds = rng.standard_normal((8, 2)), interval(laplacian)
    times = np.array([t for t in np.logspace(-3, 2, 11) if -t * bounds[0] < 300])
    assert len(times) > 7
    ours = exponential(laplacian, x, times, bounds)
    with mp.workdps(40):
        # The sum is over eigenvalues, and forty digits of them are plenty.
        value, vector = mp.eigsy(mp.matrix(laplacian.tolist()))
        amplitude = vector.T * mp.matrix(x.tolist())
        for time, each in zip(times, ours, strict=True):
            gain = mp.diag([mp.exp(-mp.mpf(float(time)) * v) for v in value])
            apart = mp.matrix(each.tolist()) - vector * gain * amplitude
            size = mp.exp(-mp.mpf(float(time)) * bounds[0]) * float(np.linalg.norm(x))
            error = float(mp.log10(mp.norm(apart, 2) / size))
            assert error <= log10_error_bound(time, bounds, 8)
    assert (log10_error_bound(times, bounds, 8) < -11).all()


@pytest.mark.parametrize("shape", [(), (3,)])
def test_the_recurrence_is_the_exponential_of_a_matrix(shape, rng):
    a = rng.standard_normal((*shape, 6, 6))
    a = a + np.swapaxes(a, -1, -2)
    x, times = rng.standard_normal((*shape, 6, 2)), np.array([0.3, 0.0, 0.05])
    ours = exponential(a, x, times, interval(a))
    assert ours.shape == (3, *x.shape)
    expected = np.stack([expm(-time * a) @ x for time in times])
    assert_allclose(ours, expected, rtol=1e-12, atol=1e-12)


def test_one_matrix_serves_many_columns_and_many_matrices_one(rng):
    a = np.diag([0.0, 1.0, 2.0])
    x = rng.standard_normal((4, 3, 2))
    several = exponential(a, x, np.array([1.0]), (0.0, 2.0))
    alone = exponential(np.stack([a] * 4), x, np.array([1.0]), (0.0, 2.0))
    assert several.shape == (1, 4, 3, 2)
    assert_allclose(several, alone, rtol=1e-14)
    assert exponential(np.stack([a] * 4), x[0], np.array([1.0]), (0.0, 2.0)).shape == (1, 4, 3, 2)


def test_discs_enclose_every_eigenvalue(rng):
    a = rng.standard_normal((50, 7, 7))
    a = a + np.swapaxes(a, 1, 2)
    low, high = interval(a)
    value = np.linalg.eigvalsh(a)
    assert low <= value.min() < value.max() <= high


def test_the_discs_of_diagonal_matrices_are_points():
    assert interval(np.diag([3.0, -1.0, 2.0])) == (-1.0, 3.0)


def test_nothing_happens_where_nothing_flows(rng):
    x = rng.standard_normal((4, 2))
    assert np.array_equal(
        exponential(np.zeros((4, 4)), x, np.array([0.0, 9.0]), (0.0, 0.0)), [x, x]
    )


def test_a_sum_of_thousands_of_terms_is_refused():
    with pytest.raises(
        Refusal, match=r"^time times half .* is 2e\+06; .* Use the method 'eigh'\.$"
    ):
        order_for(2e6)
