"""The tiled layer and its records against dense attention, slow loops and closed forms."""

from __future__ import annotations

import tracemalloc
from dataclasses import fields
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from lowpass import tiled
from lowpass.kernels import softmax
from lowpass.masks import MASKS
from lowpass.registry import Refusal
from lowpass.tiled import ROWS_AT_ONCE, Records, folded, mix, mix_recorded

SCALARS = [each.name for each in fields(Records) if each.name != "column_sums"]
# One token, less than a tile, a tile, one more, and two with a rest.
SIZES = [1, 2, 7, ROWS_AT_ONCE, ROWS_AT_ONCE + 1, 2 * ROWS_AT_ONCE + 44]


def draw(rng, n_tokens: int, beta: float = 1.0, lead: tuple[int, ...] = (), d_model: int = 5):
    x = rng.standard_normal((*lead, n_tokens, d_model)) + 3.0
    w_q, w_k = rng.standard_normal((2, d_model, d_model)) / np.sqrt(d_model)
    return x, folded(w_q, w_k, beta)


def allowed(mask: str | np.ndarray, n_tokens: int) -> np.ndarray:
    if isinstance(mask, np.ndarray):
        return mask
    return np.tri(n_tokens, dtype=bool) if mask == "causal" else np.ones((n_tokens,) * 2, bool)


def dense(x, m, mask: str | np.ndarray = "none") -> np.ndarray:
    """Form the whole matrix, from tokens that are not centred."""
    scores = x @ m @ np.swapaxes(x, -1, -2)
    return softmax(np.where(allowed(mask, x.shape[-2]), scores, -np.inf))


def slow(x, a) -> dict[str, Any]:
    """Compute what is recorded by its definition, one pair of tokens at a time."""
    n = len(x)
    pairs = [(i, j) for i in range(n) for j in range(n)]
    cosine = [x[i] @ x[j] / np.sqrt(x[i] @ x[i] * (x[j] @ x[j])) for i, j in pairs if i != j]
    high = x - x.mean(axis=0)
    return {
        "entropy": -sum(a[i, j] * np.log(a[i, j]) for i, j in pairs if a[i, j] > 0) / n,
        "edge_energy": sum(a[i, j] * ((x[i] - x[j]) ** 2).sum() for i, j in pairs) / 2,
        "mean_cosine": np.mean(cosine) if n > 1 else np.nan,
        "dc_norm": np.linalg.norm(np.full((n, n), 1 / n) @ x),
        "hc_norm": np.linalg.norm(high),
        "column_sums": [sum(a[i, j] for i in range(n)) for j in range(n)],
        "clipped": 0,
    }


@pytest.mark.parametrize("mask", ["none", "causal", "some"])
@pytest.mark.parametrize("beta", [1e-9, 1.0, 30.0])
@pytest.mark.parametrize("n_tokens", SIZES)
def test_the_layer_is_dense_attention(n_tokens, beta, mask, rng):
    if mask == "some":
        mask = (rng.random((n_tokens, n_tokens)) < 0.3) | np.eye(n_tokens, dtype=bool)
    x, m = draw(rng, n_tokens, beta)
    # Scores of tokens that are not centred round in the last place of a thousand.
    assert_allclose(mix(x, m, mask=mask), dense(x, m, mask) @ x, rtol=1e-11)


@pytest.mark.parametrize("mask", ["none", "causal", "block"])
@pytest.mark.parametrize("beta", [0.0, 0.5, 30.0])
@pytest.mark.parametrize("n_tokens", [1, 2, 12])
def test_records_are_what_they_say(n_tokens, beta, mask, rng):
    if mask == "block":
        mask = MASKS["block"](n_tokens) if n_tokens > 1 else np.ones((1, 1), dtype=bool)
    x, m = draw(rng, n_tokens, beta)
    mixed, records = mix_recorded(x, m, mask=mask)
    assert np.array_equal(mixed, mix(x, m, mask=mask))
    for name, expected in slow(x, dense(x, m, mask)).items():
        found = getattr(records, name)
        assert_allclose(found, expected, rtol=1e-11, atol=1e-11, err_msg=name)


@pytest.mark.parametrize("mask", ["none", "causal"])
def test_records_of_many_tiles_are_those_of_the_whole_matrix(mask, rng):
    x, m = draw(rng, SIZES[-1], 2.0)
    records, a = mix_recorded(x, m, mask=mask)[1], dense(x, m, mask)
    distance = ((x[:, None, :] - x) ** 2).sum(axis=-1)
    seen = a[a > 0]
    assert_allclose(records.column_sums, a.sum(axis=0), rtol=1e-10, atol=1e-12)
    assert_allclose(records.entropy, -(seen * np.log(seen)).sum() / len(x), rtol=1e-11)
    assert_allclose(records.edge_energy, (a * distance).sum() / 2, rtol=1e-11)


