"""Expanded tiles are the tiles themselves, weight by weight."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from lowpass.smoothing import leafwise
from lowpass.smoothing.checks import checked
from lowpass.smoothing.expansion import LARGEST, count_terms, is_narrow, narrow_sums
from lowpass.smoothing.local import matrix_of
from lowpass.smoothing.tiled import left_out, recorded, tiled


@pytest.mark.parametrize("power", [1.0, 2.0])
@pytest.mark.parametrize("apart", [0.0, -0.3, 4.0, -7.0])
@pytest.mark.parametrize(("width", "span"), [(0.1, 0.1), (0.7, 0.7), (0.01, 20.0), (3.0, 0.0)])
def test_every_weight_keeps_its_digits(width, span, apart, power, rng):
    query, key = width * rng.uniform(-1, 1, 20), span * rng.uniform(-1, 1, 30)
    exponent = -((apart + query[:, None] - key) ** 2)
    shift = -exponent.max()
    found = narrow_sums(query, key, np.eye(30), apart=apart, shift=shift, power=power)
    expected = np.exp(power * (shift + exponent))
    assert_allclose(found, expected, rtol=1e-13 + 1e-15 * (apart**2 + span**2))


@pytest.mark.parametrize("size", [0.0, 1e-9, 0.3, LARGEST, 2 * LARGEST])
def test_terms_that_are_left_out_are_below_rounding(size):
    count = count_terms(size)
    rest = sum(size**p / math.factorial(p) for p in range(count, count + 30))
    assert rest < 2e-17


def test_wide_groups_and_far_ones_are_not_narrow():
    assert is_narrow(0.0, 0.5, 1.0)
    assert not is_narrow(0.0, 0.6, 1.0)
    assert is_narrow(10.0, 0.01, 10.0)
    assert not is_narrow(10.0, 0.01, 20.0)


@pytest.fixture
def expanded(monkeypatch) -> list[int]:
    """Watch how many keys each expanded tile has."""
    seen: list[int] = []

    def watched(query, key, columns, **knobs):
        seen.append(len(key))
        return narrow_sums(query, key, columns, **knobs)

    monkeypatch.setattr(leafwise, "narrow_sums", watched)
    return seen


@pytest.mark.parametrize("bandwidth", [0.3, 10.0])
def test_dense_keys_on_a_line_are_averaged_by_expanded_tiles(bandwidth, expanded, rng):
    key = rng.standard_normal(1200)
    sample = checked(key, key, rng.standard_normal(1200), bandwidth, rng.random(1200))
    matrix, own = matrix_of(sample), np.arange(1200)
    knobs = {"kernel": "gaussian", "degree": 0, "beyond": "nearest"}
    assert_allclose(tiled(sample, **knobs), matrix @ sample.value, atol=1e-14)
    assert sum(expanded) > 1200
    found = recorded(sample, own)
    assert_allclose(found.spread, np.square(matrix).sum(axis=1), rtol=1e-12)
    share = matrix.diagonal()[:, None]
    less = (matrix @ sample.value - share * sample.value) / (1 - share)
    dense = share[:, 0] < 0.5
    assert_allclose(left_out(sample, own)[dense], less[dense], atol=1e-12)


def test_other_kernels_and_more_features_are_not_expanded(expanded, rng):
    key = rng.random((500, 2))
    sample = checked(key, key, rng.random(500), 1.0)
    tiled(sample, kernel="gaussian", degree=0, beyond="nearest")
    line = checked(key[:, 0], key[:, 0], rng.random(500), 1.0)
    tiled(line, kernel="laplace", degree=0, beyond="nearest")
    assert expanded == []
