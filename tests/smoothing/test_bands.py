"""Error bands against the explicit formula, a case that is known, and simulation."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import norm

from lowpass.registry import Refusal
from lowpass.smoothing.bands import (
    degrees_of_freedom,
    pointwise_band,
    scatter,
    standard_errors,
)
from lowpass.smoothing.estimators import smoother_matrix


@pytest.fixture
def sample(rng) -> tuple[np.ndarray, np.ndarray]:
    """Give the matrix of a smoother at 30 keys, and values."""
    key = np.sort(rng.uniform(0, 10, 30))[:, None]
    return smoother_matrix(key, key, 1.0), rng.standard_normal(30)


@pytest.mark.parametrize("level", [0.5, 0.95])
def test_the_band_is_its_formula_written_with_matrices(level, sample):
    a, value = sample
    residual = (np.eye(30) - a) @ value
    degrees = np.trace((np.eye(30) - a) @ (np.eye(30) - a).T)
    variance = residual @ residual / degrees * np.diag(a @ a.T)
    lower, upper = pointwise_band(a, value, a @ value, level=level)
    assert_allclose((lower + upper) / 2, a @ value, atol=1e-14)
    assert_allclose(upper - lower, 2 * norm.ppf((1 + level) / 2) * np.sqrt(variance), rtol=1e-12)


def test_the_band_of_a_mean_is_its_textbook_standard_error(rng):
    """A = J leaves n - 1 degrees of freedom, and the half width is z s/√n."""
    value = rng.standard_normal(20)
    a = np.full((20, 20), 1 / 20)
    lower, upper = pointwise_band(a, value, a @ value, level=0.9)
    half = norm.ppf(0.95) * value.std(ddof=1) / np.sqrt(20)
    assert_allclose(upper - lower, 2 * half, rtol=1e-13)


def test_the_band_covers_the_mean_of_the_fit_as_often_as_it_says(sample, rng):
    """400 noisy straight lines, 30 points each, level 0.8, within 0.03.

    Points of one line are correlated (about 6 are independent), so the standard error of the
    share is √(.16/2400) = 0.008; the normal quantile ignores the error of σ̂, another 0.01.
    """
    a, _ = sample
    truth = np.linspace(0, 1, 30)
    covered = []
    for _ in range(400):
        value = truth + 5 * rng.standard_normal(30)
        lower, upper = pointwise_band(a, value, a @ value, level=0.8)
        covered.append((lower <= a @ truth) & (a @ truth <= upper))
    assert abs(np.mean(covered) - 0.8) < 0.03


@pytest.mark.parametrize("bandwidth", [1e-6, 1e-2])
def test_interpolation_leaves_nothing_to_estimate_scatter_from(bandwidth, rng):
    key, value = np.arange(9.0)[:, None], rng.standard_normal(9)
    a = smoother_matrix(key, key, bandwidth)
    with pytest.raises(
        Refusal, match=r"^the fit leaves \S+ residual degrees of freedom of 9; .* larger bandwidth"
    ):
        pointwise_band(a, value, a @ value)


# Degrees of freedom and standard errors in closed form.


@pytest.mark.parametrize("degree", [0, 1])
def test_degrees_of_freedom_of_a_projection_are_its_rank(degree, rng):
    """So wide a kernel takes the mean, or the regression line: three counts of one number."""
    key = rng.uniform(0, 5, 20)
    found = degrees_of_freedom(smoother_matrix(key, key, 1e7, degree=degree))
    assert_allclose(found, [degree + 1] * 3, rtol=1e-9)


def test_degrees_of_freedom_of_two_keys_have_a_closed_form():
    """At distance r each key keeps the share 1/(1 + exp(-r²/2h²))."""
    matrix = smoother_matrix(np.array([0.0, 3.0]), np.array([0.0, 3.0]), 2**0.5)
    assert_allclose(degrees_of_freedom(matrix).fit, 2 / (1 + np.exp(-9 / 4)), rtol=1e-14)


def test_degrees_of_freedom_are_traces(sample):
    a, _ = sample
    fit, variance, error = degrees_of_freedom(a)
    assert_allclose(fit, np.trace(a))
    assert_allclose(variance, np.trace(a @ a.T))
    assert_allclose(error, np.trace(2 * a - a @ a.T))
    assert variance < fit < error


def test_standard_errors_of_a_line_are_those_of_regression(rng):
    """s √(1/n + (x - x̄)²/Sxx), at the keys and at other places."""
    key, query = np.sort(rng.uniform(0, 5, 20)), np.array([-1.0, 2.5, 7.0])
    value = 1 + 2 * key + rng.standard_normal(20)
    matrix, at = (smoother_matrix(q, key, 1e7, degree=1) for q in (key, query))
    slope, start = np.polyfit(key, value, 1)
    s = np.sqrt(np.square(value - start - slope * key).sum() / 18)
    spread = np.square(key - key.mean()).sum()
    for where, found in (
        (key, standard_errors(matrix, value)),
        (query, standard_errors(matrix, value, at)),
    ):
        textbook = s * np.sqrt(1 / 20 + np.square(where - key.mean()) / spread)
        assert_allclose(found, textbook, rtol=1e-8)


@pytest.mark.parametrize("degree", [0, 1])
@pytest.mark.parametrize("bandwidth", [0.3, 1.5])
def test_scatter_has_no_error_where_the_mean_is_kept(degree, bandwidth, rng):
    """E|(I - A)(m + σe)|² = σ²|I - A|²: all pairs of one column of signs, on average."""
    key = np.sort(rng.uniform(0, 6, 8))
    a = smoother_matrix(key, key, bandwidth, degree=degree)
    mean = 4.0 + (3.0 * key if degree else 0.0 * key)
    signs = np.array(list(itertools.product([-1.0, 1.0], repeat=8)))
    squares = [scatter(a, mean + 0.5 * e) ** 2 for e in signs]
    assert_allclose(np.mean(squares), 0.25, rtol=1e-9)


def test_scatter_keeps_its_digits_where_the_fit_nearly_interpolates():
    """A = I - e D on a circle of keys: r = e D v and |I - A| = e |D|, whatever e is."""
    circle = np.roll(np.eye(9), 1, axis=1)
    difference = np.eye(9) - (circle + circle.T) / 2
    value = np.cos(np.arange(9.0) ** 2)
    expected = np.linalg.norm(difference @ value) / np.linalg.norm(difference)
    for e in (0.5, 1e-3, 1e-12):
        a = e * (circle + circle.T) / 2 + (1 - e) * np.eye(9)
        assert_allclose(scatter(a, value), expected, rtol=1e-9)
