"""What note 1 makes of logits: identities, closed forms, and where they end."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import expm

from lowpass.kernels import softmax
from lowpass.laplacians import signed
from lowpass.symmetrised import (
    distance,
    elementwise_gap,
    lowest_share,
    negative_degree_share,
    normalised_row_defect,
    other_modes_energy,
    own_modes_defect,
    row_defect,
    share,
    spectral_exponential,
    spectral_exponential_defect,
    spectral_kernel_gap,
    symmetric_part,
    symmetrised_attention,
    uniform_distance,
    unit_kernel,
    unit_laplacian,
    without_negative,
)

N = 9


@pytest.fixture
def logits(rng):
    return rng.standard_normal((4, N, N))


@pytest.fixture
def symmetric(logits):
    return symmetric_part(logits)


def circulant(first: list[float]) -> np.ndarray:
    """Shift a row around a ring; symmetric where the row reads the same backwards."""
    return np.array([np.roll(first, i) for i in range(len(first))])


# The symmetric part, and softmax of it.


def test_a_shift_of_rows_leaves_attention_and_changes_its_symmetric_part(logits, rng):
    shift = rng.standard_normal(N)
    shifted = logits + shift[:, None]
    assert_allclose(softmax(shifted), softmax(logits), atol=1e-15)
    pairs = (shift[:, None] + shift) / 2
    assert_allclose(symmetric_part(shifted), symmetric_part(logits) + pairs, atol=1e-15)


def test_rows_that_differ_by_a_shift_have_uniform_attention_and_another_when_symmetrised(rng):
    """S = a1ᵀ: A is J exactly, and the softmax of S̃ is the same distribution in every row."""
    a = rng.standard_normal(N)
    s = np.tile(a[:, None], N)
    assert uniform_distance(softmax(s)) == 0
    popular = np.exp(a / 2) / np.exp(a / 2).sum()
    assert_allclose(symmetrised_attention(s), np.tile(popular, (N, 1)), rtol=1e-14)
    direct = math.sqrt(N * sum((p - 1 / N) ** 2 for p in popular))
    assert_allclose(distance(softmax(s), symmetrised_attention(s)), direct, rtol=1e-13)


def test_symmetric_logits_are_their_own_symmetric_part(symmetric):
    assert (symmetric_part(symmetric) == symmetric).all()
    assert (symmetrised_attention(symmetric) == softmax(symmetric)).all()


def test_the_identity_is_farthest_from_uniform():
    assert_allclose(uniform_distance(np.eye(N)), math.sqrt(N - 1), rtol=1e-15)


def test_something_of_nothing_is_infinite_and_nothing_of_nothing_is_nothing():
    found = share(np.array([0.0, 1.0, 1.0]), np.array([0.0, 0.0, 4.0]))
    assert found.tolist() == [0, np.inf, 0.25]


# Two exponentials.


def test_eigenvalues_give_the_exponential_of_a_matrix(symmetric):
    assert_allclose(spectral_exponential(symmetric), expm(symmetric), rtol=1e-12, atol=1e-12)
    assert_allclose(spectral_exponential(symmetric, -0.3), expm(-0.3 * symmetric), atol=1e-13)
    assert (spectral_exponential_defect(symmetric) < 1e-13).all()


def test_the_two_exponentials_have_opposite_limits():
    """Of vanishing logits the entries tend to one, and the matrix to the identity."""
    tiny = np.full((N, N), 1e-9)
    assert_allclose(elementwise_gap(tiny), math.sqrt(N - 1), rtol=1e-7)
    assert_allclose(elementwise_gap(np.zeros((1, 1))), 0, atol=1e-15)


def test_a_matrix_of_ones_is_far_from_its_entries():
    """Of x11ᵀ the matrix gives I + (e^{nx} - 1)J, the entries e^x 11ᵀ."""
    x = 0.2
    matrix = np.eye(N) + (np.exp(N * x) - 1) / N
    entries = np.full((N, N), np.exp(x))
    direct = np.linalg.norm(entries - matrix) / np.linalg.norm(matrix)
    assert_allclose(elementwise_gap(np.full((N, N), x)), direct, rtol=1e-12)


# The modes of S̃ and those of L.


def test_tokens_of_equal_degree_share_modes_whose_order_is_reversed():
    """D = cI: L = cI - S̃ has the modes of S̃, and e^{-τL} = e^{-τc} U e^{+τΛ} Uᵀ."""
    ring = circulant([1.5, 0.7, 0.2, 0.0, 0.0, 0.2, 0.7])
    assert other_modes_energy(ring) < 1e-28
    degree = ring[0].sum()
    radius = np.abs(np.linalg.eigvalsh(signed(ring))).max()
    flipped = np.exp(-degree / radius) * spectral_exponential(ring, 1 / radius)
    assert_allclose(unit_kernel(ring), flipped, rtol=1e-13)
    assert spectral_kernel_gap(ring) > 0.5


def test_unequal_degrees_mix_the_modes(symmetric):
    """With two tokens alone: U is that of [[a, b], [b, c]], and L that of [[b, -b], [-b, b]]."""
    assert (other_modes_energy(symmetric) > 0.05).all()
    two = np.array([[1.0, 2.0], [2.0, 4.0]])
    # tan 2φ = 2b/(a - c); in these modes L = b(I - X) has the off-diagonal part b cos 2φ.
    angle = np.arctan2(2 * 2.0, 1.0 - 4.0)
    off = 2 * (2.0 * np.cos(angle)) ** 2
    assert_allclose(other_modes_energy(two), off / (4 * 2.0**2), rtol=1e-12)


def test_modes_of_one_eigenvalue_are_turned_as_suits_best(rng):
    """Of S̃ = uuᵀ with other modes of eigenvalue zero, only what joins u to these counts."""
    u = rng.standard_normal(N)
    laplacian = signed(np.outer(u, u))
    u /= np.linalg.norm(u)
    joined = laplacian @ u - u * (u @ laplacian @ u)
    direct = 2 * (joined @ joined) / np.linalg.norm(laplacian) ** 2
    assert_allclose(other_modes_energy(np.outer(u, u)), direct, rtol=1e-10)


def test_the_modes_of_the_laplacian_itself_give_its_heat_kernel(symmetric):
    assert (own_modes_defect(symmetric) < 1e-14).all()


def test_nothing_joins_logits_that_are_all_zero():
    nothing = np.zeros((N, N))
    assert (unit_laplacian(nothing) == 0).all()
    for measured in (other_modes_energy, spectral_kernel_gap, lowest_share):
        assert_allclose(measured(nothing), 0, atol=1e-15)


# Signs.


def test_a_negative_pair_makes_two_tokens_amplify():
    """S̃ = [[0, -1], [-1, 0]]: L = [[-1, 1], [1, -1]] has the eigenvalues -2 and 0."""
    pair = np.array([[0.0, -1.0], [-1.0, 0.0]])
    assert_allclose(lowest_share(pair), -1, rtol=1e-15)
    assert negative_degree_share(pair) == 1
    assert_allclose(unit_kernel(pair)[0, 0], (1 + np.e) / 2, rtol=1e-14)
    assert_allclose(unit_kernel(pair)[0, 1], (1 - np.e) / 2, rtol=1e-14)


def test_rows_of_the_heat_kernel_sum_to_one_whatever_the_signs(symmetric):
    kernel = unit_kernel(symmetric)
    assert (row_defect(kernel) < 1e-14).all()
    assert (kernel.min(axis=(-2, -1)) < 0).all()


def test_a_shift_without_negative_pairs_damps_and_keeps_signs(logits):
    shifted = without_negative(symmetric_part(logits))
    off = shifted[..., ~np.eye(N, dtype=bool)]
    assert (off.min(axis=-1) == 0).all()
    assert (lowest_share(shifted) > -1e-15).all()
    assert (unit_kernel(shifted) > -1e-16).all()
    # A whole row may be shifted, and the transpose of that is one number for all pairs as well.
    moved = (shifted - symmetric_part(logits))[..., :1, :1]
    assert_allclose(softmax(logits + moved), softmax(logits), atol=1e-15)


def test_logits_that_are_not_negative_need_no_shift(symmetric):
    assert (without_negative(np.abs(symmetric)) == np.abs(symmetric)).all()


def test_the_normalised_laplacian_needs_the_normalisation_of_rows(symmetric):
    assert (normalised_row_defect(symmetric) > 1e-2).all()
    ring = circulant([1.5, 0.7, 0.2, 0.0, 0.0, 0.2, 0.7])
    assert normalised_row_defect(ring) < 1e-14
