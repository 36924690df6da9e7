"""A user's own tensors: what a file says is what is computed with, and nothing is guessed."""

from __future__ import annotations

import io
import itertools
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import softmax

from lowpass.data import GENERATORS
from lowpass.domains import Tensor
from lowpass.kernels import KERNELS
from lowpass.masks import masked
from lowpass.registry import Refusal
from lowpass.spec.data import model_of, parse
from lowpass.tensors import AXES, NAMES, file, row_tolerance

PLAIN = ["token", "feature"]
SQUARE = ["query", "key"]


def archive(**arrays) -> bytes:
    """Save arrays as numpy does."""
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    return stream.getvalue()


def taken(arrays, **roles) -> dict[str, np.ndarray]:
    """Hand arrays to the generator, each role as (name, dims) or (name, dims, at)."""
    fields = ("name", "dims", "at")
    asked = {
        role: dict(zip(fields, value, strict=False)) if isinstance(value, tuple) else value
        for role, value in roles.items()
    }
    return file(archive(**arrays), path="mine/a.npz", **asked)


@pytest.fixture
def mixing(rng) -> np.ndarray:
    """Mix five tokens in each of four heads."""
    return softmax(rng.standard_normal((4, 5, 5)), axis=-1)


# Laws.


@pytest.mark.parametrize("role", AXES)
def test_what_is_stored_arrives_bit_by_bit(role, mixing):
    """Float64 in, the same float64 out: nothing is scaled, and no row is divided by its sum."""
    roles = {role: ("a", ["replicate", *AXES[role]])}
    if role == "mask":
        mixing = (mixing > 0.1).astype(float)
        roles |= {"logits": ("a", ["replicate", *SQUARE])}
    if role in ("query", "key"):
        roles |= {"query": ("a", ["replicate", *PLAIN]), "key": ("a", ["replicate", *PLAIN])}
    out = taken({"a": mixing}, **roles)
    assert np.array_equal(out[NAMES.get(role, role)], mixing)


@pytest.mark.parametrize("order", list(itertools.permutations(range(4))))
def test_the_order_of_the_axes_is_free(order, mixing):
    """The same numbers stored with their axes in any order are the same tensor."""
    whole = np.stack([mixing, mixing[::-1]])
    dims = ["layer", "replicate", "query", "key"]
    out = taken(
        {"a": whole.transpose(order)}, attention=("a", [dims[i] for i in order], {"layer": 1})
    )
    assert np.array_equal(out["attention"], whole[1])


@given(
    shape=st.tuples(*[st.integers(1, 4)] * 4),
    picks=st.tuples(st.integers(0, 3), st.integers(0, 3)),
    order=st.permutations(range(4)),
)
def test_a_selection_is_the_one_of_numpy(shape, picks, order):
    whole = np.arange(float(np.prod(shape))).reshape(shape)
    layer, head = (pick % size for pick, size in zip(picks, shape[:2], strict=True))
    dims = ["layer", "head", "token", "feature"]
    out = taken(
        {"a": whole.transpose(order)},
        tokens=("a", [dims[i] for i in order], {"layer": layer, "head": head}),
    )
    assert np.array_equal(out["x"], whole[layer, head][None])


@pytest.mark.parametrize("dtype", ["<f8", ">f8", "<f4", ">f4", "<f2", "i1", ">i4", "<u2", "<i8"])
@pytest.mark.parametrize("copies", [1, 3])
def test_whatever_is_stored_is_computed_with_in_float64(dtype, copies):
    stored = np.arange(12).reshape(4, 3).astype(dtype)
    out = taken({"a": np.asfortranarray(stored)}, tokens=("a", PLAIN), copies=copies)
    assert list(out) == ["x"]
    assert out["x"].dtype == np.float64
    assert out["x"].dtype.isnative
    assert out["x"].flags["C_CONTIGUOUS"]
    assert out["x"].flags["WRITEABLE"]
    assert np.array_equal(out["x"], np.stack([stored.astype(float)] * copies))


