"""Laws of masks, what each leaves of attention in closed form, masks of one's own; refusals."""

from __future__ import annotations

import inspect
import re
from typing import Annotated, get_origin, get_type_hints

import numpy as np
import pytest
from numpy.testing import assert_allclose

from lowpass.eigen import slem
from lowpass.kernels import attend, sinkhorn
from lowpass.masks import MASKS, check_parameters, masked
from lowpass.registry import Refusal
from lowpass.spectra import stationary

# A value for every parameter that some mask has.
PARAMETERS = {"mask_width": 2}
FREE = [name for name in MASKS if not MASKS.facts(name)["parameters"]]


def given(name: str) -> dict[str, int]:
    """Give the parameters of a mask."""
    return {parameter: PARAMETERS[parameter] for parameter in MASKS.facts(name)["parameters"]}


def allowed(name: str, n_tokens: int = 8) -> np.ndarray:
    return MASKS[name](n_tokens, **given(name))


def averages(mask: str | np.ndarray, n_tokens: int, **parameters: int) -> np.ndarray:
    """Average all keys that a mask allows, alike."""
    x = np.ones((n_tokens, 1))
    return attend(x, x, score="dot", kernel="uniform", mask=mask, beta=1.0, **parameters)


# Laws.


@pytest.mark.parametrize("n_tokens", [2, 8, 64])
@pytest.mark.parametrize("name", MASKS)
def test_a_mask_lets_every_query_see_a_key(name, n_tokens):
    made = allowed(name, n_tokens)
    assert made.shape == (n_tokens, n_tokens)
    assert made.dtype == bool
    assert made.any(axis=1).all()


@pytest.mark.parametrize("name", MASKS)
def test_a_mask_lists_the_parameters_that_it_takes(name):
    """A configuration is validated by their annotations."""
    signature = inspect.signature(MASKS[name]).parameters.values()
    named = [each.name for each in signature if each.kind is each.KEYWORD_ONLY]
    assert list(MASKS.facts(name)["parameters"]) == named
    hints = get_type_hints(MASKS[name], include_extras=True)
    assert all(get_origin(hints[each]) is Annotated for each in named)


@pytest.mark.parametrize("name", MASKS)
def test_a_mask_knows_whether_it_can_be_balanced(name):
    """Sinkhorn scaling asks every mask for itself, by a matching."""
    s = masked(np.zeros((8, 8)), name, **given(name))
    if MASKS.facts(name)["total_support"]:
        assert (sinkhorn(s)[allowed(name)] > 0).all()
    else:
        with pytest.raises(Refusal, match=r"(no|every) doubly stochastic matrix"):
            sinkhorn(s)


@pytest.mark.parametrize("name", MASKS)
def test_what_is_masked_is_minus_infinity_and_the_rest_untouched(name, rng):
    scores = rng.standard_normal((3, 8, 8))
    out = masked(scores, name, **given(name))
    see = np.broadcast_to(allowed(name), out.shape)
    assert np.array_equal(out[see], scores[see])
    assert (out[~see] == -np.inf).all()


@pytest.mark.parametrize("name", MASKS)
def test_a_mask_of_ones_own_acts_as_one_that_has_a_name(name, rng):
    scores = rng.standard_normal((3, 8, 8))
    assert np.array_equal(masked(scores, allowed(name)), masked(scores, name, **given(name)))


@pytest.mark.parametrize("name", FREE)
def test_a_parameter_that_is_nothing_is_not_given(name):
    check_parameters(name, mask_width=None)


# Closed forms.


def test_the_block_mask_separates_the_halves():
    assert np.array_equal(MASKS["block"](4), np.kron(np.eye(2), np.ones((2, 2))).astype(bool))


def test_the_cycle_mask_moves_every_token_one_place(rng):
    x = rng.standard_normal((8, 3))
    a = attend(x, x, score="dot", kernel="softmax", mask="cycle", beta=1.0)
    assert np.array_equal(a @ x, np.roll(x, -1, axis=0))


def test_a_causal_mask_shows_no_later_key():
    assert MASKS["causal"](3).tolist() == [[True, False, False], [True, True, False], [True] * 3]


@pytest.mark.parametrize("n_tokens", [1, 2, 9, 64])
def test_uniform_causal_attention_has_the_eigenvalues_one_over_i(n_tokens):
    """B20: they stand on the diagonal, so the second is one half whatever n."""
    a = averages("causal", n_tokens)
    assert np.array_equal(np.triu(a, 1), np.zeros((n_tokens, n_tokens)))
    assert np.array_equal(a.diagonal(), 1 / np.arange(1, n_tokens + 1))


