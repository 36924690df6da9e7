"""Expected errors are averages over a small ensemble that has every sign once."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose

from lowpass.smoothing.estimators import smoother_matrix
from lowpass.smoothing.expected import (
    covariance,
    expected_score,
    held_out,
    moments,
    score_slope,
    trained_scale,
)

COUNT, NOISE = 7, 0.4


@pytest.fixture
def key(rng) -> np.ndarray:
    return np.sort(rng.uniform(0, 5, (COUNT, 1)), axis=0)


@pytest.fixture
def truth(key) -> np.ndarray:
    return np.sin(key[:, 0])


@pytest.fixture(params=[0.0, 0.6])
def scatter(request) -> np.ndarray:
    return covariance(COUNT, NOISE, request.param)


def ensemble(scatter: np.ndarray) -> np.ndarray:
    """Give errors (member, key) whose mean is zero and whose covariance is exactly this."""
    signs = np.array(list(itertools.product([-1.0, 1.0], repeat=len(scatter))))
    return signs @ np.linalg.cholesky(scatter).T


def test_errors_forget_their_past_at_a_constant_rate():
    assert_allclose(covariance(3, 2.0, 0.5), [[4, 2, 1], [2, 4, 2], [1, 2, 4]], rtol=1e-15)
    assert_allclose(covariance(3, 2.0, 0.0), 4 * np.eye(3), rtol=1e-15)


def test_bias_and_variance_are_those_of_the_ensemble(key, truth, scatter):
    query = np.linspace(0, 5, 9)[:, None]
    matrix, aim = smoother_matrix(query, key, 0.7), np.sin(query[:, 0])
    fits = (truth + ensemble(scatter)) @ matrix.T
    bias, variance = moments(matrix, truth, aim, scatter)
    assert_allclose(bias, fits.mean(axis=0) - aim, atol=1e-14)
    assert_allclose(variance, fits.var(axis=0), rtol=1e-12)


def test_the_expected_criterion_is_the_mean_of_explicit_refits(key, truth, scatter):
    values = truth + ensemble(scatter)
    others = ~np.eye(COUNT, dtype=bool)
    squares = [
        np.square(
            v
            - [
                float(smoother_matrix(key[i : i + 1], key[others[i]], 0.7)[0] @ v[others[i]])
                for i in range(COUNT)
            ]
        ).mean()
        for v in values
    ]
    assert_allclose(
        expected_score(held_out(key, 0.7), truth, scatter), np.mean(squares), rtol=1e-12
    )


def test_a_value_that_sees_itself_teaches_the_bandwidth_to_vanish(key, truth, scatter):
    own = [expected_score(smoother_matrix(key, key, h), truth, scatter) for h in (1e-3, 0.1, 1.0)]
    assert own[0] < 1e-15
    assert own == sorted(own)


@pytest.mark.parametrize("scale", [0.4, 1.5, 6.0])
def test_the_slope_is_that_of_the_sum_of_errors(key, truth, scatter, scale):
    def half_sum(w: float) -> float:
        return COUNT / 2 * expected_score(held_out(key, 1 / w), truth, scatter)

    step = 1e-5
    slope = (half_sum(scale + step) - half_sum(scale - step)) / (2 * step)
    # A central difference is off by the third derivative, and by rounding over its step.
    assert_allclose(score_slope(key, truth, scatter, scale), slope, rtol=1e-6, atol=1e-9)


def test_training_takes_the_steps_it_is_told_to(key, truth, scatter):
    once = 0.8 - 0.1 * score_slope(key, truth, scatter, 0.8)
    twice = once - 0.1 * score_slope(key, truth, scatter, once)
    assert trained_scale(key, truth, scatter, 0.8, steps=2, rate=0.1) == twice


def test_small_steps_end_at_the_least_criterion(key, truth):
    scatter = covariance(COUNT, NOISE, 0.0)
    w = trained_scale(key, truth, scatter, 1.0, steps=400, rate=2.0)
    scores = [expected_score(held_out(key, s / w), truth, scatter) for s in (0.98, 1.0, 1.02)]
    assert min(scores) == scores[1]
