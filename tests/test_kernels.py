"""Laws of attention kernels, alone and under every score and mask; closed forms; refusals."""

from __future__ import annotations

import math

import numpy as np
import pytest
from mpmath import mp
from numpy.testing import assert_allclose

from lowpass.balance import _evenly
from lowpass.kernels import (
    KERNELS,
    READABLE,
    attend,
    check_pair,
    density_corrected,
    signed,
    sinkhorn,
    softmax,
    uniform,
)
from lowpass.masks import MASKS
from lowpass.registry import Refusal
from lowpass.scores import SCORES

POSITIVE = [name for name in KERNELS if KERNELS.facts(name)["positive"]]
BALANCED = [name for name in KERNELS if KERNELS.facts(name)["doubly_stochastic"]]
INF = np.inf
PAIRS = [
    (score, kernel)
    for score in SCORES
    for kernel in KERNELS
    if KERNELS.facts(kernel).get("reads") in (None, SCORES.facts(score)["gives"])
]
WIDTH = {"mask_width": 2}
# At 0.01 the bandwidth is ten, and every key in reach of normal queries.
SOFT = {
    name: 0.01 if KERNELS.facts(name).get("reads") == "squared distance" else 2.0
    for name in KERNELS
}


@pytest.fixture
def scores(rng) -> np.ndarray:
    """Give two by three square matrices of scores, soft and sharp."""
    return rng.standard_normal((2, 3, 12, 12)) * np.array([0.1, 1.0, 5.0])[:, None, None]


def readable(name: str, scores: np.ndarray) -> np.ndarray:
    """Give scores that a kernel can read: distances, each query's to one key being zero."""
    if KERNELS.facts(name).get("reads") != "squared distance":
        return scores
    return np.where(np.eye(scores.shape[-1], dtype=bool), 0.0, -np.abs(scores) / 4)


@pytest.fixture
def pair(rng) -> tuple[np.ndarray, np.ndarray]:
    """Give queries and keys of one sequence of eight tokens, twice."""
    q, k = rng.standard_normal((2, 2, 8, 3))
    return q, k


# Laws.


@pytest.mark.parametrize("name", KERNELS)
def test_rows_sum_to_one(name, scores):
    """Signed weights may cancel, so rounding is measured against the sum of their moduli."""
    a = KERNELS[name](readable(name, scores))
    assert (np.abs(a.sum(axis=-1) - 1) <= 1e-14 * np.abs(a).sum(axis=-1)).all()


@pytest.mark.parametrize("name", POSITIVE)
def test_weights_of_a_positive_kernel_are_positive(name, scores):
    assert (KERNELS[name](scores) > 0).all()


@pytest.mark.parametrize("name", sorted(set(KERNELS) - set(POSITIVE)))
def test_weights_of_any_other_kernel_need_not_be_positive(name, scores):
    assert not (KERNELS[name](readable(name, scores)) > 0).all()


@pytest.mark.parametrize("name", KERNELS)
def test_only_weights_of_a_signed_kernel_can_be_negative(name, scores):
    a = KERNELS[name](readable(name, scores))
    assert (a < 0).any() == KERNELS.facts(name)["negative"]


@pytest.mark.parametrize("name", KERNELS)
def test_what_a_kernel_reads_some_score_gives(name):
    reads = KERNELS.facts(name).get("reads")
    if reads:
        score = READABLE[reads].split("'")[1]
        assert SCORES.facts(score)["gives"] == reads


@pytest.mark.parametrize("name", BALANCED)
def test_columns_of_a_doubly_stochastic_kernel_sum_to_one(name, scores):
    assert_allclose(KERNELS[name](scores).sum(axis=-2), 1, rtol=1e-14)


@pytest.mark.parametrize("name", sorted(set(KERNELS) - set(BALANCED)))
def test_columns_of_any_other_kernel_need_not_sum_to_one(name, scores):
    """Under a causal mask, since without one even uniform weights are balanced."""
    s = np.where(np.tri(12, dtype=bool), readable(name, scores), -INF)
    assert np.abs(KERNELS[name](s).sum(axis=-2) - 1).max() > 0.1


