"""Smoothing kernels by quadrature, as textbooks write them, and beside attention kernels."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from numpy.testing import assert_allclose

from lowpass.kernels import KERNELS
from lowpass.registry import Refusal
from lowpass.smoothing.profiles import PROFILES, constant

DISTANCE = [name for name in PROFILES if PROFILES.facts(name)["reads"] == "squared distance"]
COMPACT = [name for name in DISTANCE if PROFILES.facts(name)["support"] == 1]
# Weights at a distance of u bandwidths, as textbooks have them up to a factor.
TEXTBOOK = {
    "gaussian": lambda u: mpmath.exp(-(u**2) / 2),
    "laplace": lambda u: mpmath.exp(-u),
    "epanechnikov": lambda u: 1 - u**2,
    "tricube": lambda u: (1 - u**3) ** 3,
    "triangle": lambda u: 1 - u,
    "boxcar": lambda u: mpmath.mpf(1),
}


def weight(name: str, u) -> np.ndarray:
    """Weigh a distance in units of the bandwidth."""
    return np.exp(PROFILES[name](np.square(np.asarray(u, dtype=float))))


def integral(name: str, integrand) -> mpmath.mpf:
    """Integrate over the line a function of u and K(u), with K from a textbook."""
    end = 1 if name in COMPACT else mpmath.inf
    return 2 * mpmath.quad(lambda u: integrand(u, TEXTBOOK[name](u)), [0, end])


def transform(name: str, frequency: float) -> float:
    """Sum the Fourier integral of a kernel as the code weighs, by a fine midpoint rule."""
    u = (np.arange(8_000) + 0.5) * (1 if name in COMPACT else 40) / 8_000
    return float((weight(name, u) * np.cos(frequency * u)).sum() / weight(name, u).sum())


@pytest.mark.parametrize("name", DISTANCE)
def test_a_kernel_is_that_of_the_textbook(name):
    u = np.linspace(0, 0.99, 34)
    shape = [float(TEXTBOOK[name](mpmath.mpf(each))) for each in u]
    assert_allclose(weight(name, u), shape, rtol=1e-13)


@pytest.mark.parametrize("name", DISTANCE)
def test_the_variance_is_that_of_the_kernel(name):
    ratio = integral(name, lambda u, k: u**2 * k) / integral(name, lambda u, k: k)
    assert_allclose(constant(name, "variance"), float(ratio), rtol=1e-14)


@pytest.mark.parametrize("name", DISTANCE)
def test_the_roughness_is_that_of_the_kernel(name):
    ratio = integral(name, lambda u, k: k**2) / integral(name, lambda u, k: k) ** 2
    assert_allclose(constant(name, "roughness"), float(ratio), rtol=1e-14)


@pytest.mark.parametrize("name", DISTANCE)
def test_a_kernel_is_low_pass_where_no_frequency_turns_its_sign(name):
    """The midpoint rule errs by 1e-6 at most, and negative lobes reach -1e-3 at least."""
    gains = [transform(name, frequency) for frequency in np.linspace(0.1, 40, 80)]
    assert (min(gains) > -1e-5) == constant(name, "low_pass")
    assert constant(name, "low_pass") or min(gains) < -1e-3


@pytest.mark.parametrize("name", DISTANCE)
def test_weights_fall_and_are_one_at_the_query(name):
    w = weight(name, np.linspace(0, 1.5, 61))
    assert w[0] == 1
    assert (np.diff(w) <= 0).all()


@pytest.mark.parametrize("name", DISTANCE)
def test_weights_end_at_the_support(name):
    end = PROFILES.facts(name)["support"]
    assert (PROFILES[name](np.array([1.1**2, 300.0])) == -np.inf).tolist() == [end == 1] * 2


@pytest.mark.parametrize("name", DISTANCE)
def test_weights_beyond_the_reach_are_lost_in_rounding(name):
    """Of the integral, not more than half a unit of the last digit lies beyond."""
    reach = PROFILES.facts(name)["reach"]
    beyond = 0 if name in COMPACT else mpmath.quad(TEXTBOOK[name], [reach, mpmath.inf])
    assert 2 * beyond < integral(name, lambda u, k: k) * np.finfo(float).eps / 2


def test_a_boxcar_alone_counts_its_edge():
    """Though 3 × 0.1 / 0.3 is above one in floats."""
    edge = (3 * 0.1 / 0.3) ** 2
    assert edge > 1
    assert [name for name in COMPACT if PROFILES[name](np.array([edge]))[0] > -np.inf] == ["boxcar"]


def test_the_weight_of_a_product_is_its_exponential():
    assert PROFILES["exp_dot"](np.array([2.5])) == 2.5


@pytest.mark.parametrize("name", [name for name in DISTANCE if name in KERNELS])
def test_an_attention_kernel_of_the_same_name_weighs_alike(name, rng):
    squared = rng.uniform(0, 1, (4, 7))
    ours = np.exp(PROFILES[name](squared))
    assert_allclose(ours / ours.sum(axis=1, keepdims=True), KERNELS[name](-squared / 2), rtol=1e-12)


def test_softmax_is_the_attention_kernel_of_the_gaussian(rng):
    squared = rng.uniform(0, 50, (4, 7))
    ours = np.exp(PROFILES["gaussian"](squared))
    theirs = KERNELS["softmax"](-squared / 2)
    assert_allclose(ours / ours.sum(axis=1, keepdims=True), theirs, rtol=1e-13)


@pytest.mark.parametrize("name", ["variance", "roughness", "low_pass"])
def test_a_kernel_of_a_product_has_no_constants(name):
    with pytest.raises(
        Refusal, match=rf"^the kernel 'exp_dot' has no {name}: .* Use .* such as 'gaussian'\.$"
    ):
        constant("exp_dot", name)


def test_supports_are_one_bandwidth_or_without_end():
    assert {PROFILES.facts(name)["support"] for name in PROFILES} == {1.0, math.inf}
