"""Every dynamic against a textbook loop over heads, queries and layers."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import xarray as xr
from numpy.testing import assert_allclose
from scipy.linalg import expm

from lowpass import spectra
from lowpass.integrators import INTEGRATORS
from lowpass.registry import Refusal
from lowpass.remedies import REMEDIES
from lowpass.splits import by_mean
from lowpass.stages.attention import attention

from .. import unsplit

N_TOKENS, D_MODEL, DEPTH = 5, 4, 4
STRENGTHS = {"featscale": {"featscale_dc": 0.3}, "gfsa": {"gfsa_w0": 0.2, "gfsa_w1": 0.7}}


def section(**changes) -> dict:
    return {
        "data": {"generator": "gaussian", "n_tokens": N_TOKENS, "d_model": D_MODEL},
        "attention": {"beta": 1.2, "depth": DEPTH, "record": "all", **changes},
        "spectra": ["slem"],
        "replicates": 10,
    }


def run(laboratory, **changes) -> xr.Dataset:
    return laboratory.first("attention", section(**changes))


def tokens(laboratory) -> np.ndarray:
    return laboratory.first("data", section())["x"].values


def state(made: xr.Dataset) -> np.ndarray:
    """Put X (replicate, recorded_layer, token, feature) together from its two components."""
    mean = np.ldexp(made["dc"].values, made["dc_exponent"].values[..., None])
    return mean[..., None, :] + np.ldexp(
        made["hc"].values, made["hc_exponent"].values[..., None, None]
    )


# The textbook, one replicate at a time and one query at a time.


def softmax_rows(q, k, beta, allowed) -> np.ndarray:
    rows = []
    for i, query in enumerate(q):
        weight = [
            np.exp(beta * float(query @ key) / np.sqrt(len(key))) if allowed[i][j] else 0.0
            for j, key in enumerate(k)
        ]
        rows.append(np.array(weight) / sum(weight))
    return np.array(rows)


def normalised(x: np.ndarray) -> np.ndarray:
    return np.array([(row - row.mean()) / np.sqrt(((row - row.mean()) ** 2).mean()) for row in x])


def remedied(name, a, c, knobs, x, first) -> np.ndarray:
    """Each remedy as its paper has it, as matrices."""
    n = len(a)
    eye, j = np.eye(n), np.full((n, n), 1 / n)
    if name == "featscale":
        s = knobs["featscale_dc"]
        return (1 + s) * j @ a @ x + (1 + c) * (eye - j) @ a @ x
    if name == "gfsa":
        k = knobs.get("gfsa_order", 3)
        return knobs["gfsa_w0"] * x + knobs["gfsa_w1"] * a @ x + c * (a + (k - 1) * (a @ a - a)) @ x
    if name == "neutreno":
        return a @ x + c * (first - x)
    matrix = {
        "none": a,
        "attnscale": j + (1 + c) * (a - j),
        "attinv": a + c * (2 * eye - 2 * a),
        "highpass": a + c * (eye - 2 * a),
        "residual": a + c * eye,
        "centring": a - c * j,
        "laplacian": a - c * eye,
    }[name]
    return matrix @ x


def textbook(x, w_q, w_k, w_v, w_o, params) -> list[np.ndarray]:
    """Iterate one replicate."""
    n_heads = params.get("n_heads", 1)
    norm, skip, step = (params.get(k, d) for k, d in (("norm", "none"), ("skip", 0), ("step", 1)))
    name, c = params.get("remedy", "none"), params.get("strength", 0.0)
    seen = {
        "none": lambda i, j: True,
        "causal": lambda i, j: j <= i,
        "window": lambda i, j: abs(i - j) <= params["mask_width"],
    }[params.get("mask", "none")]
    allowed = [[seen(i, j) for j in range(N_TOKENS)] for i in range(N_TOKENS)]
    parts = np.split(np.arange(D_MODEL), n_heads)

    def heads_of(y):
        return [
            softmax_rows(y @ w_q[:, part], y @ w_k[:, part], params.get("beta", 1.2), allowed)
            for part in parts
        ]

    first = normalised(x) if norm == "pre" else x
    matrices, layers = heads_of(first), [x]
    for layer in range(1, DEPTH + 1):
        y = normalised(x) if norm == "pre" else x
        if params.get("layers") == "recomputed":
            matrices = heads_of(y)
        total = skip * x
        for part, plain in zip(parts, matrices, strict=True):
            share = 0.5 ** (layer + 1)
            waned = (1 - share) * np.eye(N_TOKENS) + share * plain
            a = waned if params.get("layers") == "waning" else plain
            given = remedied(name, a, c, STRENGTHS.get(name, {}), y, first)
            total = total + step * (given @ w_v)[:, part] @ w_o[part]
        x = normalised(total) if norm == "post" else total
        layers.append(x)
    return layers


CASES = [
    *({"remedy": name, "strength": 0.4, **STRENGTHS.get(name, {})} for name in REMEDIES),
    *(
        {"layers": layers, "norm": norm, "skip": skip, "values": "random"}
        for layers, norm, skip in itertools.product(
            ("frozen", "recomputed"), ("none", "pre", "post"), (0.0, 1.0)
        )
    ),
    *(
        {"layers": layers, "n_heads": 2, "values": "rotation", "output": "random", "step": 0.3}
        for layers in ("frozen", "recomputed", "waning")
    ),
    *(
        {"layers": "recomputed", "remedy": name, "strength": 0.4, "skip": 0.5}
        for name in ("attnscale", "neutreno", "attinv")
    ),
    {"layers": "waning"},
    {"layers": "waning", "norm": "post", "skip": 1.0},
    {"values": "identity", "value_scale": -0.5, "skip": 1.0},
    {"n_heads": 4},
    *({"layers": layers, "mask": "causal"} for layers in ("frozen", "recomputed")),
    {"layers": "recomputed", "mask": "window", "mask_width": 1, "n_heads": 2},
    {"layers": "recomputed", "norm": "pre", "remedy": "neutreno", "strength": 0.4},
]


def called(case: dict) -> str:
    return ",".join(f"{value}" for value in case.values())


@pytest.mark.parametrize("arithmetic", ["split", "float64"])
@pytest.mark.parametrize("case", CASES, ids=called)
def test_a_layer_is_what_the_textbook_says(case, arithmetic, shared_laboratory):
    if case.get("remedy") == "none":
        case = {}
    made = run(shared_laboratory, **case, arithmetic=arithmetic)
    x, found = tokens(shared_laboratory), state(made)
    same = np.eye(D_MODEL)
    for r in range(3):
        one = made.isel(replicate=r)
        w_v, w_o = (one[name].values if name in one else same for name in ("w_v", "w_o"))
        slow = textbook(x[r], one["w_q"].values, one["w_k"].values, w_v, w_o, case)
        assert_allclose(found[r], slow, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("layers", ["frozen", "recomputed"])
@pytest.mark.parametrize("name", REMEDIES)
def test_a_neutral_remedy_is_attention_as_it_was(name, layers, shared_laboratory):
    neutral = run(shared_laboratory, layers=layers, remedy=name)
    plain = run(shared_laboratory, layers=layers)
    assert_allclose(state(neutral), state(plain), rtol=1e-12, atol=1e-14)


def test_the_first_recomputed_layer_is_the_first_frozen_one(shared_laboratory):
    one, other = (run(shared_laboratory, layers=name) for name in ("frozen", "recomputed"))
    assert_allclose(state(one)[:, :2], state(other)[:, :2], rtol=1e-12, atol=1e-14)
    assert np.array_equal(one["attention"], other["attention"])
    assert not np.allclose(state(one)[:, 2], state(other)[:, 2])


def test_projections_of_their_own_are_those_of_the_first_layer_at_first(shared_laboratory):
    shared, fresh = (
        run(shared_laboratory, layers="recomputed", projections=name, values="random")
        for name in ("shared", "fresh")
    )
    for name in ("w_q", "w_k", "w_v"):
        assert np.array_equal(shared[name], fresh[name])
    assert np.array_equal(state(shared)[:, 1], state(fresh)[:, 1])
    assert not np.allclose(state(shared)[:, 2], state(fresh)[:, 2])


def test_what_several_heads_give_is_described_by_their_mean(shared_laboratory):
    made = run(shared_laboratory, n_heads=2)
    assert made["attention_by_head"].dims == ("replicate", "head", "query", "key")
    assert_allclose(made["attention"], made["attention_by_head"].mean("head"), rtol=1e-15)


def test_dynamics_without_a_stationary_mode_have_no_transient_part(shared_laboratory):
    for change in ({"n_heads": 2}, {"layers": "recomputed"}, {"norm": "post"}):
        made = run(shared_laboratory, **change)
        assert "log10_transient_norm" not in made
        with pytest.raises(
            Refusal, match=r"^test\.trial\.spectra: 'transient_rate' compares what is forgotten"
        ):
            shared_laboratory.plan({**section(**change), "spectra": ["transient_rate"]})


def test_a_value_unit_makes_the_slowest_mode_grow_as_told(shared_laboratory):
    """W_V = (1.2/|λ₂|) I: HC grows by 1.2 a layer, and the ratio falls by |λ₂| (A12)."""
    given = {"values": "identity", "value_scale": 1.2, "value_unit": "inverse_slem"}
    made = run(shared_laboratory, **given, weights="symmetric", depth=600, record=[0])
    later = made.isel(layer=slice(500, None))
    growth = np.diff(later["log10_transient_norm"].values, axis=-1)
    assert_allclose(growth, np.log10(1.2), rtol=1e-6)
    assert_allclose(
        made["w_v"].values[:, 0, 0], 1.2 / np.sort(abs(np.linalg.eigvals(made["attention"])))[:, -2]
    )


def test_a_unit_of_nothing_is_refused(shared_laboratory):
    """Equal weights forget at once."""
    with pytest.raises(Refusal, match=r"attention\.value_unit: \|λ₂\| of replicate 0 is zero, and"):
        run(shared_laboratory, kernel="uniform", value_scale=1.2, value_unit="inverse_slem")


def test_a_filter_of_zeros_leaves_what_is_skipped(shared_laboratory):
    nothing = {"remedy": "featscale", "strength": -1.0, "featscale_dc": -1.0}
    made = run(shared_laboratory, layers="recomputed", skip=0.5, **nothing)
    x = tokens(shared_laboratory)
    assert_allclose(state(made)[:, 1], 0.5 * x, rtol=1e-12, atol=1e-14)


# Thinner layers, and their limit.

FLOW = {"skip": 1.0, "step": 0.25, "values": "random", "arithmetic": "float64"}


@pytest.mark.parametrize("arithmetic", ["split", "float64"])
@pytest.mark.parametrize("layers", ["frozen", "recomputed"])
def test_sublayers_are_layers_that_are_not_looked_at(layers, arithmetic, shared_laboratory):
    given = {**FLOW, "layers": layers, "arithmetic": arithmetic}
    thick = run(shared_laboratory, **given, sublayers=4)
    thin = run(shared_laboratory, **{**given, "step": 0.0625, "depth": 4 * DEPTH})
    assert_allclose(state(thick), state(thin)[:, ::4], rtol=1e-13, atol=1e-14)
    assert (thick["step_size"] == 0.25).all()


@pytest.mark.parametrize("scale", [1.0, -1.0])
@pytest.mark.parametrize("name", ["rk45", "dop853"])
def test_the_limit_of_frozen_layers_is_an_exponential(name, scale, shared_laboratory):
    """Of A ⊗ W_Vᵀ, whose spectrum is complex; and with values of the other sign."""
    made = run(shared_laboratory, **FLOW, integrator=name, value_scale=scale)
    x, tolerance = tokens(shared_laboratory), 100 * float(made["integrator_rtol"][0])
    assert tolerance == 100 * INTEGRATORS.facts(name)["rtol"]
    assert abs(np.linalg.eigvals(made["w_v"].values).imag).max() > 0.1
    for r in range(3):
        flow = np.kron(made["attention"].values[r], made["w_v"].values[r].T)
        for layer in made["recorded_layer"].values:
            exact = (expm(0.25 * layer * flow) @ x[r].ravel()).reshape(x[r].shape)
            assert_allclose(state(made)[r, layer], exact, rtol=0, atol=tolerance * abs(exact).max())


LIMITS = [
    {"n_heads": 2, "output": "random"},
    {"layers": "recomputed", "mask": "causal"},
    {"layers": "recomputed", "n_heads": 2, "score": "cosine"},
    {"layers": "recomputed", "remedy": "neutreno", "strength": 0.5},
    {"remedy": "featscale", "strength": 0.5},
]


@pytest.mark.parametrize("case", LIMITS, ids=called)
def test_thinner_layers_tend_to_the_limit_with_the_first_order(case, shared_laboratory):
    """Each halving halves what is left, whatever a layer consists of."""
    given = {**FLOW, **case, "depth": 2}
    limit = state(run(shared_laboratory, **given, integrator="dop853"))[:, -1]
    left = [
        np.linalg.norm(state(run(shared_laboratory, **given, sublayers=count))[:, -1] - limit)
        for count in (32, 64)
    ]
    assert_allclose(left[0] / left[1], 2, rtol=0.02)


def test_a_limit_keeps_its_stationary_mode_where_layers_do(shared_laboratory):
    """πᵀX grows as exp(μt), and the transient part by the modes of A."""
    flow = {"skip": 1.0, "step": 0.25, "arithmetic": "float64", "integrator": "dop853"}
    made = run(shared_laboratory, **flow, value_scale=-2.0)
    growth = made["log10_stationary_norm"] - made["log10_stationary_norm"].isel(layer=0)
    exact = -2.0 * 0.25 * made["layer"].values / np.log(10)
    assert_allclose(growth, np.broadcast_to(exact, growth.shape), rtol=1e-10, atol=1e-12)


def test_a_replicate_is_solved_as_if_it_were_alone(shared_laboratory):
    """Steps are chosen by the error of what is solved, which must not be that of others."""
    given = section(**FLOW, integrator="dop853", layers="recomputed")
    plan = shared_laboratory.plan(given)
    point = next(point for point in plan if point.stage == "attention")
    data = shared_laboratory.open(point.parents[0])
    alone = attention(point.recipe, data.isel(replicate=[3]))
    both = attention(point.recipe, data.isel(replicate=[0, 3]))
    for one, other in zip(alone.layers, both.layers, strict=True):
        assert np.array_equal(one["hc"][1][0], other["hc"][1][1])


def test_heads_have_to_divide_the_features(shared_laboratory):
    with pytest.raises(
        Refusal, match=r"^test\.trial\.attention\.n_heads: 3 heads cannot share 4 features"
    ):
        run(shared_laboratory, n_heads=3)


def test_a_recomputed_stack_follows_the_unsplit_recurrence_through_its_collapse(laboratory):
    """A13, in as many digits as it takes: the order of either is three."""
    asked = section(beta=0.8, layers="recomputed", depth=7)
    asked["spectra"] = ["log10_hc_dc_ratio", "collapse_order"]
    made = laboratory.first("attention", asked)
    orders = laboratory.run(asked)["collapse_order"]
    for replicate in (0, 4):
        run = made.isel(replicate=replicate)
        x = laboratory.first("data", asked)["x"].values[replicate]
        pair = (run["w_q"].values, run["w_k"].values)

        def layer(rows, pair=pair):
            return unsplit.product(unsplit.attention(rows, pair, "dot", 0.8), rows)

        exact = unsplit.exact_ratios(layer, by_mean(x), 7)
        found = (run["log10_hc_norm"] - run["log10_dc_norm"]).values
        assert exact[-1] < -300
        assert_allclose(found, exact, rtol=1e-11, atol=1e-11)
        assert_allclose(orders[replicate], spectra.fitted_order(exact, 4), rtol=1e-9)


def test_what_a_skip_hands_on_stays_split(laboratory):
    """Rounding that a skip keeps for ever would stop the rest 15 decades below its start."""
    flow = {"remedy": "laplacian", "strength": 1.0, "skip": 1.0, "step": 0.5}
    made = run(laboratory, weights="symmetric", depth=1000, **flow, record=[0])
    norm = made["log10_transient_norm"].values
    assert norm[:, -1].max() < -35
    # Late layers fall as fast as those before them, as they must where a mode is alone.
    falls = (norm[:, 1000] - norm[:, 750]) / (norm[:, 750] - norm[:, 500])
    assert_allclose(falls, 1, rtol=1e-3)
