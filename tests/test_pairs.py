"""Random queries, keys and values: their shapes, moments and independence of size."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from lowpass.data import GENERATORS
from lowpass.pairs import pairs
from lowpass.registry import Refusal
from lowpass.spec.data import draws, gives, kind, parse

SIZES = {"n_queries": 30, "n_keys": 50, "n_features": 8}


def test_there_are_as_many_as_asked_for(rng):
    made = pairs(rng, **SIZES)
    shapes = {name: array.shape for name, array in made.items()}
    assert shapes == {"query_position": (30, 8), "key_position": (50, 8), "value": (50,)}


def test_it_gives_what_its_facts_say():
    assert GENERATORS["pairs"] is pairs
    assert kind("pairs") == "observations"
    assert draws("pairs")
    assert set(gives("pairs")) == {"values", "queries"}


def test_a_draw_follows_from_its_generator_alone():
    one, other = (pairs(np.random.default_rng(4), **SIZES) for _ in range(2))
    for name in one:
        assert_array_equal(one[name], other[name])


def test_entries_are_standard_normal(rng):
    made = pairs(rng, n_queries=4000, n_keys=4000, n_features=2)
    for array in made.values():
        # Four standard errors of a mean and of a variance.
        assert abs(array.mean()) < 4 / array.size**0.5
        assert abs(array.var() - 1) < 4 * (2 / array.size) ** 0.5


def test_longer_keys_are_the_same_keys():
    one, other = (pairs(np.random.default_rng(4), **SIZES, key_scale=s) for s in (1.0, 3.0))
    assert_allclose(other["key_position"], 3 * one["key_position"], rtol=1e-15)
    for name in ("query_position", "value"):
        assert_array_equal(one[name], other[name])


def test_a_scale_that_is_none_is_refused():
    with pytest.raises(Refusal, match=r"data: key_scale: 0.0 is not above 0"):
        parse({"generator": "pairs", **SIZES, "key_scale": 0.0}, "data")
