"""Tokens of a known density, and the generators of three kernels against integrals."""

from __future__ import annotations

import numpy as np
import pytest
from mpmath import besseli, mp
from numpy.testing import assert_allclose

from lowpass.continuum import (
    dense_ring,
    layer_generator,
    limit_generator,
    quantiles,
    relative_error,
)
from lowpass.kernels import attend

KERNEL_OF = {2.0: "softmax", 1.0: "sinkhorn", 0.0: "density_corrected"}
DRIFT = np.array([2.0, 1.0, 0.0])


def angles(n_tokens: int = 320, modulation: float = 0.5) -> np.ndarray:
    """Give the angles of tokens."""
    x = dense_ring(n_tokens=n_tokens, modulation=modulation)["x"][0]
    return np.arctan2(x[:, 1], x[:, 0])


def generated(kernel: str, h: float, n_tokens: int = 320, modulation: float = 0.5) -> np.ndarray:
    """Apply one layer's generator to the coordinates."""
    x = dense_ring(n_tokens=n_tokens, modulation=modulation)["x"][0]
    a = attend(x, x, score="l2", kernel=kernel, mask="none", beta=h**-2)
    return layer_generator(x, a @ x, np.array(h**-2))


def wanted(n_tokens: int = 320, modulation: float = 0.5) -> np.ndarray:
    """Give the three differential operators, drift by drift."""
    made = dense_ring(n_tokens=n_tokens, modulation=modulation)
    return limit_generator(made["x"][0], made["log_density_slope"], DRIFT)


# Where tokens lie.


@pytest.mark.parametrize("modulation", [0.0, 0.5, 0.999])
def test_tokens_divide_the_density_into_equal_shares(modulation):
    angle = quantiles(97, modulation)
    share = (angle + modulation * np.sin(angle) + np.pi) / (2 * np.pi)
    assert_allclose(share, (np.arange(97) + 0.5) / 97, rtol=0, atol=3e-16)
    assert (np.diff(angle) > 0).all()
    assert_allclose(angle, -angle[::-1], rtol=0, atol=1e-12)


def test_an_angle_solves_the_equation_of_kepler():
    """In thirty digits, from the equation for the eccentric anomaly θ + π."""
    mp.dps = 30
    mean = 2 * mp.pi * mp.mpf("10.5") / 64
    anomaly = mp.findroot(lambda e: e - mp.mpf("0.75") * mp.sin(e) - mean, mean)
    assert_allclose(quantiles(64, 0.75)[10], float(anomaly - mp.pi), rtol=1e-15)


def test_equal_shares_of_a_uniform_density_are_equal_steps():
    assert_allclose(np.diff(quantiles(40, 0.0)), 2 * np.pi / 40, rtol=1e-13)


def test_the_slope_is_that_of_the_log_density():
    made, angle = dense_ring(n_tokens=50, modulation=0.6), angles(50, 0.6)
    step = 1e-5
    log = [np.log(1 + 0.6 * np.cos(angle + shift)) for shift in (step, -step)]
    slope = (log[0] - log[1]) / (2 * step)
    assert_allclose(made["log_density_slope"], slope, rtol=1e-8, atol=1e-9)


def test_tokens_lie_at_their_angles_on_the_unit_circle():
    x = dense_ring(n_tokens=9)["x"]
    assert x.shape == (1, 9, 2)
    assert_allclose(x[0, :, 0] + 1j * x[0, :, 1], np.exp(1j * quantiles(9, 0.5)), rtol=1e-15)


def test_a_mean_over_tokens_is_an_integral_over_the_density():
    """Of cos 3θ + cos θ against (1 + a cos θ)/2π: a/2, to rounding at sixty tokens."""
    angle = angles(60, 0.4)
    assert_allclose((np.cos(3 * angle) + np.cos(angle)).mean(), 0.2, rtol=1e-14)


# What kernels generate.


def test_the_limit_is_a_second_derivative_with_a_drift(rng):
    """Differences of f = cos, sin, and of log p = log(1 + a cos), on either side of a token."""
    made, angle = dense_ring(n_tokens=11, modulation=0.3), angles(11, 0.3)
    step = 1e-4
    found = limit_generator(made["x"][0], made["log_density_slope"], DRIFT)
    for feature, f in enumerate((np.cos, np.sin)):
        below, here, above = (f(angle + shift) for shift in (-step, 0, step))
        second, first = (above - 2 * here + below) / step**2, (above - below) / (2 * step)
        for place, drift in enumerate(DRIFT):
            direct = second + drift * made["log_density_slope"] * first
            assert_allclose(found[place, :, feature], direct, atol=1e-6)


