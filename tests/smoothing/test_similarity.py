"""Signs, sums and hulls of similarities, and how far they are from scalar products."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from lowpass.smoothing.similarity import (
    asymmetry,
    negative_eigenvalue,
    outside_share,
    share_left,
    weights_of,
)


@pytest.fixture
def table(rng):
    return rng.standard_normal((6, 9))


def test_what_is_left_of_a_sum_is_a_share(table):
    left = share_left(table)
    assert ((left >= 0) & (left <= 1)).all()
    assert_array_equal(share_left(abs(table)), 1)
    assert_array_equal(share_left(-abs(table)), 1)
    assert_allclose(share_left(table - table.mean(axis=1, keepdims=True)), 0, atol=1e-15)


def test_half_of_four_parts_against_one_is_left():
    assert_array_equal(share_left(np.array([[3.0, -1.0]])), [0.5])


def test_weights_sum_to_one_whatever_their_signs(table):
    assert_allclose(weights_of(table).sum(axis=1), 1, rtol=0, atol=1e-13)
    assert_array_equal(weights_of(np.array([[3.0, -1.0]])), [[1.5, -0.5]])


def test_only_negative_weights_lead_outside(table, rng):
    value = rng.standard_normal(9)
    assert outside_share(weights_of(abs(table)), value) == 0
    assert outside_share(np.array([[1.5, -0.5], [0.5, 0.5]]), np.array([1.0, 0.0])) == 0.5
    assert outside_share(np.array([[-0.5, 1.5], [-0.5, 1.5]]), np.array([1.0, 0.0])) == 1


def test_rounding_does_not_lead_outside():
    weights = np.full((1, 10), 0.1)
    assert outside_share(weights / weights.sum(), np.full(10, 0.7)) == 0
    assert outside_share(weights * (1 + 4e-16), np.full(10, 0.7)) == 0


def test_a_symmetric_table_has_no_asymmetry(rng):
    table = rng.standard_normal((7, 7))
    assert asymmetry(table + table.T) == 0
    assert_allclose(asymmetry(table - table.T), 1, rtol=1e-15)
    assert asymmetry(np.array([[0.0, 1.0], [0.0, 0.0]])) == pytest.approx(0.5**0.5)
    assert asymmetry(3 * table) == pytest.approx(asymmetry(table), rel=1e-14)


def test_a_scalar_product_has_no_negative_eigenvalue(rng):
    points = rng.standard_normal((7, 3))
    assert negative_eigenvalue(points @ points.T) < 1e-14
    assert negative_eigenvalue(np.exp(points @ points.T)) < 1e-14


def test_a_form_of_both_signs_has_one():
    assert negative_eigenvalue(np.diag([4.0, -1.0])) == 0.25
    assert negative_eigenvalue(np.diag([1.0, -4.0])) == 1
    # A rotation has no symmetric part beside the identity's.
    assert negative_eigenvalue(np.array([[1.0, -2.0], [2.0, 1.0]])) == 0
