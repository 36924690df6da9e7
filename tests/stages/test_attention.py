"""Trajectories that are paired by their draws, and that are what powers of a matrix give."""

from __future__ import annotations

import collections
import io
import tracemalloc
from typing import get_args

import numpy as np
import pytest
import xarray as xr
from numpy.testing import assert_allclose

from lowpass.kernels import KERNELS, SCORES
from lowpass.masks import MASKS
from lowpass.registry import Refusal
from lowpass.spec.attention import Attention
from lowpass.stages.attention import attention
from lowpass.stages.data import data
from lowpass.stages.trajectory import Trajectory
from lowpass.starts import STARTS
from lowpass.weights import WEIGHTS

from ..laboratory import SEED

ARITHMETIC = get_args(Attention.model_fields["arithmetic"].annotation)
N_TOKENS, D_MODEL, DEPTH = 6, 3, 12
PLAIN = {"weights": "symmetric", "beta": 1.0, "depth": DEPTH, "record": "all"}
# One other value of every parameter; weights are what is drawn, and one value cannot change.
CHANGES = {
    "kernel": "sinkhorn",
    "score": "l2",
    "mask": "block",
    "start": "second_mode",
    "beta": 2.5,
    "depth": 7,
    "record": [0, 5],
    "matrix": "summarised",
    "arithmetic": "float32",
    "n_heads": 3,
    "mask_width": 2,
    "values": "random",
    "output": "random",
    "value_scale": 2.0,
    "value_unit": "inverse_slem",
    "skip": 1.0,
    "step": 0.5,
    "norm": "post",
    "remedy": "residual",
    "strength": 0.5,
    "featscale_dc": 0.5,
    "gfsa_w0": 0.5,
    "gfsa_w1": 0.5,
    "gfsa_order": 4,
    "layers": "recomputed",
    "projections": "fresh",
    "integrator": "dop853",
    "sublayers": 3,
}
# What some of them ask for beside them.
BESIDE = {
    "strength": {"remedy": "attnscale"},
    "featscale_dc": {"remedy": "featscale"},
    "gfsa_w0": {"remedy": "gfsa"},
    "gfsa_w1": {"remedy": "gfsa"},
    "gfsa_order": {"remedy": "gfsa", "strength": 0.5},
    "remedy": {"strength": 0.5},
    "projections": {"layers": "recomputed"},
    "mask_width": {"mask": "window", "mask_width": 1},
    "integrator": {"skip": 1.0, "arithmetic": "float64"},
    "sublayers": {"skip": 1.0},
}
UNPAIRED = {"weights"}
THREE = ["replicate", "token", "feature"]
SQUARE = ["replicate", "query", "key"]


def section(*, replicates: int = 10, **changes) -> dict:
    """Compose an experiment of little attention."""
    return {
        "data": {"generator": "gaussian", "n_tokens": N_TOKENS, "d_model": D_MODEL},
        "attention": {**PLAIN, **changes},
        "spectra": ["slem", "log10_hc_dc_ratio"],
        "replicates": replicates,
    }


def run(laboratory, **changes) -> xr.Dataset:
    """Iterate attention, and read what was stored."""
    return laboratory.first("attention", section(**changes))


def tokens_of(laboratory, **changes) -> xr.Dataset:
    return laboratory.first("data", section(**changes))


def state(made: xr.Dataset) -> np.ndarray:
    """Put X (replicate, recorded_layer, token, feature) together from its two components."""
    mean = np.ldexp(made["dc"].values, made["dc_exponent"].values[..., None])
    return mean[..., None, :] + np.ldexp(
        made["hc"].values, made["hc_exponent"].values[..., None, None]
    )


# Paired draws.


@pytest.mark.parametrize("name", CHANGES)
def test_a_changed_parameter_leaves_tokens_and_weights_bit_identical(name, shared_laboratory):
    one = BESIDE.get(name, {})
    first = {} if name == "remedy" else one
    both = (first, {**one, name: CHANGES[name]})
    plain, other = (run(shared_laboratory, **each) for each in both)
    xr.testing.assert_identical(*(tokens_of(shared_laboratory, **each) for each in both))
    for weights in ("w_q", "w_k"):
        assert plain[weights].values.tobytes() == other[weights].values.tobytes()
    assert not plain.identical(other)


