"""Few keys for many: exact where nothing is left out, and where queries are landmarks."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from lowpass.registry import Refusal
from lowpass.smoothing.landmarks import (
    TILE,
    chosen,
    interpolated,
    landmark_sums,
    log_gaussian,
)


@pytest.fixture
def tokens(rng) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Give 9 queries, more keys than a tile holds, and two values of each."""
    n = TILE + 50
    return rng.standard_normal((9, 2)), rng.standard_normal((n, 2)), rng.standard_normal((n, 2))


def explicit(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Smooth one query at a time."""
    rows = [np.exp(-np.square(one - k).sum(axis=1) / 2) for one in q]
    return np.array([row @ v / row.sum() for row in rows])


# Laws.


def test_tiles_sum_what_the_whole_does(tokens):
    _, k, v = tokens
    distance = np.square(k[:5, None] - k[None]).sum(axis=-1)
    weight = np.exp(-distance / 2)
    whole = np.c_[weight @ v, weight.sum(axis=1)]
    assert_allclose(landmark_sums(k, v, k[:5]), whole, rtol=1e-12)


def test_a_query_at_a_landmark_is_smoothed_exactly(tokens, rng):
    """The interpolated kernel is the kernel there, but for the ridge."""
    _, k, v = tokens
    own = k[rng.permutation(len(k))[:12]]
    found, normaliser = interpolated(own, own, landmark_sums(k, v, own), ridge=1e-14)
    assert_allclose(found, explicit(own, k, v), rtol=1e-8, atol=1e-10)
    assert (normaliser > 0).all()


def test_with_every_key_a_landmark_little_is_left_out(rng):
    """60 keys a bandwidth apart and more; only the ridge is between both."""
    k = 1.5 * np.stack(np.meshgrid(np.arange(10), np.arange(6)), -1).reshape(-1, 2)
    q, v = rng.uniform(0, 6, (20, 2)), rng.standard_normal((60, 1))
    found, _ = interpolated(q, k, landmark_sums(k, v, k))
    assert_allclose(found, explicit(q, k, v), atol=1e-6)


def test_constants_are_reproduced(tokens):
    q, k, _ = tokens
    found, _ = interpolated(q, k[:20], landmark_sums(k, np.full((len(k), 1), 3.0), k[:20]))
    assert_allclose(found, 3.0, rtol=1e-9)


# What is particular.


def test_more_landmarks_err_less(tokens):
    q, k, v = tokens
    true = explicit(q, k, v)
    error = [
        abs(interpolated(q, k[:m], landmark_sums(k, v, k[:m]))[0] - true).max() for m in (5, 20, 80)
    ]
    assert error[0] > 3 * error[1] > 9 * error[2]


def test_a_query_far_from_every_landmark_gets_a_number(tokens):
    """All its weights underflow; in units of the nearest one they do not."""
    _, k, v = tokens
    found, normaliser = interpolated(
        np.array([[300.0, 0.0]]), k[:9], landmark_sums(k, v, k[:9]), ridge=1e-2
    )
    assert np.isfinite(found).all()
    assert np.isfinite(normaliser).all()


def test_landmarks_at_one_place_do_no_harm(tokens):
    q, k, v = tokens
    twice = np.concatenate([k[:9], k[:9]])
    once, _ = interpolated(q, k[:9], landmark_sums(k, v, k[:9]))
    both, _ = interpolated(q, twice, landmark_sums(k, v, twice))
    assert_allclose(both, once, atol=1e-6)


def test_keys_are_chosen_once_each_and_fewer_are_the_first(rng):
    assert sorted(chosen(rng, 10, 10)) == list(range(10))
    few, many = (chosen(np.random.default_rng(3), m, 50) for m in (4, 20))
    assert list(many[:4]) == list(few)
    assert len(set(many)) == 20


def test_a_distance_is_never_negative(rng):
    x = 1e3 + rng.standard_normal((20, 3))
    assert (log_gaussian(x, x) <= 0).all()


# Refusals.


@pytest.mark.parametrize("count", [0, 8])
def test_more_keys_than_there_are_cannot_be_chosen(count, rng):
    with pytest.raises(Refusal, match=rf"^{count} of 7 keys were asked for; .* at most 7\.$"):
        chosen(rng, count, 7)
