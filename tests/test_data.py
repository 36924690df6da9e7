"""Laws of the generators, and the closed forms they are made for."""

from __future__ import annotations

import inspect
from types import UnionType
from typing import Annotated, Literal, Union, get_origin, get_type_hints

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import spearmanr

from lowpass.data import GENERATORS
from lowpass.fourier import input_mode_gain
from lowpass.kernels import attend
from lowpass.registry import Refusal
from lowpass.spec.data import TOKENS as AS_TOKENS
from lowpass.spec.data import draws, kind

TOKENS = [name for name in GENERATORS if draws(name) and kind(name) == AS_TOKENS]
SIZES = {"n_tokens": 8, "d_model": 3}


def stated(name: str, seed: int = 0) -> dict[str, np.ndarray]:
    """Draw small tokens from any generator, with its own defaults, and what it states more."""
    asked = inspect.signature(GENERATORS[name]).parameters
    sizes = {size: value for size, value in SIZES.items() if size in asked}
    made = GENERATORS[name](np.random.default_rng(seed), **sizes)
    return made if GENERATORS.facts(name).get("states") else {"x": made}


def drawn(name: str, seed: int = 0) -> np.ndarray:
    """Draw small tokens from any generator."""
    return stated(name, seed)["x"]


@pytest.mark.parametrize("name", TOKENS)
def test_tokens_are_rows_of_finite_floats(name):
    x = drawn(name)
    assert x.ndim == 2
    assert len(x) == SIZES["n_tokens"]
    assert x.dtype == np.float64
    assert np.isfinite(x).all()


@pytest.mark.parametrize("name", TOKENS)
def test_tokens_follow_from_their_generator_alone(name):
    assert np.array_equal(drawn(name), drawn(name))


@pytest.mark.parametrize("name", TOKENS)
def test_a_generator_states_what_its_facts_say(name):
    """Logits, so far: one of every query with every key, and finite."""
    made = stated(name)
    assert tuple(made) == ("x", *GENERATORS.facts(name).get("states", ()))
    for role in set(made) - {"x"}:
        assert role == "logits"
        assert made[role].shape == (SIZES["n_tokens"], SIZES["n_tokens"])
        assert made[role].dtype == np.float64
        assert np.isfinite(made[role]).all()


@pytest.mark.parametrize("name", GENERATORS)
def test_every_parameter_of_a_generator_states_its_domain(name):
    """A configuration is validated by these annotations, so a bare ``float`` would let all pass."""
    hints = get_type_hints(GENERATORS[name], include_extras=True)
    for parameter in inspect.signature(GENERATORS[name]).parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY:
            hint = hints[parameter.name]
            optional = hint is str or get_origin(hint) in (Annotated, Literal, Union, UnionType)
            assert optional, f"{parameter.name} states no domain"


@pytest.mark.parametrize("name", GENERATORS)
def test_a_generator_gives_tokens_or_observations(name):
    assert GENERATORS.facts(name)["kind"] in {"tokens", "observations"}


def test_gaussian_tokens_have_standard_moments(rng):
    """Of 40,000 draws the mean is within 5/√N of 0 and the variance within 5√(2/N) of 1."""
    x = GENERATORS["gaussian"](rng, n_tokens=400, d_model=100)
    assert abs(x.mean()) < 5 / 200
    assert abs(x.var() - 1) < 5 * np.sqrt(2) / 200


@pytest.mark.parametrize("contrast", [0.125, 0.5, 3.0])
@pytest.mark.parametrize("n_tokens", [2, 6, 64])
def test_two_levels_have_their_contrast_as_ratio_of_hc_to_dc(contrast, n_tokens, rng):
    x = GENERATORS["two_levels"](rng, n_tokens=n_tokens, d_model=5, contrast=contrast)
    mean = x.mean(axis=0)
    dc = np.sqrt(n_tokens) * np.linalg.norm(mean)
    assert_allclose(np.linalg.norm(x - mean) / dc, contrast, rtol=1e-14)


