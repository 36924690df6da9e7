"""Observations of every kind are read alike; what cannot be smoothed is refused by index."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from lowpass.registry import Refusal
from lowpass.smoothing.checks import checked

KEY = np.array([[0.0, 1.0], [2.0, 3.0], [4.0, 6.0]])
VALUE = np.array([1.0, 2.0, 3.0])


def frozen(a: np.ndarray) -> np.ndarray:
    a = a.copy()
    a.flags.writeable = False
    return a


KINDS = {
    "lists": np.ndarray.tolist,
    "whole numbers": lambda a: a.astype(int),
    "small whole numbers": lambda a: a.astype(np.uint8),
    "single precision": lambda a: a.astype(np.float32),
    "numbers as objects": lambda a: a.astype(object),
    "read-only": frozen,
    "every second": lambda a: np.repeat(a, 2, axis=0)[::2],
    "backwards": lambda a: a[::-1].copy()[::-1],
    "columns first": np.asfortranarray,
    "big-endian": lambda a: a.astype(">f8"),
    "a table": pd.DataFrame,
    "masked nowhere": np.ma.masked_array,
}


@pytest.mark.parametrize("kind", KINDS)
def test_numbers_of_every_kind_are_read_alike(kind):
    turn = KINDS[kind]
    value = VALUE if kind == "a table" else turn(VALUE)
    sample = checked(turn(KEY), turn(KEY), value, 2, weight=np.array([1, 2, 0]))
    for read, meant in zip(
        (sample.query, sample.key, sample.value, sample.bandwidth, sample.weight),
        (KEY, KEY, VALUE[:, None], [2.0, 2.0], [1.0, 2.0, 0.0]),
        strict=True,
    ):
        assert read.dtype == np.float64
        assert read.flags.c_contiguous
        assert np.array_equal(read, meant)


def test_places_without_a_feature_axis_have_one_feature():
    sample = checked([1, 2, 3, 4], [1, 2, 3], [[1, 2], [3, 4], [5, 6]], 1)
    assert sample.query.shape == (4, 1)
    assert sample.key.shape == (3, 1)
    assert sample.value.shape == (3, 2)


def test_there_may_be_no_queries():
    assert checked([], [1, 2], [3, 4], 1).query.shape == (0, 1)
    assert checked(np.empty((0, 2)), KEY, VALUE, 1).query.shape == (0, 2)


def test_each_feature_may_have_a_bandwidth_and_a_period():
    sample = checked(KEY, KEY, VALUE, [1, 2], period=[7, np.inf])
    assert sample.bandwidth.tolist() == [1, 2]
    assert sample.period is not None
    assert sample.period.tolist() == [7, np.inf]


def test_arguments_are_not_changed():
    key, value = KEY.copy(), VALUE.copy()
    checked(key, key, value, 1).centred()
    assert np.array_equal(key, KEY)
    assert np.array_equal(value, VALUE)


def test_centred_keys_have_no_mean_and_queries_keep_their_distances():
    sample = checked(KEY + 1e8, KEY + 1e8, VALUE, 1).centred()
    assert np.abs(sample.key.mean(axis=0)).max() < 1e-8
    assert np.array_equal(sample.query[1] - sample.key[0], [2.0, 2.0])


def test_keys_can_be_centred_alone():
    sample = checked(KEY, KEY, VALUE, 1).key_centred()
    assert_allclose(sample.key, KEY - [2, 10 / 3], rtol=1e-15)
    assert np.array_equal(sample.query, KEY)


def test_some_of_the_queries_can_be_kept():
    assert checked(KEY, KEY, VALUE, 1).at(slice(1, 3)).query.tolist() == KEY[1:].tolist()


def test_keys_that_are_queries_as_well_are_refused_as_keys():
    places = np.array([1.0, np.nan])
    with pytest.raises(Refusal, match=r"^key \[1\] is nan"):
        checked(places, places, [1.0, 2.0], 1)


def spoilt(a: np.ndarray, index, bad: float) -> np.ndarray:
    a = a.copy()
    a[index] = bad
    return a


GOOD = {"query": KEY, "key": KEY, "value": VALUE, "bandwidth": 1.0}
SPOILT = {
    r"query \[2, 1\] is nan; .* Leave that one out": {"query": spoilt(KEY, (2, 1), np.nan)},
    r"key \[1, 0\] is inf; ": {"key": spoilt(KEY, (1, 0), np.inf)},
    r"value \[2\] is -inf; ": {"value": spoilt(VALUE, 2, -np.inf)},
    r"value \[1, 0\] is nan; ": {"value": spoilt(KEY, (1, 0), np.nan)},
    r"weight \[0\] is nan; ": {"weight": [np.nan, 1, 1]},
    r"value \[1\] is masked; .* Leave those": {"value": np.ma.masked_equal(VALUE, 2.0)},
    r"key is of type <U1; .* Convert it": {"key": np.array([["a", "b"]] * 3)},
    r"value is of type complex128; ": {"value": VALUE + 1j},
    r"query is of type datetime64\[D\]; ": {"query": np.array(["2026-11-30"], "datetime64[D]")},
    r"value is of type list; ": {"value": [[1], [2, 3], [4]]},
    r"value is of type object; ": {"value": np.array([1.0, "two", 3.0], dtype=object)},
    r"queries have 1 features and keys have 2; ": {"query": [1.0, 2.0]},
    r"query has shape \(3, 2, 1\); .* Reshape it": {"query": KEY[:, :, None]},
    r"key has shape \(\); ": {"key": 3.0},
    r"the keys have shape \(0, 2\); .* Give an observation": {"key": KEY[:0], "value": []},
    r"the keys have shape \(3, 0\); ": {"key": KEY[:, :0], "query": KEY[:, :0]},
    r"value has 2 entries and there are 3 keys; ": {"value": VALUE[:2]},
    r"value has shape \(\); ": {"value": 4.0},
    r"value has shape \(3, 1, 1\); ": {"value": VALUE[:, None, None]},
    r"weight has 4 entries and there are 3 keys; ": {"weight": np.ones(4)},
    r"weight has shape \(3, 1\); ": {"weight": np.ones((3, 1))},
    r"weight \[1\] is -2; .* zero or more": {"weight": [1, -2, 3]},
    r"every weight is 0; ": {"weight": np.zeros(3)},
    r"bandwidth has shape \(3,\) and there are 2 features; ": {"bandwidth": [1, 2, 3]},
    r"bandwidth has shape \(1, 2\) and": {"bandwidth": [[1, 2]]},
    r"bandwidth \[0\] is 0; a length must be positive": {"bandwidth": 0},
    r"bandwidth \[1\] is -2; ": {"bandwidth": [1, -2]},
    r"bandwidth \[0\] is nan; ": {"bandwidth": np.nan},
    r"bandwidth \[0\] is inf; .* a bandwidth finite": {"bandwidth": np.inf},
    r"bandwidth is of type str; ": {"bandwidth": "one"},
    r"period \[0\] is 0; ": {"period": 0.0},
    r"period \[1\] is nan; ": {"period": [1.0, np.nan]},
}


@pytest.mark.parametrize("message", SPOILT)
def test_what_cannot_be_smoothed_is_refused_with_its_place(message):
    with pytest.raises(Refusal, match="^" + message):
        checked(**(GOOD | SPOILT[message]))