@pytest.mark.parametrize("name", KERNELS)
def test_a_batch_is_its_matrices_one_at_a_time(name, scores):
    s = readable(name, scores)
    batch = KERNELS[name](s)
    for index in np.ndindex(s.shape[:-2]):
        assert_allclose(batch[index], KERNELS[name](s[index]), rtol=1e-14)


@pytest.mark.parametrize("name", KERNELS)
def test_renaming_queries_and_keys_renames_weights(name, scores, rng):
    """Signed weights lose digits to cancellation, hence the tolerance."""
    row, column, s = rng.permutation(12), rng.permutation(12), readable(name, scores)
    renamed = KERNELS[name](s[..., row, :][..., column])
    assert_allclose(renamed, KERNELS[name](s)[..., row, :][..., column], rtol=1e-11)


@pytest.mark.parametrize("name", KERNELS)
def test_weights_of_scores_in_single_precision_agree(name, scores):
    """An error of eps in a score of 5 moves a weight by 5 eps of itself, and of the largest."""
    single = readable(name, scores).astype(np.float32)
    a, b = KERNELS[name](single), KERNELS[name](single.astype(np.float64))
    assert (
        np.abs(a - b) <= 100 * np.finfo(np.float32).eps * np.abs(b).max(-1, keepdims=True)
    ).all()


@pytest.mark.parametrize("pair_of_names", PAIRS, ids=" ".join)
def test_renaming_tokens_renames_attention(pair_of_names, pair, rng):
    """For every score with every kernel that can read it."""
    score, kernel = pair_of_names
    q, k = pair
    p = rng.permutation(8)
    chosen = {"score": score, "kernel": kernel, "mask": "none", "beta": SOFT[kernel]}
    renamed = attend(q[:, p], k[:, p], **chosen)
    assert_allclose(renamed, attend(q, k, **chosen)[:, p][:, :, p], rtol=1e-11)


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("pair_of_names", PAIRS, ids=" ".join)
def test_masked_entries_are_exactly_zero_and_no_others(pair_of_names, mask, pair):
    score, kernel = pair_of_names
    facts, given = MASKS.facts(mask), WIDTH if MASKS.facts(mask)["parameters"] else {}
    chosen = {"score": score, "kernel": kernel, "mask": mask, "beta": SOFT[kernel], **given}
    if KERNELS.facts(kernel)["doubly_stochastic"] and not facts["total_support"]:
        with pytest.raises(Refusal, match="doubly stochastic matrix"):
            attend(*pair, **chosen)
        return
    a = attend(*pair, **chosen)
    assert np.array_equal(a != 0, np.broadcast_to(MASKS[mask](8, **given), a.shape))


@pytest.mark.parametrize("name", POSITIVE)
def test_at_infinite_temperature_all_keys_weigh_the_same(name, pair):
    a = attend(*pair, score="dot", kernel=name, mask="none", beta=0.0)
    assert_allclose(a, 1 / 8, rtol=1e-15)


@pytest.mark.parametrize("mask", ["none", "block", "cycle", "causal"])
def test_uniform_weights_are_softmax_at_infinite_temperature(mask, pair):
    given = {"score": "dot", "mask": mask}
    a = attend(*pair, kernel="softmax", beta=0.0, **given)
    assert_allclose(attend(*pair, kernel="uniform", beta=5.0, **given), a, rtol=1e-15)


def test_uniform_weights_count_the_keys_that_are_seen():
    s = np.array([[1e9, -INF, -3.0], [-INF, -INF, 0.0]])
    assert np.array_equal(uniform(s), [[0.5, 0, 0.5], [0, 0, 1]])


def test_softmax_survives_scores_of_ten_thousand(rng):
    """Beside the largest, a weight that is 1e4 lower is zero; none is nan."""
    s = np.where(rng.random((6, 6)) < 0.5, 1e4, -1e4)
    s[0, 0] = -INF
    best = s == s.max(axis=-1, keepdims=True)
    assert np.array_equal(softmax(s), best / best.sum(axis=-1, keepdims=True))


