"""Shortcuts at equal operations: what is measured, and beside what."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr
from numpy.testing import assert_allclose

from lowpass.registry import Refusal
from lowpass.smoothing import operations
from lowpass.smoothing.operations import Problem
from lowpass.studies.contest import NOISE, Posed, contest, drawn

SIZES = {"n_keys": 300, "n_features": 2, "most_terms": 64}


@pytest.fixture
def queries(rng) -> xr.Dataset:
    """Give queries of three features."""
    return xr.Dataset({"query_position": (("query", "feature"), rng.standard_normal((20, 3)))})


@pytest.fixture
def raced(queries) -> xr.Dataset:
    return contest(queries, iter, np.random.default_rng(7), **SIZES)


# Laws.


def test_fewer_keys_are_their_own_rival(raced):
    own = raced.sel(approximation="fewer keys")
    assert_allclose(own["log10_relative_error"], own["log10_rival_error"], rtol=1e-12)


def test_terms_are_quarters_of_quarters(raced):
    assert raced["n_terms"].values.tolist() == [1, 4, 16, 64]
    assert raced["value_noise"].values.tolist() == list(NOISE)


def test_more_terms_cost_more_but_those_of_linear_attention_are_given(raced):
    step = raced["log10_operations"].diff("n_terms")
    assert (step.drop_sel(approximation="elu + 1") > 0).all()
    assert (step.sel(approximation="elu + 1") == 0).all()
    assert (raced["log10_operations"] < raced["log10_exact_operations"]).all()


def test_only_what_has_signs_is_unusable(raced):
    signed = ["trigonometric features", "landmarks"]
    assert (raced["unusable_share"].drop_sel(approximation=signed) == 0).all()


def test_the_same_stream_gives_the_same_numbers(queries, raced):
    again = contest(queries, iter, np.random.default_rng(7), **SIZES)
    xr.testing.assert_identical(again, raced)


# Closed forms.


def test_costs_are_those_of_the_counts_at_their_price(queries):
    raced = contest(queries, iter, np.random.default_rng(7), **SIZES, exponential_price=9.0)
    problem = Problem(300, 300, 2, 1)
    assert_allclose(raced["log10_exact_operations"], np.log10(300**2 * (5 + 9)))
    found = raced["log10_operations"].sel(approximation="independent features", n_terms=16)
    assert_allclose(found, np.log10(operations.positive(problem, 16).priced(9.0)))


def test_the_mean_of_all_values_errs_by_one(rng):
    posed = drawn(rng.standard_normal((30, 2)), rng, 200)
    mean = np.broadcast_to(posed.value.mean(axis=0), posed.exact.shape)
    assert_allclose(posed.miss(mean), 1.0, rtol=1e-14)
    assert_allclose(posed.miss(posed.exact), 0.0)


def test_attention_to_normal_keys_shrinks_a_projection(rng):
    """A Gaussian of keys times one of width h is one, whose mean is the query over 1 + h²."""
    query = rng.standard_normal((40, 4))
    posed = drawn(query, rng, 40_000)
    assert_allclose(posed.exact[:, 0], query.sum(axis=1) / 2 / (1 + 2), atol=0.1)


# What is particular.


def test_tiles_change_nothing(raced):
    assert (raced["tile_error"] < 1e-13).all()


def test_a_rival_never_has_more_keys_than_there_are(queries):
    """Where as many operations would buy all keys, the rival is exact to rounding."""
    sizes = {"n_keys": 64, "n_features": 2, "most_terms": 64}
    raced = contest(queries, iter, np.random.default_rng(7), **sizes)
    rival = raced["log10_rival_error"].sel(approximation="trigonometric features").isel(n_terms=-1)
    assert (rival < -13).all()


def test_errors_are_of_the_first_features(queries):
    posed = Posed(*drawn(queries["query_position"].values[:, :1], np.random.default_rng(1), 50))
    assert posed.query.shape == (20, 1)
    assert posed.problem == Problem(50, 50, 1, 1)


# Refusals.


def test_features_that_queries_lack_are_refused(queries):
    with pytest.raises(Refusal, match=r"^5 features were asked for and the queries have 3; .*: 3"):
        contest(queries, iter, np.random.default_rng(7), **{**SIZES, "n_features": 5})


def test_more_terms_than_keys_are_refused(queries):
    with pytest.raises(Refusal, match=r"^64 terms of 50 keys are no approximation; .*: 64 or more"):
        contest(queries, iter, np.random.default_rng(7), **{**SIZES, "n_keys": 50})