@pytest.mark.parametrize("n_tokens", [2, 64, 1024])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
def test_a_softmax_that_was_rounded_is_accepted(dtype, n_tokens, rng):
    """Weights accumulated one after another, in single precision where stored in half."""
    weight = np.exp(3 * rng.standard_normal((n_tokens, n_tokens)))
    coarse = weight.astype(np.promote_types(dtype, np.float32))
    rows = (coarse / np.cumsum(coarse, axis=-1, dtype=coarse.dtype)[:, -1:]).astype(dtype)
    out = taken({"a": rows}, attention=("a", SQUARE))
    assert np.array_equal(out["attention"][0], rows.astype(float))


@pytest.mark.parametrize("n_tokens", [2, 64, 1024])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
def test_a_row_that_rounding_does_not_explain_is_refused(dtype, n_tokens):
    """Half of the keys share the weight, so that each share is exact in every type."""
    rows = np.zeros((n_tokens, n_tokens))
    rows[:, ::2] = 2 / n_tokens
    rows[-1, 0] += 2 * row_tolerance(np.dtype(dtype), n_tokens)
    with pytest.raises(Refusal, match=rf"the row at query {n_tokens - 1} sums to 1\.0"):
        taken({"a": rows.astype(dtype)}, attention=("a", SQUARE))


def test_whole_numbers_have_no_rounding():
    """A permutation is attention, and its rows are one exactly."""
    assert row_tolerance(np.dtype("i8"), 1000) == 0
    turn = np.roll(np.eye(5, dtype=np.int64), 1, axis=-1)
    assert np.array_equal(taken({"a": turn}, attention=("a", SQUARE))["attention"][0], turn)


# Roles.


def test_without_tokens_the_signal_is_a_set_of_impulses(mixing):
    out = taken({"a": mixing}, attention=("a", ["replicate", *SQUARE]))
    assert list(out) == ["x", "attention"]
    assert np.array_equal(out["x"], np.broadcast_to(np.eye(5), (4, 5, 5)))
    assert np.array_equal(out["attention"] @ out["x"], mixing)


def test_queries_keys_and_tokens_come_from_one_file(rng):
    a = {name: rng.standard_normal((5, width)) for name, width in (("q", 3), ("k", 3), ("h", 7))}
    out = taken(a, query=("q", PLAIN), key=("k", PLAIN), tokens=("h", PLAIN), copies=2)
    assert {name: values.shape for name, values in out.items()} == {
        "x": (2, 5, 7),
        "q": (2, 5, 3),
        "k": (2, 5, 3),
    }
    assert np.array_equal(out["k"][1], a["k"])


def test_one_replicate_serves_all(mixing, rng):
    x = rng.standard_normal((5, 3))
    out = taken({"a": mixing, "h": x}, attention=("a", ["replicate", *SQUARE]), tokens=("h", PLAIN))
    assert np.array_equal(out["x"], np.stack([x] * 4))


def test_logits_may_be_masked(rng):
    """A causal mask in the file gives the matrix that masked softmax gives."""
    scores = np.where(np.tri(5, dtype=bool), rng.standard_normal((5, 5)), -np.inf)
    out = taken({"s": scores}, logits=("s", SQUARE))
    assert np.array_equal(out["logits"][0], scores)
    assert np.array_equal(KERNELS["softmax"](out["logits"])[0] > 0, np.tri(5, dtype=bool))


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint8, np.int64, np.float32, np.float64])
def test_a_mask_is_made_of_truth_or_of_ones_and_zeros(dtype, rng):
    """It is stored as whole numbers, since netCDF knows no truth."""
    see = rng.random((5, 5)) < 0.5
    see[:, 0] = True
    arrays = {"m": see.T.astype(dtype), "h": rng.standard_normal((5, 3))}
    out = taken(arrays, mask=("m", SQUARE[::-1]), tokens=("h", PLAIN), copies=2)
    assert list(out) == ["x", "allowed"]
    assert out["allowed"].dtype == np.int8
    assert np.array_equal(out["allowed"], [see, see])


