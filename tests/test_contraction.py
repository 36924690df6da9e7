"""Gains, coefficients of ergodicity and their bounds: closed forms, slow loops, one chain."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from lowpass.contraction import (
    birkhoff,
    ca_gain,
    column_gain,
    dobrushin,
    hc_gain,
    hc_gain_rms,
    log10_oscillation_growth,
    projective_diameter,
    wang_bound,
)
from lowpass.eigen import slem
from lowpass.kernels import KERNELS, softmax
from lowpass.registry import Refusal

GAINS = [hc_gain, hc_gain_rms, ca_gain, column_gain]
NUMBERS = [*GAINS, dobrushin, projective_diameter, birkhoff]
N = 6


def uniform(n: int) -> np.ndarray:
    return np.full((n, n), 1 / n)


def two_state(p: float, q: float) -> np.ndarray:
    return np.array([[1 - p, p], [q, 1 - q]])


def hubs(n: int) -> np.ndarray:
    """Let half of the rows see token 0 alone, and half token 1."""
    a = np.zeros((n, n))
    a[: n // 2, 0] = a[n // 2 :, 1] = 1
    return a


# Laws.


@pytest.mark.parametrize("number", NUMBERS)
def test_renaming_tokens_changes_no_number(number, rng):
    a = softmax(3 * rng.standard_normal((4, N, N)))
    p = rng.permutation(N)
    assert_allclose(number(a[:, p][:, :, p]), number(a), rtol=1e-13)


@pytest.mark.parametrize("number", NUMBERS)
def test_the_numbers_of_a_batch_are_those_of_its_members(number, rng):
    a = softmax(3 * rng.standard_normal((2, 3, N, N)))
    batch = number(a)
    assert batch.shape == (2, 3)
    for index in np.ndindex(2, 3):
        assert_allclose(batch[index], number(a[index]), rtol=1e-13)


# Oracles.


def test_the_largest_gain_is_attained_and_never_exceeded(rng):
    """Power iteration on (CAC)ᵀCAC, written with sums over tokens."""
    a = softmax(2 * rng.standard_normal((N, N)))
    z = rng.standard_normal(N)
    for _ in range(2000):
        z = a.T @ centred(a @ centred(z))
        z = centred(z) / np.linalg.norm(centred(z))
    gain = np.linalg.norm(centred(a @ z)) / np.linalg.norm(z)
    assert_allclose(hc_gain(a), gain, rtol=1e-12)
    for z in rng.standard_normal((200, N)):
        assert np.linalg.norm(centred(a @ z)) <= gain * np.linalg.norm(centred(z)) * (1 + 1e-14)


def centred(z: np.ndarray) -> np.ndarray:
    return z - math.fsum(z) / len(z)


def test_the_root_mean_square_gain_is_that_of_an_orthonormal_basis(rng):
    a = softmax(2 * rng.standard_normal((N, N)))
    basis = np.linalg.svd(np.ones((1, N)))[2][1:]
    squares = [np.linalg.norm(centred(a @ e)) ** 2 for e in basis]
    assert_allclose(hc_gain_rms(a), math.sqrt(sum(squares) / (N - 1)), rtol=1e-13)


def test_dobrushins_coefficient_is_the_largest_change_of_oscillation(rng):
    """The oscillation of Az is convex in z, so that signals of zeros and ones suffice."""
    a = softmax(2 * rng.standard_normal((N, N)))
    signals = np.array(list(itertools.product([0, 1], repeat=N))[1:-1], dtype=float)
    assert_allclose(dobrushin(a), np.ptp(signals @ a.T, axis=1).max(), rtol=1e-14)


def test_the_projective_diameter_is_a_maximum_over_four_indices(rng):
    p = 2 * rng.standard_normal((N, N))
    four = itertools.product(range(N), repeat=4)
    slow = max(p[i, j] + p[k, m] - p[i, m] - p[k, j] for i, j, k, m in four)
    assert_allclose(projective_diameter(softmax(p)), slow, rtol=1e-13)


@pytest.mark.parametrize("beta", [0.0, 0.5, 300.0])
def test_wangs_bound_is_the_formula_it_is_quoted_as(beta):
    n, alpha = 64, np.array([0.3, 1.0]) * beta
    exact = [math.sqrt(n * math.exp(2 * a) / (math.exp(2 * a) + n - 1)) for a in alpha]
    assert_allclose(wang_bound(alpha, n), exact, rtol=1e-15)


def test_wangs_bound_of_masked_logits_is_the_root_of_the_number_of_tokens():
    assert wang_bound(np.array(np.inf), 100) == 10


# Closed forms.


def test_uniform_attention_contracts_everything_at_once():
    for number in (hc_gain, hc_gain_rms, ca_gain, dobrushin, projective_diameter, birkhoff):
        assert_allclose(number(uniform(7)), 0, atol=1e-15)
    assert_allclose(column_gain(uniform(7)), 1, rtol=1e-15)


@pytest.mark.parametrize("a", [np.eye(5), np.roll(np.eye(5), 1, axis=1)], ids=["I", "cycle"])
def test_a_permutation_contracts_nothing(a):
    for number in (hc_gain, hc_gain_rms, dobrushin, birkhoff, column_gain):
        assert_allclose(number(a), 1, rtol=1e-14)
    assert_allclose(ca_gain(a), 2, rtol=1e-14)
    assert projective_diameter(a) == np.inf


@pytest.mark.parametrize(("p", "q"), [(0.3, 0.5), (0.9, 0.8), (0.5, 0.5)])
def test_two_tokens_have_every_number_in_closed_form(p, q):
    a = two_state(p, q)
    for number in (hc_gain, hc_gain_rms, dobrushin, slem):
        assert_allclose(number(a), abs(1 - p - q), atol=1e-15)
    diameter = abs(math.log((1 - p) * (1 - q) / (p * q)))
    assert_allclose(projective_diameter(a), diameter, atol=1e-14)
    roots = [math.sqrt((1 - p) * (1 - q)), math.sqrt(p * q)]
    assert_allclose(birkhoff(a), (max(roots) - min(roots)) / sum(roots), atol=1e-14)


def test_two_hubs_enlarge_the_component_by_the_root_of_half_their_number():
    """A07: the gain of n = 64 is √32 = 5.657, although powers never grow a second time."""
    assert_allclose(hc_gain(hubs(64)), math.sqrt(32), rtol=1e-14)
    assert_allclose(column_gain(hubs(64)), math.sqrt(32), rtol=1e-14)


def test_rows_that_are_equal_contract_all_whatever_they_are(rng):
    a = np.tile(softmax(rng.standard_normal((1, N))), (N, 1))
    for number in (hc_gain, ca_gain, dobrushin, projective_diameter):
        assert_allclose(number(a), 0, atol=1e-15)


def test_a_key_that_no_query_sees_does_not_count():
    a = np.array([[0.25, 0.75, 0], [0.75, 0.25, 0], [0.5, 0.5, 0]])
    assert_allclose(projective_diameter(a), math.log(9), rtol=1e-14)


def test_a_key_that_one_query_alone_does_not_see_makes_the_diameter_infinite():
    a = np.array([[0.25, 0.75, 0], [0.75, 0.25, 0], [0.5, 0.25, 0.25]])
    assert projective_diameter(a) == np.inf
    assert birkhoff(a) == 1
    assert dobrushin(a) < 1


def test_a_signal_that_is_constant_from_the_start_does_not_count():
    """Its oscillation is zero, and no ratio of it exists; one that becomes constant is gone."""
    high = np.zeros((3, 4, 2))
    high[0, :, 1], high[1, :, 1] = [0, 1, 2, 4], [1, 1, 1.5, 2]
    growth = log10_oscillation_growth(high, np.array([0, -3, 0]))
    assert_allclose(growth, [0, math.log10(1 / 32), -math.inf], rtol=1e-14)


def test_of_several_signals_the_one_that_shrinks_least_counts():
    high = np.array([[[0, 0], [1, 10]], [[0, 0], [0.5, 8]]], dtype=float)
    assert_allclose(log10_oscillation_growth(high, np.zeros(2, int)), [0, math.log10(0.8)])


# The chain of bounds.


def chain(p: np.ndarray) -> list[np.ndarray]:
    """Give what A06 says rises from left to right."""
    a = softmax(p)
    alpha = np.abs(p).max(axis=(-2, -1))
    return [slem(a), dobrushin(a), birkhoff(a), np.tanh(alpha)]


def ladder(p: np.ndarray) -> list[np.ndarray]:
    """Give the three bounds on the largest gain, of which A08 quotes the last."""
    a = softmax(p)
    alpha = np.abs(p).max(axis=(-2, -1))
    return [column_gain(a), ca_gain(a), wang_bound(alpha, p.shape[-1])]


@pytest.fixture(params=[0.25, 1.0, 3.0])
def drawn_logits(request, rng) -> np.ndarray:
    return request.param * rng.standard_normal((100, 8, 8))


def test_the_chain_of_contraction_is_never_broken(drawn_logits):
    for below, above in itertools.pairwise(chain(drawn_logits)):
        assert (below <= above * (1 + 1e-13)).all()


@pytest.mark.parametrize("link", [0, 1, 2])
def test_a_tighter_link_of_the_chain_breaks(link, rng):
    """Two tokens attain the first two links, and opposite logits ±α the last."""
    p = 0.2 * rng.standard_normal((100, 2, 2))
    p[:, 0] = -p[:, 1]
    p[:, :, 1] = -p[:, :, 0]
    numbers = chain(p)
    assert (numbers[link] > numbers[link + 1] * 0.99).any()


def test_every_bound_on_the_gain_holds(drawn_logits):
    gain = hc_gain(softmax(drawn_logits))
    for bound in ladder(drawn_logits):
        assert (gain <= bound * (1 + 1e-13)).all()


def test_the_columns_are_below_the_bound_of_wang(drawn_logits):
    columns, _, wang = ladder(drawn_logits)
    assert (columns <= wang * (1 + 1e-13)).all()


@pytest.mark.parametrize("bound", [0, 2])
def test_a_tighter_bound_on_the_gain_breaks(bound):
    """A hub that one query alone does not look at, in the limit of sharp logits."""
    p = np.full((64, 64), -20.0)
    p[:32, 0] = p[32:, 1] = 20.0
    gain = hc_gain(softmax(p))
    assert gain > ladder(p)[bound] * 0.7


def test_a_tighter_frobenius_bound_breaks():
    """Of rank one, CA is all in one direction, so that both norms are the same."""
    a = uniform(4) + 0.1 * np.outer([1, -1, 0, 0], [1, 0, -1, 0])
    assert_allclose(hc_gain(a), ca_gain(a), rtol=1e-14)


@pytest.mark.parametrize("kernel", [n for n in KERNELS if KERNELS.facts(n)["doubly_stochastic"]])
def test_doubly_stochastic_attention_never_enlarges(kernel, rng):
    """R05."""
    a = KERNELS[kernel](2 * rng.standard_normal((20, 8, 8)))
    assert (hc_gain(a) <= 1 + 1e-12).all()
    assert_allclose(column_gain(a), 1, rtol=1e-12)


# Refusals.


def test_negative_weights_have_no_projective_distance():
    with pytest.raises(Refusal, match=r"^the mixing matrix has the entry -0\.5; .* softmax\.$"):
        projective_diameter(two_state(-0.5, 0.5))
