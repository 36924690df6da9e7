"""Mean squared errors against integrals over one direction, and against draws."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from numpy.testing import assert_allclose

from lowpass.smoothing.feature_errors import (
    positive_error,
    positive_scatter,
    trigonometric_error,
)

NODE, WEIGHT = np.polynomial.hermite_e.hermegauss(120)
WEIGHT = WEIGHT / np.sqrt(2 * np.pi)


def moment(one: np.ndarray, power: int) -> float:
    """Integrate a central moment, relative to the mean, over a normal direction."""
    mean = WEIGHT @ one
    return float(WEIGHT @ np.power(one / mean - 1, power))


@pytest.mark.parametrize("length", [0.1, 1.0, 2.0])
def test_positive_features_err_by_the_variance_of_a_lognormal(length):
    """Along q + k the direction is one normal number, as the others integrate to one."""
    assert_allclose(positive_error(length**2, 3), moment(np.exp(length * NODE), 2) / 3, rtol=1e-10)


@pytest.mark.parametrize("length", [0.1, 1.0, 2.0])
def test_trigonometric_features_err_by_the_variance_of_a_cosine(length):
    found = trigonometric_error(length**2, 5)
    assert_allclose(found, moment(np.cos(length * NODE), 2) / 5, rtol=1e-10)


@pytest.mark.parametrize(("q", "k"), [(0.3, 0.9), (-1.0, 0.4)])
def test_the_form_of_the_source_is_the_same_number(q, k):
    """exp(|q+k|²) SM² (1 - exp(-|q+k|²))/m, relative to SM² = exp(2qk)."""
    square, kernel = mpmath.mpf(q + k) ** 2, mpmath.exp(mpmath.mpf(q) * k)
    said = mpmath.exp(square) * kernel**2 * (1 - mpmath.exp(-square)) / 7
    assert_allclose(positive_error((q + k) ** 2, 7), float(said / kernel**2), rtol=1e-13)
    # For trigonometric features it is exp(|q+k|²) SM⁻² (1 - exp(-|q-k|²))²/2m.
    apart = mpmath.mpf(q - k) ** 2
    said = mpmath.exp(square) / kernel**2 * (1 - mpmath.exp(-apart)) ** 2 / 14
    assert_allclose(trigonometric_error((q - k) ** 2, 7), float(said / kernel**2), rtol=1e-13)


@pytest.mark.parametrize("count", [1, 6])
def test_the_scatter_is_that_of_the_fourth_moment(count):
    """E(mean)⁴ of m independent terms is (μ₄ + 3(m-1)μ₂²)/m³."""
    second, fourth = (moment(np.exp(0.8 * NODE), power) for power in (2, 4))
    whole = (fourth + 3 * (count - 1) * second**2) / count**3
    said = np.sqrt((whole / (second / count) ** 2 - 1) / 50)
    assert_allclose(positive_scatter(0.64, count, 50), said, rtol=1e-8)


def test_small_tokens_err_to_first_order_only():
    """As a token vanishes, what is left is |q+k|²/m, and |q-k|⁴/2m."""
    assert_allclose(positive_error(1e-12, 4), 1e-12 / 4, rtol=1e-11)
    assert_allclose(trigonometric_error(1e-8, 4), 1e-16 / 8, rtol=1e-7)
