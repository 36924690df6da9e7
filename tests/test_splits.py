"""The arithmetic of split states, against that of whole arrays."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from lowpass.splits import Split, by_mean, combined, mapped


def whole(state: Split) -> np.ndarray:
    """Add the two parts."""
    kept = np.ldexp(state.kept, state.kept_exponent[..., None])
    return kept[..., None, :] + np.ldexp(state.rest, state.exponent[..., None, None])


@pytest.fixture
def tokens(rng) -> np.ndarray:
    return rng.standard_normal((3, 6, 2)) + 5


def test_a_split_by_the_mean_is_exact(tokens):
    state = by_mean(tokens)
    assert_allclose(whole(state), tokens, rtol=1e-15)
    assert_allclose(state.rest.mean(axis=-2), 0, atol=1e-16)


def test_multiples_add_up_as_arrays_do(tokens, rng):
    other = rng.standard_normal(tokens.shape)
    found = combined([(2.5, by_mean(tokens)), (-1.0, by_mean(other))])
    assert_allclose(whole(found), 2.5 * tokens - other, rtol=1e-13, atol=1e-14)


def test_parts_of_unlike_scale_do_not_disturb_each_other(tokens):
    """The transient of one is 2^-3000 of the other; their kept parts are alike."""
    state = by_mean(tokens)
    tiny = Split(state.kept, state.rest, state.exponent - 3000, state.kept_exponent)
    found = combined([(1.0, tiny), (1.0, tiny)])
    assert np.array_equal(found.exponent, tiny.exponent + 1)
    assert_allclose(found.rest, tiny.rest, rtol=1e-15)
    assert_allclose(np.ldexp(found.kept, found.kept_exponent[:, None]), 2 * state.kept)


def test_a_term_that_is_zero_has_no_scale(tokens):
    state = by_mean(tokens)
    small = Split(state.kept, state.rest, state.exponent - 2000, state.kept_exponent - 2000)
    nothing = Split.of(np.zeros((3, 2)), np.zeros((3, 6, 2)))
    for found in (combined([(1.0, small), (1.0, nothing)]), combined([(1.0, small), (0.0, state)])):
        assert np.array_equal(found.exponent, small.exponent)
        assert_allclose(found.rest, small.rest, rtol=1e-15)
        assert (found.kept != 0).any()


def test_a_matrix_on_the_right_acts_on_every_token(tokens, rng):
    w = rng.standard_normal((3, 2, 2))
    assert_allclose(whole(mapped(by_mean(tokens), w)), tokens @ w, rtol=1e-13)


def test_growth_beyond_the_range_of_floats_stays_in_the_exponents(tokens):
    state = by_mean(tokens)
    for _ in range(400):
        state = mapped(state, 1e10 * np.eye(2))
    digits = (state.kept_exponent + np.log2(np.abs(state.kept).max(axis=-1))) * np.log10(2)
    first = np.log10(np.abs(tokens.mean(axis=-2)).max(axis=-1))
    assert_allclose(digits, 4000 + first, rtol=1e-13)