def test_softmax_of_two_scores_is_the_logistic_function():
    gap = np.array([-700.0, -3.0, 0.0, 2.0, 30.0])
    a = softmax(np.stack([gap, np.zeros(5)], axis=-1))
    assert_allclose(a[:, 0], 1 / (1 + np.exp(-gap)), rtol=1e-14)


def test_softmax_agrees_with_fifty_digits(scores):
    """The shift S - max is rounded to 2 ulp of S, 4e-15 at |S| = 20; so are the weights."""
    ours = softmax(scores[0, 2])
    with mp.workdps(50):
        for row, weights in zip(scores[0, 2], ours, strict=True):
            exact = [mp.exp(s) for s in row]
            assert_allclose(weights, [float(e / mp.fsum(exact)) for e in exact], rtol=1e-14)


def test_finite_scores_are_never_clipped():
    """exp(-740) is a denormal, 4.2e-322, and stands."""
    assert softmax(np.array([[0.0, -740.0]]))[0, 1] == np.exp(-740.0) > 0


def test_softmax_does_not_see_row_shifts_however_large(scores):
    whole = np.round(scores * 16) / 16  # so that adding 1e6 loses no bit
    assert np.array_equal(softmax(whole + 1e6), softmax(whole))


@pytest.mark.parametrize("twist", [0.0, 1.0, -7.0, 12.0])
def test_two_by_two_sinkhorn_has_a_closed_form(twist, rng):
    """Scaling keeps the cross ratio, so p/(1-p) = exp((s₁₁ + s₂₂ - s₁₂ - s₂₁)/2).

    The sweeps stop on column sums; those change at the rate 1 - 4(1 - p), so the last case, with
    1 - p = 0.0025, is known to 1e-15/0.0025.
    """
    s = np.array([[twist, 0.0], [0.0, 0.0]]) + rng.standard_normal((2, 1)) + [0.0, 3.0]
    odds = np.exp((s[0, 0] + s[1, 1] - s[0, 1] - s[1, 0]) / 2)
    p = 1 / (1 + 1 / odds)
    off = 1 / (1 + odds)
    assert_allclose(sinkhorn(s), [[p, off], [off, p]], rtol=1e-12)


def test_sinkhorn_does_not_see_row_and_column_shifts(scores, rng):
    """Shifts of 1000 underflow whole columns of softmax, and round the scores to 1e-13."""
    shifted = scores + rng.standard_normal((12, 1)) + 1000 * rng.standard_normal(12)
    assert (softmax(shifted) == 0).all(axis=-2).any()
    assert_allclose(sinkhorn(shifted), sinkhorn(scores), rtol=1e-10)


def test_sinkhorn_of_circulant_scores_is_softmax(rng):
    """Then the columns of softmax are rows of it, and one normalisation is enough."""
    row = rng.standard_normal(9)
    s = np.stack([np.roll(row, i) for i in range(9)])
    assert_allclose(sinkhorn(s), softmax(s), rtol=1e-14)


def test_sinkhorn_of_sharp_scores_finds_the_best_assignment(rng):
    """A shuffled diagonal of 1000 against noise."""
    best = rng.permutation(6)
    s = 1000.0 * np.eye(6)[best] + rng.standard_normal((6, 6)) + 500 * np.arange(6)[:, None]
    assert_allclose(sinkhorn(s), np.eye(6)[best], atol=1e-14)


def test_half_an_iteration_of_sinkhorn_is_softmax(scores):
    """Rows first; columns of softmax then do not sum to one, and further halves mend that."""
    weight = np.exp(scores - scores.max())
    half = weight / weight.sum(axis=-1, keepdims=True)
    assert_allclose(half, softmax(scores), rtol=1e-12)
    for _ in range(2000):
        half = half / half.sum(axis=-2, keepdims=True)
        half = half / half.sum(axis=-1, keepdims=True)
    assert_allclose(half, sinkhorn(scores), rtol=1e-6)


