"""Laws of scores; what each is under softmax, in closed form; refusals."""

from __future__ import annotations

import math

import numpy as np
import pytest
from mpmath import mp
from numpy.testing import assert_allclose

from lowpass.kernels import softmax
from lowpass.registry import Refusal
from lowpass.scores import SCORES, cosine, distance, elu, l2, log_elu_features, logits

GIVES = {"product", "squared distance", "distance", "logarithm"}
DISTANCES = [name for name in SCORES if "distance" in SCORES.facts(name)["gives"]]
PRODUCTS = [name for name in SCORES if SCORES.facts(name)["gives"] == "product"]


def by_hand(name: str, q: np.ndarray, k: np.ndarray) -> float:
    """Compare one query with one key, number by number."""
    dot = math.fsum(a * b for a, b in zip(q, k, strict=True))
    square = math.fsum((a - b) ** 2 for a, b in zip(q, k, strict=True))
    phi = [[1 + a if a > 0 else math.exp(a) for a in each] for each in (q, k)]
    return {
        "dot": dot,
        "cosine": dot / (math.hypot(*q) * math.hypot(*k)),
        "l2": -square / 2,
        "distance": -math.sqrt(square),
        "elu": math.log(math.fsum(a * b for a, b in zip(*phi, strict=True))),
    }[name]


@pytest.fixture
def pair(rng) -> tuple[np.ndarray, np.ndarray]:
    """Give queries and keys of one sequence of eight tokens, twice."""
    q, k = rng.standard_normal((2, 2, 8, 3))
    return q, k


# Laws.


