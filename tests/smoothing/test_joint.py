"""The conditional mean of a joint density is the smoother, whose formula is not used."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from lowpass.smoothing.joint import conditional_mean, grid, joint_density


def loop(query, key, value, bandwidth, log_weight) -> list[float]:
    """Average by the formula that comes out, with exact sums."""
    fits = []
    for q in query:
        logs = [
            w - sum((a - b) ** 2 for a, b in zip(q, k, strict=True)) / (2 * bandwidth**2)
            for k, w in zip(key, log_weight, strict=True)
        ]
        weights = [math.exp(each - max(logs)) for each in logs]
        top = math.fsum(w * v for w, v in zip(weights, value, strict=True))
        fits.append(top / math.fsum(weights))
    return fits


@pytest.fixture
def sample(rng):
    return rng.standard_normal((6, 3)), rng.standard_normal((9, 3)), rng.standard_normal(9)


@pytest.mark.parametrize("width", [0.01, 0.5, 30.0])
def test_it_is_the_average_by_kernels_whatever_the_width_along_the_values(sample, width):
    query, key, value = sample
    got = conditional_mean(query, key, value, 0.8, value_bandwidth=width)
    # Sums reach ten widths beyond the values, and round in proportion.
    assert_allclose(got, loop(query, key, value, 0.8, [0.0] * 9), rtol=0, atol=1e-14 * (1 + width))


def test_observations_may_count_unequally(sample, rng):
    query, key, value = sample
    logs = rng.standard_normal(9)
    got = conditional_mean(query, key, value, 0.8, value_bandwidth=0.5, log_weight=logs)
    assert_allclose(got, loop(query, key, value, 0.8, logs), rtol=0, atol=1e-14)


def test_far_from_all_keys_it_is_the_value_of_the_nearest(sample):
    _, key, value = sample
    direction = key[4] / np.linalg.norm(key[4])
    query = 1e6 * direction[None]
    nearest = np.square(query - key).sum(axis=1).argmin()
    got = conditional_mean(query, key, value, 0.8, value_bandwidth=0.5)
    assert_allclose(got, value[nearest], rtol=1e-13)


def test_a_large_common_part_of_the_values_does_not_cancel(sample):
    query, key, value = sample
    plain = conditional_mean(query, key, value, 0.8, value_bandwidth=0.5)
    lifted = conditional_mean(query, key, value + 2.0**30, 0.8, value_bandwidth=0.5)
    assert_allclose(lifted - 2.0**30, plain, rtol=0, atol=2 * np.spacing(2.0**30))


def test_the_density_of_outputs_is_one_for_each_key(sample):
    """Integrated over the outputs, only the weights of the keys are left."""
    query, key, value = sample
    outputs = grid(value, 0.5)
    density = joint_density(query, key, value, outputs, 0.8, 0.5)
    step = outputs[1] - outputs[0]
    assert 0.25 - 0.01 < step <= 0.25
    square = np.square(query[:, None] - key[None]).sum(axis=-1)
    weight = np.exp((square.min(axis=1, keepdims=True) - square) / (2 * 0.8**2))
    assert_allclose(density.sum(axis=1) * step, weight.sum(axis=1), rtol=1e-13)


def test_its_mean_is_that_of_values_and_not_of_another_kernel(sample):
    """Of a bandwidth that is one per cent off another mean is taken."""
    query, key, value = sample
    right = conditional_mean(query, key, value, 0.8, value_bandwidth=0.5)
    wrong = conditional_mean(query, key, value, 0.808, value_bandwidth=0.5)
    assert abs(wrong - right).max() > 1e-4