def test_every_parameter_is_paired_or_has_a_reason_not_to_be():
    assert {*CHANGES, *UNPAIRED} == {*Attention.model_fields}


def test_other_weights_are_drawn_from_a_stream_of_their_own(shared_laboratory):
    drawn = [run(shared_laboratory, weights=name)["w_k"].values for name in WEIGHTS]
    for i, one in enumerate(drawn):
        assert all(not np.array_equal(one, other) for other in drawn[:i])


def test_no_two_replicates_share_their_weights(shared_laboratory):
    w_k = run(shared_laboratory, replicates=20)["w_k"].values
    assert len(np.unique(w_k, axis=0)) == 10
    plan = shared_laboratory.plan(section(replicates=20))
    blocks = [point for point in plan if point.stage == "attention"]
    second = shared_laboratory.open(blocks[1])["w_k"].values
    assert len(np.unique(np.concatenate([w_k, second]), axis=0)) == 20


def test_thirty_replicates_keep_the_first_twenty(shared_laboratory):
    few, many = (shared_laboratory.run(section(replicates=n)) for n in (20, 30))
    xr.testing.assert_identical(many.isel(replicate=slice(20)), few)
    paths = [
        {point.path for point in shared_laboratory.plan(section(replicates=n))} for n in (20, 30)
    ]
    new = sorted(path.split("/")[1] for path in paths[1] - paths[0])
    assert new == ["attention", "data", "experiment", "spectra"]


def test_a_further_point_changes_no_other(shared_laboratory):
    few, many = (shared_laboratory.run(section(beta=b)) for b in ([1.0, 3.0], [0.5, 1.0, 3.0]))
    xr.testing.assert_identical(many.sel(beta=[1.0, 3.0]), few)


# Laws over everything that can be chosen.


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("kernel", [name for name in KERNELS if KERNELS.facts(name)["positive"]])
def test_layers_are_powers_of_the_attention_matrix(kernel, start, shared_laboratory):
    made = run(shared_laboratory, kernel=kernel, start=start)
    layers = state(made)
    for layer in range(DEPTH + 1):
        power = np.linalg.matrix_power(made["attention"].values, layer)
        assert_allclose(layers[:, layer], power @ layers[:, 0], atol=1e-14)


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("arithmetic", ARITHMETIC)
def test_norms_are_those_of_the_components(arithmetic, start, shared_laboratory):
    made = run(shared_laboratory, start=start, arithmetic=arithmetic)
    x, pi = state(made), made["stationary"].values
    mean = x.mean(axis=2, keepdims=True)
    kept = np.einsum("rt,rltf->rlf", pi, x)[:, :, None, :]
    # Components are compared with the whole, from which they are subtracted here.
    scale = np.linalg.norm(x, axis=(2, 3)).max()
    for name, component in [
        ("log10_dc_norm", np.broadcast_to(mean, x.shape)),
        ("log10_hc_norm", x - mean),
        ("log10_stationary_norm", np.broadcast_to(kept, x.shape)),
        ("log10_transient_norm", x - kept),
    ]:
        direct = np.linalg.norm(component, axis=(2, 3))
        assert_allclose(10 ** made[name].values, direct, rtol=1e-12, atol=1e-14 * scale)


@pytest.mark.parametrize("mask", [name for name in MASKS if not MASKS.facts(name)["parameters"]])
def test_what_a_mask_forbids_is_exactly_zero(mask, shared_laboratory):
    a = run(shared_laboratory, mask=mask, start="tokens")["attention"].values
    assert np.array_equal(a > 0, np.broadcast_to(MASKS[mask](N_TOKENS), a.shape))


@pytest.mark.parametrize("weights", WEIGHTS)
def test_attention_is_softmax_of_scaled_products_row_by_row(weights, shared_laboratory):
    """The formula of the textbook, with a loop over queries."""
    made = run(shared_laboratory, weights=weights, beta=2.5, start="tokens")
    x = tokens_of(shared_laboratory)["x"].values
    for replicate in range(3):
        q = x[replicate] @ made["w_q"].values[replicate]
        k = x[replicate] @ made["w_k"].values[replicate]
        for i in range(N_TOKENS):
            weight = [np.exp(2.5 * (q[i] @ key) / D_MODEL**0.5) for key in k]
            share = np.array(weight) / sum(weight)
            assert_allclose(made["attention"].values[replicate, i], share, rtol=1e-13)


# Arithmetic.