@pytest.mark.parametrize("n_tokens", [1, 5, 96])
def test_a_ring_is_made_of_equal_steps_on_the_unit_circle(n_tokens, rng):
    x = GENERATORS["ring"](rng, n_tokens=n_tokens)
    turn = np.exp(2j * np.pi / n_tokens)
    place = x[:, 0] + 1j * x[:, 1]
    assert_allclose(place, turn ** np.arange(n_tokens), atol=1e-13)


def test_a_permuted_ring_is_the_ring_in_another_order(rng):
    x = GENERATORS["permuted_ring"](rng, n_tokens=96)
    in_order = GENERATORS["ring"](rng, n_tokens=96)
    assert sorted(x.tolist()) == sorted(in_order.tolist())
    assert not np.array_equal(x, in_order)


def test_order_leaves_eigenvalues_alone_and_gains_meaningless(rng):
    """A10: renaming tokens renames attention, and gains over frequencies are no invariants."""
    asked = {"score": "l2", "kernel": "softmax", "mask": "none", "beta": 500.0}
    ring, mixed = (GENERATORS[name](rng, n_tokens=96) for name in ("ring", "permuted_ring"))
    a, b = attend(ring, ring, **asked), attend(mixed, mixed, **asked)
    assert_allclose(np.linalg.eigvalsh(a), np.linalg.eigvalsh(b), atol=1e-13)
    order = np.arange(1, 49)
    assert_allclose(spearmanr(order, input_mode_gain(a)[1:]).statistic, -1)
    assert abs(spearmanr(order, input_mode_gain(b)[1:]).statistic) < 0.5


@pytest.mark.parametrize("harmonics", [1, 3, 7])
def test_a_smooth_ring_has_no_wave_beyond_its_harmonics(harmonics, rng):
    x = GENERATORS["smooth_ring"](rng, n_tokens=32, d_model=5, harmonics=harmonics)
    power = np.abs(np.fft.rfft(x, axis=0))
    assert (power[: harmonics + 1] > 1e-3).all()
    assert (power[harmonics + 1 :] < 1e-13).all()


def test_features_of_a_smooth_ring_are_standard_and_know_only_distances(rng):
    """Cov(i, j) = Σ cos k(θᵢ - θⱼ)/(m + 1), here of 40,000 features within 5√(2/N)."""
    x = GENERATORS["smooth_ring"](rng, n_tokens=12, d_model=40_000, harmonics=2)
    apart = 2 * np.pi * (np.arange(12)[:, None] - np.arange(12)) / 12
    expected = sum(np.cos(k * apart) for k in range(3)) / 3
    assert_allclose(x @ x.T / 40_000, expected, atol=5 * np.sqrt(2 / 40_000))


def test_attention_over_a_smooth_ring_is_nearly_a_low_pass_filter(rng):
    """A11: the higher a frequency, the less it passes, though no logit is circulant."""
    x = GENERATORS["smooth_ring"](rng, n_tokens=96, d_model=32)
    a = attend(x, x, score="l2", kernel="softmax", mask="none", beta=1.0)
    assert np.abs(a - np.roll(a, (1, 1), axis=(0, 1))).max() > 1e-3
    assert spearmanr(np.arange(49), input_mode_gain(a)).statistic < -0.99


def test_a_wave_too_short_for_a_smooth_ring_is_refused(rng):
    with pytest.raises(
        Refusal, match=r"^smooth_ring got harmonics = 4 and n_tokens = 8; .* Use 9 tokens or more"
    ):
        GENERATORS["smooth_ring"](rng, n_tokens=8, d_model=2, harmonics=4)


def test_an_odd_number_of_tokens_has_no_two_halves(rng):
    with pytest.raises(Refusal, match=r"two_levels got n_tokens = 7; .* Use 8\."):
        GENERATORS["two_levels"](rng, n_tokens=7, d_model=2)
