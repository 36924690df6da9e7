"""Errors on an even design, against weights that are fitted key by key."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from lowpass.registry import Refusal
from lowpass.smoothing.errors import best_bandwidth, pointwise_errors, reach_of, weight_at
from lowpass.smoothing.profiles import PROFILES

N = 40
PLACE = (np.arange(N) + 0.5) / N
KERNELS = [name for name in PROFILES if PROFILES.facts(name)["reads"] == "squared distance"]
# One that only neighbours see, ordinary ones, and one that sees everything.
BANDWIDTHS = [1.6 / N, 0.11, 0.33, 2.0]


@pytest.fixture
def truth(rng) -> np.ndarray:
    """Give a curve that is not smooth at all, so that no symmetry hides an error."""
    return rng.standard_normal(N)


def rows(kernel: str, bandwidth: float, degree: int) -> np.ndarray:
    """Fit every key's line by weighted least squares, for each single observation (fit, key)."""
    fitted = []
    for place in PLACE:
        u = (PLACE - place) / bandwidth
        root = np.sqrt(np.exp(PROFILES[kernel](u**2)))
        design = root[:, None] * u[:, None] ** np.arange(degree + 1)
        fitted.append((np.linalg.pinv(design) * root)[0])
    return np.array(fitted)


def wrapped(kernel: str, bandwidth: float) -> np.ndarray:
    """Average over many turns of the ring (fit, key)."""
    far = PLACE[None, :] - PLACE[:, None] + np.arange(-90, 91)[:, None, None]
    weight = np.exp(PROFILES[kernel]((far / bandwidth) ** 2)).sum(axis=0)
    return weight / weight.sum(axis=1, keepdims=True)


# Laws.


@pytest.mark.parametrize("degree", [0, 1])
@pytest.mark.parametrize("bandwidth", BANDWIDTHS)
@pytest.mark.parametrize("kernel", KERNELS)
def test_between_ends_errors_are_those_of_fitted_weights(kernel, bandwidth, degree, truth):
    matrix = rows(kernel, bandwidth, degree)
    found = pointwise_errors(truth, bandwidth, kernel=kernel, degree=degree)
    # At two bandwidths lines amplify the rounding of sums by their condition, some hundreds.
    assert_allclose(found.bias, matrix @ truth - truth, rtol=0, atol=3e-12)
    assert_allclose(found.variance, np.square(matrix).sum(axis=1), rtol=1e-11)


@pytest.mark.parametrize("bandwidth", BANDWIDTHS)
@pytest.mark.parametrize("kernel", KERNELS)
def test_around_a_ring_errors_are_those_of_wrapped_weights(kernel, bandwidth, truth):
    matrix = wrapped(kernel, bandwidth)
    found = pointwise_errors(truth, bandwidth, kernel=kernel, ends="joined")
    assert_allclose(found.bias, matrix @ truth - truth, rtol=0, atol=1e-13)
    assert_allclose(found.variance, np.square(matrix).sum(axis=1), rtol=1e-12)


@pytest.mark.parametrize("kernel", KERNELS)
def test_constants_have_no_bias_of_degree_zero_nor_lines_of_degree_one(kernel):
    for degree in (0, 1):
        found = pointwise_errors(3.0 - 2.0 * degree * PLACE, 0.2, kernel=kernel, degree=degree)
        assert_allclose(found.bias, 0, atol=1e-13)


@pytest.mark.parametrize("kernel", KERNELS)
def test_beyond_its_reach_a_kernel_is_lost_in_rounding(kernel):
    reach = reach_of(kernel)
    beyond = weight_at(kernel, np.linspace(reach * (1 + 1e-9), 60, 20))
    assert (beyond < 1e-17).all()
    assert weight_at(kernel, np.array(0.9 * reach)) > 1e-17


# Closed forms.


@pytest.mark.parametrize("bandwidth", [0.02, 0.1, 0.5])
def test_a_wave_on_a_ring_is_damped_by_the_symbol(bandwidth):
    """K02 at frequency one: a wrapped Gaussian has a ratio of theta functions for its symbol."""
    shift = 2 * np.pi * np.arange(-60, 61) * N
    symbol = np.exp(-(((2 * np.pi + shift) * bandwidth) ** 2) / 2).sum()
    symbol /= np.exp(-((shift * bandwidth) ** 2) / 2).sum()
    wave = np.sin(2 * np.pi * PLACE + 0.3)
    found = pointwise_errors(wave, bandwidth, ends="joined")
    assert_allclose(found.bias, (symbol - 1) * wave, rtol=0, atol=1e-14)
    assert found.integrated(0.0) == pytest.approx((1 - symbol) ** 2 / 2, rel=1e-12)


def test_the_widest_window_averages_all():
    found = pointwise_errors(PLACE, 1.0, kernel="boxcar")
    assert_allclose(found.bias, 0.5 - PLACE, atol=1e-14)
    assert found.integrated(2.0) == pytest.approx((1 - N**-2) / 12 + 4 / N)


@pytest.mark.parametrize("degree", [0, 1])
@pytest.mark.parametrize("kernel", ["epanechnikov", "gaussian"])
def test_a_key_that_sees_no_other_keeps_its_value(kernel, degree, truth):
    found = pointwise_errors(truth, 0.01 / N, kernel=kernel, degree=degree)
    assert_allclose(found.bias, 0, atol=1e-14)
    assert_allclose(found.variance, 1, rtol=1e-14)


# What is particular.


def test_a_hundred_thousand_keys_are_no_matrix():
    place = (np.arange(100_000) + 0.5) / 100_000
    wave = np.sin(2 * np.pi * place)
    found = pointwise_errors(wave, 0.02, degree=1)
    middle = slice(30_000, 70_000)
    h = 2 * np.pi * 0.02
    assert_allclose(found.bias[middle], np.expm1(-(h**2) / 2) * wave[middle], atol=1e-12)
    assert_allclose(found.variance[middle], 1 / (2 * np.sqrt(np.pi) * 0.02 * 1e5), rtol=1e-12)


def test_the_best_bandwidth_is_where_the_error_is_flat():
    assert best_bandwidth(lambda h: h**4 + 3 / h, 0.01, 100) == pytest.approx(0.75**0.2, rel=1e-6)


# Refusals.


@pytest.mark.parametrize("bandwidth", [0.0, -1.0, np.nan, np.inf])
def test_a_bandwidth_that_divides_nothing_is_refused(bandwidth, truth):
    with pytest.raises(Refusal, match=r"bandwidth is (0|-1|nan|inf); distances are divided"):
        pointwise_errors(truth, bandwidth)


def test_a_parabola_is_refused(truth):
    with pytest.raises(Refusal, match="the degree is 2; a fit is locally constant, 0, or a line"):
        pointwise_errors(truth, 0.1, degree=2)


def test_a_kernel_of_products_is_refused(truth):
    with pytest.raises(Refusal, match="'exp_dot' reads products; its weights depend on where"):
        pointwise_errors(truth, 0.1, kernel="exp_dot")


@pytest.mark.parametrize("error", [lambda h: h, lambda h: -h])
def test_a_minimum_at_an_end_is_none(error):
    with pytest.raises(Refusal, match=r"least at bandwidth \S+, an end of 0.1 ... 0.9; it may"):
        best_bandwidth(error, 0.1, 0.9)
