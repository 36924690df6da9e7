"""Energies of pairs against the sum over pairs, and against quadratic forms."""

from __future__ import annotations

import numpy as np
import pytest
from mpmath import mp
from numpy.testing import assert_allclose

from lowpass.energy import log10_pair_energy
from lowpass.kernels import softmax
from lowpass.spectra import stationary


def test_the_energy_is_a_sum_over_pairs(rng):
    w, x = rng.uniform(size=(6, 6)), rng.standard_normal((6, 3))
    slow = sum(w[i, j] * ((x[i] - x[j]) ** 2).sum() for i in range(6) for j in range(6)) / 2
    assert_allclose(log10_pair_energy(w, x), np.log10(slow), rtol=1e-13)


def test_the_dirichlet_energy_is_a_quadratic_form_although_not_reversible(rng):
    """⟨X, (I - A)X⟩_π, with 60 digits; only πᵀA = πᵀ is used."""
    a, x = softmax(2 * rng.standard_normal((5, 5))), rng.standard_normal((5, 2))
    pi = stationary(a)
    with mp.workdps(60):
        p, y = mp.matrix(a.tolist()), mp.matrix(x.tolist())
        for i in range(5):
            p[i, i] = 1 - mp.fsum(p[i, j] for j in range(5) if j != i)
        inner = y.T * mp.diag(pi.tolist()) * (mp.eye(5) - p) * y
        exact = float(mp.log10(inner[0, 0] + inner[1, 1]))
    assert_allclose(log10_pair_energy(pi[:, None] * a, x), exact, rtol=1e-12)


def test_a_mode_of_a_reversible_matrix_has_the_energy_of_its_gap():
    """Two tokens that swap by p: E = π₀ p (x₀ - x₁)² with π = 1/2."""
    p = 1e-9
    a = np.array([[1 - p, p], [p, 1 - p]])
    energy = log10_pair_energy(a / 2, np.array([[3.0], [1.0]]))
    assert_allclose(energy, np.log10(p * 4 / 2), rtol=1e-14)


@pytest.mark.parametrize("exponent", [-9000, 0, 9000])
def test_energies_reach_beyond_floats(exponent, rng):
    w, x = rng.uniform(size=(6, 6)), rng.standard_normal((6, 3))
    raised = log10_pair_energy(w, 1e-200 * x, exponent) - log10_pair_energy(w, x)
    assert_allclose(raised, 2 * exponent * np.log10(2) - 400, rtol=1e-12)


def test_a_constant_adds_nothing(rng):
    w, x = rng.uniform(size=(6, 6)), np.round(rng.standard_normal((6, 3)), 3)
    assert_allclose(log10_pair_energy(w, x + 8), log10_pair_energy(w, x), rtol=1e-12)


def test_tokens_that_do_not_differ_have_no_energy():
    assert log10_pair_energy(np.ones((3, 3)), np.ones((3, 2))) == -np.inf
    assert log10_pair_energy(np.eye(3), np.arange(6.0).reshape(3, 2)) == -np.inf


def test_the_energies_of_a_batch_are_those_of_its_members(rng):
    w, x = rng.uniform(size=(4, 6, 6)), rng.standard_normal((4, 6, 3))
    batch = log10_pair_energy(w, x, np.arange(4))
    each = [log10_pair_energy(w[i], x[i], i) for i in range(4)]
    assert_allclose(batch, each, rtol=1e-13)
