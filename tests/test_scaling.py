"""Laws of |λ₂| against closed forms, against expectations, and against long sequences."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from lowpass.eigen import slem
from lowpass.kernels import attend, softmax
from lowpass.scaling import gaussian_modulus, independent_modulus, layers_to_a_millionth
from lowpass.weights import WEIGHTS


def test_one_feature_has_its_projections_for_a_limit():
    w_q, w_k = np.array([[0.5]]), np.array([[-0.4]])
    assert_allclose(gaussian_modulus(w_q, w_k, 3.0), 0.6, rtol=1e-15)


def test_rotations_have_all_modes_on_one_circle(rng):
    w_q, w_k = WEIGHTS["orthogonal"](rng, 9)
    assert_allclose(gaussian_modulus(w_q, w_k, 2.0), 2 / 3, rtol=1e-14)


def test_the_square_root_is_that_of_the_projected_features(rng):
    w_q, w_k = rng.standard_normal((2, 5, 2))
    expected = np.sort(np.abs(np.linalg.eigvals(w_k @ w_q.T)))[-1] / np.sqrt(2)
    assert_allclose(gaussian_modulus(w_q, w_k, 1.0), expected, rtol=1e-13)


def test_laws_of_many_draws_are_those_of_each(rng):
    w_q, w_k = rng.standard_normal((2, 3, 4, 4))
    beta = np.array([0.5, 1.0, 2.0])
    each = [gaussian_modulus(*pair) for pair in zip(w_q, w_k, beta, strict=True)]
    assert_allclose(gaussian_modulus(w_q, w_k, beta), each, rtol=1e-14)
    assert independent_modulus(beta, 7).shape == (3,)


def test_a_linear_function_is_mapped_by_the_folded_projections():
    """One feature, integrated on a fine grid in place of drawn tokens: A has the modes Mᵏ."""
    y = np.linspace(-12, 12, 801)
    beta, w_q, w_k = 0.7, np.array([[0.8]]), np.array([[0.9]])
    m = beta * w_q.item() * w_k.item()
    a = softmax(m * np.outer(y, y) - y**2 / 2)
    inner = np.abs(y) < 4
    assert_allclose((a @ y)[inner], m * y[inner], rtol=1e-12, atol=1e-13)
    assert_allclose(gaussian_modulus(w_q, w_k, beta), m, rtol=1e-15)


def test_a_long_sequence_is_near_its_limit(rng):
    x = rng.standard_normal((1500, 4))
    w_q, w_k = WEIGHTS["orthogonal"](rng, 4)
    a = attend(x @ w_q, x @ w_k, score="dot", kernel="softmax", mask="none", beta=0.5)
    assert_allclose(slem(a), gaussian_modulus(w_q, w_k, 0.5), rtol=0.05)


@pytest.mark.parametrize("beta", [0.01, 0.5, 1.0])
def test_the_radius_is_that_of_lognormal_weights(beta, rng):
    """Standard deviation over mean of a weight, over the root of how many there are."""
    weight = np.exp(beta * rng.standard_normal(10**6))
    assert_allclose(independent_modulus(beta, 64), weight.std() / weight.mean() / 8, rtol=0.02)
    assert_allclose(independent_modulus(1e-9, 4), 5e-10, rtol=1e-12)


@pytest.mark.parametrize("modulus", [1e-9, 0.1, 0.9, 0.999])
def test_the_slowest_mode_is_a_millionth_after_so_many_layers(modulus):
    assert_allclose(modulus ** layers_to_a_millionth(modulus), 1e-6, rtol=1e-9)


def test_what_is_forgotten_at_once_takes_no_layer_and_what_stays_takes_all():
    found = layers_to_a_millionth(np.array([0.0, 1.0, 1.5]))
    assert np.array_equal(found, [0.0, np.inf, np.inf])
