"""Layer norm of whole and of split tokens, against hundreds of digits."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from mpmath import mp
from numpy.testing import assert_allclose

from lowpass.consensus import softmax_mixing
from lowpass.layernorm import layer_norm, layer_norm_split
from lowpass.registry import Refusal
from lowpass.splits import Split, combined, mapped

from . import unsplit

# What separates tokens from their mean: rounding, a sum, a lot, and most of all.
SHARES = [0.0, 1e-300, 1e-12, 1e-3, 0.2, 0.3, 0.5, 1.0, 30.0, 1e12, 1e300]


def whole(state: Split) -> np.ndarray:
    """Add the two parts."""
    kept = np.ldexp(state.kept, state.kept_exponent[..., None])
    return kept[..., None, :] + np.ldexp(state.rest, state.exponent[..., None, None])


def draw(rng, d_model: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Draw a mean token, and what five tokens differ from it by."""
    u = rng.standard_normal((5, d_model))
    return rng.standard_normal(d_model) + 2, u - u.mean(axis=0)


def assert_agrees(state: Split, rows) -> None:
    """Compare both parts with those of whole tokens in many digits, each on its own scale."""
    means = [mp.fsum(column) / len(rows) for column in zip(*rows, strict=True)]
    up, down = (mp.mpf(2) ** -int(each) for each in (state.kept_exponent, state.exponent))
    kept = [float(mean * up) for mean in means]
    rest = [[float((e - m) * down) for e, m in zip(row, means, strict=True)] for row in rows]
    assert_allclose(state.kept, kept, rtol=0, atol=1e-13 * np.abs(kept).max())
    assert_allclose(state.rest, rest, rtol=0, atol=1e-13)


def test_every_token_has_mean_zero_and_mean_square_one(rng):
    x = rng.standard_normal((4, 7, 5)) * np.array([1e-200, 1.0, 1e3, 1e200])[:, None, None]
    y = layer_norm(x)
    assert_allclose(y.mean(axis=-1), 0, atol=1e-15)
    assert_allclose(np.square(y).mean(axis=-1), 1, rtol=1e-14)


def test_neither_scale_nor_shift_of_a_token_matters(rng):
    x = rng.standard_normal((4, 7, 5))
    assert_allclose(layer_norm(3 * x + 2), layer_norm(x), rtol=1e-13, atol=1e-13)
    assert_allclose(layer_norm(-x), -layer_norm(x), rtol=1e-14)


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("d_model", [2, 3, 6])
def test_both_parts_are_those_of_exact_arithmetic(d_model, share, rng):
    mean, u = draw(rng, d_model)
    state = Split.of(mean, share * u)
    with mp.workdps(1000):
        assert_agrees(layer_norm_split(state), unsplit.layer_norm(unsplit.rows_of(state)))


@pytest.mark.parametrize("exponent", [-5000, -1100])
def test_differences_beyond_the_range_of_floats_are_too(exponent, rng):
    mean, u = draw(rng)
    state = Split.of(mean, u, exponent)
    with mp.workdps(4000):
        assert_agrees(layer_norm_split(state), unsplit.layer_norm(unsplit.rows_of(state)))


def test_tokens_without_a_mean_are_normalised_one_by_one(rng):
    _, u = draw(rng)
    state = Split.of(np.zeros(3), u)
    assert_allclose(whole(layer_norm_split(state)), layer_norm(u), rtol=1e-13, atol=1e-14)


def test_consensus_stays_consensus(rng):
    mean, u = draw(rng)
    state = layer_norm_split(Split.of(mean, 0 * u))
    assert_allclose(state.kept, layer_norm(mean[None])[0], rtol=1e-14)
    assert np.array_equal(state.rest, 0 * u)


def test_a_batch_is_normalised_as_its_members_are(rng):
    """Near and far from consensus, side by side."""
    mean, u = draw(rng)
    shares, exponents = np.append(SHARES, 1.0), np.append(np.zeros(len(SHARES), dtype=int), -5000)
    several = zip(shares, exponents, strict=True)
    states = [Split.of(mean, share * u, exponent) for share, exponent in several]
    means = np.tile(mean, (len(shares), 1))
    batch = layer_norm_split(Split.of(means, u * shares[:, None, None], exponents))
    for i, state in enumerate(states):
        alone = layer_norm_split(state)
        for name in ("kept", "rest", "exponent", "kept_exponent"):
            assert np.array_equal(getattr(batch, name)[i], getattr(alone, name))


def layer(state: Split, pair, w_v, *, norm: str) -> Split:
    """Compute a layer with a skip and a norm before or after it."""
    inner = layer_norm_split(state) if norm == "pre" else state
    mixed = mapped(softmax_mixing(inner, *pair, score="dot", beta=1.0)(inner), w_v)
    outer = combined([(1.0, state), (1.0, mixed)])
    return layer_norm_split(outer) if norm == "post" else outer


def exact_layer(x, pair, w_v, *, norm: str):
    """Compute the same on whole tokens."""
    inner = unsplit.layer_norm(x) if norm == "pre" else x
    mixed = unsplit.product(unsplit.attention(inner, pair, "dot", 1.0), inner)
    outer = unsplit.added((1.0, x), (1.0, unsplit.product(mixed, unsplit.exact(w_v))))
    return unsplit.layer_norm(outer) if norm == "post" else outer


@pytest.mark.parametrize(
    ("norm", "exponent", "strength", "depth", "goal"),
    [
        ("pre", 0, 1.0, 20, 0),
        ("pre", -900, 1.0, 20, -270),
        ("post", 0, 200.0, 150, -300),
        ("post", -900, 200.0, 20, -310),
    ],
)
def test_layers_with_a_norm_are_those_of_exact_arithmetic(
    norm, exponent, strength, depth, goal, rng
):
    """Strong values make a post-norm layer forget the skip: HC/DC falls by two digits a layer."""
    mean, u = draw(rng)
    pair = rng.standard_normal((2, 3, 4))
    w_v = strength * (np.eye(3) + 0.1 * rng.standard_normal((3, 3)))
    start = Split.of(mean, u, exponent)
    ours = unsplit.ratios(partial(layer, pair=pair, w_v=w_v, norm=norm), start, depth)
    step = partial(exact_layer, pair=pair, w_v=w_v, norm=norm)
    exact = unsplit.exact_ratios(step, start, depth)
    assert exact[-1] < goal
    assert_allclose(ours, exact, rtol=0, atol=unsplit.TOLERANCE)


@pytest.mark.parametrize("tokens", [np.zeros((2, 3, 3)), np.full((2, 3, 3), 0.1)])
def test_a_token_of_equal_features_is_refused_by_name(tokens, rng):
    tokens = tokens + 0.0
    tokens[0] = rng.standard_normal((3, 3))
    tokens[1, :2] += rng.standard_normal((2, 3))
    with pytest.raises(Refusal, match=r"^token \[1, 2\] is 0(\.1)? in every feature; .* Use other"):
        layer_norm(tokens)


def test_a_mean_of_equal_features_is_refused_where_tokens_agree():
    with pytest.raises(Refusal, match=r"^token \[0\] is .* in every feature"):
        layer_norm_split(Split.of(np.full(3, 0.1), np.zeros((4, 3))))
