"""Entropies, ranks and cosines against slow sums and 400 digits, for tokens that barely differ."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from mpmath import mp
from numpy.testing import assert_allclose

from lowpass.diversity import (
    Tokens,
    effective_rank,
    entropy,
    log10_cosine_gap,
    log10_stable_rank_excess,
    singular_values,
    stable_rank,
)
from lowpass.kernels import softmax

N, D = 6, 3
# Just above and just below where the second order is all that is needed.
EDGE = [13, 14, 15, 16]
DOWN = [0, 5, 9, *EDGE, 20, 60, 400, 5000]


def tokens(rng: np.random.Generator, down: int = 0, *, n: int = N, d: int = D) -> Tokens:
    """Draw a mean of order one, and a rest that is smaller by a power of two."""
    rest = rng.standard_normal((n, d))
    rest -= rest.mean(axis=0)
    return Tokens(rng.standard_normal(d), np.array(0), rest, np.array(-down))


def exact(x: Tokens) -> mp.matrix:
    """Put the tokens together with as many digits as there are at work."""
    rows = mp.matrix(x.rest.tolist()) * mp.mpf(2) ** int(x.rest_exponent)
    for j in range(rows.cols):
        centre = mp.fsum(rows[:, j]) / rows.rows
        for i in range(rows.rows):
            rows[i, j] += mp.mpf(float(x.mean[j])) * mp.mpf(2) ** int(x.mean_exponent) - centre
    return rows


def shifted(x: Tokens, mean: int, rest: int) -> Tokens:
    return x._replace(mean_exponent=x.mean_exponent + mean, rest_exponent=x.rest_exponent + rest)


def whole(x: Tokens) -> np.ndarray:
    return x.mean + np.ldexp(x.rest, x.rest_exponent)


# Entropy.


def test_the_entropy_is_a_mean_over_rows(rng):
    a = softmax(3 * rng.standard_normal((5, 5)))
    slow = -sum(x * math.log(x) for x in a.ravel().tolist()) / 5
    assert_allclose(entropy(a), slow, rtol=1e-14)


def test_uniform_attention_has_the_largest_entropy_and_a_permutation_none():
    a = np.stack([np.full((7, 7), 1 / 7), np.roll(np.eye(7), 1, axis=1)])
    assert_allclose(entropy(a), [math.log(7), 0], atol=1e-15)
    assert not np.signbit(entropy(a)).any()


def test_an_entry_below_zero_by_rounding_counts_nothing():
    assert entropy(np.array([[1.0, -1e-17], [0.0, 1.0]])) == 0


# Ranks.


@pytest.mark.parametrize("rank", [effective_rank, stable_rank])
def test_equal_singular_values_are_counted(rank):
    assert_allclose(rank(np.array([[2.0, 2, 2, 0], [5, 0, 0, 0], [0, 0, 0, 0]])), [3, 1, 0])


def test_the_effective_rank_of_two_values_is_that_of_their_entropy():
    p = 0.3
    expected = math.exp(-p * math.log(p) - (1 - p) * math.log(1 - p))
    assert_allclose(effective_rank(np.array([7.0, 3.0])), expected, rtol=1e-14)
    assert_allclose(stable_rank(np.array([4.0, 3.0])), 25 / 16, rtol=1e-15)


def test_an_effective_rank_is_at_least_the_stable_one(rng):
    sigma = np.sort(rng.exponential(size=(200, 7)) ** 2)[:, ::-1]
    assert (effective_rank(sigma) >= stable_rank(sigma)).all()


@pytest.mark.parametrize("down", [0, 3, 20])
@pytest.mark.parametrize(("n", "d"), [(6, 3), (3, 6), (4, 4)])
def test_singular_values_are_those_of_the_tokens_put_together(n, d, down, rng):
    x = tokens(rng, down, n=n, d=d)
    direct = np.linalg.svd(whole(x), compute_uv=False)
    found = singular_values(x)
    assert_allclose(found / found[0], direct / direct[0], atol=1e-14)


def test_ranks_do_not_depend_on_a_scale_beyond_floats(rng):
    x = tokens(rng, 2)
    for far in (-30_000, 30_000):
        assert_allclose(singular_values(shifted(x, far, far)), singular_values(x), rtol=1e-13)


def test_without_a_mean_the_tokens_are_the_rest_alone(rng):
    x = tokens(rng)._replace(mean=np.zeros(D))
    sigma = np.linalg.svd(x.rest, compute_uv=False)
    found = singular_values(shifted(x, 0, -9000))
    assert_allclose(found / found[0], sigma / sigma[0], atol=1e-14)


# How far the stable rank is above one.


@pytest.mark.parametrize("down", DOWN)
def test_the_excess_of_the_stable_rank_has_all_its_digits(down, rng):
    """The oracle subtracts the largest of the eigenvalues of a Gram matrix from its trace."""
    x = tokens(rng, down)
    with mp.workdps(3200 if down == 5000 else 300):
        rows = exact(x)
        gram = rows.T * rows
        largest = max(mp.eigsy(gram, eigvals_only=True))
        trace = mp.fsum(gram[i, i] for i in range(D))
        expected = float(mp.log10(trace / largest - 1))
    assert_allclose(log10_stable_rank_excess(x), expected, rtol=1e-12, atol=1e-11)


def test_the_excess_of_tokens_along_one_line_is_minus_infinity(rng):
    x = tokens(rng, 40, d=1)
    assert log10_stable_rank_excess(x) == -np.inf
    assert log10_stable_rank_excess(x._replace(rest=np.zeros((N, 1)))) == -np.inf
    assert log10_stable_rank_excess(x._replace(mean=np.zeros(1))) == -np.inf


@pytest.mark.parametrize("number", [log10_stable_rank_excess, log10_cosine_gap])
def test_a_small_rest_counts_in_square(number, rng):
    x = tokens(rng, 1000)
    fall = number(shifted(x, 0, -3000)) - number(x)
    assert_allclose(fall, -6000 * np.log10(2), rtol=1e-12)


# Cosines.


def slow_gap(x: Tokens) -> float:
    """Average one minus the cosine over all pairs, with hundreds of digits."""
    with mp.workdps(3200 if x.rest_exponent < -4000 else 300):
        rows = exact(x)
        n = rows.rows
        length = [mp.norm(rows[i, :]) for i in range(n)]
        pairs = list(itertools.permutations(range(n), 2))
        cosines = [
            mp.fsum(rows[i, k] * rows[j, k] for k in range(rows.cols)) / (length[i] * length[j])
            for i, j in pairs
        ]
        return float(mp.log10(1 - mp.fsum(cosines) / len(pairs)))


@pytest.mark.parametrize("down", DOWN)
def test_the_gap_of_the_cosine_has_all_its_digits(down, rng):
    x = tokens(rng, down)
    assert_allclose(log10_cosine_gap(x), slow_gap(x), rtol=1e-12, atol=1e-12)


def test_orthogonal_tokens_have_a_gap_of_one():
    rows = 3 * np.eye(4)
    mean = rows.mean(axis=0)
    x = Tokens(mean, np.array(0), rows - mean, np.array(0))
    assert_allclose(log10_cosine_gap(x), 0, atol=1e-15)


def test_tokens_that_sum_to_nothing_are_as_far_apart_as_can_be():
    """The corners of a triangle: each cosine is -1/2, so that the gap is n/(n - 1)."""
    angle = 2 * np.pi * np.arange(3) / 3
    rest = np.stack([np.cos(angle), np.sin(angle)], axis=-1)
    x = Tokens(np.zeros(2), np.array(0), rest, np.array(-7000))
    assert_allclose(log10_cosine_gap(x), np.log10(1.5), rtol=1e-14)


def test_a_token_that_is_zero_has_the_cosine_zero():
    rows = np.array([[0.0, 0], [1, 0], [2, 0]])
    x = Tokens(rows.mean(axis=0), np.array(0), rows - rows.mean(axis=0), np.array(0))
    assert_allclose(log10_cosine_gap(x), np.log10(1 - 1 / 3), rtol=1e-14)


def test_tokens_along_one_direction_have_no_gap(rng):
    x = tokens(rng, 30, d=1)
    assert log10_cosine_gap(x) == -np.inf
    assert log10_cosine_gap(x._replace(rest=np.zeros((N, 1)))) == -np.inf


# Batches.


@pytest.mark.parametrize(
    "number",
    [singular_values, log10_stable_rank_excess, log10_cosine_gap],
    ids=lambda f: f.__name__,
)
def test_a_batch_counts_as_its_members_do(number, rng):
    """Members of all kinds side by side: far apart, near, without a mean, equal."""
    members = [tokens(rng, down) for down in (0, 12, 900)]
    members += [tokens(rng)._replace(mean=np.zeros(D)), tokens(rng)._replace(rest=np.zeros((N, D)))]
    batch = Tokens(*(np.stack(part) for part in zip(*members, strict=True)))
    found = number(batch)
    for each, one in zip(found, members, strict=True):
        assert_allclose(each, number(one), rtol=1e-13, atol=1e-15)
