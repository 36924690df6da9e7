"""An impulse on a ring: evenly spaced keys, one of which was observed to be one."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from lowpass.data import GENERATORS
from lowpass.impulses import impulse
from lowpass.registry import Refusal


def test_every_wave_has_the_same_share():
    assert_allclose(np.fft.rfft(impulse(n_keys=10)["value"]), 1)


@pytest.mark.parametrize("spacing", [1.0, 0.1])
def test_keys_go_once_around(spacing):
    made = impulse(n_keys=7, spacing=spacing)
    closed = np.append(made["key_position"][:, 0], made["period"])
    assert_allclose(np.diff(closed), spacing)
    assert made["key_position"].shape == (7, 1)


def test_nothing_is_drawn_and_all_that_is_promised_is_given():
    facts = GENERATORS.facts("impulse")
    assert facts["certain"]
    assert set(facts["gives"]) == {"values", "circle", "grid"}
    assert_array_equal(impulse(n_keys=5)["value"], [1, 0, 0, 0, 0])


def test_a_ring_of_two_is_refused():
    with pytest.raises(Refusal, match=r"impulse got n_keys = 2; .* at least 3"):
        impulse(n_keys=2)