@pytest.mark.parametrize("name", SCORES)
def test_a_score_is_what_its_formula_says(name, pair):
    q, k = pair
    batch = SCORES[name](q, k[:, :5])
    assert batch.shape == (2, 8, 5)
    for b, i, j in np.ndindex(batch.shape):
        assert_allclose(batch[b, i, j], by_hand(name, q[b, i], k[b, j]), rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("name", SCORES)
def test_a_score_says_what_it_gives(name):
    facts = SCORES.facts(name)
    assert facts["gives"] in GIVES
    assert isinstance(facts["per_root_feature"], bool)


@pytest.mark.parametrize("name", SCORES)
def test_scores_of_a_batch_are_those_of_one_at_a_time(name, pair):
    q, k = pair
    for b in range(2):
        assert_allclose(SCORES[name](q, k)[b], SCORES[name](q[b], k[b]), rtol=1e-14, atol=1e-15)


@pytest.mark.parametrize("name", SCORES)
def test_scores_broadcast_over_heads(name, rng):
    q, k = rng.standard_normal((5, 1, 4, 3)), rng.standard_normal((2, 6, 3))
    assert_allclose(SCORES[name](q, k)[3, 1], SCORES[name](q[3, 0], k[1]), rtol=1e-13)


@pytest.mark.parametrize("name", SCORES)
def test_renaming_tokens_renames_scores(name, pair, rng):
    q, k = pair
    rows, columns = rng.permutation(8), rng.permutation(8)
    renamed = SCORES[name](q[:, rows], k[:, columns])
    assert_allclose(renamed, SCORES[name](q, k)[:, rows][:, :, columns], rtol=1e-14, atol=1e-15)


@pytest.mark.parametrize("name", SCORES)
def test_a_score_does_not_say_which_is_the_query(name, pair):
    """What makes attention asymmetric are its projections, no score."""
    q, k = pair
    assert_allclose(SCORES[name](q, k), SCORES[name](k, q).swapaxes(-1, -2), rtol=1e-14)


@pytest.mark.parametrize("name", DISTANCES)
def test_a_distance_is_not_positive_and_zero_from_itself(name, pair):
    q, k = pair
    assert (SCORES[name](q, k) < 0).all()
    assert np.array_equal(SCORES[name](q, q).diagonal(axis1=-2, axis2=-1), np.zeros((2, 8)))


@pytest.mark.parametrize("name", DISTANCES)
def test_a_distance_does_not_see_where_the_origin_is(name, pair):
    q, k = (np.round(each * 64) / 64 for each in pair)  # so that adding 1024 loses no bit
    assert np.array_equal(SCORES[name](q + 1024, k + 1024), SCORES[name](q, k))


@pytest.mark.parametrize("name", PRODUCTS)
def test_a_product_turns_with_its_query(name, pair):
    q, k = pair
    assert_allclose(SCORES[name](-q, k), -SCORES[name](q, k), rtol=1e-15)


@pytest.mark.parametrize("name", SCORES)
def test_scores_in_single_precision_agree(name, pair):
    """Three features and a logarithm round less than ten times."""
    single = SCORES[name](*(each.astype(np.float32) for each in pair))
    rounded = SCORES[name](*(each.astype(np.float32).astype(np.float64) for each in pair))
    assert_allclose(single, rounded, rtol=0, atol=10 * np.finfo(np.float32).eps * 10)


@pytest.mark.parametrize("name", SCORES)
def test_logits_are_beta_times_the_score_per_its_unit(name, pair):
    """S = βqkᵀ/√d; every other score has no root."""
    q, k = pair
    s = logits(q, k, score=name, mask="none", beta=3.0)
    unit = 3.0 / math.sqrt(3) if name == "dot" else 3.0
    for b, i, j in np.ndindex(s.shape):
        assert_allclose(s[b, i, j], unit * by_hand(name, q[b, i], k[b, j]), rtol=1e-13, atol=1e-14)


# Closed forms.


def test_elu_attention_is_linear_attention(pair):
    """A = φ(Q)φ(K)ᵀ over its row sums: of rank d, although there are eight tokens."""
    q, k = pair
    phi_q, phi_k = (np.where(x > 0, x + 1, np.exp(x)) for x in (q, k))
    similar = phi_q @ phi_k.swapaxes(-1, -2)
    a = softmax(elu(q, k))
    assert_allclose(a, similar / similar.sum(axis=-1, keepdims=True), rtol=1e-14)
    assert (a > 0).all()
    assert (np.linalg.svd(a, compute_uv=False)[:, 3:] < 1e-15).all()


def test_at_another_temperature_elu_attention_has_full_rank(pair):
    a = softmax(logits(*pair, score="elu", mask="none", beta=2.0))
    assert (np.linalg.svd(a, compute_uv=False)[:, 3] > 1e-4).all()


def test_features_of_linear_attention_join_smoothly_at_zero():
    """Both branches have value and slope one at zero."""
    x = np.array([-1e-9, 0.0, 1e-9])
    assert_allclose(np.exp(log_elu_features(x)), 1 + x, rtol=1e-15)


def test_a_similarity_below_the_smallest_number_still_has_its_logarithm():
    """The features are exp(-800) and 1; their inner product is 2 exp(-800), which is no float."""
    q, k = np.array([[0.0, -800.0]]), np.array([[-800.0, 0.0]])
    assert_allclose(elu(q, k), [[-800 + math.log(2)]], rtol=1e-15)


def test_elu_scores_agree_with_fifty_digits(pair):
    q, k = 30 * pair[0][0], 30 * pair[1][0]
    with mp.workdps(50):
        phi = [[[1 + mp.mpf(a) if a > 0 else mp.exp(a) for a in row] for row in x] for x in (q, k)]
        exact = [[float(mp.log(mp.fdot(a, b))) for b in phi[1]] for a in phi[0]]
    assert_allclose(elu(q, k), exact, rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize("beta", [0.5, 4.0])
def test_distances_make_attention_laplacian(beta):
    """On a line of unit steps the weights are powers of exp(-β), to both sides."""
    x = np.arange(6.0)[:, None]
    a = softmax(logits(x, x, score="distance", mask="none", beta=beta))
    weight = np.exp(-beta) ** np.abs(np.arange(6)[:, None] - np.arange(6))
    assert_allclose(a, weight / weight.sum(axis=1, keepdims=True), rtol=1e-14)


def test_a_distance_is_no_sum_of_moduli():
    """From (0, 0) to (3, 4) it is five, not seven."""
    assert distance(np.zeros((1, 2)), np.array([[3.0, 4.0]])) == [[-5.0]]


def test_cosines_do_not_see_lengths(pair, rng):
    q, k = pair
    lengths = np.exp(rng.uniform(-5, 5, (2, 8, 1)))
    assert_allclose(cosine(lengths * q, k / lengths), cosine(q, k), rtol=1e-12, atol=1e-15)
    assert_allclose(cosine(q, q).diagonal(axis1=-2, axis2=-1), 1, rtol=1e-15)


def test_cosines_of_huge_and_tiny_vectors_are_those_of_their_directions():
    x = np.array([[3e200, 4e200], [3e-200, -4e-200]])
    assert_allclose(cosine(x, x), [[1, (9 - 16) / 25], [(9 - 16) / 25, 1]], rtol=1e-15)


def test_distances_do_not_cancel_far_from_the_origin():
    """At 1e8 an expanded square would be off by 2; differences of exact inputs are exact."""
    q = np.array([[1e8, 1.0]])
    k = np.array([[1e8 + 0.5, 1.0], [1e8, 1.25]])
    assert np.array_equal(l2(q, k), [[-0.125, -0.03125]])
    assert np.array_equal(distance(q, k), [[-0.5, -0.25]])


# Refusals.


@pytest.mark.parametrize("name", SCORES)
def test_queries_and_keys_of_different_width_are_refused(name):
    with pytest.raises(
        Refusal,
        match=r"^queries have 3 features and keys have 4; an? [\w ]+ needs the same number\. "
        r"Check w_q and w_k\.$",
    ):
        SCORES[name](np.ones((2, 3)), np.ones((2, 4)))


@pytest.mark.parametrize("what", ["query", "key"])
def test_a_vector_without_direction_is_refused_by_place(what):
    q, k = np.ones((2, 3, 2)), np.ones((2, 3, 2))
    {"query": q, "key": k}[what][1, 2] = 0
    with pytest.raises(Refusal, match=rf"^{what} \[1, 2\] is zero; .* Use score 'dot' or 'l2'"):
        cosine(q, k)


def test_a_mask_for_one_sequence_is_refused_for_two(pair):
    q, k = pair
    with pytest.raises(Refusal, match=r"^there are 8 queries and 5 keys; the mask 'none' pairs"):
        logits(q, k[:, :5], score="dot", mask="none", beta=1.0)