def test_sinkhorn_scales_rows_and_columns_only(scores):
    """log A - S is f_i + g_j: all its 2 x 2 cross differences vanish."""
    change = np.log(sinkhorn(scores)) - scores
    cross = change - change[..., :1, :] - change[..., :1] + change[..., :1, :1]
    assert_allclose(cross, 0, atol=1e-11)


def test_sinkhorn_of_symmetric_scores_is_what_the_alternation_finds(scores):
    """A row shift makes the same problem asymmetric, and the other way is taken."""
    s = (scores[:2] + np.swapaxes(scores[:2], -1, -2)) / 2
    shifted = s + np.arange(12)[:, None]
    even = sinkhorn(s)
    # Symmetric as far as its sums are one; the other's slowest mode stops at their tolerance.
    assert_allclose(even, np.swapaxes(even, -1, -2), rtol=0, atol=1e-14)
    assert_allclose(even, sinkhorn(shifted), rtol=1e-9, atol=1e-12)


def test_sinkhorn_balances_long_waves_of_a_narrow_kernel(monkeypatch):
    """On uneven tokens along a line the alternation needs some 1/h² sweeps; this needs thirty."""
    monkeypatch.setattr("lowpass.balance.SWEEPS", 1)
    place = np.linspace(0, 1, 40) ** 2
    a = sinkhorn(-((place[:, None] - place) ** 2) / 2 * 400)
    assert_allclose(a.sum(axis=-2), 1, rtol=1e-14)


def test_symmetric_scores_too_sharp_to_be_scaled_evenly_are_alternated():
    """Two tokens that swap: a mode of A with the eigenvalue -0.98 is slow to scale evenly."""
    s = np.array([[0.0, 6.0, 1.0], [6.0, 0.0, 2.0], [1.0, 2.0, 6.0]])
    assert _evenly(s, 1e-15) is None
    a = sinkhorn(s)
    assert np.linalg.eigvals(a).real.min() < -0.98
    assert_allclose(a.sum(axis=-2), 1, rtol=1e-14)
    assert_allclose(a, a.T, rtol=1e-10)


def test_density_correction_divides_by_the_degrees_of_both_tokens(scores):
    """Entry by entry, for symmetric scores, whose degrees are those of the queries, too."""
    s = (scores + np.swapaxes(scores, -1, -2))[0, 0]
    weight = [[math.exp(entry) for entry in row] for row in s.tolist()]
    degree = [math.fsum(row) for row in weight]
    for i, row in enumerate(weight):
        shares = [w / (degree[i] * degree[j]) for j, w in enumerate(row)]
        expected = [share / math.fsum(shares) for share in shares]
        assert_allclose(density_corrected(s)[i], expected, rtol=1e-13)


def test_density_correction_is_a_sweep_of_sinkhorn_columns_first(scores):
    columns = np.swapaxes(softmax(np.swapaxes(scores, -1, -2)), -1, -2)
    expected = columns / columns.sum(axis=-1, keepdims=True)
    assert_allclose(density_corrected(scores), expected, rtol=1e-13)


def test_density_correction_of_sharp_scores_neither_overflows_nor_vanishes():
    """Shifts by a thousand, of whole columns and of single entries."""
    s = np.array([[0.0, 1000.0, -1000.0], [3.0, 1000.0, -999.0], [-2000.0, 999.0, -1001.0]])
    columns = np.exp(s - s.max(axis=0))
    shares = columns / columns.sum(axis=0)
    expected = shares / shares.sum(axis=1, keepdims=True)
    assert_allclose(density_corrected(s), expected, rtol=1e-12)


def test_a_key_that_nobody_sees_has_no_degree_to_divide_by():
    s = np.array([[0.0, -INF, 1.0], [2.0, -INF, 0.0]])
    assert (density_corrected(s)[:, 1] == 0).all()
    assert_allclose(density_corrected(s).sum(axis=1), 1)


