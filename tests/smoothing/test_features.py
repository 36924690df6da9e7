"""Features against the matrices that they stand in for, and against integrals."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import logsumexp, ndtri

from lowpass.registry import Refusal
from lowpass.scores import elu, log_elu_features
from lowpass.smoothing.features import (
    TILE,
    independent_directions,
    log_positive_features,
    orthogonal_directions,
    recall,
    recall_signed,
    remember,
    remember_signed,
    trigonometric_features,
)

DRAWN = [independent_directions, orthogonal_directions]


@pytest.fixture
def tokens(rng) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Give 7 queries, more keys than a tile holds, and two values of each."""
    return (
        rng.standard_normal((7, 3)),
        rng.standard_normal((TILE + 88, 3)),
        rng.standard_normal((TILE + 88, 2)),
    )


def averaged(similarity: np.ndarray, value: np.ndarray) -> np.ndarray:
    """Divide weighted sums by sums of weights, one query and one output at a time."""
    return np.array(
        [
            [sum(a * v for a, v in zip(row, column, strict=True)) / sum(row) for column in value.T]
            for row in similarity
        ]
    )


# Laws.


@pytest.mark.parametrize("draw", DRAWN)
def test_directions_have_as_many_rows_as_were_asked_for(draw, rng):
    assert draw(rng, 7, 3).shape == (7, 3)
    assert draw(rng, 2, 5).shape == (2, 5)


@pytest.mark.parametrize("draw", DRAWN)
def test_every_direction_is_normal_on_its_own(draw, rng):
    """First and second moments of each row over 4000 draws, within four standard errors."""
    rows = np.stack([draw(rng, 3, 2) for _ in range(4000)])
    assert abs(rows.mean(axis=0)).max() < 4 / np.sqrt(4000)
    second = np.einsum("rmi,rmj->mij", rows, rows) / 4000
    assert abs(second - np.eye(2)).max() < 4 * np.sqrt(2 / 4000)