@pytest.mark.parametrize("h", [0.4, 0.1])
def test_softmax_is_a_ratio_of_bessel_functions(h):
    """Row by row ∫ e^{β cos(θ-φ)} (1 + a cos φ) f(φ) dφ over the same without f."""
    mp.dps = 30
    a, beta = 0.5, mp.mpf(1) / mp.mpf(h) ** 2
    i0, i1, i2 = (besseli(order, beta) for order in range(3))
    found = generated("softmax", h)
    for token, angle in enumerate(angles()[::8]):
        t = mp.mpf(float(angle))
        whole = i0 + a * i1 * mp.cos(t)
        cosine = i1 * mp.cos(t) + mp.mpf(a) / 2 * (i0 + i2 * mp.cos(2 * t))
        sine = i1 * mp.sin(t) + mp.mpf(a) / 2 * i2 * mp.sin(2 * t)
        exact = [float(2 * beta * (part / whole - f(t))) for part, f in
                 ((cosine, mp.cos), (sine, mp.sin))]  # fmt: skip
        assert_allclose(found[8 * token], exact, rtol=1e-10, atol=1e-11)


def by_quadrature(kernel: str, h: float) -> np.ndarray:
    """Solve the same problem with integrals over evenly spaced angles, at the tokens' places."""
    beta, node = h**-2, 2 * np.pi * np.arange(256) / 256
    p = 1 + 0.5 * np.cos(node)
    between = np.exp(beta * (np.cos(node[:, None] - node) - 1))
    weight = {"softmax": p, "density_corrected": p / (between @ p)}.get(kernel, p)
    if kernel == "sinkhorn":
        u = np.ones(256)
        for _ in range(80):
            u = np.sqrt(u / (between @ (p * u)))
        weight = p * u
    angle = angles()
    seen = np.exp(beta * (np.cos(angle[:, None] - node) - 1)) * weight
    f, here = (np.stack([np.cos(t), np.sin(t)], axis=-1) for t in (node, angle))
    return 2 * beta * (seen @ f / seen.sum(axis=-1, keepdims=True) - here)


@pytest.mark.parametrize("kernel", KERNEL_OF.values())
def test_sums_over_tokens_are_integrals_over_the_density(kernel):
    assert_allclose(generated(kernel, 0.2), by_quadrature(kernel, 0.2), rtol=0, atol=1e-10)


@pytest.mark.parametrize("kernel", KERNEL_OF.values())
def test_more_tokens_change_nothing_once_they_are_near_enough(kernel):
    """At 160 tokens the widest spacing is 0.4 h, and what a sum misses is below rounding."""
    few, many = (relative_error(generated(kernel, 0.2, n), wanted(n)[0]) for n in (160, 320))
    assert_allclose(few, many, rtol=1e-12)


@pytest.mark.parametrize(("drift", "kernel"), KERNEL_OF.items())
def test_each_kernel_tends_to_its_own_operator_and_to_no_other(drift, kernel):
    """The error of its own falls fourfold as h is halved; those of the others stay."""
    errors = np.array([relative_error(generated(kernel, h)[None], wanted()) for h in (0.1, 0.05)])
    own = DRIFT == drift
    assert_allclose(errors[0, own] / errors[1, own], 4, rtol=0.02)
    assert errors[1, own].item() < 2e-3
    assert (errors[:, ~own] > 0.25).all()


@pytest.mark.parametrize("kernel", KERNEL_OF.values())
def test_on_a_uniform_ring_every_kernel_tends_to_heat(kernel):
    """There each is the von Mises kernel, and its error 1 - 2β(1 - I₁/I₀), about h²/4."""
    found = generated(kernel, 0.2, modulation=0.0)
    ratio = float(besseli(1, 25) / besseli(0, 25))
    for operator in wanted(modulation=0.0):
        assert_allclose(relative_error(found, operator), abs(50 * (1 - ratio) - 1), rtol=1e-8)
