"""Gains on a ring against sums, integrals, and each other's limits."""

from __future__ import annotations

import numpy as np
import pytest
from mpmath import mp
from numpy.testing import assert_allclose

from lowpass.diffusion import heat_kernel
from lowpass.graphs import GRAPHS
from lowpass.kernels import attend
from lowpass.laplacians import LAPLACIANS
from lowpass.modes import eigenvalues
from lowpass.ring import (
    bessel_gain,
    circle_heat,
    gaussian_gain,
    ring_eigenvalue,
    ring_heat_gain,
    ring_time,
    shortened_circle,
)


def ring_laplacian(n_tokens: int) -> np.ndarray:
    return LAPLACIANS["combinatorial"](GRAPHS["ring"](np.zeros((n_tokens, 1)), None, 1.0))


@pytest.mark.parametrize("n_tokens", [3, 4, 7, 96, 97])
def test_the_eigenvalues_of_a_ring_come_in_pairs_of_frequencies(n_tokens):
    expected = np.sort(ring_eigenvalue(2 * np.pi * np.arange(n_tokens) / n_tokens))
    ours = eigenvalues(ring_laplacian(n_tokens))
    assert ours[0] == 0
    assert_allclose(ours, expected, rtol=1e-13, atol=1e-29)


def test_the_eigenvalue_keeps_its_digits_at_low_frequency():
    """2 - 2 cos ω would have none left at ω = 1e-9."""
    assert_allclose(ring_eigenvalue(1e-9), 1e-18, rtol=1e-15)
    omega = np.linspace(0, np.pi, 9)
    assert_allclose(ring_eigenvalue(omega), 2 - 2 * np.cos(omega), atol=1e-15)


@pytest.mark.parametrize("n_tokens", [12, 13])
def test_heat_on_a_ring_multiplies_plane_waves(n_tokens):
    omega = 2 * np.pi * np.arange(n_tokens) / n_tokens
    wave = np.exp(1j * np.outer(np.arange(n_tokens), omega))
    kernel = heat_kernel(ring_laplacian(n_tokens), 0.7)
    assert_allclose(kernel @ wave, wave * ring_heat_gain(omega, 0.7), atol=1e-14)


@pytest.mark.parametrize("beta", [0.5, 4.0, 30.0])
def test_attention_on_a_circle_has_the_bessel_gain_and_its_aliases(beta):
    """R11 with the sum over aliases, which is exact for every number of tokens."""
    angle = 2 * np.pi * np.arange(12) / 12
    x = np.stack([np.cos(angle), np.sin(angle)], axis=-1)
    a = attend(x, x, score="l2", kernel="softmax", mask="none", beta=beta)
    alias = 12 * np.arange(-12, 13)
    power = bessel_gain(np.arange(12)[:, None] + alias, beta).sum(axis=1)
    assert_allclose(np.fft.fft(a[0]), power / power[0], atol=1e-15)


@pytest.mark.parametrize("beta", [0.3, 2.0, 50.0])
@pytest.mark.parametrize("k", [0, 1, 5])
def test_the_bessel_gain_is_a_mean_of_cosines(k, beta):
    """The integral of DLMF 10.32.3 by quadrature with 30 digits."""
    with mp.workdps(30):
        weight = [
            mp.quad(lambda t, j=j: mp.exp(beta * (mp.cos(t) - 1)) * mp.cos(j * t), [0, 1, mp.pi])
            for j in (k, 0)
        ]
        assert_allclose(bessel_gain(k, beta), float(weight[0] / weight[1]), rtol=1e-13)


def test_gains_begin_at_one_and_fall():
    k = np.arange(40)
    for gain in (bessel_gain(k, 7.0), gaussian_gain(k, 7.0)):
        assert gain[0] == 1
        assert (np.diff(gain) < 0).all()
        assert (gain > 0).all()


def test_without_contrast_only_the_mean_is_left():
    k = np.arange(5)
    assert np.array_equal(bessel_gain(k, 0.0), [1, 0, 0, 0, 0])
    assert np.array_equal(gaussian_gain(k, 0.0), [1, 0, 0, 0, 0])
    assert np.array_equal(gaussian_gain(k, np.zeros((2, 1)))[1], [1, 0, 0, 0, 0])


