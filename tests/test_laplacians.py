"""Laplacians against their definitions; attention as one step of a random walk."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from lowpass.graphs import GRAPHS
from lowpass.kernels import KERNELS, attend
from lowpass.laplacians import LAPLACIANS, corrected, stationary_of
from lowpass.modes import eigenvalues
from lowpass.registry import Refusal

POSITIVE = [name for name in LAPLACIANS if LAPLACIANS.facts(name)["positive"]]
CONSTANT = [name for name in LAPLACIANS if LAPLACIANS.facts(name)["constant_mode"]]
SYMMETRIC = [name for name in LAPLACIANS if LAPLACIANS.facts(name)["symmetric"]]

DIVIDING = ["random_walk", "alpha_normalised", "normalised"]


def affinity(name: str, rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Draw what a Laplacian takes: positive numbers with loops, or numbers of any sign."""
    s = rng.standard_normal(shape)
    s = s + np.swapaxes(s, -1, -2)
    return np.exp(s) if LAPLACIANS.facts(name)["positive"] else s


def defined(name: str, w: np.ndarray) -> np.ndarray:
    """Write each Laplacian down as its docstring does."""
    degree = np.diag(w.sum(axis=1))
    one = np.eye(len(w))
    if name == "alpha_normalised":
        divided = np.linalg.inv(degree) @ w @ np.linalg.inv(degree)
        return one - np.linalg.inv(np.diag(divided.sum(axis=1))) @ divided
    if name == "random_walk":
        return one - np.linalg.inv(degree) @ w
    if name == "normalised":
        root = np.diag(1 / np.sqrt(np.diag(degree)))
        return one - root @ w @ root
    return degree - w


