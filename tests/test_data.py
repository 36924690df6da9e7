"""Laws of the generators, and the closed forms they are made for."""

from __future__ import annotations

import inspect
from types import UnionType
from typing import Annotated, Union, get_origin, get_type_hints

import numpy as np
import pytest
from numpy.testing import assert_allclose

import lowpass.spec.data  # noqa: F401  (registers every generator)
from lowpass.data import GENERATORS
from lowpass.registry import Refusal

TOKENS = [name for name in GENERATORS if not GENERATORS.facts(name)["reads"]]
SIZES = {"n_tokens": 8, "d_model": 3}


def drawn(name: str, seed: int = 0) -> np.ndarray:
    """Draw small tokens from any generator, with its own defaults."""
    asked = inspect.signature(GENERATORS[name]).parameters
    sizes = {size: value for size, value in SIZES.items() if size in asked}
    return GENERATORS[name](np.random.default_rng(seed), **sizes)


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


@pytest.mark.parametrize("name", GENERATORS)
def test_every_parameter_of_a_generator_states_its_domain(name):
    """A configuration is validated by these annotations, so a bare ``float`` would let all pass."""
    hints = get_type_hints(GENERATORS[name], include_extras=True)
    for parameter in inspect.signature(GENERATORS[name]).parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY:
            hint = hints[parameter.name]
            optional = hint is str or get_origin(hint) in (Annotated, Union, UnionType)
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


def test_an_odd_number_of_tokens_has_no_two_halves(rng):
    with pytest.raises(Refusal, match=r"two_levels got n_tokens = 7; .* Use 8\."):
        GENERATORS["two_levels"](rng, n_tokens=7, d_model=2)