def test_gains_take_a_column_of_temperatures():
    k, beta = np.arange(6), np.array([0.5, 3.0])
    for gain in (bessel_gain, gaussian_gain):
        both = gain(k, beta[:, None])
        assert both.shape == (2, 6)
        assert np.array_equal(both[1], gain(k, 3.0))


@pytest.mark.parametrize("k", [1, 2, 5])
def test_one_mode_of_attention_nears_the_heat_equation_at_second_order(k):
    """Their logarithms differ by k²/4β² and terms of the next order."""
    beta = np.array([1e3, 2e3, 4e3])
    apart = np.log(gaussian_gain(k, beta) / bessel_gain(k, beta))
    assert (np.abs(apart * 4 * beta**2 / k**2 - 1) * beta < 8).all()


def test_all_modes_of_attention_near_the_heat_equation_at_first_order():
    """With k² = β u the distance is e^{-u/2} |u/4 - u²/24| / β, at its largest near u = 1.4."""
    u = np.linspace(0, 40, 400001)
    constant = np.abs(np.exp(-u / 2) * (u / 4 - u**2 / 24)).max()
    for beta in (1e4, 1e5):
        k = np.arange(3000)
        apart = np.abs(gaussian_gain(k, beta) - bessel_gain(k, beta)).max()
        assert_allclose(apart * beta, constant, rtol=1e-3)


@pytest.mark.parametrize("k", [1, 2, 5])
def test_a_ring_nears_attention_at_the_matched_time(k):
    """At fixed n the error is π²k⁴/6n²β + k²/4β² and less: slope one, then two."""
    n_tokens, beta = 96, np.array([5e2, 1e3, 1e5, 1e6])
    gain = ring_heat_gain(2 * np.pi * k / n_tokens, ring_time(n_tokens, beta))
    apart = np.log(gain / bessel_gain(k, beta))
    coarse = np.pi**2 * k**4 / (6 * n_tokens**2 * beta)
    assert_allclose(apart / (coarse + k**2 / (4 * beta**2)), 1, atol=2e-2)


def test_a_fine_ring_is_a_circle():
    """The first term of that error falls as 1/n²."""
    k, beta = 3, 5.0
    n_tokens = np.array([100, 200, 400])
    omega = 2 * np.pi * k / n_tokens
    gain = [
        ring_heat_gain(w, ring_time(int(n), beta)) for w, n in zip(omega, n_tokens, strict=True)
    ]
    apart = np.log(np.array(gain) / gaussian_gain(k, beta))
    assert_allclose(apart * n_tokens**2, np.pi**2 * k**4 / (6 * beta), rtol=2e-3)


@pytest.mark.parametrize("n_tokens", [12, 13])
def test_the_heat_equation_damps_each_wave_by_its_square(n_tokens, rng):
    angle = 2 * np.pi * np.arange(n_tokens) / n_tokens
    x = np.stack([np.cos(2 * angle), 3 + np.sin(5 * angle)], axis=-1)
    expected = x * np.exp(-0.3 * np.array([4.0, 25.0])) + [0, 3 * (1 - np.exp(-0.3 * 25))]
    assert_allclose(circle_heat(x, 0.3), expected, rtol=0, atol=1e-14)
    many = rng.standard_normal((2, n_tokens, 3))
    assert_allclose(circle_heat(circle_heat(many, 0.1), 0.2), circle_heat(many, 0.3), atol=1e-14)
    assert_allclose(circle_heat(many, np.inf)[:, 0], many.mean(axis=1), atol=1e-15)


def test_a_circle_shortens_at_the_speed_of_its_curvature():
    """Area shrinks at the rate 2π whatever the radius; then a point is left."""
    angle = 2 * np.pi * np.arange(16) / 16
    x = [1.0, -2.0] + 1.5 * np.stack([np.cos(angle), np.sin(angle)], axis=-1)
    for time in (0.0, 0.4, 1.0):
        radius = np.linalg.norm(shortened_circle(x, time) - [1.0, -2.0], axis=-1)
        assert_allclose(np.pi * radius**2, np.pi * 1.5**2 - 2 * np.pi * time, rtol=1e-13)
    assert_allclose(shortened_circle(x, 2.0), np.broadcast_to([1.0, -2.0], x.shape), rtol=1e-15)
    assert np.array_equal(shortened_circle(np.ones((3, 2)), 1.0), np.ones((3, 2)))
