"""Values go to [-1, 1] and come back as they were."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from lowpass.smoothing.hull import Hull


@pytest.mark.parametrize("size", [1e-300, 1e-5, 1.0, 1e12, 1e307])
def test_values_go_there_and_back(size, rng):
    value = size * rng.uniform(-1, 3, (50, 2))
    hull = Hull.of(value)
    unit = hull.inward(value)
    assert 0.5 <= np.abs(unit).max(axis=0).min() <= np.abs(unit).max() <= 1
    assert_allclose(hull.outward(unit), value, atol=1e-15 * size)


@pytest.mark.parametrize("constant", [0.0, 0.1, -1e300, 5e-324, 1.7e308])
def test_a_constant_is_zero_and_comes_back(constant):
    hull = Hull.of(np.full((3, 1), constant))
    assert not hull.inward(np.full((3, 1), constant)).any()
    assert hull.outward(np.zeros((1, 1)))[0, 0] == constant


def test_what_rounding_put_outside_is_taken_back():
    hull = Hull.of(np.array([[0.1], [0.7]]))
    assert hull.clipped(np.array([[np.nextafter(0.7, 1)], [0.3]])).ravel().tolist() == [0.7, 0.3]