@pytest.mark.parametrize(("arithmetic", "unit"), [("float64", 2.0**-53), ("float32", 2.0**-24)])
def test_one_array_follows_the_split_form_to_its_rounding(arithmetic, unit, shared_laboratory):
    split, plain = (run(shared_laboratory, arithmetic=each) for each in ("split", arithmetic))
    error = np.abs(state(plain) - state(split)).max()
    assert 0 < error < 4 * DEPTH * N_TOKENS * unit * np.abs(state(split)).max()


def test_only_the_split_form_has_no_floor(shared_laboratory):
    floors = {
        each: set(run(shared_laboratory, arithmetic=each)["log10_rounding_floor"].values)
        for each in ARITHMETIC
    }
    assert floors["split"] == {-np.inf}
    for each, digits in [("float64", 53), ("float32", 24)]:
        (floor,) = floors[each]
        assert_allclose(floor, -digits * np.log10(2) - np.log10(2 * N_TOKENS) / 2, rtol=1e-14)


@pytest.mark.parametrize("start", ["no_stationary", "second_mode"])
def test_a_start_without_a_stationary_part_never_has_one(start, shared_laboratory):
    made = run(shared_laboratory, start=start)
    assert (made["log10_stationary_norm"] == -np.inf).all()
    assert np.isfinite(made["log10_transient_norm"]).all()


def test_the_split_form_goes_on_where_floats_end(laboratory):
    """A thousand layers: the ratio falls by |λ₂| a layer, far below the smallest float."""
    made = run(laboratory, beta=0.2, depth=1000, record="geometric")
    ratio = made["log10_transient_norm"] - made["log10_stationary_norm"]
    assert (ratio.isel(layer=-1) < -400).all()
    second = np.sort(np.abs(np.linalg.eigvals(made["attention"].values)), axis=-1)[:, -2]
    slope = (ratio.isel(layer=-1) - ratio.isel(layer=500)) / 500
    assert_allclose(slope, np.log10(second), rtol=1e-12)


# What is recorded.


@pytest.mark.parametrize(
    ("record", "layers"),
    [
        ("all", list(range(13))),
        ("geometric", [0, 1, 2, 3, 4, 6, 8, 12]),
        ([5, 2], [0, 2, 5]),
        ([0], [0]),
        ([], [0]),
    ],
)
def test_tensors_are_stored_at_the_layers_asked_for(record, layers, shared_laboratory):
    made = run(shared_laboratory, record=record)
    assert made["recorded_layer"].values.tolist() == layers
    assert made["hc"].sizes["recorded_layer"] == len(layers)
    assert made["log10_hc_norm"].sizes["layer"] == DEPTH + 1
    everything = run(shared_laboratory, record="all")
    xr.testing.assert_equal(made["hc"], everything["hc"].sel(recorded_layer=layers))


@pytest.mark.parametrize("n_heads", [1, 3])
def test_a_matrix_that_is_not_stored_leaves_its_modulus(n_heads, laboratory):
    whole, brief = (
        run(laboratory, n_heads=n_heads, matrix=matrix) for matrix in ("stored", "summarised")
    )
    second = np.sort(np.abs(np.linalg.eigvals(whole["attention"].values)), axis=-1)[:, -2]
    assert_allclose(brief["slem"], second, rtol=1e-12)
    assert not {"attention", "attention_by_head", "stationary"} & {*brief.variables}
    xr.testing.assert_identical(brief["w_k"], whole["w_k"])
    assert_allclose(state(brief), state(whole), atol=1e-14)
    assert_allclose(brief["log10_hc_norm"], whole["log10_hc_norm"], rtol=1e-10)


def test_layers_are_computed_as_they_are_asked_for(laboratory):
    """A run of a million layers gives its first at once."""
    tokens = tokens_of(laboratory)
    params = {**PLAIN, "depth": 10**6, "record": [0]}
    made = attention({"params": params, "seed": 7}, tokens)
    assert isinstance(made, Trajectory)
    assert {*next(made.layers)} > {"log10_hc_norm", "hc"}
    assert {*next(made.layers)} == {
        "log10_dc_norm",
        "log10_hc_norm",
        "log10_stationary_norm",
        "log10_transient_norm",
    }


