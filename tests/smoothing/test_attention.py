"""The smoother by its textbook formula, by attention, by a slow loop and by other hands."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose
from statsmodels.nonparametric.kernel_regression import KernelReg

from lowpass.smoothing.estimators import (
    dot_product_attention,
    nadaraya_watson,
    smoother_matrix,
    weighted_dot_product_attention,
)

ESTIMATORS = [nadaraya_watson, dot_product_attention, weighted_dot_product_attention]


@pytest.fixture
def sample(rng) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Give 30 queries, 50 keys of different lengths, and their values."""
    return rng.standard_normal((30, 8)), rng.standard_normal((50, 8)), rng.standard_normal(50)


@pytest.mark.parametrize("estimate", ESTIMATORS)
def test_an_estimate_lies_among_the_values(estimate, sample):
    query, key, value = sample
    fit = estimate(query, key, value, 1.5)
    assert fit.shape == (30,)
    assert (fit >= value.min()).all()
    assert (fit <= value.max()).all()


@pytest.mark.parametrize("estimate", ESTIMATORS)
def test_constant_values_are_kept(estimate, sample):
    query, key, _ = sample
    assert_allclose(estimate(query, key, np.full(50, 7.0), 1.5), 7.0, rtol=1e-14)


@pytest.mark.parametrize("estimate", ESTIMATORS)
def test_the_order_of_observations_does_not_matter(estimate, sample, rng):
    """N06: pairs of key and value are a set."""
    query, key, value = sample
    p = rng.permutation(50)
    assert_allclose(
        estimate(query, key[p], value[p], 1.5), estimate(query, key, value, 1.5), atol=1e-14
    )


@pytest.mark.parametrize("estimate", ESTIMATORS)
def test_several_outputs_are_estimated_column_by_column(estimate, sample, rng):
    query, key, _ = sample
    value = rng.standard_normal((50, 2))
    columns = [estimate(query, key, column, 1.5) for column in value.T]
    assert_allclose(estimate(query, key, value, 1.5), np.transpose(columns), atol=1e-14)


@pytest.mark.parametrize("bandwidth", [0.5, 2, 30.0])
def test_nadaraya_watson_is_the_ratio_of_two_sums(bandwidth, sample):
    """The formula entry by entry, summed without rounding."""
    query, key, value = sample
    fit = []
    for q in query:
        distance = [math.fsum((a - b) ** 2 for a, b in zip(q, k, strict=True)) for k in key]
        weight = [math.exp((min(distance) - d) / (2 * bandwidth**2)) for d in distance]
        terms = (w * v for w, v in zip(weight, value, strict=True))
        fit.append(math.fsum(terms) / math.fsum(weight))
    assert_allclose(nadaraya_watson(query, key, value, bandwidth), fit, atol=1e-13)


@pytest.mark.parametrize("bandwidth", [0.2, 1.0])
def test_nadaraya_watson_is_the_local_constant_regression_of_statsmodels(bandwidth, rng):
    key, value = rng.standard_normal((40, 1)), rng.standard_normal(40)
    query = np.linspace(-1, 1, 11)[:, None]
    theirs = KernelReg(value, key, "c", reg_type="lc", bw=[bandwidth], rng=0).fit(query)[0]
    assert_allclose(nadaraya_watson(query, key, value, bandwidth), theirs, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("temperature", [0.3, math.sqrt(8), 20.0])
def test_attention_with_key_weights_is_nadaraya_watson(temperature, sample):
    """K01, with h² = T."""
    query, key, value = sample
    ours = weighted_dot_product_attention(query, key, value, temperature)
    assert_allclose(ours, nadaraya_watson(query, key, value, math.sqrt(temperature)), atol=1e-13)


def test_attention_without_key_weights_is_not_nadaraya_watson(sample):
    """N04: keys of different length break the identity, visibly."""
    query, key, value = sample
    plain = dot_product_attention(query, key, value, math.sqrt(8))
    assert np.abs(plain - nadaraya_watson(query, key, value, 8**0.25)).max() > 0.1


def test_attention_without_key_weights_is_nadaraya_watson_for_keys_of_equal_length(sample):
    query, key, value = sample
    key = key / np.linalg.norm(key, axis=1, keepdims=True)
    plain = dot_product_attention(query, key, value, math.sqrt(8))
    assert_allclose(plain, nadaraya_watson(query, key, value, 8**0.25), atol=1e-14)


def test_dot_product_attention_is_nadaraya_watson_with_an_exponential_kernel(sample):
    """N01: the kernel exp(q·k/T), summed in a loop."""
    query, key, value = sample
    kernel = [[math.exp(math.fsum(q * k) / 3.0) for k in key] for q in query]
    fit = [math.fsum(row * value) / math.fsum(row) for row in kernel]
    assert_allclose(dot_product_attention(query, key, value, 3.0), fit, atol=1e-14)


def test_the_smoother_matrix_maps_values_to_fits(sample):
    query, key, value = sample
    matrix = smoother_matrix(query, key, 1.5)
    assert_allclose(matrix.sum(axis=1), 1, rtol=1e-14)
    assert_allclose(matrix @ value, nadaraya_watson(query, key, value, 1.5), atol=1e-14)


def test_a_query_far_from_every_key_gets_the_value_of_the_nearest(rng):
    """At 10,000 bandwidths all Gaussian weights underflow; other queries must not notice."""
    key, value = np.array([[0.0], [1.0], [3.0]]), np.array([5.0, 6.0, 7.0])
    far = nadaraya_watson(np.array([[-1e4], [0.5], [1e4]]), key, value, 1.0)
    assert np.array_equal(far[[0, 2]], [5.0, 7.0])
    assert np.array_equal(far[1:2], nadaraya_watson(np.array([[0.5]]), key, value, 1.0))


def test_whole_numbers_are_numbers():
    key, value = np.array([[0], [1], [3]]), np.array([5, 6, 7])
    for estimate in ESTIMATORS:
        assert_allclose(
            estimate(key, key, value, 2), estimate(1.0 * key, 1.0 * key, 1.0 * value, 2.0)
        )
