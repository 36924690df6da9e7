"""Symbols against quadrature and against sums over keys; distances against the symbols."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from lowpass.registry import Refusal
from lowpass.smoothing.symbols import (
    HEAT_SUP,
    SYMBOLS,
    deepest_lobe,
    grid_deviation,
    half_power_frequency,
    heat_l1,
    heat_sup,
    layers_deviation,
    ring_symbol,
)

# Each kernel as the textbook draws it, and where it ends.
SHAPES = {
    "gaussian": (lambda u: mpmath.exp(-(u**2) / 2), 9),
    "laplace": (lambda u: mpmath.exp(-u), 40),
    "triangle": (lambda u: 1 - u, 1),
    "boxcar": (lambda u: mpmath.mpf(1), 1),
    "epanechnikov": (lambda u: 1 - u**2, 1),
    "tricube": (lambda u: (1 - u**3) ** 3, 1),
}
NEVER_NEGATIVE = {"gaussian", "laplace", "triangle"}


def transformed(name: str, x: float) -> float:
    """Integrate a kernel against a cosine."""
    shape, end = SHAPES[name]
    pieces = mpmath.linspace(0, end, 41)
    wave = mpmath.quad(lambda u: shape(u) * mpmath.cos(x * u), pieces)
    return float(wave / mpmath.quad(shape, pieces))


def theta(frequency: np.ndarray, bandwidth: float) -> np.ndarray:
    """Sum a sampled Gaussian over the keys, which never sees a frequency's images."""
    j = np.arange(-400, 401)
    weight = np.exp(-((j / bandwidth) ** 2) / 2)
    return np.cos(frequency[:, None] * j) @ weight / weight.sum()


# Laws over the registry.


@pytest.mark.parametrize("name", SYMBOLS)
def test_a_symbol_is_the_transform_of_its_kernel(name):
    x = np.array([1e-3, 0.5, 3.99, 4.01, 11.0])
    assert_allclose(SYMBOLS[name](x), [transformed(name, each) for each in x], atol=3e-15)


@pytest.mark.parametrize("name", SYMBOLS)
def test_the_mean_passes_whole_and_nothing_passes_enlarged(name):
    x = np.linspace(0, 60, 4001)
    value = SYMBOLS[name](x)
    assert SYMBOLS[name](np.zeros(1)) == pytest.approx([1], abs=1e-15)
    assert abs(value).max() <= 1 + 1e-15
    assert_array_equal(value, SYMBOLS[name](-x))


@pytest.mark.parametrize("name", SYMBOLS)
def test_a_lobe_is_where_the_symbol_says(name):
    zero, place, depth = deepest_lobe(name)
    lowest = SYMBOLS[name](np.linspace(0, 200, 200_001)).min()
    if name in NEVER_NEGATIVE:
        assert (zero, place, depth) == (np.inf, np.inf, 0)
        assert lowest >= 0
    else:
        assert SYMBOLS[name](np.array(zero)) == pytest.approx(0, abs=1e-12)
        assert SYMBOLS[name](np.linspace(0, zero - 1e-6, 999)).min() > 0
        assert depth == pytest.approx(lowest, abs=1e-6)
        assert SYMBOLS[name](np.array(place)) == depth < -0.01


# Closed forms.


def test_lobes_lie_where_calculus_puts_them():
    """The extremes of sin x/x solve tan x = x, which are the zeros of Epanechnikov's symbol."""
    root = float(mpmath.findroot(lambda x: mpmath.tan(x) - x, 4.49))
    assert_allclose(deepest_lobe("boxcar"), [np.pi, root, np.cos(root)], rtol=1e-7)
    assert deepest_lobe("epanechnikov").first_zero == pytest.approx(root, rel=1e-12)


@pytest.mark.parametrize("bandwidth", [0.2, 0.5, 1.0, 3.0, 40.0])
def test_a_sum_over_images_is_a_sum_over_keys(bandwidth):
    frequency = np.linspace(-np.pi, np.pi, 401)
    assert_allclose(ring_symbol(frequency, bandwidth), theta(frequency, bandwidth), atol=2e-15)


@pytest.mark.parametrize("bandwidth", [0.3, 1.0, 4.0])
def test_a_ratio_of_theta_functions_has_a_nome(bandwidth):
    frequency = np.array([0.3, 1.0, 2.5])
    with mpmath.workdps(50):
        nome = mpmath.exp(-1 / (2 * mpmath.mpf(bandwidth) ** 2))
        mean = mpmath.jtheta(3, 0, nome)
        wanted = [float(mpmath.jtheta(3, w / 2, nome) / mean) for w in frequency.tolist()]
    assert_allclose(ring_symbol(frequency, bandwidth), wanted, rtol=1e-12)