@pytest.mark.parametrize("arithmetic", ["split", "float64"])
def test_two_layers_are_held_at_most(arithmetic):
    """A layer is two arrays, HC and the transient, and numbers of no size; A is not copied."""
    rng = np.random.default_rng(0)
    dims = {"replicate": 1, "token": 96, "feature": 512}
    tokens = xr.Dataset(
        {"x": (tuple(dims), rng.standard_normal(tuple(dims.values())))},
        {name: np.arange(length) for name, length in dims.items()},
    )
    params = {**PLAIN, "depth": 12, "arithmetic": arithmetic}
    made = attention({"params": params, "seed": 7}, tokens)
    tracemalloc.start()
    try:
        collections.deque(made.layers, maxlen=1)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 2.25 * 2 * tokens["x"].nbytes


# Axes inside.


def test_axes_inside_come_first_and_hold_what_each_run_gives(laboratory):
    inside = {"beta": [0.5, 2.0], "arithmetic": ["float32", "split"]}
    both = laboratory.first("attention", {**section(**inside), "inside": [*inside]})
    assert both["hc"].dims == (
        "arithmetic",
        "beta",
        "replicate",
        "recorded_layer",
        "token",
        "feature",
    )
    for beta in inside["beta"]:
        for arithmetic in inside["arithmetic"]:
            alone = run(laboratory, beta=beta, arithmetic=arithmetic)
            chosen = both.sel(beta=beta, arithmetic=arithmetic, drop=True)
            xr.testing.assert_identical(chosen, alone)


def test_depth_cannot_be_a_dimension_of_one_file(laboratory):
    with pytest.raises(Refusal, match=r"inside: 'depth' changes .*take it out of 'inside'"):
        laboratory.first("attention", {**section(depth=[4, 8]), "inside": ["depth"]})


# Own tensors.


def packed(**arrays: np.ndarray) -> bytes:
    """Write arrays as a user would, with numpy alone."""
    content = io.BytesIO()
    np.savez(content, **arrays)
    return content.getvalue()


def own(content: bytes, *, copies: int = 1, **dims: list[str]) -> xr.Dataset:
    """Read a file in which every role is an array of its own name."""
    asked = {role: {"name": role, "dims": axes} for role, axes in dims.items()}
    params = {"generator": "file", "path": "mine.npz", "copies": copies, **asked}
    return data({"stage": "data", "params": {**params, "sha256": "0" * 64}}, content)


def rows_of(tokens: xr.Dataset, **params) -> tuple[xr.Dataset, list[dict]]:
    """Iterate attention of what a file states, without a temperature where none is given."""
    made = attention({"params": {"depth": DEPTH, "record": "all", **params}}, tokens)
    return made.header, list(made.layers)


def same_rows(one: list[dict], other: list[dict]) -> bool:
    """Say whether two trajectories hold the same bits at every layer."""
    assert len(one) == len(other) == DEPTH + 1
    return all(
        {*a} == {*b} and all(np.array_equal(a[name][1], b[name][1]) for name in a)
        for a, b in zip(one, other, strict=True)
    )


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("kernel", [name for name in KERNELS if KERNELS.facts(name)["positive"]])
def test_attention_from_a_file_acts_as_that_which_was_saved(kernel, start, shared_laboratory):
    chosen = {"kernel": kernel, "start": start}
    saved = run(shared_laboratory, **chosen)
    tokens = tokens_of(shared_laboratory, **chosen)
    content = packed(tokens=tokens["x"].values, attention=saved["attention"].values)
    brought = own(content, tokens=THREE, attention=SQUARE)
    header, rows = rows_of(brought, start=start)
    computed = rows_of_drawn(tokens, **chosen)
    assert np.array_equal(header["attention"].values, saved["attention"].values)
    assert np.array_equal(header["stationary"].values, saved["stationary"].values)
    assert same_rows(rows, computed)
    assert {"w_q", "w_k", "inverse_temperature"}.isdisjoint(header)


def rows_of_drawn(tokens: xr.Dataset, **changes) -> list[dict]:
    made = attention({"params": {**PLAIN, **changes}, "seed": SEED}, tokens)
    return list(made.layers)


def test_single_precision_acts_as_the_numbers_it_holds(shared_laboratory):
    saved = run(shared_laboratory)["attention"].values.astype(np.float32)
    header, _ = rows_of(own(packed(attention=saved), attention=SQUARE))
    assert np.array_equal(header["attention"].values, saved.astype(float))