@pytest.mark.parametrize("name", LAPLACIANS)
def test_a_laplacian_is_what_its_formula_says(name, rng):
    w = affinity(name, rng, 7, 7)
    assert_allclose(LAPLACIANS[name](w), defined(name, w), rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("name", LAPLACIANS)
def test_constants_are_kept_where_a_laplacian_says_so(name, rng):
    laplacian = LAPLACIANS[name](affinity(name, rng, 7, 7))
    row_sums = np.abs(laplacian.sum(axis=-1)) / np.abs(laplacian).sum(axis=-1)
    assert (row_sums.max() < 1e-15) == LAPLACIANS.facts(name)["constant_mode"]


@pytest.mark.parametrize("name", LAPLACIANS)
def test_a_laplacian_is_symmetric_where_it_says_so(name, rng):
    laplacian = LAPLACIANS[name](affinity(name, rng, 7, 7))
    defect = np.abs(laplacian - laplacian.T).max()
    assert (defect < 1e-15) == LAPLACIANS.facts(name)["symmetric"]


@pytest.mark.parametrize("name", POSITIVE)
def test_affinities_that_are_not_negative_give_no_negative_eigenvalue(name, rng):
    value = np.linalg.eigvals(LAPLACIANS[name](affinity(name, rng, 5, 9, 9)))
    assert_allclose(value.imag, 0, atol=1e-13)
    assert (value.real > -1e-13).all()
    assert_allclose(value.real.min(axis=-1), 0, atol=1e-13)


def test_a_signed_laplacian_can_have_eigenvalues_of_either_sign(rng):
    value = np.linalg.eigvalsh(LAPLACIANS["signed"](affinity("signed", rng, 9, 9)))
    assert value.min() < -1
    assert value.max() > 1


@pytest.mark.parametrize("name", LAPLACIANS)
def test_renaming_tokens_renames_a_laplacian(name, rng):
    w, p = affinity(name, rng, 7, 7), rng.permutation(7)
    renamed = LAPLACIANS[name](w[p][:, p])
    assert_allclose(renamed, LAPLACIANS[name](w)[p][:, p], rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("name", LAPLACIANS)
def test_the_laplacians_of_a_batch_are_those_of_its_members(name, rng):
    w = affinity(name, rng, 2, 3, 6, 6)
    batch = LAPLACIANS[name](w)
    for index in np.ndindex(2, 3):
        assert np.array_equal(batch[index], LAPLACIANS[name](w[index]))


@pytest.mark.parametrize("name", LAPLACIANS)
def test_a_laplacian_leaves_its_affinity_as_it_was(name, rng):
    w = affinity(name, rng, 6, 6)
    before = w.copy()
    LAPLACIANS[name](w)
    assert np.array_equal(w, before)


@pytest.mark.parametrize("name", ["combinatorial", "signed"])
def test_loops_have_no_influence_on_differences(name, rng):
    w = affinity(name, rng, 6, 6)
    looped = w + np.diag(rng.random(6))
    assert np.array_equal(LAPLACIANS[name](w), LAPLACIANS[name](looped))


@pytest.mark.parametrize("beta", [0.0, 0.3, 3.0])
def test_attention_to_near_tokens_is_exactly_one_step_of_a_random_walk(beta, rng):
    """B07: I - L is softmax attention with the l2 score, with no exponential of a matrix."""
    x = rng.standard_normal((4, 9, 3))
    laplacian = LAPLACIANS["random_walk"](GRAPHS["tokens"](x, None, beta))
    a = attend(x, x, score="l2", kernel="softmax", mask="none", beta=beta)
    beside = ~np.eye(9, dtype=bool)
    assert np.array_equal(-laplacian[:, beside], a[:, beside])
    assert_allclose(np.eye(9) - laplacian, a, rtol=0, atol=1.5e-15)


def test_what_leaves_a_lonely_token_keeps_every_digit():
    """1 - W_ii / D_ii would be 0 here."""
    w = np.array([[1.0, 1e-30], [1e-30, 1.0]])
    assert_allclose(LAPLACIANS["random_walk"](w), np.array([[1, -1], [-1, 1]]) * 1e-30, rtol=1e-15)
    assert_allclose(LAPLACIANS["normalised"](w), np.array([[1, -1], [-1, 1]]) * 1e-30, rtol=1e-15)


def test_correcting_by_no_power_of_the_degrees_leaves_the_walk_alone(rng):
    w = affinity("random_walk", rng, 7, 7)
    assert np.array_equal(corrected(w, 0.0), w)


@pytest.mark.parametrize("copies", [1, 4])
def test_dividing_by_degrees_makes_copies_of_a_token_count_as_one(copies):
    """With α = 1 where tokens crowd does not matter: the walk leaves the crowd as one token.

    Two far crowds, joined by a weight ε to first order; α = 0 would favour the larger one.
    """
    crowd = np.repeat([0, 1], [copies, 1])
    w = np.where(crowd[:, None] == crowd, 1.0, 1e-9)
    leaving = LAPLACIANS["alpha_normalised"](w)
    there = -leaving[-1, crowd == 0].sum()
    assert_allclose(there, 1e-9, rtol=1e-7)
    assert_allclose(-LAPLACIANS["random_walk"](w)[-1, crowd == 0].sum(), copies * 1e-9, rtol=1e-7)


def test_attention_of_symmetrised_logits_is_exactly_one_step_of_a_random_walk(rng):
    """B07, for weights of queries and keys; reversible, with a spectrum in (-1, 1]."""
    x, (w_q, w_k) = rng.standard_normal((4, 9, 3)), rng.standard_normal((2, 3, 3))
    s, w = (GRAPHS[name](x, None, 2.0, (w_q, w_k)) for name in ("logits", "affinity"))
    laplacian = LAPLACIANS["random_walk"](w)
    assert_allclose(np.eye(9) - laplacian, KERNELS["softmax"](s), rtol=0, atol=1.5e-15)
    value = eigenvalues(laplacian, stationary_of(w, "random_walk"))
    assert (value[:, 0] == 0).all()
    assert (value < 2).all()


@pytest.mark.parametrize("name", CONSTANT)
def test_stationary_weights_balance_a_laplacian(name, rng):
    w = affinity(name, rng, 3, 8, 8)
    laplacian, pi = LAPLACIANS[name](w), stationary_of(w, name)
    assert_allclose(pi.sum(axis=-1), 1, rtol=1e-15)
    there = pi[:, :, None] * laplacian
    assert_allclose(there, np.swapaxes(there, 1, 2), rtol=1e-13, atol=1e-16)
    assert_allclose(there.sum(axis=1), 0, atol=1e-14)


@pytest.mark.parametrize("name", [name for name in CONSTANT if name in SYMMETRIC])
def test_stationary_weights_of_a_symmetric_laplacian_are_exactly_even(name, rng):
    assert np.array_equal(stationary_of(affinity(name, rng, 7, 7), name), np.full(7, 1 / 7))


@pytest.mark.parametrize("name", POSITIVE)
@pytest.mark.parametrize(
    ("row", "column", "value", "message"),
    [
        (1, 2, -0.5, r"^affinity \[1, 2\] is -0\.5; .* or use the Laplacian 'signed'\.$"),
        (0, 2, np.nan, r"^affinity \[0, 2\] is nan; .* Check the tokens and beta\.$"),
        (1, 1, np.inf, r"^affinity \[1, 1\] is inf; "),
    ],
)
def test_affinities_without_meaning_are_refused(name, row, column, value, message):
    w = np.ones((3, 3))
    w[row, column] = w[column, row] = value
    with pytest.raises(Refusal, match=message):
        LAPLACIANS[name](w)


@pytest.mark.parametrize("name", LAPLACIANS)
def test_a_graph_with_directions_is_refused(name):
    w = np.ones((2, 3, 3))
    w[0, 1, 2], w[1, 0, 2] = 1.01, 0.75
    with pytest.raises(
        Refusal,
        match=r"^affinity \[1, 0, 2\] is 0\.75 and its mirror image is 1, 0\.25 apart; .* transpo",
    ):
        LAPLACIANS[name](w)


@pytest.mark.parametrize("name", POSITIVE)
def test_even_tiny_affinities_must_be_mutual(name):
    """Rounding is measured by the affinity itself: 1e-30 is all that joins these tokens."""
    w = np.array([[1.0, 1e-30], [1.1e-30, 1.0]])
    with pytest.raises(
        Refusal, match=r"^affinity \[0, 1\] is 1e-30 and .* is 1\.1e-30, 1e-31 apart;"
    ):
        LAPLACIANS[name](w)


@pytest.mark.parametrize("name", DIVIDING)
def test_a_degree_that_has_no_root_is_refused_by_token(name):
    w = np.ones((4, 4))
    w[1, 3] = w[3, 1] = -4.5
    w[1, 1] = 0.0
    with pytest.raises(
        Refusal, match=r"^token \[1\] has the degree -2\.5; .* or use the Laplacian 'signed'\.$"
    ):
        LAPLACIANS[name](w)


@pytest.mark.parametrize("name", DIVIDING)
def test_a_token_without_neighbours_is_refused_by_name(name):
    w = np.ones((4, 4))
    w[2] = w[:, 2] = 0
    with pytest.raises(Refusal, match=r"^token \[2\] has no neighbours, .* 'combinatorial'\.$"):
        LAPLACIANS[name](w)


def test_a_laplacian_that_keeps_no_constant_has_no_stationary_weights():
    with pytest.raises(Refusal, match=r"^the Laplacian 'normalised' does not .* 'random_walk'"):
        stationary_of(np.ones((3, 3)), "normalised")
