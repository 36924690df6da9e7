"""Two orders of the keys, pair by pair."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from lowpass.smoothing.nearness import disorder, distances, equal_norms, nearest_wins


@pytest.fixture
def points(rng):
    return rng.standard_normal((6, 4)), rng.standard_normal((9, 4))


def test_pairs_are_counted_one_by_one(points):
    query, key = points
    logit, distance = query @ key.T, distances(query, key)
    for i in range(6):
        wrong = sum(
            (logit[i, a] > logit[i, b]) == (distance[i, a] > distance[i, b])
            for a, b in combinations(range(9), 2)
        )
        assert disorder(logit, distance)[i] == wrong / 36


def test_weights_that_fall_with_distance_are_in_order(points):
    distance = distances(*points)
    assert_array_equal(disorder(-np.sqrt(distance), distance), 0)
    assert_array_equal(disorder(distance, distance), 1)
    assert nearest_wins(np.exp(-distance), distance).all()
    assert not nearest_wins(distance, distance).any()


def test_keys_of_equal_norm_are_in_order(points):
    query, key = points
    even = equal_norms(key)
    assert_array_equal(disorder(query @ even.T, distances(query, even)), 0)


def test_a_pair_is_disordered_between_two_planes():
    """The longer of two keys wins on one side of the origin, and is nearer beyond the middle."""
    key = np.array([[1.0, 0.0], [3.0, 0.0]])
    query = np.array([[-0.5, 7.0], [0.5, 7.0], [1.9, -7.0], [2.1, 0.0]])
    assert_array_equal(disorder(query @ key.T, distances(query, key)), [0, 1, 1, 0])


def test_equal_norms_keep_directions_and_the_mean_square(points):
    _, key = points
    even = equal_norms(key)
    norms = np.linalg.norm(key, axis=1)
    assert_allclose(np.linalg.norm(even, axis=1), np.sqrt(np.mean(norms**2)), rtol=1e-14)
    assert_allclose((even * key).sum(axis=1), np.linalg.norm(even, axis=1) * norms, rtol=1e-14)


def test_distances_are_those_of_pairs(points):
    query, key = points
    wanted = [[sum((a - b) ** 2) for b in key] for a in query]
    assert_allclose(distances(query, key), wanted, rtol=1e-14)
