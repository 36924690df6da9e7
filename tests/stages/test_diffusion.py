"""Heat in closed form, by two methods, on every graph, and attention as one of its steps."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr
from mpmath import mp
from numpy.testing import assert_allclose
from scipy.linalg import expm

from lowpass.flows import FLOWS
from lowpass.graphs import GRAPHS
from lowpass.laplacians import LAPLACIANS
from lowpass.registry import Refusal
from lowpass.stages.diffusion import diffusion
from lowpass.stages.trajectory import Trajectory
from lowpass.weights import WEIGHTS

N_TOKENS, D_MODEL, DEPTH, TIME = 6, 3, 12, 0.3
PICTURE = {"generator": "image", "path": "workflow/resources/camera.png", "patch": 32}
DRAWN = {"generator": "gaussian", "n_tokens": N_TOKENS, "d_model": D_MODEL}
KEEPING = [name for name in LAPLACIANS if LAPLACIANS.facts(name)["constant_mode"]]
# Every graph, and every Laplacian on one of them.
PAIRS = [(graph, "signed") for graph in GRAPHS]
PAIRS += [("path", name) for name in KEEPING if name != "signed"]
EXACT = ["eigh", "chebyshev"]
PLAIN = {"graph": "path", "diffusion_time": TIME, "depth": DEPTH, "record": "all"}


def section(data: dict | None = None, **changes) -> dict:
    """Compose an experiment of little heat, on drawn tokens or a picture."""
    graph = changes.get("graph", PLAIN["graph"])
    wide = {"beta": 0.5} if GRAPHS.facts(graph)["needs_beta"] else {}
    made = {"diffusion": {**PLAIN, **wide, **changes}, "spectra": ["log10_hc_dc_ratio"]}
    if GRAPHS.facts(graph)["needs_place"]:
        return {"data": data or PICTURE, **made}
    return {"data": data or DRAWN, **made, "replicates": 10}


def run(laboratory, data: dict | None = None, **changes) -> xr.Dataset:
    """Let heat flow, and read what was stored."""
    return laboratory.first("diffusion", section(data, **changes))


def tokens_of(laboratory, data: dict | None = None, **changes) -> xr.Dataset:
    return laboratory.first("data", section(data, **changes))


def state(made: xr.Dataset) -> np.ndarray:
    """Put X (replicate, recorded_layer, token, feature) together from its two components."""
    mean = np.ldexp(made["dc"].values, made["dc_exponent"].values[..., None])
    return mean[..., None, :] + np.ldexp(
        made["hc"].values, made["hc_exponent"].values[..., None, None]
    )


def exponential(matrix: np.ndarray) -> np.ndarray:
    """Exponentiate (replicate, token, token) with thirty digits, by mpmath's own method."""
    with mp.workdps(30):
        found = [np.array(mp.expm(mp.matrix(each.tolist())).tolist()) for each in matrix]
    return np.array(found, dtype=float)


# Laws over everything that can be chosen.


@pytest.mark.parametrize(("graph", "laplacian"), PAIRS)
@pytest.mark.parametrize("method", EXACT)
def test_layers_are_exponentials_of_the_laplacian(graph, laplacian, method, shared_laboratory):
    chosen = {"graph": graph, "laplacian": laplacian, "method": method}
    made = run(shared_laboratory, **chosen)
    x = tokens_of(shared_laboratory, **chosen)["x"].values
    step = exponential(-TIME * made["laplacian_matrix"].values)
    layers = state(made)
    assert layers.shape[1] == DEPTH + 1
    for layer in range(DEPTH + 1):
        expected = np.linalg.matrix_power(step, layer) @ x
        assert_allclose(layers[:, layer], expected, atol=1e-13 * np.abs(x).max())


