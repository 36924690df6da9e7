"""Laws of every way to the same fit, and what each of them refuses."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from lowpass.registry import Refusal
from lowpass.smoothing.checks import Sample, checked
from lowpass.smoothing.choosing import AUTO, choose, smoothed
from lowpass.smoothing.methods import METHODS, refuse_unsuited

# Those that draw have laws of their own.
SURE = [name for name in METHODS if not METHODS.facts(name)["draws"]]
KNOBS = {"kernel": "gaussian", "degree": 0, "beyond": "nearest"}


def sample_of(rng, n_features: int = 1, n_keys: int = 200, bandwidth: float = 0.3) -> Sample:
    """Draw dense keys, and queries of which the first lies far from all."""
    key = rng.random((n_keys, n_features))
    query = rng.random((40, n_features))
    query[0] = 1e3
    return checked(query, key, rng.standard_normal((n_keys, 2)), bandwidth)


def formula(sample: Sample) -> np.ndarray:
    """Average as written down, from exact differences, one query at a time."""
    fits = []
    for q in sample.query:
        square = (((q - sample.key) / sample.bandwidth) ** 2).sum(axis=1)
        weight = np.exp((square.min() - square) / 2)
        weight *= 1 if sample.weight is None else sample.weight
        fits.append(weight @ sample.value / weight.sum())
    return np.array(fits)


def test_methods_have_every_fact():
    facts = {"kernels", "degrees", "most_features", "error", "draws"}
    assert [name for name in METHODS if not facts <= METHODS.facts(name).keys()] == []


@pytest.mark.parametrize("name", SURE)
def test_fits_are_those_of_the_formula_to_the_stated_error(name, rng):
    for n_features in (1, 2, 5):
        if n_features <= METHODS.facts(name)["most_features"]:
            sample = sample_of(rng, n_features)
            span = np.ptp(sample.value, axis=0).max()
            off = np.abs(METHODS[name](sample, **KNOBS) - formula(sample)).max() / span
            assert off <= METHODS.facts(name)["error"], n_features


@pytest.mark.parametrize("name", SURE)
def test_weights_count(name, rng):
    sample = replace(sample_of(rng), weight=rng.random(200) * (rng.random(200) < 0.9))
    off = np.abs(METHODS[name](sample, **KNOBS) - formula(sample))
    assert off.max() <= METHODS.facts(name)["error"] * np.ptp(sample.value, axis=0).max()


@pytest.mark.parametrize("name", SURE)
@pytest.mark.parametrize("constant", [0.1, -7.3e5, 1e-12])
def test_a_constant_is_reproduced_to_the_last_digit(name, constant, rng):
    sample = sample_of(rng)
    fit = METHODS[name](replace(sample, value=np.full_like(sample.value, constant)), **KNOBS)
    assert_allclose(fit, constant, rtol=3e-16)


@pytest.mark.parametrize("name", SURE)
@pytest.mark.parametrize("bandwidth", [0.02, 0.3, 30.0])
def test_fits_lie_among_the_values(name, bandwidth, rng):
    sample = sample_of(rng, bandwidth=bandwidth)
    sample = replace(sample, value=np.sign(sample.value))
    fit = METHODS[name](sample, **KNOBS)
    assert np.abs(fit).max() <= 1 + 1e-15


@pytest.mark.parametrize("name", SURE)
def test_a_far_query_gets_the_nearest_value_and_disturbs_no_other(name, rng):
    sample = sample_of(rng, bandwidth=0.1)
    fit = METHODS[name](sample, **KNOBS)
    nearest = sample.value[sample.key[:, 0].argmax()]
    assert_allclose(fit[0], nearest, rtol=1e-14)
    alone = METHODS[name](replace(sample, query=sample.query[1:]), **KNOBS)
    assert_allclose(fit[1:], alone, atol=1e-13)


@pytest.mark.parametrize("name", SURE)
def test_where_the_keys_lie_does_not_matter(name, rng):
    sample = sample_of(rng)
    moved = replace(sample, query=sample.query + 2.0**20, key=sample.key + 2.0**20)
    # In so large numbers the places themselves are rounded.
    there = replace(moved, query=moved.query - 2.0**20, key=moved.key - 2.0**20)
    assert_allclose(METHODS[name](moved, **KNOBS), METHODS[name](there, **KNOBS), atol=1e-9)


@pytest.mark.parametrize("name", SURE)
def test_one_key_no_query_and_equal_keys_are_fine(name):
    one = checked([0.0, 5.0], [1.0], [3.0], 0.5)
    assert_allclose(METHODS[name](one, **KNOBS), 3.0)
    assert METHODS[name](replace(one, query=np.empty((0, 1))), **KNOBS).shape == (0, 1)
    same = checked([0.0, 5.0], np.ones(3), [3.0, 4.0, 8.0], 0.5)
    assert_allclose(METHODS[name](same, **KNOBS), 5.0, rtol=1e-12)


@pytest.mark.parametrize("name", SURE)
def test_a_circle_has_no_ends(name, rng):
    sample = replace(sample_of(rng, bandwidth=0.1), period=np.ones(1))
    sample.query[:3] = [[-0.001], [0.999], [7.999]]
    fit = METHODS[name](sample, **KNOBS)
    assert_allclose(fit[0], fit[1], atol=1e-12)
    assert_allclose(fit[0], fit[2], atol=1e-12)
    turns = np.arange(-20, 21)
    around = replace(
        sample,
        key=np.concatenate([sample.key + turn for turn in turns]),
        value=np.tile(sample.value, (len(turns), 1)),
        period=None,
    )
    span = np.ptp(sample.value, axis=0).max()
    error = max(METHODS.facts(name)["error"], 1e-14)
    assert_allclose(fit, formula(around), atol=error * span)


@pytest.mark.parametrize("name", SURE)
def test_what_a_method_is_not_made_for_is_refused(name, rng):
    facts, sample = METHODS.facts(name), sample_of(rng)
    if facts["kernels"] is not None:
        with pytest.raises(Refusal, match=f"'{name}' got the kernel 'laplace'; it can do no other"):
            METHODS[name](sample, kernel="laplace", degree=0, beyond="nearest")
    if facts["degrees"] is not None:
        with pytest.raises(Refusal, match=r"got the degree 1; .* Use method 'tiled'"):
            METHODS[name](sample, kernel="gaussian", degree=1, beyond="nearest")
    if facts["most_features"] < math.inf:
        with pytest.raises(Refusal, match=r"got keys of 3 features; it can do no more than \d"):
            METHODS[name](sample_of(rng, 3), **KNOBS)


# The choice.


@pytest.mark.parametrize(
    ("n_keys", "n_features", "bandwidth", "knobs", "method", "reason"),
    [
        (100, 1, 0.3, {}, "exact", "are few"),
        (2**14, 1, 0.3, {}, "tiled", "too few for a series"),
        (2**17, 1, 0.3, {}, "gridded", "no more than their points"),
        (2**17, 2, 0.3, {}, "gridded", "no more than their points"),
        (2**17, 3, 0.3, {}, "tiled", "3 features"),
        (2**17, 1, 1e-6, {}, "tiled", "Fourier modes"),
        (2**17, 1, 0.3, {"kernel": "laplace"}, "tiled", "the kernel 'laplace'"),
        (2**17, 1, 0.3, {"degree": 1}, "tiled", "the degree 1"),
    ],
)
def test_the_choice_depends_on_the_sample_and_says_why(
    n_keys, n_features, bandwidth, knobs, method, reason, rng
):
    choice = choose(sample_of(rng, n_features, n_keys, bandwidth), **knobs)
    assert choice.method == method
    assert reason in choice.reason


def test_a_fit_comes_with_what_was_picked(rng):
    sample = sample_of(rng)
    fit, choice = smoothed(sample, method=AUTO, **KNOBS)
    assert choice.method == "exact"
    named, asked = smoothed(sample, method="tiled", **KNOBS)
    assert (asked.method, asked.reason) == ("tiled", "It was asked for.")
    assert_allclose(fit, named, atol=1e-13)


def test_an_unknown_method_is_refused(rng):
    with pytest.raises(Refusal, match=r"^no .* is called 'tilled'; did you mean 'tiled'\?"):
        smoothed(sample_of(rng), method="tilled", **KNOBS)


def test_auto_is_no_method():
    assert AUTO not in METHODS


def test_the_method_that_does_anything_is_never_refused(rng):
    for method in ("exact", "tiled"):
        refuse_unsuited(method, sample_of(rng, 9), kernel="tricube", degree=1)
