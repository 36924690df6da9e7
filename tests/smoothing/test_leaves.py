"""Leaves hold all points, in boxes that bound their distances."""

from __future__ import annotations

import numpy as np
import pytest

from lowpass.smoothing.leaves import FEWEST, MOST_DIVIDED, distances, divided, runs


@pytest.mark.parametrize("n_features", [1, 2, MOST_DIVIDED, MOST_DIVIDED + 1])
@pytest.mark.parametrize("n_points", [0, 1, 7, 64, 1000])
def test_every_point_is_in_one_leaf_and_in_its_box(n_points, n_features, rng):
    points = rng.standard_normal((n_points, n_features))
    leaves = divided(points, 64, np.ones(n_features))
    assert np.array_equal(np.sort(leaves.order), np.arange(n_points))
    assert leaves.sizes.sum() == n_points
    assert ((leaves.sizes > 0) & (leaves.sizes <= 64)).all()
    box = np.repeat(np.arange(len(leaves.sizes)), leaves.sizes)
    placed = points[leaves.order]
    assert (placed >= leaves.low[box]).all()
    assert (placed <= leaves.high[box]).all()


@pytest.mark.parametrize("n_features", [1, 2, 3])
def test_boxes_bound_the_distances_of_their_points(n_features, rng):
    points, unit = rng.standard_normal((300, n_features)), rng.uniform(0.5, 2, n_features)
    leaves = divided(points, 32, unit)
    some = rng.standard_normal((20, n_features)) + 1
    least, most = distances(some.min(axis=0), some.max(axis=0), leaves, unit)
    square = np.square((some[:, None] - points[leaves.order]) / unit).sum(axis=-1)
    for leaf, (start, stop) in enumerate(zip(leaves.bounds, leaves.bounds[1:], strict=False)):
        assert least[leaf] <= square[:, start:stop].min() * (1 + 1e-15)
        assert most[leaf] >= square[:, start:stop].max() * (1 - 1e-15)


def test_wide_leaves_are_divided_until_few_points_are_left(rng):
    points = np.sort(rng.random(500))[:, None] * np.array([[1.0, 0.5]])
    leaves = divided(points, 400, np.array([0.01, 0.01]), wide=4.0)
    extent = (leaves.high - leaves.low).max(axis=1) / 0.01
    assert ((extent <= 4) | (leaves.sizes <= FEWEST)).all()
    # Halving a leaf that was too large leaves more than half of the smallest size.
    assert (leaves.sizes > FEWEST // 4).all()


def test_equal_points_are_divided_by_number():
    leaves = divided(np.zeros((300, 2)), 100, np.ones(2), wide=1.0)
    assert leaves.sizes.tolist() == [100, 100, 100]


def test_leaves_that_follow_each_other_are_joined():
    leaves = divided(np.arange(60.0)[:, None], 10, np.ones(1))
    chosen = np.array([0, 1, 2, 4, 5])
    assert runs(chosen, leaves, 20) == [slice(0, 20), slice(20, 30), slice(40, 60)]
    assert runs(chosen[:0], leaves, 20) == []