def test_signed_weights_are_shares_of_the_row_sum():
    assert np.array_equal(signed(np.array([[1.0, 3.0], [3.0, -1.0]])), [[0.25, 0.75], [1.5, -0.5]])
    assert np.array_equal(signed(np.array([[2.0, -INF, 6.0]])), [[0.25, 0.0, 0.75]])


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("bad", [np.nan, INF])
def test_a_score_without_a_weight_is_refused_by_place(name, bad):
    s = np.zeros((2, 3, 3))
    s[1, 0, 2] = bad
    with pytest.raises(Refusal, match=rf"^score \[1, 0, 2\] is {bad}; a weight needs a finite"):
        KERNELS[name](s)


@pytest.mark.parametrize("name", KERNELS)
def test_a_query_that_sees_nothing_is_refused_by_row(name):
    s = np.zeros((2, 3, 3))
    s[1, 2] = -INF
    with pytest.raises(Refusal, match=r"^score row \[1, 2\] is -inf throughout; .* allow one key"):
        KERNELS[name](s)


@pytest.mark.parametrize("row", [[1.0, -1.0], [0.0, 0.0], [0.1 + 0.2, -0.3]])
def test_signed_weights_of_a_vanishing_row_are_refused(row):
    with pytest.raises(Refusal, match=r"^score row \[1\] sums to \S+, zero up to rounding; "):
        signed(np.array([[1.0, 2.0], row]))


def test_sinkhorn_of_a_mask_without_a_permutation_is_refused():
    """Queries 0 and 1 see only key 0, so one of them goes without."""
    s = np.array([[0, -INF, -INF], [0, -INF, -INF], [0, 0, 0]])
    with pytest.raises(Refusal, match=r"^the mask leaves query [01] without a key of its own; "):
        sinkhorn(s)


def test_sinkhorn_of_a_causal_mask_is_refused():
    """The only doubly stochastic triangular matrix is the identity."""
    s = np.where(np.tri(4, dtype=bool), 0.0, -INF)
    with pytest.raises(Refusal, match=r"^the mask lets query 1 see key 0, but every doubly stoch"):
        sinkhorn(s)


def test_sinkhorn_of_more_keys_than_queries_is_refused():
    with pytest.raises(Refusal, match=r"^there are 2 queries and 3 keys; only a square matrix"):
        sinkhorn(np.zeros((2, 3)))


def test_sinkhorn_that_does_not_arrive_is_refused(monkeypatch):
    """A cross difference of 62 makes the off-diagonal exp(-31), the rate 1 - 4 exp(-31)."""
    monkeypatch.setattr("lowpass.balance.SWEEPS", 200)
    with pytest.raises(
        Refusal, match=r"^column sums are still \S+ from one after 200 sweeps of .* Lower beta"
    ):
        sinkhorn(np.array([[60.0, 1.0], [0.0, 3.0]]))


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("score", SCORES)
def test_a_kernel_that_cannot_read_a_score_is_refused_before_any_number(score, kernel):
    if (score, kernel) in PAIRS:
        check_pair(score, kernel)
        return
    with pytest.raises(
        Refusal,
        match=rf"^the kernel '{kernel}' reads a (product|squared distance), and the score '{score}'"
        r" gives a [a-z ]+; the weights would mean nothing\. Use score '\w+', or kernel 'softmax'",
    ) as refusal:
        attend(np.ones((2, 3)), np.ones((2, 3)), score=score, kernel=kernel, mask="none", beta=1.0)
    proposed = str(refusal.value).split("Use score '")[1].split("'")[0]
    check_pair(proposed, kernel)


@pytest.mark.parametrize(
    ("score", "kernel"), [("dot", "epanechnikov"), ("distance", "triangle"), ("l2", "signed")]
)
def test_some_pairs_make_no_sense(score, kernel):
    """A product has no bandwidth; signed shares of distances would favour what is far."""
    assert (score, kernel) not in PAIRS
