"""Attention near consensus, against the unsplit recurrence in hundreds of digits."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from mpmath import mp
from numpy.testing import assert_allclose

from lowpass.consensus import KEY_SCORES, Mixing, matrix_mixing, softmax_mixing, split_logits
from lowpass.kernels import KERNELS, attend
from lowpass.registry import Refusal
from lowpass.splits import LOWEST, Split, by_mean, combined, mapped

from . import unsplit

PARTS = ("kept", "rest", "exponent", "kept_exponent")


def draw(rng, *batch: int, n_tokens: int = 5, d_model: int = 3, d_key: int = 4) -> tuple:
    """Draw tokens whose mean is not zero, a pair of projections, and values."""
    x = rng.standard_normal((*batch, n_tokens, d_model)) + rng.standard_normal((*batch, 1, d_model))
    pair = rng.standard_normal((2, *batch, d_model, d_key)) / np.sqrt(d_model)
    return x, pair, rng.standard_normal((*batch, d_model, d_model)) / np.sqrt(d_model)


def closer(state: Split, exponent: int) -> Split:
    """Scale what tokens differ by with a power of two."""
    return Split(state.kept, state.rest, state.exponent + exponent, state.kept_exponent)


def whole(state: Split) -> np.ndarray:
    """Add the two parts."""
    kept = np.ldexp(state.kept, state.kept_exponent[..., None])
    return kept[..., None, :] + np.ldexp(state.rest, state.exponent[..., None, None])


def dense(mixing: Mixing) -> np.ndarray:
    """Add the two parts of a matrix."""
    return mixing.weights[..., None, :] + np.ldexp(mixing.rest, mixing.exponent[..., None, None])


def layer(state: Split, pair, w_v, *, score: str, skip: float, beta: float = 1.0) -> Split:
    """Compute skip X + A X W in split form."""
    mixed = softmax_mixing(state, *pair, score=score, beta=beta)(state)
    return combined([(skip, state), (1.0, mapped(mixed, w_v))])


def exact_layer(x, pair, w_v, *, score: str, skip: float, beta: float = 1.0):
    """Compute skip X + A X W on whole tokens."""
    a = unsplit.attention(x, pair, score, beta)
    return unsplit.added(
        (skip, x), (1.0, unsplit.product(unsplit.product(a, x), unsplit.exact(w_v)))
    )


def both(start: Split, pair, w_v, depth: int, **how) -> tuple[np.ndarray, np.ndarray]:
    """Give log10 of HC/DC of every layer, in split form and on whole tokens."""
    ours = unsplit.ratios(partial(layer, pair=pair, w_v=w_v, **how), start, depth)
    exact = unsplit.exact_ratios(partial(exact_layer, pair=pair, w_v=w_v, **how), start, depth)
    return ours, exact


@pytest.mark.parametrize("score", KEY_SCORES)
def test_a_matrix_is_its_two_parts(score, rng):
    """Some of the replicates are near consensus, and some far from it."""
    x, pair, _ = draw(rng, 4)
    x = x * np.array([1.0, 0.3, 1e-3, 3.0])[:, None, None] + x.mean(axis=-2, keepdims=True)
    mixing = softmax_mixing(by_mean(x), *pair, score=score, beta=1.3)
    a = attend(x @ pair[0], x @ pair[1], score=score, kernel="softmax", mask="none", beta=1.3)
    assert 0 < (mixing.exponent < 0).sum() < 4
    assert_allclose(dense(mixing), a, rtol=1e-12, atol=1e-14)
    assert_allclose(mixing.weights.sum(axis=-1), 1, rtol=1e-15)
    assert_allclose(mixing.rest.sum(axis=-1), 0, atol=1e-15)
    assert_allclose(whole(mixing(by_mean(x))), a @ x, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("score", KEY_SCORES)
def test_the_collapse_without_a_skip_is_that_of_exact_arithmetic(score, rng):
    """HC/DC falls below 10^-3000, in every layer to about its third power.

    A relative error triples with every layer: 1e-16 is 1e-13 after seven.
    """
    x, pair, w_v = draw(rng)
    ours, exact = both(closer(by_mean(x), -8), pair, w_v, 7, score=score, skip=0.0)
    assert exact[-1] < -3000
    assert_allclose(ours, exact, rtol=0, atol=unsplit.TOLERANCE)
    assert_allclose(ours[-1] / ours[-2], 3, rtol=1e-2)


@pytest.mark.parametrize("score", KEY_SCORES)
@pytest.mark.parametrize("exponent", [0, -900])
def test_layers_with_a_skip_are_those_of_exact_arithmetic(score, exponent, rng):
    x, pair, w_v = draw(rng)
    start = closer(by_mean(x), exponent)
    ours, exact = both(start, pair, w_v + np.eye(3), 12, score=score, skip=1.0)
    assert exact[-1] < exponent * np.log10(2)
    assert_allclose(ours, exact, rtol=0, atol=unsplit.TOLERANCE)


@pytest.mark.parametrize("score", KEY_SCORES)
@pytest.mark.parametrize("exponent", [0, -4, -40, -900])
def test_what_rows_do_not_share_is_that_of_exact_arithmetic(score, exponent, rng):
    """Every entry of R, relative to the largest; w is the softmax of what all queries share."""
    x, pair, _ = draw(rng)
    state = closer(by_mean(x), exponent)
    mixing = softmax_mixing(state, *pair, score=score, beta=0.7)
    with mp.workdps(700):
        a = unsplit.attention(unsplit.rows_of(state), pair, score, 0.7)
        scale = mp.mpf(2) ** -int(mixing.exponent)
        rest = np.array(
            [
                [float((e - mean) * scale) for e, mean in zip(row, means, strict=True)]
                for row, means in [
                    (row, [mp.fsum(each) / 5 for each in zip(*a, strict=True)]) for row in a
                ]
            ]
        )
    ours = mixing.rest - mixing.rest.mean(axis=0)
    assert_allclose(ours, rest, rtol=0, atol=1e-13 * np.abs(rest).max())


@pytest.mark.parametrize("score", KEY_SCORES)
def test_differences_scaled_by_a_power_of_two_are_so_to_the_third_power(score, rng):
    """Below 2^-64 only the leading order is left, and that is exact: e becomes 3 e."""
    x, pair, _ = draw(rng)
    start = closer(by_mean(x), -100)
    one, other = (
        softmax_mixing(each, *pair, score=score, beta=1.0)(each)
        for each in (start, closer(start, -70))
    )
    assert other.exponent == one.exponent - 210
    assert_allclose(other.rest, one.rest, rtol=1e-12)


@pytest.mark.parametrize("score", KEY_SCORES)
def test_early_layers_are_those_of_plain_floats(score, rng):
    x, pair, w_v = draw(rng, 3, n_tokens=12)
    state = by_mean(x)
    for _ in range(4):
        state = layer(state, pair, w_v, score=score, skip=1.0)
        q, k = x @ pair[0], x @ pair[1]
        x = x + attend(q, k, score=score, kernel="softmax", mask="none", beta=1.0) @ x @ w_v
        assert_allclose(whole(state), x, rtol=1e-11, atol=1e-11 * np.abs(x).max())


@pytest.mark.parametrize("score", KEY_SCORES)
def test_a_batch_is_mixed_as_its_members_are(score, rng):
    """Near and far from consensus, side by side."""
    x, pair, w_v = draw(rng, 4)
    state = closer(by_mean(x), np.array([2, 0, -3, -2000]))
    batch = layer(state, pair, w_v, score=score, skip=0.0)
    for i in range(4):
        single = Split(*(np.asarray(getattr(state, name))[i] for name in PARTS))
        alone = layer(single, pair[:, i], w_v[i], score=score, skip=0.0)
        for name in PARTS:
            assert_allclose(getattr(batch, name)[i], getattr(alone, name), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("score", KEY_SCORES)
@pytest.mark.parametrize("exponent", [0, -900])
def test_the_order_of_tokens_does_not_matter(score, exponent, rng):
    x, pair, w_v = draw(rng)
    state, order = closer(by_mean(x), exponent), rng.permutation(5)
    other = Split(state.kept, state.rest[order], state.exponent, state.kept_exponent)
    one, two = (layer(each, pair, w_v, score=score, skip=0.0) for each in (state, other))
    assert one.exponent == two.exponent
    assert_allclose(two.kept, one.kept, rtol=1e-13)
    assert_allclose(two.rest, one.rest[order], rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("exponent", [0, -30])
def test_tokens_that_agree_stay_as_they_are_exactly(exponent, rng):
    """Whatever the matrix; its rows sum to one only to rounding."""
    x, pair, _ = draw(rng, d_model=3)
    agreed = Split.scaled(np.array([0.1, -7.3, 1e-9]), np.zeros((5, 3)), np.array(0), np.array(9))
    for mixing in (
        softmax_mixing(closer(by_mean(x), exponent), *pair, score="dot", beta=1.0),
        matrix_mixing(rng.dirichlet(np.ones(5), size=5)),
    ):
        assert all(np.array_equal(getattr(mixing(agreed), n), getattr(agreed, n)) for n in PARTS)


@pytest.mark.parametrize("exponent", [0, -900])
def test_a_matrix_acts_on_other_tokens_and_twice(exponent, rng):
    x, pair, w_v = draw(rng)
    state = closer(by_mean(x), exponent)
    mixing = softmax_mixing(state, *pair, score="dot", beta=1.0)
    found = mixing(mixing(mapped(state, w_v)))
    with mp.workdps(2000):
        rows = unsplit.rows_of(state)
        a = unsplit.attention(rows, pair, "dot", 1.0)
        rows = unsplit.product(rows, unsplit.exact(w_v))
        exact = unsplit.log_ratio(unsplit.product(a, unsplit.product(a, rows)))
    assert_allclose(unsplit.log_ratio_of(found), exact, rtol=0, atol=unsplit.TOLERANCE)


def masked_layer(state: Split, pair, w_v, *, score: str, allowed) -> Split:
    """Compute X + A X W with masked softmax in split form."""
    logits = split_logits(state, *pair, score=score, beta=1.0)
    a = KERNELS["softmax"](np.where(allowed, logits, -np.inf))
    return combined([(1.0, state), (1.0, mapped(matrix_mixing(a)(state), w_v))])


def exact_masked_layer(x, pair, w_v, *, score: str, allowed):
    """Compute the same on whole tokens."""
    mixed = unsplit.product(unsplit.attention(x, pair, score, 1.0, allowed), x)
    return unsplit.added((1.0, x), (1.0, unsplit.product(mixed, unsplit.exact(w_v))))


@pytest.mark.parametrize("score", KEY_SCORES)
@pytest.mark.parametrize("exponent", [0, -1500])
def test_layers_with_a_causal_mask_are_those_of_exact_arithmetic(score, exponent, rng):
    x, pair, w_v = draw(rng)
    start, how = closer(by_mean(x), exponent), {"score": score, "allowed": np.tri(5, dtype=bool)}
    ours = unsplit.ratios(partial(masked_layer, pair=pair, w_v=w_v, **how), start, 12)
    step = partial(exact_masked_layer, pair=pair, w_v=w_v, **how)
    exact = unsplit.exact_ratios(step, start, 12)
    assert_allclose(ours, exact, rtol=0, atol=unsplit.TOLERANCE)


@pytest.mark.parametrize("score", KEY_SCORES)
def test_both_ways_agree_where_one_takes_over_from_the_other(score, rng):
    """Differences are scaled until the next power of two would be too much."""
    x, pair, _ = draw(rng)
    for last in range(20, -20, -1):
        state = closer(by_mean(x), last)
        near = softmax_mixing(state, *pair, score=score, beta=1.0)
        if near.exponent < 0:
            break
    assert near.exponent >= -2
    a = KERNELS["softmax"](split_logits(state, *pair, score=score, beta=1.0))
    assert_allclose(dense(near), a, rtol=1e-13)
    one, other = near(state), matrix_mixing(a)(state)
    assert_allclose(whole(one), whole(other), rtol=1e-13, atol=1e-13)
    scale = np.ldexp(1.0, one.exponent - other.exponent)
    assert_allclose(scale * one.rest, other.rest, rtol=0, atol=1e-13)


@pytest.mark.parametrize("score", KEY_SCORES)
@pytest.mark.parametrize(("mean", "share"), [(1e6, 1e-3), (1e2, 10.0), (1.0, 100.0)])
def test_large_logits_are_those_of_exact_arithmetic(score, mean, share, rng):
    """Where all queries choose one key, HC/DC falls to 10^-448 and below in a single layer."""
    x, pair, w_v = draw(rng)
    state = by_mean(mean * x.mean(axis=0) + share * (x - x.mean(axis=0)))
    assert 1e2 < np.ptp(split_logits(state, *pair, score=score, beta=1.0)) < 1e6
    how = {"pair": pair, "w_v": w_v, "score": score, "skip": 0.0}
    ours = unsplit.ratios(partial(layer, **how), state, 1)
    exact = unsplit.exact_ratios(partial(exact_layer, **how), state, 1, digits=3000)
    assert_allclose(ours, exact, rtol=0, atol=unsplit.TOLERANCE)


@pytest.mark.parametrize("score", KEY_SCORES)
def test_logits_beyond_the_range_of_floats_choose_one_key(score, rng):
    x, pair, _ = draw(rng)
    state = by_mean(x)
    huge = Split(state.kept, state.rest, state.exponent + 900, state.kept_exponent + 900)
    mixing = softmax_mixing(huge, *pair, score=score, beta=1.0)
    first = softmax_mixing(closer(state, 0), *pair, score=score, beta=1e15)
    assert_allclose(dense(mixing), dense(first), rtol=0, atol=1e-300)
    assert set(dense(mixing).ravel()) == {0.0, 1.0}


def test_a_mean_that_is_zero_has_no_exponent(rng):
    x, pair, _ = draw(rng)
    u = x - x.mean(axis=0)
    one, other = (
        dense(softmax_mixing(Split.of(np.zeros(3), u, 0, up), *pair, score="dot", beta=3.0))
        for up in (0, 3000)
    )
    a = attend(u @ pair[0], u @ pair[1], score="dot", kernel="softmax", mask="none", beta=3.0)
    assert_allclose(one, a, rtol=1e-13, atol=1e-16)
    assert np.array_equal(one, other)


def test_nothing_is_left_where_all_keys_count_alike(rng):
    x, pair, _ = draw(rng)
    mixed = softmax_mixing(by_mean(x), *pair, score="dot", beta=0.0)(by_mean(x))
    assert np.array_equal(mixed.rest, np.zeros((5, 3)))
    assert_allclose(mixed.kept * np.ldexp(1.0, mixed.kept_exponent), x.mean(axis=0), rtol=1e-14)


def test_a_rest_below_every_exponent_is_zero(rng):
    """After forty layers its exponent would not be an integer of 64 bits."""
    x, pair, w_v = draw(rng)
    state, exponents = by_mean(x), []
    for _ in range(60):
        state = layer(state, pair, w_v, score="dot", skip=0.0)
        exponents.append(int(state.exponent))
    assert LOWEST < min(exponents) < LOWEST / 4
    assert exponents[-1] == 0
    assert np.array_equal(state.rest, np.zeros((5, 3)))


def test_rows_that_nearly_all_go_to_one_key_keep_what_goes_elsewhere(rng):
    """In the matrix itself the entry of that key is rounded to one."""
    weak = 1e-200 * rng.random((5, 5))
    weak[:, 2] = 1
    state = by_mean(rng.standard_normal((5, 3)))
    found = matrix_mixing(weak)(state)
    u = np.ldexp(state.rest - state.rest[2], state.exponent)
    rest = 1e200 * weak @ u
    rest -= rest.mean(axis=0)
    assert_allclose(np.ldexp(1e200 * found.rest, found.exponent), rest, rtol=1e-12)


def test_a_score_without_a_split_form_is_refused_by_name(rng):
    x, pair, _ = draw(rng)
    said = r"^no score with a split form is called 'cosine'.* Known: dot, l2\.$"
    with pytest.raises(Refusal, match=said):
        softmax_mixing(by_mean(x), *pair, score="cosine", beta=1.0)


def test_logits_that_no_mask_can_be_put_on_are_refused(rng):
    x, pair, _ = draw(rng)
    huge = closer(by_mean(x), 600)
    with pytest.raises(
        Refusal, match=r"^logits reach 2\*\*\d+, beyond the range of floats; .* Take"
    ):
        split_logits(huge, *pair, score="dot", beta=1.0)