@pytest.mark.parametrize("n_tokens", [6, ROWS_AT_ONCE + 3])
@pytest.mark.parametrize("mask", ["none", "causal"])
def test_a_sequence_does_not_depend_on_those_beside_it(n_tokens, mask, rng, monkeypatch):
    """Neither on a sharp neighbour, whose rows are shifted, nor on how many are taken at once."""
    monkeypatch.setattr(tiled, "GROUP", 2 * 6 * 6 * 8)
    x, m = draw(rng, n_tokens, lead=(5,))
    x[3] *= 60.0
    mixed, records = mix_recorded(x, m, mask=mask)
    for index, each in enumerate(x):
        alone, of_one = mix_recorded(each, m, mask=mask)
        assert np.array_equal(mixed[index], alone)
        for field in fields(Records):
            both = getattr(records, field.name)[index], getattr(of_one, field.name)
            assert np.array_equal(*both), field.name
    assert records.clipped[3] > 0
    assert not np.delete(records.clipped, 3).any()


def test_heads_share_tokens_and_have_a_matrix_each(rng):
    x, _ = draw(rng, 9, lead=(2, 1))
    m = rng.standard_normal((3, 5, 5))
    mixed, records = mix_recorded(x, m)
    assert mixed.shape == (2, 3, 9, 5)
    assert records.column_sums.shape == (2, 3, 9)
    assert {getattr(records, name).shape for name in SCALARS} == {(2, 3)}
    assert_allclose(mixed[1, 2], dense(x[1, 0], m[2]) @ x[1, 0], rtol=1e-12)


@pytest.mark.parametrize("mask", ["none", "causal"])
@pytest.mark.parametrize("beta", [0.1, 1.0, 10.0])
@pytest.mark.parametrize("n_tokens", [40, ROWS_AT_ONCE + 1])
def test_float32_is_as_near_as_it_says(n_tokens, beta, mask, rng):
    x, m = draw(rng, n_tokens, beta)
    x, m = x.astype(np.float32), m.astype(np.float32)
    mixed, records = mix_recorded(x, m, mask=mask)
    exact, recorded = mix_recorded(x.astype(float), m.astype(float), mask=mask)
    high = x - x.mean(axis=0)
    units = 4 * np.sqrt(n_tokens) + 4 * np.abs(x @ m @ high.T).max()
    off = units * np.finfo(np.float32).eps
    assert mixed.dtype == np.float32
    assert np.abs(mixed - exact).max() <= off * np.abs(x).max()
    assert np.abs(mixed - exact).max() > 0
    assert records.entropy.dtype == records.column_sums.dtype == np.float64
    assert_allclose(records.column_sums, recorded.column_sums, atol=off * n_tokens)
    assert_allclose(records.entropy, recorded.entropy, atol=off)
    assert_allclose(records.edge_energy, recorded.edge_energy, atol=off * recorded.hc_norm**2)
    for name in ("mean_cosine", "dc_norm", "hc_norm"):
        assert_allclose(getattr(records, name), getattr(recorded, name), rtol=1e-6, err_msg=name)


def test_types_are_kept_by_a_temperature_that_is_a_numpy_number():
    w = np.eye(3, dtype=np.float32)
    m = folded(w, w, np.float64(2.0))
    assert m.dtype == np.float32
    assert_allclose(m, 2 / np.sqrt(3) * np.eye(3), rtol=1e-7)
    assert mix(np.eye(3), m).dtype == np.float64
    assert mix(np.eye(3, dtype=np.int64), np.eye(3)).dtype == np.float64


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("mask", ["none", "causal"])
@pytest.mark.parametrize("n_tokens", [20, ROWS_AT_ONCE + 1])
def test_scores_of_ten_thousand_choose_one_key_and_are_counted(n_tokens, mask, dtype, rng):
    x, m = (each.astype(dtype) for each in draw(rng, n_tokens))
    m *= dtype(1e4 / np.abs(x @ m @ x.T).max())
    mixed, records = mix_recorded(x, m, mask=mask)
    high = x.astype(float) - x.mean(axis=0, dtype=float)
    scores = np.where(allowed(mask, n_tokens), x.astype(float) @ m.astype(float) @ high.T, -np.inf)
    below = scores - scores.max(axis=1, keepdims=True)
    floor = {np.float64: -700, np.float32: -80}[dtype]
    is_low = np.isfinite(below) & (below < floor)
    near = 1e4 * 20 * np.finfo(dtype).eps
    doubtful = np.count_nonzero(np.abs(below - floor) < near)
    assert abs(records.clipped - np.count_nonzero(is_low)) <= doubtful
    assert records.clipped > n_tokens
    # What was raised to the floor can still be told from what is hidden.
    assert (records.column_sums >= np.exp(floor) / n_tokens).all()
    assert_allclose(mixed, softmax(scores) @ x, atol=near * np.abs(x).max())


