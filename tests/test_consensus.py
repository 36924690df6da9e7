"""Attention near consensus, against the unsplit recurrence in hundreds of digits."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose

from lowpass.consensus import KEY_SCORES, softmax_mixing
from lowpass.kernels import attend
from lowpass.splits import Split, by_mean, combined, mapped

from . import unsplit


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


def dense(mixing) -> np.ndarray:
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
