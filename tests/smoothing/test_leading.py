"""Constants of the limit, against integrals of many digits and against errors near it."""

from __future__ import annotations

import numpy as np
import pytest
from mpmath import mp, quad
from numpy.testing import assert_allclose

from lowpass.registry import Refusal
from lowpass.smoothing.errors import pointwise_errors
from lowpass.smoothing.leading import (
    bias_constant,
    leading_error,
    partial_moments,
    variance_constant,
)
from lowpass.smoothing.profiles import PROFILES

KERNELS = [name for name in PROFILES if PROFILES.facts(name)["reads"] == "squared distance"]
FORMULAS = {
    "gaussian": lambda u: mp.exp(-(u**2) / 2),
    "laplace": lambda u: mp.exp(-abs(u)),
    "epanechnikov": lambda u: 1 - u**2,
    "tricube": lambda u: (1 - abs(u) ** 3) ** 3,
    "triangle": lambda u: 1 - abs(u),
    "boxcar": lambda u: mp.mpf(1),
}
N = 20_001
PLACE = (np.arange(N) + 0.5) / N


def integral(kernel: str, power: int, room: float, of: int = 1) -> float:
    """Integrate in thirty digits."""
    mp.dps = 30
    end = mp.inf if np.isinf(PROFILES.facts(kernel)["support"]) else 1
    ends = [-min(mp.mpf(room), end), 0, end]
    return float(quad(lambda u: u**power * FORMULAS[kernel](u) ** of, ends))


# Laws.


@pytest.mark.parametrize("kernel", KERNELS)
def test_moments_are_integrals(kernel):
    found = partial_moments(kernel, np.array(0.4))
    assert_allclose(found, [integral(kernel, r, 0.4) for r in range(4)], rtol=0, atol=1e-12)


@pytest.mark.parametrize("kernel", KERNELS)
def test_far_from_the_ends_constants_are_those_of_the_kernel(kernel):
    facts = PROFILES.facts(kernel)
    far = np.array(np.inf)
    assert bias_constant(kernel, 0, far) == pytest.approx(0, abs=1e-14)
    assert bias_constant(kernel, 1, far) == pytest.approx(facts["variance"] / 2, rel=1e-12)
    assert variance_constant(kernel) == pytest.approx(facts["roughness"], rel=1e-12)


@pytest.mark.parametrize(("degree", "curve"), [(0, PLACE), (1, PLACE**2 / 2)])
@pytest.mark.parametrize("kernel", KERNELS)
def test_constants_are_biases_of_curves_that_have_one_derivative(kernel, degree, curve):
    """At the end, and within half of the kernel from it; sums differ from integrals by 1/nh."""
    h = 0.02
    bias = pointwise_errors(curve, h, kernel=kernel, degree=degree).bias
    at = np.array([0, N // 100])
    wanted = bias_constant(kernel, degree, PLACE[at] / h)
    assert_allclose(bias[at] / h ** (1 + degree), wanted, atol=6e-3)


@pytest.mark.parametrize("degree", [0, 1])
@pytest.mark.parametrize("kernel", KERNELS)
def test_the_best_bandwidth_balances_the_two_terms(kernel, degree):
    slope, bend = np.cos(3 * PLACE), np.sin(9 * PLACE)
    leading = leading_error(slope, bend, 0.3, kernel=kernel, degree=degree)
    h = leading.bandwidth(1000.0)
    around = [
        leading.bias * x**leading.power + leading.variance / (1000 * x)
        for x in (0.99 * h, h, 1.01 * h)
    ]
    assert leading.error(1000.0) == pytest.approx(around[1], rel=1e-14)
    assert around[1] < min(around[0], around[2])


# Closed forms.


def test_at_the_end_of_a_gaussian_there_are_closed_forms():
    """K09: √(2/π) h f′, and (π - 4)/(2π - 4) h² f″/2 + ... from half moments ½, 1/√2π, ½, 2/√2π."""
    end = np.array(0.0)
    assert bias_constant("gaussian", 0, end) == pytest.approx(np.sqrt(2 / np.pi), rel=1e-13)
    wanted = (1 / 4 - 1 / np.pi) / (1 / 4 - 1 / (2 * np.pi)) / 2
    assert bias_constant("gaussian", 1, end) == pytest.approx(wanted, rel=1e-12)


def test_a_boxcar_has_rational_constants():
    """μᵣ = 1/(r + 1): the mean of [0, 1] is ½, and (1/9 - 1/8)/(2 (1/3 - 1/4)) = -1/12."""
    end = np.array(0.0)
    assert bias_constant("boxcar", 0, end) == pytest.approx(1 / 2, rel=1e-14)
    assert bias_constant("boxcar", 1, end) == pytest.approx(-1 / 12, rel=1e-13)


def test_the_interior_of_a_gaussian_has_the_textbook_bandwidth():
    """(σ² / (2√π n ∫f″²))^(1/5) for κ = 1."""
    slope, bend = 2 * np.pi * np.cos(2 * np.pi * PLACE), 4 * np.pi**2 * np.sin(2 * np.pi * PLACE)
    leading = leading_error(slope, bend, 0.5, ends="joined")
    wanted = (0.25 / (2 * np.sqrt(np.pi) * 500 * 8 * np.pi**4)) ** 0.2
    assert leading.bandwidth(500) == pytest.approx(wanted, rel=1e-12)
    assert leading.error(500) == pytest.approx(5 / 4 * leading.variance / (500 * wanted))


def test_the_ends_of_a_boxcar_lead_with_a_rational_factor():
    """μ₁/μ₀ = (1 - c²)/2(1 + c) = (1 - c)/2, whose square integrates to 1/12."""
    leading = leading_error(np.full(N, 3.0), np.ones(N), 1.0, kernel="boxcar")
    assert (leading.bias, leading.power) == (pytest.approx(18 / 12, rel=1e-13), 3)


# What is particular.


def test_level_ends_cost_nothing():
    level = leading_error(np.zeros(N), np.ones(N), 1.0)
    assert level == leading_error(np.zeros(N), np.ones(N), 1.0, ends="joined")
    assert level.power == 4


# Refusals.


def test_a_straight_curve_has_no_best_bandwidth():
    with pytest.raises(Refusal, match="the curve is straight, and a line has no bias"):
        leading_error(np.ones(N), np.zeros(N), 1.0, degree=1)
