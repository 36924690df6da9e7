"""Error bands against the explicit formula, a case that is known, and simulation."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import norm

from lowpass.registry import Refusal
from lowpass.smoothing.bands import pointwise_band
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
