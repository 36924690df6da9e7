"""Approximate fits: exact where nothing is left out, near where much is kept."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from lowpass.smoothing import approximations
from lowpass.smoothing.features import independent_directions, orthogonal_directions


@pytest.fixture
def tokens(rng) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Give 9 queries and 600 keys in units of the bandwidth, with two values each."""
    key = rng.standard_normal((600, 2))
    value = np.c_[key[:, 0], rng.standard_normal(600)]
    return rng.standard_normal((9, 2)), key - key.mean(axis=0), value


def explicit(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Smooth one query at a time, with distances from differences."""
    rows = [np.exp(-np.square(one - k).sum(axis=1) / 2) for one in q]
    return np.array([row @ v / row.sum() for row in rows])


# Laws.


def every_kind(tokens, rng, counts):
    """Run all that depends on a number of terms."""
    order = rng.permutation(len(tokens[1]))
    yield approximations.by_fewer_keys(*tokens, order, counts)
    yield approximations.by_landmarks(*tokens, order, counts)
    for draw in (independent_directions, orthogonal_directions):
        yield approximations.by_positive_features(*tokens, draw(rng, max(counts), 2), counts)
    directions = independent_directions(rng, max(counts), 2)
    yield approximations.by_trigonometric_features(*tokens, directions, counts)


def test_every_kind_gives_a_fit_and_a_normaliser_for_each_number_of_terms(tokens, rng):
    for fits in every_kind(tokens, rng, [4, 16]):
        assert list(fits) == [4, 16]
        for fit, normaliser in fits.values():
            assert fit.shape == (9, 2)
            assert normaliser.shape == (9,)


def test_every_kind_comes_near_with_many_terms(tokens, rng):
    """500 terms in the plane, and short tokens, whose features have light tails: within a fifth."""
    tokens = tokens[0] / 2, tokens[1] / 2, tokens[2]
    true = explicit(*tokens)
    for fits in every_kind(tokens, rng, [500]):
        assert_allclose(fits[500][0], true, atol=0.2)


def test_constants_are_reproduced(tokens, rng):
    q, k, _ = tokens
    for fits in every_kind((q, k, np.full((600, 1), 3.0)), rng, [20]):
        fit, normaliser = fits[20]
        assert_allclose(fit[normaliser > 1e-3], 3.0, rtol=1e-6)


# Closed forms.


def test_every_key_is_the_textbook(tokens):
    assert_allclose(approximations.by_every_key(*tokens), explicit(*tokens), atol=1e-13)


def test_a_query_far_from_every_key_gets_the_nearest_value(tokens):
    _, k, v = tokens
    far = approximations.by_every_key(np.array([[1e4, 0.0]]), k, v)
    assert_allclose(far[0], v[np.argmax(k[:, 0])], atol=1e-9)


def test_all_keys_are_not_fewer(tokens):
    fits = approximations.by_fewer_keys(*tokens, np.arange(600)[::-1], [600])
    assert_allclose(fits[600][0], explicit(*tokens), atol=1e-13)


# What is particular.


def test_landmarks_in_the_plane_are_nearly_exact(tokens, rng):
    order = rng.permutation(600)
    errors = [
        abs(kind(*tokens, order, [100])[100][0] - explicit(*tokens)).max()
        for kind in (approximations.by_landmarks, approximations.by_fewer_keys)
    ]
    assert errors[0] < 0.05 * errors[1]


def test_linear_attention_is_another_smoother(tokens):
    """Its features do not approximate the exponential, so it stays off; within the values."""
    _, _, value = tokens
    fit = approximations.by_linear_attention(*tokens)
    assert abs(fit - explicit(*tokens)).max() > 0.2
    assert (fit >= value.min(axis=0)).all()
    assert (fit <= value.max(axis=0)).all()