@pytest.mark.parametrize("weighted", [False, True])
def test_positive_features_average_as_their_matrix_does(weighted, tokens, rng):
    q, k, v = tokens
    log_weight = 3 * rng.standard_normal(len(k)) if weighted else None
    directions = rng.standard_normal((11, 3))
    sums = remember(lambda x: log_positive_features(x, directions), k, v, log_weight)
    phi_q, phi_k = (np.exp(log_positive_features(x, directions)) for x in (q, k))
    matrix = phi_q @ phi_k.T * (1 if log_weight is None else np.exp(log_weight))
    found = recall(log_positive_features(q, directions), sums)
    assert_allclose(found, averaged(matrix, v), rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("weighted", [False, True])
def test_signed_features_average_as_their_matrix_does(weighted, tokens, rng):
    q, k, v = tokens
    log_weight = rng.standard_normal(len(k)) if weighted else None
    directions = rng.standard_normal((400, 3))
    sums = remember_signed(lambda x: trigonometric_features(x, directions), k, v, log_weight)
    matrix = trigonometric_features(q, directions) @ trigonometric_features(k, directions).T
    if weighted:
        matrix = matrix * np.exp(log_weight - log_weight.max())
    found, normaliser = recall_signed(trigonometric_features(q, directions), sums)
    assert_allclose(normaliser, matrix.sum(axis=1), rtol=1e-10)
    assert_allclose(found, averaged(matrix, v), rtol=1e-9, atol=1e-12)


def test_the_order_of_keys_does_not_matter(tokens, rng):
    q, k, v = tokens
    turn = rng.permutation(len(k))
    found = [
        recall(log_elu_features(q), remember(log_elu_features, k[order], v[order]))
        for order in (slice(None), turn)
    ]
    assert_allclose(found[1], found[0], rtol=1e-12, atol=1e-14)


def test_first_sums_are_those_of_the_first_features(tokens, rng):
    """A constant of all features, such as 1/√m, cancels in the average."""
    q, k, v = tokens
    directions = rng.standard_normal((16, 3))
    many = remember(lambda x: log_positive_features(x, directions), k, v)
    few = remember(lambda x: log_positive_features(x, directions[:5]), k, v)
    assert_allclose(
        recall(log_positive_features(q, directions)[:, :5], many.first(5)),
        recall(log_positive_features(q, directions[:5]), few),
        rtol=1e-12,
        atol=1e-14,
    )


# Closed forms.


def test_positive_features_have_the_exponential_of_the_product_as_mean():
    """Midpoints of 10⁶ equal shares of a normal distribution stand for all directions."""
    directions = ndtri((np.arange(10**6) + 0.5) / 10**6)[:, None]
    q, k = np.array([[0.7]]), np.array([[-0.4]])
    log_q, log_k = (log_positive_features(x, directions) for x in (q, k))
    assert_allclose(np.exp(logsumexp(log_q + log_k)), np.exp(-0.28), rtol=1e-5)


def test_trigonometric_features_have_the_gaussian_as_mean():
    directions = ndtri((np.arange(10**6) + 0.5) / 10**6)[:, None]
    q, k = np.array([[0.7]]), np.array([[-0.4]])
    product = trigonometric_features(q, directions) @ trigonometric_features(k, directions).T
    assert_allclose(product, np.exp(-(1.1**2) / 2), rtol=1e-5)


def test_linear_attention_is_softmax_of_its_similarity(tokens):
    """N10: A = softmax(log φ(q)·φ(k)), which no linear-time average ever forms."""
    q, k, v = tokens
    logit = elu(q, k)
    matrix = np.exp(logit - logsumexp(logit, axis=1, keepdims=True))
    found = recall(log_elu_features(q), remember(log_elu_features, k, v))
    assert_allclose(found, matrix @ v, rtol=1e-12, atol=1e-14)
    assert np.linalg.matrix_rank(matrix, tol=1e-12) == 3


# What is particular.


def test_orthogonal_directions_are_so_within_a_block_of_d(rng):
    w = orthogonal_directions(rng, 10, 4)
    for block in (w[:4], w[4:8], w[8:]):
        gram = block @ block.T
        assert_allclose(gram, np.diag(np.diag(gram)), atol=1e-13)
    assert abs(w[:4] @ w[4:8].T).max() > 0.1


def test_without_the_sign_of_r_a_direction_would_never_be_positive(rng):
    """LAPACK's reflections make the first entry of Q negative, and features would be biased."""
    raw = np.linalg.qr(rng.standard_normal((200, 3, 3))).Q[:, 0, 0]
    assert (raw < 0).all()
    signed = np.array([orthogonal_directions(rng, 3, 3)[0, 0] for _ in range(200)])
    assert 60 < (signed < 0).sum() < 140


@pytest.mark.parametrize("size", [1e2, 1e4])
def test_positive_features_of_long_tokens_stay_within_the_values(size, rng):
    """Exponents near 1e8 overflow by themselves; the largest one beside them is taken out."""
    q, k = size * rng.standard_normal((5, 2)), size * rng.standard_normal((30, 2))
    v, directions = rng.uniform(2, 3, (30, 1)), rng.standard_normal((8, 2))
    sums = remember(lambda x: log_positive_features(x, directions), k, v)
    found = recall(log_positive_features(q, directions), sums)
    assert np.isfinite(found).all()
    assert (found >= v.min()).all()
    assert (found <= v.max()).all()


def test_few_signed_features_divide_by_what_is_no_sum_of_weights(rng):
    """In 64 dimensions a few cosines make the normaliser negative for many queries; it is said."""
    q, k = rng.standard_normal((200, 64)) / 2, rng.standard_normal((200, 64)) / 2
    directions = rng.standard_normal((8, 64))
    sums = remember_signed(lambda x: trigonometric_features(x, directions), k, np.ones((200, 1)))
    _, normaliser = recall_signed(trigonometric_features(q, directions), sums)
    assert 0.2 < (normaliser <= 0).mean() < 0.8


def test_a_normaliser_of_nothing_gives_no_number():
    sums = remember_signed(lambda x: np.c_[x, -x], np.ones((1, 1)), np.ones((1, 1)))
    output, normaliser = recall_signed(np.ones((1, 2)), sums)
    assert normaliser == 0
    assert np.isnan(output).all()


# Refusals.


def test_no_keys_are_refused():
    with pytest.raises(Refusal, match=r"^there is no key to average over; give at least one\.$"):
        remember(log_elu_features, np.empty((0, 2)), np.empty((0, 1)))