def test_every_replicate_may_have_a_mask_of_its_own(mixing, rng):
    see = np.stack([np.tri(5), np.ones((5, 5)), np.eye(5), np.tri(5).T])
    out = taken(
        {"a": rng.standard_normal((5, 5)), "m": see},
        logits=("a", SQUARE),
        mask=("m", ["replicate", *SQUARE]),
    )
    assert np.array_equal(out["allowed"], see)
    assert np.array_equal(softmax(masked(out["logits"], out["allowed"] > 0), axis=-1) > 0, see)


def test_a_tensor_may_be_a_mapping_or_a_model(rng):
    """The stage hands over what a specification dumps."""
    content = archive(h=rng.standard_normal((5, 3)))
    asked = {"name": "h", "dims": PLAIN}
    params = {"generator": "file", "path": "a.npz", "tokens": asked}
    dumped = parse(params, "mine.yaml").model_dump(exclude={"generator"})
    one = GENERATORS["file"](content, **dumped)
    other = file(content, path="a.npz", tokens=Tensor(**asked))
    assert np.array_equal(one["x"], other["x"])


def test_tokens_are_copied_once():
    """Beside the numbers themselves there are masks, of a byte a number; no impulses are made."""
    stream = io.BytesIO()
    np.save(stream, np.ones((4000, 50)))
    tracemalloc.start()
    try:
        x = file(stream.getvalue(), path="a.npy", tokens=Tensor(dims=PLAIN))["x"]
        assert tracemalloc.get_traced_memory()[1] < 3 * x.nbytes
    finally:
        tracemalloc.stop()


# Refusals: of the configuration.


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"attention": {}}, r"^mine\.yaml: attention\.dims: is not given"),
        ({"attention": {"dims": []}}, r"attention\.dims: \[\] is too short a list"),
        ({"attention": {"dims": "query"}}, r"attention\.dims: 'query' is not a list; write one"),
        ({"tokens": {"dims": PLAIN, "nmae": "a"}}, r"is called 'nmae'; did you mean 'name'\?"),
        ({"tokens": {"dims": PLAIN, "at": {"layer": -1}}}, r"tokens\.at\.layer: -1 is below 0"),
        ({"tokens": {"dims": PLAIN, "at": {"layer": 1.5}}}, r"at\.layer: 1\.5 is not a whole"),
        ({"tokens": {"dims": PLAIN, "name": 3}}, r"tokens\.name: 3 is not text"),
        ({"tokens": "h"}, r"tokens: 'h' is not a mapping"),
        ({"copies": 0}, r"copies: 0 is below 1"),
        ({"value": {"dims": PLAIN}}, r"no parameter is called 'value'"),
    ],
)
def test_a_parameter_that_cannot_be_is_refused_before_a_file_is_opened(params, message):
    with pytest.raises(Refusal, match=message):
        parse({"generator": "file", "path": "a.npz", **params}, "mine.yaml")


def test_every_role_is_a_parameter():
    assert set(AXES) <= set(model_of("file").model_fields)


A, H = ("a", SQUARE), ("h", PLAIN)


@pytest.mark.parametrize(
    ("roles", "message"),
    [
        ({}, r"^mine/a\.npz: no tensor of it is asked for; .* Give tokens, "),
        ({"query": H}, r"query is given without key; .* Give key too\."),
        ({"key": H, "tokens": H}, r"key is given without query; .* Give query too\."),
        ({"logits": A, "attention": A}, r"logits and attention are given; each says by itself"),
        ({"query": H, "logits": A}, r"query and logits are given; .* Give one of: "),
        ({"query": H, "key": H, "attention": A}, r"query and key and attention are given"),
        ({"mask": A}, r"^mine/a\.npz: mask is given alone; .* Give it with tokens, with query and"),
        ({"mask": A, "attention": A}, r"mask is given beside attention; it says which keys"),
        ({"mask": A, "attention": A, "tokens": H}, r"mask is given beside attention; "),
        ({"mask": A, "query": H}, r"query is given without key; .* Give key too\."),
    ],
)
def test_roles_that_do_not_go_together_are_refused(roles, message, rng):
    arrays = {"a": np.eye(5), "h": rng.standard_normal((5, 3))}
    with pytest.raises(Refusal, match=message):
        taken(arrays, **roles)