def test_a_hidden_key_of_a_sharp_layer_has_no_weight_at_all(rng):
    x, m = draw(rng, 12, 500.0)
    poisoned = x.copy()
    poisoned[-1] *= 50
    once, again = (mix(each, m, mask="causal") - each[0] for each in (x, poisoned))
    # The first query sees itself alone, whatever the last token is.
    assert_allclose(once[0], 0, atol=1e-14)
    assert_allclose(again[0], 0, atol=1e-13)


@pytest.mark.parametrize("n_tokens", [3, ROWS_AT_ONCE + 1])
def test_equal_tokens_stay_and_look_everywhere(n_tokens):
    x = np.tile([1e3, -7.0, 0.1], (n_tokens, 1))
    mixed, records = mix_recorded(x, np.full((3, 3), 1e4))
    assert np.array_equal(mixed, x)
    assert_allclose(records.entropy, np.log(n_tokens), rtol=1e-14)
    assert_allclose(records.mean_cosine, 1, rtol=1e-13)
    assert_allclose(records.column_sums, 1, rtol=1e-13)
    assert_allclose(records.hc_norm, 0, atol=1e-12)
    assert_allclose(records.edge_energy, 0, atol=1e-20)


def test_an_infinite_temperature_gives_every_query_the_mean(rng):
    x, _ = draw(rng, ROWS_AT_ONCE + 1)
    mixed, records = mix_recorded(x, np.zeros((5, 5)))
    assert_allclose(mixed, np.tile(x.mean(axis=0), (len(x), 1)), rtol=1e-14)
    # Every pair weighs 1/n: the energy is that of the variance.
    assert_allclose(records.edge_energy, records.hc_norm**2, rtol=1e-13)
    assert_allclose(records.entropy, np.log(len(x)), rtol=1e-14)


def test_orthogonal_tokens_have_the_cosine_zero_and_a_zero_token_counts_as_one():
    assert_allclose(mix_recorded(np.eye(4), np.eye(4))[1].mean_cosine, 0, atol=1e-15)
    pair = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 0.0]])
    assert_allclose(mix_recorded(pair, np.eye(2))[1].mean_cosine, 1 / 3, rtol=1e-14)


@pytest.mark.parametrize("layer", [mix, mix_recorded], ids=["bare", "records"])
def test_a_layer_holds_a_tile_and_no_matrix(layer, rng):
    x, m = draw(rng, 2048, d_model=8)
    layer(x[:300], m)
    tracemalloc.start()
    layer(x, m)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    tile = ROWS_AT_ONCE * len(x) * x.itemsize
    assert tile <= peak < tile + 12 * x.nbytes


def test_a_long_sequence_has_fewer_rows_at_once():
    x = np.zeros((1, 2**17, 1))
    layer = tiled._Layer(x, x, x, np.array([True]), None, False)
    first = next(tiled._pieces(layer))
    assert first.rows == slice(0, tiled.FEWEST_ROWS)


@pytest.mark.parametrize(
    ("edit", "match"),
    [
        ({"x": (2, 1, np.nan)}, r"^token \[2, 1\] is nan; .* weights and beta\.$"),
        ({"x": (0, 4, -np.inf)}, r"^token \[0, 4\] is -inf; attention needs finite"),
        ({"m": (3, 3, np.inf)}, r"^entry of the matrix \[3, 3\] is inf; "),
        ({"m": (0, 0, 1e300)}, r"^scores may exceed 1e\+154, where float64 overflows"),
        ({"m": np.eye(4)}, r"^tokens have the shape \(7, 5\) and the matrix .* \(4, 4\); "),
        ({"mask": "window"}, r"^the tiled layer got the mask 'window'; .*MASKS\['window'\]"),
        ({"mask": np.ones((7, 6), bool)}, r"^the mask is bool \(7, 6\) for 7 tokens; .*\(7, 7\)"),
        ({"mask": np.ones((7, 7))}, r"^the mask is float64 \(7, 7\) for 7 tokens; .* Give bool"),
        ({"mask": np.eye(7, k=1, dtype=bool)}, r"^the mask hides every key from query 6; "),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_what_cannot_be_mixed_is_refused(edit, match, rng):
    x, m = draw(rng, 7)
    given = {"x": x, "m": m, "mask": "none"}
    for name, change in edit.items():
        if isinstance(change, tuple):
            *place, value = change
            given[name][tuple(place)] = value
        else:
            given[name] = change
    with pytest.raises(Refusal, match=match):
        mix(given["x"], given["m"], mask=given["mask"])
