"""Logits that are drawn or stated, and the closed forms they are made for."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import lowpass.stating  # noqa: F401  (registers generators)
from lowpass.data import GENERATORS
from lowpass.eigen import slem
from lowpass.fourier import input_mode_gain
from lowpass.kernels import scaled, softmax
from lowpass.registry import Refusal

STATING = [name for name in GENERATORS if GENERATORS.facts(name).get("states")]


def made(name: str, rng: np.random.Generator, n_tokens: int, d_model: int = 2) -> dict:
    return GENERATORS[name](rng, n_tokens=n_tokens, d_model=d_model)


def centred(a: np.ndarray) -> np.ndarray:
    """Give CAC, what a layer does to the high-frequency component."""
    return a - a.mean(axis=0) - (a - a.mean(axis=0)).mean(axis=1, keepdims=True)


# Laws.


@pytest.mark.parametrize("name", STATING)
def test_tokens_beside_logits_are_those_that_are_drawn_alone(name):
    """The signal is drawn first, so that it is paired with that of other experiments."""
    seeds = [np.random.default_rng(3), np.random.default_rng(3)]
    x = made(name, seeds[0], 8, 5)["x"]
    assert np.array_equal(x, GENERATORS["gaussian"](seeds[1], n_tokens=8, d_model=5))


# Closed forms.


def test_drawn_logits_have_standard_moments_and_know_nothing_of_the_tokens(rng):
    """Of 160,000 draws the mean is within 5/√N of 0 and the variance within 5√(2/N) of 1."""
    drawn = made("iid_logits", rng, 400, 400)
    s = drawn["logits"]
    assert abs(s.mean()) < 5 / 400
    assert abs(s.var() - 1) < 5 * np.sqrt(2) / 400
    assert abs((s * drawn["x"]).mean()) < 5 / 400
    assert abs((s * s.T)[np.triu_indices(400, 1)].mean()) < 5 / 280


@pytest.mark.parametrize("beta", [0.5, 1.0])
def test_the_second_eigenvalue_of_drawn_logits_follows_the_circular_law(beta, rng):
    """R09: √((exp(β²) - 1)/n), here at n = 512 within a tenth."""
    s = scaled(made("iid_logits", rng, 512)["logits"], beta)
    assert_allclose(slem(softmax(s)), np.sqrt(np.expm1(beta**2) / 512), rtol=0.1)


@pytest.mark.parametrize("beta", [0.5, 4.0, 800.0])
@pytest.mark.parametrize("n_tokens", [2, 4, 64])
def test_hubs_enlarge_one_signal_by_a_known_factor(n_tokens, beta, rng):
    """A07: δ√(n/2), and √(n/2) = 5.657 in the limit at n = 64."""
    a = softmax(beta * made("hubs", rng, n_tokens)["logits"])
    delta = -np.expm1(-beta) / (1 + (n_tokens - 1) * np.exp(-beta))
    assert_allclose(np.linalg.norm(centred(a), 2), delta * np.sqrt(n_tokens / 2), rtol=1e-13)
    signal = np.eye(n_tokens)[0] - np.eye(n_tokens)[1]
    after = centred(a) @ signal
    assert_allclose(np.linalg.norm(after) / np.sqrt(2), delta * np.sqrt(n_tokens / 2), rtol=1e-13)


@pytest.mark.parametrize("n_tokens", [4, 64])
def test_what_hubs_enlarged_is_gone_after_two_layers(n_tokens, rng):
    """All eigenvalues but one are zero: the growth is that of a matrix that is not normal."""
    twice = np.linalg.matrix_power(centred(softmax(4 * made("hubs", rng, n_tokens)["logits"])), 2)
    assert np.abs(twice).max() < 1e-15


@pytest.mark.parametrize("beta", [0.5, 4.0, 800.0])
@pytest.mark.parametrize("n_tokens", [3, 5, 8, 96])
def test_neighbours_on_a_ring_pass_waves_by_their_cosine(n_tokens, beta, rng):
    """A10: Nyquist like the mean, and n/4 not at all."""
    a = softmax(beta * made("ring_neighbours", rng, n_tokens)["logits"])
    k = np.arange(1, n_tokens // 2 + 1)
    height = 2 * -np.expm1(-beta) / (2 + (n_tokens - 2) * np.exp(-beta))
    expected = height * np.abs(np.cos(2 * np.pi * k / n_tokens))
    assert_allclose(input_mode_gain(a)[1:], expected, atol=1e-14)


def test_a_ring_of_neighbours_has_no_low_pass(rng):
    gain = input_mode_gain(softmax(800 * made("ring_neighbours", rng, 96)["logits"]))
    assert_allclose(gain[[0, 24, 48]], [1, 0, 1], atol=1e-14)


# Refusals.


def test_an_odd_number_of_queries_has_no_two_halves(rng):
    with pytest.raises(Refusal, match=r"^hubs got n_tokens = 7; .* even number\. Use 8\.$"):
        made("hubs", rng, 7)


def test_a_ring_of_two_has_no_two_neighbours(rng):
    with pytest.raises(Refusal, match=r"^ring_neighbours got n_tokens = 2; .* Use 3 or more\.$"):
        made("ring_neighbours", rng, 2)


@pytest.mark.parametrize("beta", [0.5, 30.0])
def test_shifts_of_rows_are_invisible_to_softmax(beta, rng):
    """Every row is constant, so that attention is uniform to the bit."""
    s = beta * made("row_shifts", rng, 32)["logits"]
    assert (softmax(s) == 1 / 32).all()
    assert np.ptp(s, axis=0).min() > 0
