"""Departures from normal, reversible and real, against closed forms and other routes."""

from __future__ import annotations

import numpy as np
import pytest
from mpmath import mp
from numpy.testing import assert_allclose

from lowpass.kernels import softmax
from lowpass.normality import henrici_number, reversibility_defect, second_imaginary_share
from lowpass.spectra import stationary


def circulant(row: list[float]) -> np.ndarray:
    return np.array([np.roll(row, shift) for shift in range(len(row))])


# The departure from normality.


def test_the_departure_is_what_eigenvalues_leave_of_the_norm(rng):
    """Oracle with 40 digits, where the difference of two sums loses nothing."""
    a = softmax(3 * rng.standard_normal((6, 6)))
    with mp.workdps(40):
        value = mp.eig(mp.matrix(a.tolist()), left=False, right=False)
        norm = mp.fsum(mp.mpf(x) ** 2 for x in a.ravel().tolist())
        left = norm - mp.fsum(abs(x) ** 2 for x in value)
        exact = float(mp.sqrt(left / norm))
    assert_allclose(henrici_number(a), exact, rtol=1e-12)


@pytest.mark.parametrize(
    "a",
    [np.eye(5), np.full((5, 5), 0.2), circulant([0.5, 0.3, 0.2, 0, 0])],
    ids=["identity", "uniform", "circulant"],
)
def test_a_normal_matrix_departs_by_rounding_only(a):
    """A difference of squares would leave 1e-8."""
    assert henrici_number(a) < 1e-14


def test_a_nilpotent_matrix_departs_altogether():
    assert_allclose(henrici_number(np.eye(4, k=1)), 1, rtol=1e-14)


def test_rows_that_are_equal_depart_by_what_their_row_is_off_uniform(rng):
    """A = 1πᵀ has λ₁ = 1 alone and ‖A‖² = n‖π‖²."""
    pi = softmax(rng.standard_normal((1, 7)))[0]
    expected = np.sqrt(1 - 1 / (7 * (pi**2).sum()))
    assert_allclose(henrici_number(np.tile(pi, (7, 1))), expected, rtol=1e-13)


def test_a_batch_departs_as_its_members_do(rng):
    a = softmax(3 * rng.standard_normal((2, 3, 5, 5)))
    assert_allclose(henrici_number(a)[1, 2], henrici_number(a[1, 2]), rtol=1e-13)


# Reversibility.


def test_symmetric_logits_are_reversible(rng):
    s = 2 * rng.standard_normal((4, 8, 8))
    a = softmax(s + np.swapaxes(s, -1, -2))
    assert (reversibility_defect(a, stationary(a)) < 1e-15).all()


def test_a_turning_chain_has_the_flow_of_one_step():
    """On a cycle of n tokens π = 1/n, and everything flows one way."""
    a = np.roll(np.eye(5), 1, axis=1)
    assert_allclose(reversibility_defect(a, stationary(a)), 1 / 5, rtol=1e-15)


def test_the_largest_net_flow_is_found(rng):
    a = softmax(2 * rng.standard_normal((6, 6)))
    pi = stationary(a)
    flows = [abs(pi[i] * a[i, j] - pi[j] * a[j, i]) for i in range(6) for j in range(6)]
    assert_allclose(reversibility_defect(a, pi), max(flows), rtol=1e-14)


# Real second eigenvalues.


@pytest.mark.parametrize("turn", [0.2, 0.5])
def test_a_circulant_of_three_turns_with_its_angle(turn):
    """λ₂ = 1 - t + t e^{2πi/3}, for a share t that moves on by one place."""
    a = circulant([1 - turn, turn, 0])
    second = 1 - turn + turn * np.exp(2j * np.pi / 3)
    assert_allclose(second_imaginary_share(a), abs(second.imag) / abs(second), rtol=1e-13)


def test_two_tokens_have_a_real_second_eigenvalue():
    a = np.array([[[0.9, 0.1], [0.3, 0.7]], [[0.1, 0.9], [0.8, 0.2]]])
    assert np.array_equal(second_imaginary_share(a), [0, 0])


def test_an_eigenvalue_that_is_zero_is_real():
    assert second_imaginary_share(np.array([[1.0, 0.0], [1.0, 0.0]])) == 0