@pytest.mark.parametrize(("graph", "laplacian"), PAIRS)
@pytest.mark.parametrize("method", EXACT)
def test_what_is_kept_never_changes_and_norms_are_those_of_components(
    graph, laplacian, method, shared_laboratory
):
    made = run(shared_laboratory, graph=graph, laplacian=laplacian, method=method)
    x, pi = state(made), made["stationary"].values
    kept = np.einsum("rt,rltf->rlf", pi, x)
    assert_allclose(kept, np.broadcast_to(kept[:, :1], kept.shape), atol=1e-13)
    assert np.ptp(made["log10_stationary_norm"].values, axis=-1).max() == 0
    mean = x.mean(axis=2, keepdims=True)
    for name, component in [
        ("log10_dc_norm", np.broadcast_to(mean, x.shape)),
        ("log10_hc_norm", x - mean),
        ("log10_stationary_norm", np.broadcast_to(kept[:, :, None], x.shape)),
        ("log10_transient_norm", x - kept[:, :, None]),
    ]:
        direct = np.linalg.norm(component, axis=(2, 3))
        assert_allclose(10 ** made[name].values, direct, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize(("graph", "laplacian"), PAIRS)
def test_a_symmetric_laplacian_keeps_the_mean_and_another_the_one_that_degrees_weigh(
    graph, laplacian, shared_laboratory
):
    made = run(shared_laboratory, graph=graph, laplacian=laplacian)
    pi = made["stationary"].values
    assert_allclose(pi.sum(axis=-1), 1, rtol=1e-14)
    if LAPLACIANS.facts(laplacian)["symmetric"]:
        assert (pi == 1 / made.sizes["token"]).all()
        assert np.ptp(made["log10_dc_norm"].values, axis=-1).max() == 0
    else:
        # An edge of the path or grid has half the degree of its inside, or two thirds.
        assert (np.ptp(pi, axis=-1) > 1e-3).all() == (graph != "ring")


@pytest.mark.parametrize(("graph", "laplacian"), PAIRS)
def test_only_a_flow_by_modes_forms_its_matrix(graph, laplacian, shared_laboratory):
    by_modes, by_sums = (
        run(shared_laboratory, graph=graph, laplacian=laplacian, method=method)
        for method in ("eigh", "chebyshev")
    )
    assert {*by_modes} - {*by_sums} == {
        "heat_kernel",
        "laplacian_eigenvalue",
        "log10_mode_gain",
        "stable",
    }
    xr.testing.assert_identical(by_modes["laplacian_matrix"], by_sums["laplacian_matrix"])
    kernel, value = by_modes["heat_kernel"].values, by_modes["laplacian_eigenvalue"].values
    step = exponential(-TIME * by_modes["laplacian_matrix"].values)
    assert_allclose(kernel, step, atol=1e-14)
    assert_allclose(kernel.sum(axis=-1), 1, rtol=1e-13)
    assert_allclose(np.exp(-TIME * value).sum(axis=-1), np.trace(step, axis1=1, axis2=2))
    assert (np.diff(value, axis=-1) >= 0).all()


@pytest.mark.parametrize(("graph", "laplacian"), PAIRS)
def test_the_methods_agree_far_below_the_rounding_of_one_array(graph, laplacian, shared_laboratory):
    """Layers of a hundred times the time, by which heat falls dozens of decades."""
    long = {"graph": graph, "laplacian": laplacian, "diffusion_time": 3.0, "depth": 60}
    one, other = (run(shared_laboratory, **long, method=method) for method in EXACT)
    for name in ("log10_hc_norm", "log10_transient_norm", "log10_dc_norm"):
        assert_allclose(one[name].values, other[name].values, rtol=1e-12, atol=1e-11)
    decades = one["log10_hc_norm"].isel(layer=-1) - one["log10_hc_norm"].isel(layer=0)
    assert (np.abs(decades) > 4).all()
    assert ((decades > 0) == GRAPHS.facts(graph)["signed"]).all()


# Closed forms.


@pytest.mark.parametrize("laplacian", KEEPING)
@pytest.mark.parametrize("method", EXACT)
def test_heat_on_a_ring_is_a_sum_over_frequencies(laplacian, method, shared_laboratory):
    """Frequency k decays as e^{-τλt} with λ = 2 - 2 cos(2πk/n), or half of it per step."""
    deep = {"graph": "ring", "laplacian": laplacian, "depth": 450, "record": [0], "method": method}
    made = run(shared_laboratory, **deep)
    x = tokens_of(shared_laboratory, **deep)["x"].values
    power = (np.abs(np.fft.fft(x, axis=1, norm="ortho")) ** 2).sum(axis=-1)
    rate = 2 - 2 * np.cos(2 * np.pi * np.arange(N_TOKENS) / N_TOKENS)
    rate = rate if LAPLACIANS.facts(laplacian)["symmetric"] else rate / 2
    layer = made["layer"].values
    exponents = -2 * TIME * layer[:, None] * rate[1:] + np.log(power[:, None, 1:])
    direct = np.logaddexp.reduce(exponents, axis=-1) / 2 / np.log(10)
    assert_allclose(made["log10_hc_norm"].values, direct, rtol=1e-12, atol=1e-12)
    # Far below what the rounding of one array leaves.
    assert (made["log10_hc_norm"].isel(layer=-1) < -27).all()


def test_one_wave_on_a_path_decays_as_its_own_mode(laboratory, rng):
    """The cosine of half a period is the slowest mode of a path, λ = 2 - 2 cos(π/n)."""
    x = np.cos(np.pi * (np.arange(N_TOKENS) + 0.5) / N_TOKENS)[:, None] + 2.0
    data = xr.Dataset(
        {"x": (("replicate", "token", "feature"), x[None])},
        {"replicate": [0], "token": range(N_TOKENS), "feature": [0]},
    )
    made = diffusion({"params": {**PLAIN, "depth": 5}}, data)
    norm = [row["log10_hc_norm"][1][0] for row in made.layers]
    rate = 2 - 2 * np.cos(np.pi / N_TOKENS)
    start = np.log10(np.linalg.norm(x - 2))
    assert_allclose(norm, start - TIME * rate * np.arange(6) / np.log(10), atol=1e-13)


def test_a_picture_diffuses_along_rows_and_columns_of_patches(shared_laboratory):
    """The Laplacian of a grid is the Kronecker sum of those of two paths."""
    picture = {**PICTURE, "patch": 16}
    made = run(shared_laboratory, picture, graph="grid", depth=1)
    side = round(made.sizes["token"] ** 0.5)
    assert side * 16 == int(made["row"].max()) + 16 == int(made["column"].max()) + 16
    edge = np.eye(side, k=1) + np.eye(side, k=-1)
    line = np.diag(edge.sum(axis=1)) - edge
    both = np.kron(line, np.eye(side)) + np.kron(np.eye(side), line)
    # Places are counted in patches, whatever their number of pixels.
    first = np.argsort(made["row"].values // 16 * side + made["column"].values // 16)
    laplacian = made["laplacian_matrix"].values[0][np.ix_(first, first)]
    assert np.array_equal(laplacian, both)
    wave = 2 - 2 * np.cos(np.pi * np.arange(side) / side)
    expected = np.sort(np.add.outer(wave, wave).ravel())
    assert_allclose(made["laplacian_eigenvalue"].values[0], expected, atol=1e-13)


@pytest.mark.parametrize("beta", [0.0, 0.5, 4.0])
def test_one_step_of_the_walk_between_tokens_is_attention(beta, shared_laboratory):
    """B07: I - L is softmax attention with the l2 score, whose features are not divided."""
    walk = run(shared_laboratory, graph="tokens", laplacian="random_walk", beta=beta)
    attention = {"score": "l2", "weights": "identity", "beta": beta, "depth": 1}
    made = shared_laboratory.first(
        "attention",
        {"data": DRAWN, "attention": attention, "spectra": ["slem"], "replicates": 10},
    )
    step = np.eye(N_TOKENS) - walk["laplacian_matrix"].values
    assert_allclose(step, made["attention"].values, rtol=1e-13, atol=1e-15)
    assert_allclose(walk["stationary"].values, made["stationary"].values, rtol=1e-12)


@pytest.mark.parametrize("weights", WEIGHTS)
def test_heat_and_attention_of_the_same_tokens_compare_them_by_the_same_weights(
    weights, shared_laboratory
):
    """B06, B07: L of their logits, and one step of the walk between them."""
    given = {"beta": 0.7, "weights": weights}
    attention = shared_laboratory.first(
        "attention",
        {
            "data": DRAWN,
            "attention": {**given, "depth": 1},
            "spectra": ["slem"],
            "replicates": 10,
        },
    )
    by_logits = run(shared_laboratory, graph="logits", laplacian="signed", **given)
    walk = run(shared_laboratory, graph="affinity", laplacian="random_walk", **given)
    for name in ("w_q", "w_k"):
        xr.testing.assert_identical(by_logits[name], attention[name])
        xr.testing.assert_identical(walk[name], attention[name])
    x = tokens_of(shared_laboratory)["x"].values
    w_q, w_k = attention["w_q"].values, attention["w_k"].values
    s = 0.7 * (x @ w_q) @ np.swapaxes(x @ w_k, 1, 2) / D_MODEL**0.5
    both, beside = (s + np.swapaxes(s, 1, 2)) / 2, ~np.eye(N_TOKENS, dtype=bool)
    assert_allclose(-by_logits["laplacian_matrix"].values[:, beside], both[:, beside], rtol=1e-12)
    if weights in ("symmetric", "tied", "identity"):
        step = np.eye(N_TOKENS) - walk["laplacian_matrix"].values
        assert_allclose(step, attention["attention"].values, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("method", EXACT)
def test_no_time_changes_nothing(method, shared_laboratory):
    made = run(shared_laboratory, diffusion_time=0.0, method=method)
    x = tokens_of(shared_laboratory)["x"].values
    assert_allclose(state(made), np.broadcast_to(x[:, None], state(made).shape), atol=1e-15)


@pytest.mark.parametrize("laplacian", KEEPING)
def test_tokens_that_see_only_themselves_keep_what_they_are(laplacian, shared_laboratory):
    """A graph so narrow that all of its affinities are zero, for a time of any length."""
    narrow = {"graph": "tokens", "beta": 1e9, "diffusion_time": 1e9, "laplacian": laplacian}
    made = run(shared_laboratory, **narrow)
    assert_allclose(np.ptp(made["log10_hc_norm"].values, axis=-1), 0, atol=1e-14)


def test_layers_of_half_the_time_are_twice_as_many(shared_laboratory):
    whole = run(shared_laboratory, diffusion_time=0.5, depth=6)
    half = run(shared_laboratory, diffusion_time=0.25, depth=12)
    for name in ("log10_hc_norm", "log10_transient_norm"):
        assert_allclose(half[name].values[:, ::2], whole[name].values, atol=1e-13)


def test_the_time_of_a_layer_is_stored_and_no_rounding_has_a_floor(shared_laboratory):
    made = run(shared_laboratory)
    assert set(made["layer_time"].values) == {TIME}
    assert set(made["log10_rounding_floor"].values) == {-np.inf}


# Steps, integrators, mapped values.


@pytest.mark.parametrize("method", [name for name in FLOWS if name not in EXACT])
def test_other_methods_are_close_to_the_flow_or_step_beside_it(method, shared_laboratory):
    made = run(shared_laboratory, method=method, depth=3, values="random", value_scale=0.5)
    x = tokens_of(shared_laboratory)["x"].values
    for r in range(10):
        m = -TIME * np.kron(made["laplacian_matrix"].values[r], made["w_v"].values[r].T)
        step = np.eye(len(m)) + m if method == "euler" else expm(m)
        expected = np.linalg.matrix_power(step, 3) @ x[r].ravel()
        assert_allclose(state(made)[r, 3].ravel(), expected, atol=1e-6 * np.abs(expected).max())
    assert ("log10_truncation" in made) is (method == "taylor")
    assert "heat_kernel" not in made


def test_heat_maps_values_by_the_draw_that_attention_has(shared_laboratory):
    attention = shared_laboratory.first(
        "attention",
        {
            "data": DRAWN,
            "attention": {"beta": 1.0, "depth": 1, "values": "rotation", "value_scale": -2.0},
            "spectra": ["slem"],
            "replicates": 10,
        },
    )
    heat = run(shared_laboratory, values="rotation", value_scale=-2.0)
    xr.testing.assert_identical(heat["w_v"], attention["w_v"])


@pytest.mark.parametrize(("time", "stable"), [(0.5, 1), (0.501, 0)])
def test_a_step_outside_its_region_runs_and_says_so(time, stable, shared_laboratory):
    """B16 on a ring, λ_max = 4, after 2000 layers."""
    deep = {"graph": "ring", "method": "euler", "diffusion_time": time, "depth": 2000}
    made = run(shared_laboratory, **deep, record=[0])
    assert (made["stable"].values == stable).all()
    assert made["stable"].dtype.kind == "i"
    late = made["log10_hc_norm"].values[:, [1000, 2000]]
    growth = np.diff(late, axis=-1)[:, 0] / 1000
    assert_allclose(made["log10_mode_gain"].values, np.log10(4 * time - 1), atol=1e-15)
    assert_allclose(growth, made["log10_mode_gain"].values, atol=1e-6)


def test_a_layer_of_taylor_stays_within_the_bound_that_it_states(shared_laboratory):
    for time, order in ((0.2, 2), (0.4, 6)):
        flow = {"diffusion_time": time, "depth": 1, "graph": "ring"}
        exact, made = (
            state(run(shared_laboratory, **flow, **method))
            for method in ({}, {"method": "taylor", "taylor_order": order})
        )
        stated = run(shared_laboratory, **flow, method="taylor", taylor_order=order)
        error = np.linalg.norm(made[:, 1] - exact[:, 1], axis=(1, 2))
        size = np.linalg.norm(exact[:, 0], axis=(1, 2))
        bound = 10 ** stated["log10_truncation"].values
        assert (error <= bound * size).all()
        assert (error > 0.01 * bound * size).all()


def test_values_inside_a_job_stand_beside_the_identity(laboratory):
    flow = {**PLAIN, "values": ["identity", "graded"], "method": "euler"}
    asked = {"data": DRAWN, "spectra": ["log10_hc_dc_ratio"], "replicates": 10}
    both = laboratory.first("diffusion", {**asked, "diffusion": flow, "inside": ["values"]})
    alone = run(laboratory, values="graded", method="euler")
    xr.testing.assert_identical(both.sel(values="graded").drop_vars("values"), alone)
    assert (both["w_v"].sel(values="identity") == np.eye(D_MODEL)).all()


# Draws, records, axes inside.


@pytest.mark.parametrize(
    "changes",
    [{"graph": "ring"}, {"laplacian": "random_walk"}, {"diffusion_time": 1.0}, {"depth": 3}],
)
def test_a_changed_parameter_leaves_tokens_bit_identical(changes, shared_laboratory):
    one, other = (tokens_of(shared_laboratory, **each) for each in ({}, changes))
    xr.testing.assert_identical(one, other)
    assert not run(shared_laboratory).identical(run(shared_laboratory, **changes))


def test_heat_itself_draws_nothing():
    """Another seed reaches it through its tokens alone."""
    data = xr.Dataset(
        {"x": (("replicate", "token", "feature"), np.eye(4)[None])},
        {"replicate": [0], "token": range(4), "feature": range(4)},
    )
    made = [diffusion({"params": PLAIN, "seed": seed}, data) for seed in (1, 2)]
    xr.testing.assert_identical(made[0].header, made[1].header)


@pytest.mark.parametrize("graphs", [["tokens"], ["affinity"], ["tokens", "affinity"]])
def test_a_seed_reaches_heat_where_some_graph_of_a_job_has_weights(graphs, laboratory):
    """Whatever value of the axis comes first."""
    flow = {**PLAIN, "graph": graphs, "beta": 1.0}
    asked = {"data": DRAWN, "spectra": ["log10_hc_dc_ratio"], "replicates": 10}
    plan = laboratory.plan({**asked, "diffusion": flow, "inside": ["graph"]})
    (recipe,) = (point.recipe for point in plan if point.stage == "diffusion")
    assert ("seed" in recipe) is ("affinity" in graphs)


@pytest.mark.parametrize("graphs", [["tokens", "affinity"], ["affinity", "tokens"]])
def test_the_order_in_which_values_are_listed_names_no_other_file(graphs, laboratory):
    flow = {**PLAIN, "graph": graphs, "beta": 1.0}
    asked = {"data": DRAWN, "spectra": ["log10_hc_dc_ratio"], "replicates": 10}
    made = laboratory.run({**asked, "diffusion": flow, "inside": ["graph"]})
    assert made["graph"].values.tolist() == sorted(graphs)


@pytest.mark.parametrize(
    ("record", "layers"),
    [
        ("all", list(range(13))),
        ("geometric", [0, 1, 2, 3, 4, 6, 8, 12]),
        ([5, 2], [0, 2, 5]),
        ([], [0]),
    ],
)
def test_tensors_are_stored_at_the_layers_asked_for(record, layers, shared_laboratory):
    made = run(shared_laboratory, record=record)
    assert made["recorded_layer"].values.tolist() == layers
    assert made["log10_hc_norm"].sizes["layer"] == DEPTH + 1
    everything = run(shared_laboratory, record="all")
    xr.testing.assert_equal(made["hc"], everything["hc"].sel(recorded_layer=layers))


def test_layers_are_computed_as_they_are_asked_for(shared_laboratory):
    """A run of a million layers gives its first at once."""
    params = {**PLAIN, "depth": 10**6, "record": [0]}
    made = diffusion({"params": params}, tokens_of(shared_laboratory))
    assert isinstance(made, Trajectory)
    assert {*next(made.layers)} > {"log10_hc_norm", "hc"}
    assert "hc" not in next(made.layers)


@pytest.mark.parametrize(
    "inside",
    [
        {"diffusion_time": [0.1, 0.5]},
        {"laplacian": ["combinatorial", "random_walk"], "graph": ["path", "ring"]},
    ],
    ids=", ".join,
)
def test_axes_inside_hold_what_each_run_gives(inside, laboratory):
    both = laboratory.first(
        "diffusion", {**section(), "inside": [*inside]} | {"diffusion": {**PLAIN, **inside}}
    )
    axes = sorted(inside)
    assert both["hc"].dims == (*axes, "replicate", "recorded_layer", "token", "feature")
    grid = np.meshgrid(*(inside[axis] for axis in axes))
    for values in zip(*(each.ravel().tolist() for each in grid), strict=True):
        chosen = dict(zip(axes, values, strict=True))
        alone = run(laboratory, **chosen)
        xr.testing.assert_identical(both.sel(chosen).drop_vars(axes), alone)


# Refusals.


@pytest.mark.parametrize(
    ("data", "changes", "message"),
    [
        ({"n_tokens": 2}, {"graph": "ring"}, "the graph 'ring' got 2 tokens; below three, both "),
        ({"n_tokens": 1}, {"graph": "path"}, "the graph 'path' got 1 token; an edge joins two"),
        ({}, {"laplacian": "normalised"}, "laplacian: 'normalised' does not keep constants, .*"),
        ({}, {"diffusion_time": -1}, "diffusion_time: -1 is below 0, the least it can be"),
        (
            {"n_tokens": 4},
            {"method": "taylor", "diffusion_time": 9.0, "graph": "ring"},
            r"Taylor polynomial of order 8 leaves out up to 10\^.* where τλ_max is 36, so that no",
        ),
        ({}, {"record": [DEPTH + 1]}, "record: layer 13 lies beyond the last layer 12"),
    ],
)
def test_a_run_that_has_no_meaning_is_refused(data, changes, message, laboratory):
    with pytest.raises(Refusal, match=message) as caught:
        run(laboratory, {**DRAWN, **data}, **changes)
    assert "\n" not in str(caught.value)
    assert not list(laboratory.folder.glob("results/diffusion/*"))


def test_a_grid_needs_tokens_that_have_a_place(shared_laboratory):
    """Were it planned all the same."""
    with pytest.raises(Refusal, match=r"^the graph 'grid' got tokens without a place; neighbours"):
        diffusion({"params": {**PLAIN, "graph": "grid"}}, tokens_of(shared_laboratory))


def test_a_flow_that_outgrows_floats_in_one_layer_runs_where_no_kernel_is_formed(shared_laboratory):
    wild = {"graph": "logits", "laplacian": "signed", "diffusion_time": 400.0, "depth": 1}
    with pytest.raises(Refusal, match=r"grows by e.* method 'chebyshev', which forms no kernel"):
        run(shared_laboratory, **wild)
    made = run(shared_laboratory, **wild, method="chebyshev", record=[0])
    grown = np.diff(made["log10_transient_norm"].values, axis=-1)[:, 0]
    lowest = np.linalg.eigvalsh(made["laplacian_matrix"].values)[:, 0]
    assert grown.max() > 308
    assert_allclose(grown, -lowest * wild["diffusion_time"] / np.log(10), atol=2)