@pytest.mark.parametrize("bandwidth", [0.1, 0.5, 1.0, 2.0])
def test_a_grid_moves_the_gaussian_no_further_than_at_nyquist(bandwidth):
    frequency = np.linspace(0, np.pi, 2001)
    moved = abs(ring_symbol(frequency, bandwidth) - SYMBOLS["gaussian"](bandwidth * frequency))
    bound = grid_deviation(bandwidth)
    assert moved.max() <= bound
    if bandwidth >= 1:
        assert moved.argmax() == 2000
        assert moved.max() == pytest.approx(bound, rel=1e-4 + 5 * bound**4)


@pytest.mark.parametrize(("layers", "bandwidth"), [(2, 1.5), (3, 1.2), (4, 1.2), (2, 1.0)])
def test_layers_miss_what_their_images_add(layers, bandwidth):
    frequency = np.linspace(0, np.pi, 4001)
    wide = ring_symbol(frequency, np.sqrt(layers) * bandwidth)
    missed = abs(ring_symbol(frequency, bandwidth) ** layers - wide).max()
    share = 4 * np.exp(-4 * (np.pi * bandwidth) ** 2 / layers)
    assert missed == pytest.approx(layers_deviation(layers, bandwidth), rel=2e-3 + share)


def test_half_of_the_power_passes_at_the_half_power_frequency():
    assert SYMBOLS["gaussian"](np.array(4 * half_power_frequency(4))) ** 2 == pytest.approx(0.5)


def test_heat_is_nearer_to_a_wider_smoother_as_its_square():
    """Both constants are reached with the same power, D²/h²."""
    off = []
    for bandwidth in (8.0, 16.0):
        frequency = np.linspace(0, np.pi, 200_001)
        heat = np.exp(-(bandwidth**2) * (1 - np.cos(frequency)))
        off.append(abs(heat - ring_symbol(frequency, bandwidth)).max() / heat_sup(bandwidth) - 1)
    assert abs(off[1]) < 5e-3
    assert off[0] / off[1] == pytest.approx(4, rel=0.05)


def test_the_distance_of_rows_is_a_moment_of_a_hermite_polynomial():
    roots = [mpmath.sqrt(3 - mpmath.sqrt(6)), mpmath.sqrt(3 + mpmath.sqrt(6))]
    moment = 2 * mpmath.quad(
        lambda z: abs(z**4 - 6 * z**2 + 3) * mpmath.npdf(z), [0, *roots, mpmath.inf]
    )
    assert heat_l1(1.0) == pytest.approx(float(moment / 24), rel=1e-14)
    x = np.linspace(0, 6, 600_001)
    assert (x**4 * np.exp(-(x**2) / 2) / 24).max() == pytest.approx(HEAT_SUP, rel=1e-10)


# What is particular.


def test_lengths_count_in_units_of_the_spacing():
    frequency = np.linspace(0, np.pi, 50)
    assert_allclose(
        ring_symbol(frequency / 0.1, 0.07, 0.1), ring_symbol(frequency, 0.7), atol=1e-14
    )
    assert grid_deviation(0.07, 0.1) == pytest.approx(grid_deviation(0.7))
    assert layers_deviation(2, 0.07, 0.1) == pytest.approx(layers_deviation(2, 0.7))
    assert heat_sup(0.7, 0.1) == pytest.approx(heat_sup(7.0))
    assert heat_l1(0.7, 0.1) == pytest.approx(heat_l1(7.0))


def test_beyond_nyquist_frequencies_repeat():
    frequency = np.linspace(0, np.pi, 50)
    assert_allclose(
        ring_symbol(frequency + 20 * np.pi, 3.0), ring_symbol(frequency, 3.0), atol=1e-13
    )


# Refusals.


@pytest.mark.parametrize("wrong", [0.0, -1.0, np.nan, np.inf])
def test_a_bandwidth_that_scales_nothing_is_refused(wrong):
    with pytest.raises(Refusal, match=r"bandwidth is .*; a symbol scales .* positive number"):
        ring_symbol(np.zeros(1), wrong)
    with pytest.raises(Refusal, match=r"spacing is "):
        ring_symbol(np.zeros(1), 1.0, wrong)