@pytest.mark.parametrize(
    ("dims", "at", "message"),
    [
        (["head", "query", "query"], {}, r"'a': dims names 'query' twice; .* Rename one\."),
        (["head", *SQUARE], {"layer": 0}, r"at takes an index of 'layer', which dims does not"),
        (["head", *SQUARE], {"haed": 0}, r"'haed', .*; did you mean 'head'\? Known: head, query"),
        (["head", *SQUARE], {}, r"has the axis 'head' beside query and key; .* at: \{head: 0\}"),
        (["head", "query", "feature"], {"head": 0}, r"left with the axes \(query, feature\), and"),
        (["head", *SQUARE], {"query": 0}, r"\(head, key\), and 'query' is none of them; attention"),
        (SQUARE, {}, r"has the shape \(4, 5, 5\), and dims names 2 axes: query, key; .* Name 3\."),
        (["head", *SQUARE], {"head": 4}, r"at takes head 4, and the axis has 4 entries; .* 0 to 3"),
    ],
)
def test_axes_that_are_not_those_of_the_role_are_refused(dims, at, message, mixing):
    with pytest.raises(Refusal, match=message):
        taken({"a": mixing}, attention=("a", dims, at))


@pytest.mark.parametrize(
    ("shapes", "roles", "message"),
    [
        ({"a": (4, 6)}, {"logits": A}, r"logits has 4 queries, logits has 6 keys; a layer's out"),
        ({"a": (4, 4), "h": (5, 3)}, {"logits": A, "tokens": H}, r"tokens has 5 tokens"),
        (
            {"a": (4, 3), "h": (5, 3)},
            {"query": ("a", PLAIN), "key": H},
            r"query has 4 tokens, key has 5 tokens; .* Select the same tokens everywhere\.",
        ),
        (
            {"a": (5, 4), "h": (5, 3)},
            {"query": ("a", PLAIN), "key": H},
            r"query has 4 features and key has 3; .* Save both from one head\.",
        ),
        (
            {"a": (2, 5, 5), "h": (3, 5, 3)},
            {"logits": ("a", ["replicate", *SQUARE]), "tokens": ("h", ["replicate", *PLAIN])},
            r"replicates differ: tokens has 3, logits has 2; ",
        ),
        (
            {"h": (3, 5, 3)},
            {"tokens": ("h", ["replicate", *PLAIN]), "copies": 2},
            r"copies is 2, and tokens has replicates of its own \(3\); .* Leave out copies\.",
        ),
        (
            {"h": (1, 5, 3)},
            {"tokens": ("h", ["replicate", *PLAIN]), "copies": 2},
            r"tokens has replicates of its own \(1\)",
        ),
    ],
)
def test_sizes_that_do_not_fit_are_refused(shapes, roles, message, rng):
    arrays = {name: rng.standard_normal(shape) for name, shape in shapes.items()}
    with pytest.raises(Refusal, match=message):
        taken(arrays, **roles)


# Refusals: of numbers.


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("role", ["tokens", "attention", "logits"])
def test_a_number_that_is_not_finite_is_refused_with_its_place(role, value):
    stored = np.full((3, 2, 4, 4), 0.25)
    stored[1, 0, 2, 3] = value
    first, second = AXES[role]
    asked = ("a", ["layer", "replicate", first, second], {"layer": 1})
    if role == "logits" and value == -np.inf:
        assert np.array_equal(taken({"a": stored}, logits=asked)["logits"], stored[1])
        return
    place = rf"'a' holds {value} at layer 1, replicate 0, {first} 2, {second} 3; nothing can"
    with pytest.raises(Refusal, match=place):
        taken({"a": stored}, **{role: asked})


def test_a_place_is_told_in_the_axes_of_the_file():
    """Without a replicate axis none is named, and an order of the user's own is no matter."""
    stored = np.ones((3, 4))
    stored[1, 2] = np.nan
    with pytest.raises(Refusal, match=r"'a' holds nan at token 2, feature 1; "):
        taken({"a": stored}, tokens=("a", ["feature", "token"]))


