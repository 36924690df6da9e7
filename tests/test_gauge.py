"""Shifts of rows against matrices exponentiated anew, and the search against its slopes."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import expm

from lowpass.gauge import (
    GAUGES,
    best_gauges,
    constant_gauges,
    divided_differences,
    fit_at,
    gauged_laplacian,
    slopes,
    starting_points,
)
from lowpass.heat_fit import heat_floor, nearest_heat
from lowpass.kernels import softmax
from lowpass.laplacians import signed
from lowpass.registry import Refusal
from lowpass.symmetrised import symmetric_part, uniform_distance

N = 7


@pytest.fixture
def logits(rng):
    return rng.standard_normal((3, N, N))


# One number for all rows.


def test_a_constant_shift_interpolates_between_the_kernel_and_uniform(logits):
    """L becomes L + cnC, and its kernel J + e^{-cn}(e^{-L} - J)."""
    symmetric, shift = symmetric_part(logits[0]), 0.3
    uniform = np.full((N, N), 1 / N)
    shifted = expm(-signed(symmetric + shift))
    mixed = uniform + np.exp(-shift * N) * (expm(-signed(symmetric)) - uniform)
    assert_allclose(shifted, mixed, rtol=1e-12, atol=1e-13)


def test_a_shift_of_all_rows_is_that_of_the_logits_themselves(logits):
    attention, symmetric = softmax(logits), symmetric_part(logits)
    found = constant_gauges(attention, symmetric)
    for place, gauge in enumerate(GAUGES):
        radius = np.abs(np.linalg.eigvalsh(signed(symmetric))).max(axis=-1)
        shift = gauge * radius[:, None, None] / N
        assert_allclose(softmax(logits + shift), attention, atol=1e-15)
        direct = nearest_heat(attention, signed(symmetric + shift))[1]
        assert_allclose(found[:, place], direct, rtol=1e-9)


def test_beyond_one_uniform_attention_is_within_reach(logits):
    found = constant_gauges(softmax(logits), symmetric_part(logits))
    far = uniform_distance(softmax(logits))[:, None]
    definite = np.array(GAUGES) > 1
    assert (found[:, definite] <= far * (1 + 1e-12)).all()
    assert (found[:, 0] > far[:, 0]).all()


# One number for each row.


def test_slopes_are_those_of_differences(logits, rng):
    """The exact derivative of e^{-L} against central differences, unknown by unknown."""
    symmetric = symmetric_part(logits[0])
    point = np.concatenate([[0.7], 1 + 0.5 * rng.standard_normal(N)])[None]
    even = symmetric_part(softmax(logits[0]))
    fit = fit_at(even, symmetric, point)
    vector = fit.vector[0]
    found = vector @ slopes(fit, symmetric)[0] @ vector.T
    for unknown in range(1 + N):
        step = np.zeros_like(point)
        step[0, unknown] = 1e-5
        ahead, behind = (expm(-gauged_laplacian(symmetric, point + s * step)[0]) for s in (1, -1))
        wanted = (ahead - behind) / 2e-5
        assert_allclose(found[unknown], wanted, rtol=0, atol=1e-9 * np.abs(wanted).max())


def test_the_residual_is_that_of_the_kernel(logits, rng):
    symmetric, even = symmetric_part(logits[0]), symmetric_part(softmax(logits[0]))
    point = np.concatenate([[0.7], rng.standard_normal(N)])[None]
    kernel = expm(-gauged_laplacian(symmetric, point)[0])
    square = np.linalg.norm(kernel - even) ** 2
    assert_allclose(fit_at(even, symmetric, point).square, square, rtol=1e-12)


def test_divided_differences_hold_for_equal_near_and_distant_eigenvalues():
    value = np.array([-3.0, 0.5, 0.5, 0.5 + 1e-11, 900.0])
    found = divided_differences(value)
    assert_allclose(np.diag(found), np.exp(-value), rtol=1e-14)
    assert_allclose(found[1, 2], np.exp(-0.5), rtol=1e-14)
    assert_allclose(found[1, 3], np.exp(-0.5), rtol=1e-10)
    assert_allclose(found[0, 1], (np.exp(3) - np.exp(-0.5)) / 3.5, rtol=1e-14)
    assert_allclose(found[0, 4], np.exp(3) / 903, rtol=1e-14)


def test_attention_that_is_a_heat_kernel_in_some_gauge_is_found(logits, rng):
    symmetric = symmetric_part(logits[0])
    # Positive degrees, so that the kernel is one that stays bounded.
    point = np.concatenate([[0.5], 3 + 0.5 * rng.standard_normal(N)])[None]
    kernel = expm(-gauged_laplacian(symmetric, point)[0])
    assert best_gauges(kernel, symmetric)[0] < 1e-3 * uniform_distance(kernel)


def test_the_best_gauge_is_between_the_floor_and_every_constant_one(logits):
    attention, symmetric = softmax(logits), symmetric_part(logits)
    found = best_gauges(attention, symmetric)
    assert (np.diff(found, axis=-1) >= 0).all()
    assert (found[:, 0] >= heat_floor(attention)).all()
    constant = constant_gauges(attention, symmetric).min(axis=-1)
    assert (found[:, 0] <= constant * (1 + 1e-6)).all()
    assert (found[:, 0] < 0.99 * uniform_distance(attention)).all()


def test_a_search_of_another_kind_finds_nothing_better(logits):
    """Quasi-Newton steps from other starts, with the same objective made from scratch."""
    from scipy.optimize import minimize

    attention, symmetric = softmax(logits[0]), symmetric_part(logits[0])

    def objective(unknowns):
        kernel = expm(-gauged_laplacian(symmetric, unknowns[None])[0])
        return np.sum((attention - kernel) ** 2)

    ends = [minimize(objective, start, method="BFGS").fun for start in starting_points(symmetric)]
    assert best_gauges(attention, symmetric)[0] <= np.sqrt(min(ends)) * (1 + 1e-5)


def test_logits_of_zero_have_uniform_attention_and_nothing_to_search():
    nothing = np.zeros((N, N))
    assert (best_gauges(softmax(nothing), nothing) == 0).all()


def test_too_many_tokens_are_refused():
    many = np.zeros((257, 257))
    with pytest.raises(Refusal, match=r"best shift of 257 rows .*; take 256 tokens or fewer"):
        best_gauges(softmax(many), many)
