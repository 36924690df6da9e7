"""Laws of the random streams: what changes the bits and what does not."""

from __future__ import annotations

import numpy as np
import pytest

from lowpass.registry import Refusal
from lowpass.streams import stream

KEY = {"seed": 1, "what": "tokens", "shape": {"n_tokens": 4, "d_model": 2}, "replicate": 0}


def test_the_same_key_gives_the_same_bits():
    assert np.array_equal(stream(**KEY).random(64), stream(**KEY).random(64))


@pytest.mark.parametrize(
    "change",
    [
        {"seed": 2},
        {"what": "weights"},
        {"shape": {"n_tokens": 5, "d_model": 2}},
        {"shape": {"n_tokens": 4}},
        {"shape": {"n_tokens": 2, "d_model": 4}},
        {"replicate": 1},
        {"seed": 0, "replicate": 1},
    ],
)
def test_a_change_of_any_part_of_the_key_changes_the_bits(change):
    assert not np.isin(stream(**KEY).random(64), stream(**(KEY | change)).random(64)).any()


def test_the_order_of_the_shape_does_not_matter():
    turned = {"d_model": 2, "n_tokens": 4}
    assert np.array_equal(stream(**KEY).random(64), stream(**(KEY | {"shape": turned})).random(64))


def test_a_replicate_does_not_depend_on_how_many_there_are():
    few = [stream(1, "tokens", {}, replicate).random(8) for replicate in range(3)]
    many = [stream(1, "tokens", {}, replicate).random(8) for replicate in reversed(range(10))]
    assert np.array_equal(few, many[::-1][:3])


def test_replicates_are_not_correlated():
    """Ten streams of 10,000 draws: the largest of 45 correlations stays within 4/√10,000."""
    draws = [stream(1, "tokens", {}, replicate).standard_normal(10_000) for replicate in range(10)]
    correlation = np.corrcoef(draws) - np.eye(10)
    assert np.abs(correlation).max() < 4 / 100


def test_a_shape_without_a_json_form_is_refused():
    with pytest.raises(Refusal, match=r"np\.int64\(4\) \(int64\) cannot be part of a stream's key"):
        stream(1, "tokens", {"n_tokens": np.int64(4)}, 0)