@pytest.mark.parametrize("beside", ["tokens", "query", "logits"])
def test_what_a_mask_of_ones_own_forbids_is_exactly_zero(beside, shared_laboratory, rng):
    """Each replicate has its own."""
    see = rng.random((10, N_TOKENS, N_TOKENS)) < 0.6
    see |= np.eye(N_TOKENS, dtype=bool)
    x = tokens_of(shared_laboratory)["x"].values
    arrays = {
        "tokens": {"tokens": x},
        "query": {"query": x, "key": x},
        "logits": {"logits": x @ x.mT},
    }[beside]
    axes = {role: SQUARE if role == "logits" else THREE for role in arrays}
    brought = own(packed(**arrays, mask=see), **axes, mask=SQUARE)
    header, _ = rows_of(brought, beta=1.0)
    assert np.array_equal(header["attention"].values > 0, see)


@pytest.mark.parametrize("arithmetic", ARITHMETIC)
@pytest.mark.parametrize("layers", ["frozen", "recomputed"])
def test_a_mask_of_ones_own_acts_in_every_layer_as_one_with_a_name(
    layers, arithmetic, shared_laboratory
):
    x = tokens_of(shared_laboratory)["x"].values
    see = np.stack([MASKS["block"](N_TOKENS)] * len(x))
    given = {"beta": 1.0, "layers": layers, "arithmetic": arithmetic}
    by_file = rows_of(own(packed(tokens=x, mask=see), tokens=THREE, mask=SQUARE), **given)
    by_name = rows_of(own(packed(tokens=x), tokens=THREE), mask="block", **given)
    xr.testing.assert_identical(by_file[0], by_name[0])
    assert same_rows(by_file[1], by_name[1])


@pytest.mark.parametrize("beta", [0.0, 1.0, 2.5])
def test_logits_of_minus_infinity_are_a_mask(beta, shared_laboratory):
    drawn = run(shared_laboratory, mask="block", beta=beta)
    tokens = tokens_of(shared_laboratory)
    q, k = (tokens["x"].values @ drawn[f"w_{name}"].values for name in "qk")
    scores = q @ np.swapaxes(k, -1, -2) / np.sqrt(D_MODEL)
    hidden = np.where(MASKS["block"](N_TOKENS), scores, -np.inf)
    content = packed(tokens=tokens["x"].values, logits=hidden, open=scores)
    of_file, _ = rows_of(own(content, tokens=THREE, logits=SQUARE), beta=beta)
    assert_allclose(of_file["attention"].values, drawn["attention"].values, rtol=1e-13)
    assert (of_file["attention"].values == 0).sum() == 10 * N_TOKENS**2 // 2
    # The configuration's mask does the same to logits that hide nothing.
    opened = packed(logits=scores)
    by_mask, _ = rows_of(own(opened, logits=SQUARE), beta=beta, mask="block")
    xr.testing.assert_identical(by_mask["attention"], of_file["attention"])


@pytest.mark.parametrize("score", SCORES)
def test_queries_and_keys_from_a_file_are_compared_as_drawn_ones_are(score, shared_laboratory):
    drawn = run(shared_laboratory, score=score)
    tokens = tokens_of(shared_laboratory)
    x = tokens["x"].values
    content = packed(tokens=x, query=x @ drawn["w_q"].values, key=x @ drawn["w_k"].values)
    brought = own(content, tokens=THREE, query=THREE, key=THREE)
    header, rows = rows_of(brought, score=score, beta=PLAIN["beta"])
    assert np.array_equal(header["attention"].values, drawn["attention"].values)
    assert same_rows(rows, rows_of_drawn(tokens, score=score))


def test_queries_may_have_fewer_features_than_tokens(rng):
    """As the heads of a transformer have, whose scores are divided by the root of their own."""
    x, q, k = (rng.standard_normal((N_TOKENS, size)) for size in (8, 2, 2))
    content = packed(tokens=x, query=q, key=k)
    long = ["token", "feature"]
    header, _ = rows_of(own(content, tokens=long, query=long, key=long), beta=1.5)
    weight = np.exp(1.5 * q @ k.T / np.sqrt(2))
    share = weight / weight.sum(axis=1, keepdims=True)
    assert_allclose(header["attention"].values[0], share, rtol=1e-13)


