"""Kernels that end at the bandwidth: by hand on a line, their limits, and whom they leave alone."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from lowpass.kernels import KERNELS, attend
from lowpass.registry import Refusal

COMPACT = [name for name in KERNELS if KERNELS.facts(name).get("reads") == "squared distance"]
# Weights at a distance of u bandwidths, as textbooks have them up to a factor.
PROFILES = {
    "boxcar": lambda u: 1.0,
    "triangle": lambda u: 1 - u,
    "epanechnikov": lambda u: 1 - u**2,
    "tricube": lambda u: (1 - u**3) ** 3,
}


def on_a_line(name: str, bandwidth: float, places: np.ndarray) -> np.ndarray:
    """Attend between places on a line."""
    x = np.asarray(places, dtype=float)[:, None]
    return attend(x, x, score="l2", kernel=name, mask="none", beta=bandwidth**-2)


@pytest.mark.parametrize("name", COMPACT)
@pytest.mark.parametrize("bandwidth", [0.5, 1.5, 2.75, 40.0])
def test_weights_follow_their_profile_up_to_the_bandwidth(name, bandwidth):
    a = on_a_line(name, bandwidth, np.arange(9))
    for i in range(9):
        u = [abs(i - j) / bandwidth for j in range(9)]
        weight = [PROFILES[name](each) if each < 1 else 0.0 for each in u]
        assert_allclose(a[i], np.array(weight) / sum(weight), rtol=1e-13)


@pytest.mark.parametrize("name", COMPACT)
def test_weights_beyond_the_bandwidth_are_exactly_zero(name):
    a = on_a_line(name, 2.5, np.arange(9))
    apart = np.abs(np.arange(9)[:, None] - np.arange(9))
    assert np.array_equal(a > 0, apart <= 2)
    assert np.array_equal(a == 0, apart >= 3)


def test_epanechnikov_weights_by_hand():
    """At h = 2 the weights at distances 0, 1, 2 are 1, 3/4, 0."""
    a = on_a_line("epanechnikov", 2.0, np.arange(3))
    by_hand = [[4 / 7, 3 / 7, 0], [3 / 10, 4 / 10, 3 / 10], [0, 3 / 7, 4 / 7]]
    assert_allclose(a, by_hand, rtol=1e-15)
    assert a[0, 2] == 0


def test_a_key_exactly_at_the_bandwidth_counts_for_a_boxcar_alone():
    for name in COMPACT:
        assert (on_a_line(name, 1.0, np.arange(2))[0, 1] > 0) == (name == "boxcar")


@pytest.mark.parametrize("name", COMPACT)
def test_of_a_wide_kernel_only_a_uniform_average_is_left(name):
    """Profiles fall from one like u at most, and here u ≤ 7e-9."""
    assert_allclose(on_a_line(name, 1e9, np.arange(8)), 1 / 8, rtol=1e-8)


@pytest.mark.parametrize("name", COMPACT)
def test_of_a_narrow_kernel_only_the_key_itself_is_left(name):
    assert np.array_equal(on_a_line(name, 1e-150, np.arange(8)), np.eye(8))


@pytest.mark.parametrize("name", COMPACT)
def test_a_score_that_is_positive_is_refused_by_place(name):
    s = np.full((2, 3, 3), -0.25)
    s[1, 0, 2] = 0.125
    with pytest.raises(
        Refusal,
        match=rf"^score \[1, 0, 2\] is 0\.125; the kernel '{name}' reads minus half a squared "
        r"distance, which is not positive\. Use score 'l2', or kernel 'softmax'\.$",
    ):
        KERNELS[name](s)


@pytest.mark.parametrize("name", COMPACT)
def test_a_query_without_a_key_in_reach_is_refused_with_the_way_out(name):
    s = np.full((2, 3, 3), -0.25)
    s[1, 2] = [-3.0, -2.0, -np.inf]
    with pytest.raises(
        Refusal,
        match=rf"^query \[1, 2\] has no key within the bandwidth of the kernel '{name}': its "
        r"nearest one has the logit -2, and weights end at -0\.5\. Divide beta by more than 4, or "
        r"use kernel 'softmax'\.$",
    ):
        KERNELS[name](s)


@pytest.mark.parametrize("name", COMPACT)
def test_the_way_out_is_one(name):
    s = np.array([[-3.0, -2.0]])
    assert np.array_equal(KERNELS[name](s / 4.01), [[0.0, 1.0]])
