"""Plug-in bandwidths of curves whose curvature and scatter are known."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from lowpass.registry import Refusal
from lowpass.smoothing.plugin import blockwise, cubic_curvature, line, plug_in, rule_of_thumb
from lowpass.smoothing.profiles import PROFILES

RULES = [rule_of_thumb, plug_in]
KEY = np.linspace(-1, 1, 200)
# Orthogonal to every polynomial of low degree, nearly, and of mean square one.
ALTERNATING = (-1.0) ** np.arange(200)


def best(scatter: float, curvature: float) -> float:
    """Give the bandwidth of the formula, for a Gaussian on this design."""
    return (scatter * 2 / (2 * math.sqrt(math.pi) * 200 * curvature)) ** 0.2


# Laws.


@pytest.mark.parametrize("rule", RULES)
def test_the_units_of_the_key_are_those_of_the_bandwidth(rule):
    value = np.cos(3 * KEY) + 0.1 * ALTERNATING
    assert_allclose(rule(1e3 * KEY + 5e4, 7 * value), 1e3 * rule(KEY, value), rtol=1e-7)


@pytest.mark.parametrize("rule", RULES)
def test_a_line_that_is_added_changes_nothing(rule):
    value = np.cos(3 * KEY) + 0.1 * ALTERNATING
    assert_allclose(rule(KEY, value + 40 - 9 * KEY), rule(KEY, value), rtol=1e-7)


@pytest.mark.parametrize("rule", RULES)
def test_the_order_of_observations_does_not_matter(rule, rng):
    value, p = np.cos(3 * KEY) + 0.1 * ALTERNATING, rng.permutation(200)
    assert_allclose(rule(KEY[p], value[p]), rule(KEY, value), rtol=1e-10)


@pytest.mark.parametrize("rule", RULES)
def test_a_kernel_enters_by_its_constants(rule):
    """Epanechnikov's h is 15^(1/5), or 1.719, where a Gaussian's is 0.776."""
    value = np.cos(3 * KEY) + 0.1 * ALTERNATING
    factor = rule(KEY, value, kernel="epanechnikov") / rule(KEY, value)
    assert_allclose(factor, (15 * 2 * math.sqrt(math.pi)) ** 0.2, rtol=1e-12)


# Closed forms.


def test_a_quartic_gives_the_rule_of_thumb_its_numbers():
    """m = x² + x⁴ bends by 2 + 12 x², and ±s leaves a variance of n s² / (n - 5)."""
    curvature = np.square(2 + 12 * KEY**2).mean()
    value = KEY**2 + KEY**4 + 0.3 * ALTERNATING
    # The alternating errors project on five polynomials by about 1/n.
    assert_allclose(rule_of_thumb(KEY, value), best(0.09 * 200 / 195, curvature), rtol=1e-3)


def test_a_parabola_gives_the_plug_in_its_numbers():
    """m = 2x² bends by 4 for every local cubic, and a local line leaves ±s.

    What it leaves is divided by a tenth less than n, which random errors would need, so that
    the fifth root is two per cent large.
    """
    value = 2 * KEY**2 + 0.05 * ALTERNATING
    inner = slice(2, 198)
    trimmed = best(0.0025, 16.0) * (np.ptp(KEY[inner]) / 2 * 200 / 196) ** 0.2
    assert_allclose(plug_in(KEY, value), trimmed, rtol=4e-2)


@pytest.mark.parametrize("bandwidth", [0.05, 0.3, 5.0])
def test_a_local_cubic_has_the_curvature_of_a_cubic(bandwidth):
    value = KEY**3 - 2 * KEY**2 + 5 * KEY
    inner = KEY[(abs(KEY) <= 0.9)]
    found = cubic_curvature(line(KEY, value), bandwidth)
    assert_allclose(found, np.square(6 * inner - 4).mean(), rtol=1e-6)


def test_blocks_bend_as_their_polynomials():
    said = blockwise(line(KEY, KEY**4), 3)
    assert_allclose(said.curvature, np.square(12 * KEY**2).mean(), rtol=1e-8)
    assert_allclose(said.cross, (12 * KEY**2 * 24).mean(), rtol=1e-8)
    assert said.squares < 1e-20


@pytest.mark.parametrize("rule", RULES)
def test_a_plug_in_is_near_the_best_bandwidth_for_the_truth(rule):
    """For sin 3x: the rule of thumb sees a quartic, the plug-in the curve itself."""
    truth = np.sin(3 * KEY)
    value = truth + 0.2 * np.random.default_rng(3).standard_normal(200)
    asymptotic = best(0.04, np.square(9 * np.sin(3 * KEY)).mean())
    assert 0.6 < rule(KEY, value) / asymptotic < 1.6


# Refusals.


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("slope", [0.0, 3.0])
def test_values_on_a_line_have_no_best_bandwidth(rule, slope):
    with pytest.raises(Refusal, match=r"^the values bend by .* the best bandwidth is infinite"):
        rule(KEY, 2 + slope * KEY)


@pytest.mark.parametrize("rule", RULES)
def test_curvature_is_along_one_feature(rule, rng):
    with pytest.raises(Refusal, match=r"^keys have 2 features and values 1 outputs"):
        rule(rng.standard_normal((30, 2)), np.arange(30.0))


@pytest.mark.parametrize("rule", RULES)
def test_few_keys_show_no_scatter(rule):
    key = np.repeat([1.0, 2.0, 3.0], 10)
    with pytest.raises(Refusal, match=r"^3 distinct keys cannot show scatter"):
        rule(key, np.arange(30.0))


@pytest.mark.parametrize("rule", RULES)
def test_a_product_has_no_constants(rule):
    assert "variance" not in PROFILES.facts("exp_dot")
    with pytest.raises(Refusal, match=r"the kernel 'exp_dot' has no roughness"):
        rule(KEY, KEY**2 + 0.1 * ALTERNATING, kernel="exp_dot")


@pytest.mark.parametrize("rule", RULES)
def test_a_key_far_from_all_others_is_refused(rule, rng):
    """From so far off, thirty keys are one, and no polynomial is told by two."""
    key = np.append(rng.standard_normal(30), 1e6)
    with pytest.raises(
        Refusal, match=r"^the \d+ keys from \S+ to \S+ lie so unevenly .* criterion"
    ):
        rule(key, rng.standard_normal(31))
