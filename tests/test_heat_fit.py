"""The nearest heat kernel against a search by hand, and bounds that nothing goes below."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import expm

from lowpass.heat_fit import (
    column_bound,
    heat_floor,
    identity_distance,
    log10_distance_at_one,
    nearest_heat,
    nearest_time,
    overlaps,
    symmetric_floor,
)
from lowpass.kernels import softmax
from lowpass.laplacians import signed
from lowpass.symmetrised import symmetric_part, uniform_distance

N = 8


def drawn(rng, beta: float = 1.0, n: int = N) -> tuple[np.ndarray, np.ndarray]:
    """Draw logits; give their attention and the note's Laplacian."""
    logits = beta * rng.standard_normal((3, n, n))
    return softmax(logits), signed(symmetric_part(logits))


def directly(attention: np.ndarray, laplacian: np.ndarray, time: float) -> float:
    return float(np.linalg.norm(attention - expm(-time * laplacian)))


# The best time.


@pytest.mark.parametrize("beta", [0.1, 1.0, 3.0])
def test_no_time_is_better_than_the_best(beta, rng):
    attention, laplacian = drawn(rng, beta)
    times, least = nearest_heat(attention, laplacian)
    for a, el, time, found in zip(attention, laplacian, times, least, strict=True):
        assert_allclose(directly(a, el, time), found, rtol=1e-12)
        radius = np.abs(np.linalg.eigvalsh(el)).max()
        tried = [directly(a, el, t / radius) for t in np.linspace(0, 3, 61)]
        assert found <= min(tried) + 1e-12


@pytest.mark.parametrize("time", [0.0, 0.02, 0.7, 30.0])
def test_a_heat_kernel_finds_its_own_time(time, rng):
    laplacian = signed(np.abs(symmetric_part(rng.standard_normal((N, N)))))
    radius = np.linalg.eigvalsh(laplacian).max()
    found, least = nearest_heat(expm(-time / radius * laplacian), laplacian)
    assert_allclose(found * radius, time, rtol=1e-9)
    assert least < 1e-7


def test_uniform_attention_is_reached_after_an_infinite_time(rng):
    laplacian = signed(np.abs(symmetric_part(rng.standard_normal((N, N)))))
    time, least = nearest_heat(np.full((N, N), 1 / N), laplacian)
    assert time == np.inf
    assert least < 1e-15


def test_the_better_of_two_minima_is_found():
    """One mode wants a short time, another a long one; a start at either would stay there."""
    far, overlap = np.array(2.0), np.array([0.1, 0.9, 0.9, 0.9, 0.9])
    value = np.array([100.0, 0.01, 0.01, 0.01, 0.01])
    _, least = nearest_time(far, overlap, value)
    times = np.concatenate([[0], np.logspace(-5, 5, 20001)])
    rest = far**2 - (overlap**2).sum()
    tried = rest + ((np.exp(-times[:, None] * value) - overlap) ** 2).sum(axis=-1)
    assert_allclose(least, np.sqrt(tried.min()), rtol=1e-7)
    assert least <= np.sqrt(tried.min())


# Limits.


def test_as_logits_vanish_heat_tends_to_the_identity_and_attention_to_uniform(rng):
    """At a fixed time the distance tends to √(n - 1), which is that of I from J."""
    logits = rng.standard_normal((N, N))
    far = []
    for beta in (1e-2, 1e-3, 1e-4):
        attention, laplacian = softmax(beta * logits), beta * signed(symmetric_part(logits))
        value, overlap = overlaps(attention, laplacian)
        found = log10_distance_at_one(uniform_distance(attention), overlap, value)
        assert_allclose(10**found, directly(attention, laplacian, 1.0), rtol=1e-12)
        far.append(abs(10**found / np.sqrt(N - 1) - 1))
    assert_allclose(np.diff(np.log10(far)), -1, atol=0.05)


def test_a_kernel_that_grows_beyond_floats_has_a_distance():
    value, overlap = np.array([-2000.0, 1.0]), np.array([0.1, 0.1])
    found = log10_distance_at_one(np.array(1.0), overlap, value)
    assert_allclose(found, 2000 / np.log(10), rtol=1e-12)


# Floors.


@pytest.mark.parametrize("beta", [0.1, 1.0, 3.0])
def test_every_heat_kernel_respects_the_floors(beta, rng):
    attention, _ = drawn(rng, beta)
    bounds = [floor(attention) for floor in (column_bound, symmetric_floor, heat_floor)]
    assert (bounds[0] <= bounds[1] * (1 + 1e-14)).all()
    assert (bounds[1] <= bounds[2] * (1 + 1e-14)).all()
    assert (bounds[2] <= uniform_distance(attention) * (1 + 1e-14)).all()
    for _ in range(20):
        laplacian = signed(symmetric_part(rng.standard_normal((3, N, N))))
        assert (nearest_heat(attention, laplacian)[1] >= bounds[2]).all()


def test_twice_the_floor_is_violated(rng):
    attention, _ = drawn(rng)
    assert (uniform_distance(attention) < 2 * heat_floor(attention)).all()


def test_the_symmetric_floor_is_attained(rng):
    """E = (A + Aᵀ)/2 - (r1ᵀ + 1rᵀ)/n with r what its row sums exceed one by."""
    attention, _ = drawn(rng)
    even = (attention + attention.swapaxes(-1, -2)) / 2
    excess = even.sum(axis=-1) - 1
    best = even - (excess[..., :, None] + excess[..., None, :]) / N
    assert_allclose(best.sum(axis=-1), 1, rtol=1e-14)
    found = np.linalg.norm(attention - best, axis=(-2, -1))
    assert_allclose(found, symmetric_floor(attention), rtol=1e-13)


def test_the_floor_of_heat_is_approached_by_heat_kernels(rng):
    """Eigenvalues that should be negative are as good as gone after a time of forty."""
    attention, _ = drawn(rng)
    centre = np.eye(N) - 1 / N
    for a, floor in zip(attention, heat_floor(attention), strict=True):
        value, vector = np.linalg.eigh(centre @ (a + a.T) @ centre / 2)
        kept = np.maximum(value, np.exp(-40))
        nearest = (vector * kept) @ vector.T
        nearest = centre @ nearest @ centre + 1 / N
        assert_allclose(np.linalg.norm(a - nearest), floor, rtol=1e-12)


def test_a_heat_kernel_of_positive_weights_has_no_floor(rng):
    laplacian = signed(np.abs(symmetric_part(rng.standard_normal((N, N)))))
    kernel = expm(-0.1 * laplacian)
    for floor in (column_bound, symmetric_floor, heat_floor):
        assert floor(kernel) < 1e-14


def test_the_identity_is_the_heat_kernel_of_no_time(rng):
    attention, laplacian = drawn(rng)
    direct = [directly(a, el, 0.0) for a, el in zip(attention, laplacian, strict=True)]
    assert_allclose(identity_distance(attention), direct, rtol=1e-14)
