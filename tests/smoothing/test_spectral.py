"""Fourier sums of Gaussians are the sums themselves."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from lowpass.smoothing.checks import checked
from lowpass.smoothing.spectral import MARGIN, MOST_MODES, Box, Reader, Series


def sums(points, sample, columns, turns=(0.0,)) -> np.ndarray:
    """Add Gaussians up, with those of keys that are whole turns away."""
    total = np.zeros((len(points), columns.shape[1]))
    for turn in turns:
        apart = (points[:, None] - sample.key - turn) / sample.bandwidth
        total += np.exp(-np.square(apart).sum(axis=-1) / 2) @ columns
    return total


def read(points, sample, columns, **knobs) -> np.ndarray:
    box = Box.around(sample, sample.bandwidth)
    series = Series.of(sample.key, columns, box, box.modes(sample.bandwidth))
    return Reader(points, box).read(series, series.smoothed(sample.bandwidth))


@pytest.mark.parametrize("n_columns", [1, 2, 3])
@pytest.mark.parametrize("n_features", [1, 2])
def test_sums_are_those_of_gaussians(n_features, n_columns, rng):
    key = rng.random((80, n_features)) + 1e3
    sample = checked(key, key, None, [0.3, 0.05][:n_features])
    points = 1e3 + rng.uniform(-0.2, 1.2, (30, n_features))
    columns = rng.standard_normal((80, n_columns))
    assert_allclose(
        read(points, sample, columns), sums(points, sample, columns), atol=1e-12 * len(key)
    )


@pytest.mark.parametrize("bandwidth", [0.02, 0.5, 20.0])
def test_on_a_circle_every_turn_adds(bandwidth, rng):
    key = rng.random((40, 1))
    sample = checked(key, key, None, bandwidth, period=1.0)
    points, columns = rng.uniform(-3, 3, (20, 1)), rng.random((40, 1))
    expected = sums(points, sample, columns, np.arange(-200, 201))
    assert_allclose(read(points, sample, columns), expected, rtol=1e-11)


def test_one_series_serves_all_wider_bandwidths(rng):
    key = rng.random((60, 2))
    wide = checked(key, key, None, 0.4)
    columns, box = rng.random((60, 2)), Box.around(wide, wide.bandwidth)
    series, reader = Series.of(key, columns, box, box.modes(np.full(2, 0.05))), Reader(key, box)
    for h in (0.4, 0.1, 0.05, 0.4):
        sample = replace(wide, bandwidth=np.full(2, h))
        smoothed = series.smoothed(sample.bandwidth)
        expected = sums(key, sample, columns)
        assert_allclose(reader.read(series, smoothed), expected, rtol=1e-11)
        assert series.highest(smoothed) >= 0.95 * expected[:, -1].max()


def test_a_box_holds_what_is_near_the_keys_and_a_circle_everything():
    sample = checked([0.0], [0.0, 1.0], None, 0.1)
    box = Box.around(sample, sample.bandwidth)
    edge = 1 + MARGIN * 0.1
    assert box.holds(np.array([[edge - 0.01], [edge + 0.01], [-0.3]])).tolist() == [1, 0, 1]
    circle = replace(sample, period=np.ones(1))
    assert Box.around(circle, sample.bandwidth).holds(np.array([[1e9]])).all()


def test_a_bandwidth_of_nothing_needs_no_more_modes_than_can_be_counted():
    sample = checked([0.0], [0.0, 1.0], None, 1e-320)
    assert Box.around(sample, sample.bandwidth).modes(sample.bandwidth) == (2 * MOST_MODES + 1,)