def test_causal_attention_keeps_the_first_token_and_not_the_mean(rng):
    x = rng.standard_normal((8, 3))
    a = attend(x, x, score="l2", kernel="softmax", mask="causal", beta=1.0)
    assert np.array_equal(stationary(a), np.eye(8)[0])
    assert_allclose(np.linalg.matrix_power(a, 4000) @ x, np.broadcast_to(x[0], (8, 3)), atol=1e-12)


def test_the_widest_window_is_none_and_the_narrowest_a_band():
    assert MASKS["window"](8, mask_width=7).all()
    band = MASKS["window"](8, mask_width=1)
    assert np.array_equal(band, np.eye(8) + np.eye(8, k=1) + np.eye(8, k=-1) > 0)


def test_the_wider_the_window_the_sooner_all_but_the_mean_is_forgotten():
    """B20: from almost one at a width of one to zero where every key is seen."""
    found = [slem(averages("window", 32, mask_width=b)) for b in (1, 2, 4, 8, 16, 31)]
    assert found == sorted(found, reverse=True)
    assert found[0] > 0.99
    assert found[-1] < 1e-14


def test_a_mask_of_ones_own_may_pair_two_sequences(rng):
    q, k = rng.standard_normal((2, 3, 2)), rng.standard_normal((2, 5, 2))
    see = rng.random((3, 5)) < 0.5
    see[:, 0] = True
    a = attend(q, k, score="dot", kernel="softmax", mask=see, beta=1.0)
    assert np.array_equal(a > 0, np.stack([see, see]))


# Refusals.


@pytest.mark.parametrize("name", [name for name in MASKS if given(name)])
def test_a_parameter_that_is_missing_is_refused(name):
    (parameter,) = MASKS.facts(name)["parameters"]
    message = (
        f"the mask '{name}' needs {parameter}, which is not given; it has no default. "
        f"Give {parameter}, as 2."
    )
    for parameters in ({}, {parameter: None}):
        with pytest.raises(Refusal, match=f"^{re.escape(message)}$"):
            masked(np.zeros((8, 8)), name, **parameters)


@pytest.mark.parametrize("name", FREE)
def test_a_parameter_that_would_not_count_is_refused(name):
    with pytest.raises(
        Refusal,
        match=rf"^the mask '{name}' has no mask_width, and 3 is given; it would not count\. Leave "
        r"out mask_width, or use a mask that has one\.$",
    ):
        averages(name, 8, mask_width=3)


def test_a_parameter_beside_a_mask_of_ones_own_is_refused():
    with pytest.raises(
        Refusal, match=r"^the mask is an array, and mask_width is given beside it; "
    ):
        averages(np.ones((8, 8), dtype=bool), 8, mask_width=3)


def test_an_odd_number_of_tokens_has_no_two_blocks():
    with pytest.raises(Refusal, match=r"^the block mask got n_tokens = 7; .* Use 8\.$"):
        MASKS["block"](7)


@pytest.mark.parametrize("name", MASKS)
def test_a_mask_for_one_sequence_is_refused_for_two(name):
    with pytest.raises(
        Refusal, match=rf"^there are 8 queries and 5 keys; the mask '{name}' pairs the tokens of "
    ):
        masked(np.zeros((8, 5)), name, **given(name))


@pytest.mark.parametrize("dtype", [float, np.int8])
def test_an_array_of_numbers_is_no_mask(dtype):
    with pytest.raises(Refusal, match=r"^the mask is an array of \w+; .* Give truth values, as a"):
        masked(np.zeros((8, 8)), np.ones((8, 8), dtype=dtype))


def test_a_mask_of_another_shape_is_refused():
    """Also one that would make more of the scores than there are."""
    for shape in ((5, 8), (8,), (3, 8, 5), (2, 2, 8, 5)):
        with pytest.raises(
            Refusal,
            match=rf"^the scores are of shape \(2, 8, 5\), and the mask is of shape "
            rf"{re.escape(str(shape))}; .* Give one of shape \(8, 5\), or of that of the scores\.$",
        ):
            masked(np.zeros((2, 8, 5)), np.ones(shape, dtype=bool))


@pytest.mark.parametrize("shape", [(8, 5), (1, 8, 5), (2, 8, 5)])
def test_a_mask_serves_every_sequence_or_one_each(shape, rng):
    see = rng.random(shape) < 0.5
    out = masked(np.zeros((2, 8, 5)), see)
    assert np.array_equal(out == 0, np.broadcast_to(see, (2, 8, 5)))


def test_a_mask_of_ones_own_that_hides_a_row_is_refused_by_its_place():
    see = np.ones((4, 4), dtype=bool)
    see[2] = False
    with pytest.raises(Refusal, match=r"^score row \[2\] is -inf throughout; .* allow one key\.$"):
        averages(see, 4)
