"""Waves at evenly spaced keys, by differences and symmetry."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from lowpass.designs import wave


def test_keys_are_midpoints_that_a_third_of_keeps_midpoints():
    place = wave(n_keys=45)["key_position"][:, 0]
    assert_allclose(place, (np.arange(45) + 0.5) / 45, rtol=1e-15)
    assert_allclose(place[1::3], wave(n_keys=15)["key_position"][:, 0], rtol=1e-15)


@pytest.mark.parametrize("shift", [0.0, 0.125, 0.7])
def test_derivatives_are_limits_of_differences(shift):
    made = wave(n_keys=2001, shift=shift)
    step = 1 / 2001
    first = (np.roll(made["truth"], -1) - np.roll(made["truth"], 1)) / (2 * step)
    second = (np.roll(made["truth"], -1) - 2 * made["truth"] + np.roll(made["truth"], 1)) / step**2
    # The next term of either is below (2π)⁴ step² / 6.
    assert_allclose(made["truth_slope"], first, atol=1e-4)
    assert_allclose(made["truth_curvature"], second, atol=1e-3)


def test_ends_meet():
    """The wave half a step before the first key is that half a step behind the last."""
    made = wave(n_keys=64, shift=0.2)
    assert made["period"] == 1
    assert_allclose(np.fft.rfft(made["truth"])[2:], 0, atol=1e-12)


def test_the_shift_moves_the_curve_along():
    assert_allclose(
        wave(n_keys=40, shift=0.25)["truth"],
        np.roll(wave(n_keys=40, shift=0.0)["truth"], -10),
        atol=1e-14,
    )
    assert wave(n_keys=4, noise=0.3)["noise"] == 0.3
