"""Circles and lines around one query, where weights have fallen by powers of e."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from lowpass.smoothing.axial import along_and_across, contours
from lowpass.smoothing.converters import plain_smoother


@pytest.fixture
def plane(rng):
    return rng.standard_normal(2), rng.standard_normal((9, 2))


def test_turning_keeps_lengths_and_products(plane):
    query, key = plane
    along, across = along_and_across(query, key)
    assert_allclose(np.hypot(along, across), np.hypot(*key.T), rtol=1e-14)
    assert_allclose(along * np.hypot(*query), key @ query, rtol=1e-13)
    assert_allclose(along_and_across(query, query[None]), [[np.hypot(*query)], [0]], atol=1e-15)


def test_a_quarter_turn_to_the_left_is_across():
    along, across = along_and_across(np.array([0.0, 2.0]), np.array([[0.0, 3.0], [-3.0, 0.0]]))
    assert_allclose(along, [3, 0], atol=1e-15)
    assert_allclose(across, [0, 3], atol=1e-15)


def test_a_key_on_the_mth_contour_has_lost_m_powers_of_e():
    norm, radius, t = 1.3, 2.9, 0.4
    lines, m = contours(norm, radius, t, 6), np.arange(1, 7)
    assert_allclose(-(lines.radius**2) / (2 * t), -m, rtol=1e-14)
    assert_allclose((norm * lines.along - norm * radius) / t, -m, rtol=1e-13)
    lost = ((radius - norm) ** 2 - lines.lifted_radius**2) / (2 * t)
    assert_allclose(lost, -m, rtol=1e-13)


def test_circles_meet_the_lifted_keys_on_the_lines(plane):
    """The half-plane of way along and distance from the axis holds every lifted key on a circle."""
    query, key = plane
    norm, radius = np.hypot(*query), np.hypot(*key.T).max()
    along, across = along_and_across(query, key)
    away = np.hypot(across, plain_smoother(query[None], key, 1.0).key[:, 2])
    assert_allclose(np.hypot(along, away), radius, rtol=1e-14)
    lines = contours(norm, radius, 0.1, 5)
    height = np.sqrt(radius**2 - lines.along**2)
    assert_allclose(np.hypot(lines.along - norm, height), lines.lifted_radius, rtol=1e-13)
