"""Norms of powers against exact arithmetic, far below what a float can hold."""

from __future__ import annotations

import numpy as np
import pytest
from mpmath import mp
from numpy.testing import assert_allclose

from lowpass.eigen import slem
from lowpass.kernels import softmax
from lowpass.powers import log10_mixing_bounds, log10_mixing_distance, log10_power_gain
from lowpass.spectra import stationary

N, DEPTH = 5, 40


def exact(a: np.ndarray) -> mp.matrix:
    """Take the matrix to any precision, its diagonal being what the rest of a row leaves."""
    p = mp.matrix(a.tolist())
    for i in range(len(a)):
        p[i, i] = 1 - mp.fsum(p[i, j] for j in range(len(a)) if j != i)
    return p


def exact_stationary(p: mp.matrix) -> mp.matrix:
    system = p.T - mp.eye(p.rows)
    system[0, :] = mp.ones(1, p.rows)
    return mp.lu_solve(system, mp.matrix([1] + [0] * (p.rows - 1)))


def symmetric(rng: np.random.Generator, sharpness: float) -> np.ndarray:
    s = sharpness * rng.standard_normal((N, N))
    return softmax(s + s.T)


@pytest.mark.parametrize("sharpness", [0.001, 1.0, 4.0])
def test_the_gain_of_many_layers_is_that_of_exact_powers(sharpness, rng):
    """Nearly uniform attention falls below 1e-100 here; no digit but rounding is lost."""
    a = softmax(sharpness * rng.standard_normal((N, N)))
    found = log10_power_gain(a, DEPTH)
    with mp.workdps(250):
        centre = mp.eye(N) - mp.ones(N, N) / N
        for layer in (0, 1, 2, 7, DEPTH):
            power = centre * exact(a) ** layer * centre
            largest = max(mp.eigsy(power.T * power, eigvals_only=True))
            assert_allclose(found[layer], float(mp.log10(largest) / 2), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("sharpness", [0.001, 1.0, 4.0])
def test_the_distance_of_many_layers_is_that_of_exact_powers(sharpness, rng):
    a = softmax(sharpness * rng.standard_normal((N, N)))
    found = log10_mixing_distance(a, stationary(a), DEPTH)
    with mp.workdps(250):
        p = exact(a)
        pi = exact_stationary(p)
        for layer in (0, 1, 2, 7, DEPTH):
            power = p**layer
            rows = [mp.fsum(abs(power[i, j] - pi[j]) for j in range(N)) / 2 for i in range(N)]
            assert_allclose(found[layer], float(mp.log10(max(rows))), rtol=1e-12, atol=1e-12)


def test_two_tokens_forget_geometrically_from_the_start():
    """d(t) = max(p, q)/(p + q) |1 - p - q|ᵗ, to 1e-3980 and below."""
    p, q = 0.3, 0.6999
    a = np.array([[1 - p, p], [q, 1 - q]])
    layer = np.arange(1001)
    expected = np.log10(q / (p + q)) + layer * np.log10(1 - p - q)
    assert_allclose(log10_mixing_distance(a, stationary(a), 1000), expected, rtol=1e-11)
    gain = layer * np.log10(1 - p - q)
    assert_allclose(log10_power_gain(a, 1000), gain, rtol=1e-11, atol=1e-15)
    assert expected[-1] < -3900


def test_the_slope_of_the_gain_is_the_second_eigenvalue(rng):
    a = symmetric(rng, 1.0)
    falls = np.diff(log10_power_gain(a, 200))[-5:]
    assert_allclose(falls, np.log10(slem(a)), rtol=1e-10)


def test_what_does_not_mix_stays_where_it_is():
    cycle = np.roll(np.eye(6), 1, axis=1)
    assert_allclose(log10_mixing_distance(cycle, np.full(6, 1 / 6), 9), np.log10(5 / 6), rtol=1e-14)
    assert_allclose(log10_power_gain(cycle, 9), 0, atol=1e-15)


def test_a_component_that_is_gone_is_minus_infinity():
    a = np.tile([0.25, 0.75], (2, 1))
    assert log10_mixing_distance(a, np.array([0.25, 0.75]), 2).tolist()[1:] == [-np.inf] * 2
    assert log10_power_gain(a, 2).tolist()[1:] == [-np.inf] * 2


def test_the_powers_of_a_batch_are_those_of_its_members(rng):
    a = softmax(2 * rng.standard_normal((2, 3, N, N)))
    pi = stationary(a)
    gain, distance = log10_power_gain(a, 4), log10_mixing_distance(a, pi, 4)
    assert gain.shape == distance.shape == (2, 3, 5)
    assert_allclose(gain[1, 2], log10_power_gain(a[1, 2], 4), rtol=1e-12, atol=1e-14)
    each = log10_mixing_distance(a[1, 2], pi[1, 2], 4)
    assert_allclose(distance[1, 2], each, rtol=1e-12, atol=1e-14)


# Bounds.


def bounded(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    a = np.stack([symmetric(rng, sharpness) for sharpness in np.linspace(0.1, 2, 40)])
    pi = stationary(a)
    lower, upper = log10_mixing_bounds(slem(a), pi.min(axis=-1), DEPTH)
    return lower, log10_mixing_distance(a, pi, DEPTH), upper


def test_reversible_mixing_lies_between_its_bounds(rng):
    """R10."""
    lower, distance, upper = bounded(rng)
    assert (lower <= distance + 1e-10).all()
    assert (distance <= upper + 1e-10).all()


def test_tighter_bounds_are_broken(rng):
    lower, distance, upper = bounded(rng)
    assert (lower + np.log10(2) > distance + 1e-10).any()
    assert (distance > upper - np.log10(2)).any()


def test_bounds_of_what_forgets_at_once_and_of_what_is_never_seen_again():
    lower, upper = log10_mixing_bounds(np.array([0.0, 0.5]), np.array([0.25, 0.0]), 2)
    half = np.log10(0.5)
    assert_allclose(lower, [[half, -np.inf, -np.inf], [half, 2 * half, 3 * half]])
    assert_allclose(upper, [[0, -np.inf, -np.inf], [np.inf] * 3], atol=1e-15)