@pytest.mark.parametrize("replicates", [1, 3])
def test_impulses_show_the_powers_of_attention(replicates, shared_laboratory):
    a = run(shared_laboratory, kernel="softmax")["attention"].values[:replicates]
    header, rows = rows_of(own(packed(attention=a), attention=SQUARE))
    for layer, row in enumerate(rows):
        mean = np.ldexp(row["dc"][1], row["dc_exponent"][1][:, None])
        rest = np.ldexp(row["hc"][1], row["hc_exponent"][1][:, None, None])
        power = np.linalg.matrix_power(a, layer)
        assert_allclose(mean[:, None, :] + rest, power, atol=1e-15)
    assert header["replicate"].values.tolist() == list(range(replicates))
    # What is left after all layers is the stationary distribution, along every column.
    assert_allclose(rows[-1]["dc"][1], header["stationary"].values, atol=1e-3)


def test_a_head_of_many_is_taken_by_its_number(rng):
    heads = rng.dirichlet(np.ones(N_TOKENS), size=(2, 3, N_TOKENS))
    tensor = {"name": "attn", "dims": ["layer", "head", "query", "key"], "at": {"layer": 1}}
    for head in range(3):
        asked = {**tensor, "at": {"layer": 1, "head": head}}
        params = {"generator": "file", "path": "mine.npz", "attention": asked}
        made = data({"params": params}, packed(attn=heads))
        header, _ = rows_of(made)
        assert np.array_equal(header["attention"].values, heads[1, head][None])


def test_copies_differ_by_their_weights_alone(shared_laboratory):
    x = tokens_of(shared_laboratory)["x"].values[0]
    content = packed(tokens=x)
    brought = own(content, tokens=["token", "feature"], copies=12)
    made = attention({"params": PLAIN, "seed": SEED}, brought).header
    assert (brought["x"].values == x).all()
    assert len(np.unique(made["w_k"].values, axis=0)) == made.sizes["replicate"] == 12
    assert len(np.unique(made["attention"].values, axis=0)) == 12
    # The weights are those that drawn tokens of as many features would have had.
    drawn = run(shared_laboratory)
    assert np.array_equal(made["w_k"].values[:10], drawn["w_k"].values)


@pytest.mark.parametrize("role", ["logits", "tokens"])
def test_what_is_computed_needs_a_temperature(role, shared_laboratory):
    """Were it planned all the same."""
    axes = ["query", "key"] if role == "logits" else ["token", "feature"]
    with pytest.raises(Refusal, match=r"^attention\.beta: is not given, and the data state no att"):
        rows_of(own(packed(**{role: np.eye(4)}), **{role: axes}))


def test_tokens_that_see_only_themselves_stay_as_they_are():
    """Their matrix has a stationary distribution for each, and the limit is the start."""
    header, rows = rows_of(own(packed(attention=np.eye(4)), attention=["query", "key"]))
    assert (np.ptp([row["log10_hc_norm"][1] for row in rows], axis=0) == 0).all()
    assert_allclose(header["stationary"].values.sum(axis=-1), 1)


# Refusals.


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"kernel": "signed"}, "a stationary distribution needs weights that are not negative"),
        ({"weights": "untied", "start": "second_mode"}, "the second eigenvalue .* is complex"),
        ({"kernel": "sinkhorn", "beta": 1e6}, "the scores are too sharp to balance"),
        ({"record": [DEPTH + 1]}, r"record: layer 13 lies beyond the last layer 12"),
    ],
)
def test_a_run_that_has_no_meaning_is_refused(changes, message, laboratory):
    with pytest.raises(Refusal, match=message):
        run(laboratory, **changes)
    assert not list(laboratory.folder.glob("results/attention/*"))


def test_layers_that_wane_say_how_much_of_each_is_attention(shared_laboratory):
    """Layer t has the share 2⁻ᵗ⁻¹, and layer 0 is the tokens."""
    asked = {
        "data": {"generator": "gaussian", "n_tokens": 4, "d_model": 2},
        "attention": {"beta": 1.0, "depth": 3, "layers": "waning"},
        "spectra": ["slem"],
        "replicates": 2,
    }
    made = shared_laboratory.first("attention", asked)
    assert made["layer_share"].values.tolist() == [0, 0.25, 0.125, 0.0625]
    frozen = {**asked, "attention": {"beta": 1.0, "depth": 3}}
    assert "layer_share" not in shared_laboratory.first("attention", frozen)