def test_a_query_that_sees_nothing_is_refused():
    scores = np.zeros((4, 4))
    scores[2] = -np.inf
    with pytest.raises(Refusal, match=r"is -inf along the whole row at query 2; .* see one key\."):
        taken({"a": scores}, logits=A)


def test_the_worst_negative_weight_is_named():
    rows = np.eye(4)
    rows[1, :2], rows[3, 2:] = (-0.1, 1.1), (1.5, -0.5)
    with pytest.raises(Refusal, match=r"holds -0\.5 at query 3, key 3; .* give them as logits\."):
        taken({"a": rows}, attention=A)


def test_the_worst_row_is_named_with_its_sum():
    rows = np.stack([np.eye(4)] * 2)
    rows[0, 1, 1], rows[1, 2, 2] = 0.75, 1.5
    message = (
        r"^mine/a\.npz: attention 'a': the row at replicate 1, query 2 sums to 1\.5; rounding of "
        r"4 numbers of float64 moves it from 1 by 1\.1e-15 at most\. Give scores as logits; "
    )
    with pytest.raises(Refusal, match=message):
        taken({"a": rows}, attention=("a", ["replicate", *SQUARE]))


def test_a_wrong_row_of_whole_numbers_is_refused():
    with pytest.raises(Refusal, match=r"the row at query 0 sums to 2\.0; .* by 0\.0e\+00 at most"):
        taken({"a": np.eye(4, dtype=int) * 2}, attention=A)


@pytest.mark.parametrize("dtype", ["i8", "u8"])
def test_whole_numbers_that_float64_does_not_hold_are_refused(dtype):
    stored = np.zeros((3, 2), dtype)
    stored[1, 1] = 2**53
    assert taken({"a": stored}, tokens=("a", PLAIN))["x"][0, 1, 1] == 2.0**53
    stored[1, 1] += 1
    with pytest.raises(Refusal, match=r"holds 9007199254740993 at token 1, feature 1; float64"):
        taken({"a": stored}, tokens=("a", PLAIN))


def test_the_least_whole_number_is_refused():
    """Its modulus does not exist in its own type."""
    with pytest.raises(Refusal, match=r"holds -9223372036854775808 at token 0, feature 0"):
        taken({"a": np.array([[-(2**63)]])}, tokens=("a", PLAIN))


@pytest.mark.parametrize("value", [0.5, 2.0, -1.0])
def test_what_is_neither_true_nor_false_is_no_mask(value, rng):
    """A penalty of one's own, as 0 and -1e9, is no mask either, but may be added to logits."""
    see = np.ones((2, 5, 5))
    see[1, 3, 2] = value
    with pytest.raises(
        Refusal,
        match=rf"^mine/a\.npz: mask 'm' holds {value:g} at replicate 1, query 3, key 2; a pair is "
        r"allowed or not\. Write 1 or 0, or truth values; a penalty is added to logits\.$",
    ):
        taken(
            {"m": see, "h": rng.standard_normal((5, 3))},
            mask=("m", ["replicate", *SQUARE]),
            tokens=("h", PLAIN),
        )


def test_a_mask_that_hides_every_key_from_a_query_is_refused_by_its_place(rng):
    see = np.ones((3, 5, 5), bool)
    see[1, 4] = False
    with pytest.raises(
        Refusal,
        match=r"^mine/a\.npz: mask 'm' allows no key along the whole row at head 1, query 4; a "
        r"query that sees no key has no distribution\. Let it see one key\.$",
    ):
        taken(
            {"m": see, "h": rng.standard_normal((5, 3))},
            mask=("m", ["head", *SQUARE], {"head": 1}),
            tokens=("h", PLAIN),
        )


def test_truth_is_no_number_of_any_other_role(rng):
    with pytest.raises(
        Refusal, match=r"of type bool; truth is no number\. .* or give it as a mask"
    ):
        taken({"m": rng.random((5, 5)) < 0.5}, logits=("m", SQUARE))
