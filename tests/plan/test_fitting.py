"""What does not fit together in one experiment is told when it is planned."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from copy import deepcopy
from typing import Any

import numpy as np
import pytest

from lowpass.data import GENERATORS
from lowpass.flows import FLOWS
from lowpass.graphs import GRAPHS
from lowpass.kernels import KERNELS
from lowpass.labels import VARIABLES
from lowpass.masks import MASKS
from lowpass.measures import MEASURES
from lowpass.plan import Plan
from lowpass.plan.fitting import ACTIONS, STATED, compared, stated
from lowpass.plan.sweep import expand
from lowpass.registry import Refusal
from lowpass.scores import SCORES
from lowpass.spec.data import TOKENS, draws, kind, model_of, reads, states

from ..configurations import ROOT

PICTURE = {"generator": "image", "path": "workflow/resources/camera.png", "patch": 16}
SERIES = {
    "generator": "series",
    "path": "workflow/resources/nile.csv",
    "key": "year",
    "value": "flow",
}
TABLE = {
    "generator": "table",
    "path": "workflow/resources/penguins.csv",
    "keys": ["flipper_length"],
    "value": "body_mass",
    "missing": "drop",
}
DRAWN = {"generator": "gaussian", "n_tokens": 8, "d_model": 4}
SOFTMAX = {"beta": 1.0, "depth": 4}
STEPS = {**SOFTMAX, "skip": 1.0}
RECOMPUTED = {"layers": "recomputed", "arithmetic": "float64"}
HEAT = {"graph": "path", "diffusion_time": 0.5, "depth": 4}
CURVE = {"study": "selection", "bandwidths": {"low": 0.5, "high": 50, "count": 9}}
SQUARE, LONG = {"dims": ["query", "key"]}, {"dims": ["token", "feature"]}
MEASURED = ["log10_hc_dc_ratio"]


def own(*roles: str, **more: Any) -> dict[str, Any]:
    """Describe a file of the user's own that states some roles."""
    tensors = {role: SQUARE if role in ("logits", "attention", "mask") else LONG for role in roles}
    return {"generator": "file", "path": "mine.npz", **tensors, **more}


FITTING: dict[str, dict[str, Any]] = {
    "attention of drawn tokens": {"data": DRAWN, "attention": SOFTMAX, "replicates": 3},
    "diffusion of drawn tokens": {"data": DRAWN, "diffusion": HEAT, "replicates": 3},
    "attention of a picture": {"data": PICTURE, "attention": SOFTMAX},
    "copies of a picture": {"data": {**PICTURE, "copies": 12}, "attention": SOFTMAX},
    "diffusion of a picture": {"data": PICTURE, "diffusion": {**HEAT, "graph": "grid"}},
    "attention of a regular series": {
        "data": {**SERIES, "generator": "regular_series"},
        "attention": SOFTMAX,
    },
    "smoothing of a series": {"data": SERIES, "smoothing": CURVE, "spectra": None},
    "smoothing of a table": {"data": TABLE, "smoothing": CURVE, "spectra": None},
    "smoothing of drawn pairs": {
        "data": {"generator": "pairs", "n_queries": 6, "n_keys": 9, "n_features": 3},
        "smoothing": {"study": "identities"},
        "spectra": None,
        "replicates": 3,
    },
    "smoothing of a wave": {
        "data": {"generator": "wave", "n_keys": 45},
        "smoothing": {"study": "convergence", "beta": 400.0, "thin": 1},
        "spectra": None,
    },
    "smoothing of an impulse": {
        "data": {"generator": "impulse", "n_keys": 20},
        "smoothing": {"study": "response", "bandwidths": CURVE["bandwidths"]},
        "spectra": None,
    },
    "smoothing of a textbook's sample": {
        "data": {"generator": "sine_and_power"},
        "smoothing": {"study": "pooling", "bandwidths": CURVE["bandwidths"]},
        "spectra": None,
    },
    "attention of own tokens": {"data": own("tokens"), "attention": SOFTMAX},
    "diffusion of own tokens": {"data": own("tokens"), "diffusion": HEAT},
    "own queries and keys": {
        "data": own("query", "key", "tokens"),
        "attention": {**SOFTMAX, "kernel": "sinkhorn", "score": "l2", "mask": "cycle"},
    },
    "own logits": {
        "data": own("logits"),
        "attention": {**SOFTMAX, "kernel": "sinkhorn", "mask": "cycle"},
    },
    "a mask of one's own": {
        "data": own("tokens", "mask"),
        "attention": {**SOFTMAX, "kernel": "sinkhorn", "weights": "symmetric"},
    },
    "own attention": {
        "data": own("attention", "tokens"),
        "attention": {"depth": 4, "start": "no_stationary", "arithmetic": "float32"},
    },
    "drawn logits": {
        "data": {**DRAWN, "generator": "iid_logits"},
        "attention": {**SOFTMAX, "kernel": "sinkhorn", "mask": "cycle"},
        "replicates": 3,
    },
    "a matrix of heat": {
        "data": DRAWN,
        "diffusion": HEAT,
        "spectra": ["slem", "ring_heat_gain"],
        "replicates": 1,
    },
    "attention of what is certain": {
        "data": {"generator": "dense_ring", "n_tokens": 8},
        "attention": SOFTMAX,
    },
    "two depths of one number": {
        "data": DRAWN,
        "attention": {"beta": 1.0, "depth": [4, 8]},
        "spectra": ["slem"],
        "replicates": 1,
    },
}


def section(base: str, **changes: Any) -> dict[str, Any]:
    """Change a section that fits: ``data__path`` is a parameter, None takes a part away."""
    made = {"why": "Why not.", "spectra": MEASURED, **deepcopy(FITTING[base])}
    for name, value in changes.items():
        stage, _, parameter = name.partition("__")
        if parameter:
            made[stage][parameter] = value
        else:
            made[stage] = value
    return made


def refusal(base: str, **changes: Any) -> str:
    """Plan what does not fit, and give the one line that says so."""
    with pytest.raises(Refusal) as caught:
        expand(section(base, **changes), "mine.yaml: experiments.one")
    assert "\n" not in str(caught.value)
    assert str(caught.value).endswith(".")
    return str(caught.value).removeprefix("mine.yaml: experiments.one")


# What fits.


@pytest.mark.parametrize("base", FITTING)
def test_what_fits_is_expanded(base):
    assert expand(section(base), "here")


@pytest.mark.parametrize("generator", [n for n in GENERATORS if draws(n) and kind(n) == TOKENS])
def test_whatever_tokens_are_drawn_can_be_attended_over(generator):
    asked = {size: DRAWN[size] for size in ("n_tokens", "d_model")}
    known = {name: asked[name] for name in asked if name in model_of(generator).model_fields}
    made = section("attention of drawn tokens", data={"generator": generator, **known})
    assert expand(made, "here")


def test_every_generator_of_other_data_and_every_action_fits_somewhere():
    fitting = {each["data"]["generator"] for each in FITTING.values()}
    assert {name for name in GENERATORS if reads(name) or kind(name) != TOKENS} <= fitting
    assert {name for each in FITTING.values() for name in ACTIONS if name in each} == {*ACTIONS}


@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("generator", ["drawn", "picture"])
def test_every_graph_joins_the_tokens_that_have_what_it_asks_for(graph, generator):
    facts = GRAPHS.facts(graph)
    heat = {**HEAT, "graph": graph, **({"beta": 1.0} if facts["needs_beta"] else {})}
    heat |= {"laplacian": "signed"} if facts["signed"] else {}
    base = f"diffusion of {'drawn tokens' if generator == 'drawn' else 'a picture'}"
    if facts["needs_place"] and generator == "drawn":
        assert refusal(base, diffusion=heat) == (
            f".diffusion.graph: '{graph}' joins tokens by their places in a picture, and "
            f"'gaussian' gives none; write 'graph: path', or 'generator: image'."
        )
    else:
        assert expand(section(base, diffusion=heat), "here")


@pytest.mark.parametrize("name", MEASURES)
def test_a_measure_is_taken_where_there_is_what_it_is_of(name):
    """Every measure fits exactly one of the rows below."""
    of = MEASURES.facts(name).get("of")
    sections = {
        "attention": section("attention of drawn tokens", spectra=[name]),
        "diffusion": section("diffusion of drawn tokens", spectra=[name]),
        "chebyshev": section(
            "diffusion of drawn tokens", spectra=[name], diffusion__method="chebyshev"
        ),
        "picture": section("attention of a picture", spectra=[name]),
        "density": section("attention of what is certain", spectra=[name]),
        "recomputed": section(
            "attention of drawn tokens", spectra=[name], attention__layers="recomputed"
        ),
        "waning": section("attention of drawn tokens", spectra=[name], attention__layers="waning"),
        "returning": section(
            "attention of drawn tokens",
            spectra=[name],
            attention__remedy="neutreno",
            attention__strength=0.5,
        ),
        "summarised": section(
            "attention of drawn tokens", spectra=[name], attention__matrix="summarised"
        ),
        "steps": section("attention of drawn tokens", spectra=[name], attention__skip=1.0),
        "thin steps": section(
            "attention of drawn tokens",
            spectra=[name],
            attention__skip=1.0,
            attention__sublayers=2,
        ),
    }
    of_attention = {*sections} - {"diffusion", "chebyshev"}
    where = {
        None: {*sections},
        "pair": {*sections},
        "temperature": of_attention,
        "attention": of_attention,
        "logits": of_attention,
        "weights": of_attention,
        "scores": of_attention,
        "diffusion": {"diffusion", "chebyshev"},
        "matrix": {*sections} - {"chebyshev", "summarised"},
        "modulus": {*sections} - {"chebyshev"},
        "mode": {*sections} - {"summarised"},
        "transient": {*sections} - {"recomputed", "summarised"},
        "frozen": {*sections} - {"recomputed", "waning", "thin steps"},
        "gains": {"diffusion"},
        "flow": {"steps", "thin steps"},
        "source": {"returning"},
        "picture": {"picture"},
        "density": {"density"},
    }
    fits = set.intersection(*(where[each] for each in (of if isinstance(of, tuple) else (of,))))
    for kind_of, each in sections.items():
        if kind_of in fits:
            assert expand(each, "here")
        else:
            with pytest.raises(
                Refusal,
                match=rf"^here\.spectra: '{name}' (is a measure|follows|compares) .*; delete it",
            ):
                expand(each, "here")


def planned(section_of: Callable[[str], dict[str, Any]]) -> list[str]:
    """List the measures of which no plan says that they do not fit."""
    fit = []
    for name in MEASURES:
        with suppress(Refusal):
            expand(section_of(name), "here")
            fit.append(name)
    return fit


@pytest.mark.parametrize("method", FLOWS)
def test_what_is_planned_of_heat_can_be_taken(method, laboratory):
    """No measure fails in a job although the plan let it pass."""

    def measured(*names: str) -> dict[str, Any]:
        drawn = {"generator": "gaussian", "n_tokens": 6, "d_model": 2}
        heat = section("diffusion of drawn tokens", spectra=[*names], diffusion__method=method)
        return {**heat, "data": drawn, "replicates": 2}

    names = planned(measured)
    assert "log10_hc_dc_ratio" in names
    made = laboratory.run(measured(*names))
    assert [name for name in names if np.isnan(made[name].values).any()] == []


@pytest.mark.parametrize(
    ("base", "measure", "message"),
    [
        (
            "a mask of one's own",
            "tanh_bound",
            "follows from finite logits, and data.mask makes some infinite; delete one of them.",
        ),
        (
            "drawn logits",
            "log10_dong_bound",
            "is a measure of drawn weights, and the data state logits instead; delete it.",
        ),
    ],
)
def test_a_bound_is_not_taken_where_the_data_state_what_breaks_it(base, measure, message):
    said = refusal(base, attention=SOFTMAX, spectra=[measure])
    assert said == f".spectra: '{measure}' {message}"


def test_stated_logits_are_scores_though_no_weights_are_drawn():
    made = section("drawn logits", attention=SOFTMAX, spectra=["lowest_share"])
    assert expand(made, "here")


# Chains of stages.


@pytest.mark.parametrize(
    ("base", "changes", "message"),
    [
        (
            "attention of drawn tokens",
            {"attention": None},
            ": has none of 'attention' (of tokens), 'diffusion' (of tokens), 'smoothing' (of "
            "observations), so nothing acts on its data; add one.",
        ),
        (
            "attention of drawn tokens",
            {"diffusion": HEAT},
            ": has 'attention' beside 'diffusion', and its data go one way; keep one.",
        ),
        (
            "diffusion of drawn tokens",
            {"smoothing": CURVE},
            ": has 'diffusion' beside 'smoothing', and its data go one way; keep one.",
        ),
        (
            "attention of drawn tokens",
            {"spectra": None},
            ": 'attention' is given without 'spectra', which it needs; add 'spectra:'.",
        ),
        (
            "diffusion of own tokens",
            {"spectra": None},
            ": 'diffusion' is given without 'spectra', which it needs; add 'spectra:'.",
        ),
        (
            "smoothing of a series",
            {"spectra": MEASURED},
            ": 'spectra' is given without 'attention', which it needs; add 'attention:'.",
        ),
        (
            "smoothing of a series",
            {"data": DRAWN},
            ".data.generator: 'gaussian' gives tokens, which 'smoothing' does not read; write "
            "'attention:' instead, or choose another generator.",
        ),
        (
            "attention of a picture",
            {"data": SERIES},
            ".data.generator: 'series' gives observations, which 'attention' does not read; write "
            "'smoothing:' instead, or choose another generator.",
        ),
        (
            "diffusion of a picture",
            {"data": SERIES},
            ".data.generator: 'series' gives observations, which 'diffusion' does not read; write "
            "'smoothing:' instead, or choose another generator.",
        ),
    ],
)
def test_stages_that_lead_nowhere_are_refused(base, changes, message):
    assert refusal(base, **changes) == message


# Replicates.


@pytest.mark.parametrize("base", ["attention of drawn tokens", "diffusion of drawn tokens"])
def test_a_draw_needs_a_number_of_replicates(base):
    stage = base.split()[0]
    assert refusal(base, replicates=None) == (
        f": '{stage}' is given without 'replicates', which it needs; add 'replicates:'."
    )


@pytest.mark.parametrize(
    "base", [name for name, each in FITTING.items() if not draws(each["data"]["generator"])]
)
def test_what_is_not_drawn_has_no_replicates(base):
    generator = FITTING[base]["data"]["generator"]
    said = refusal(base, replicates=3)
    how = "reads" if reads(generator) else "makes"
    assert said.startswith(
        f".replicates: 3 replicates of what '{generator}' {how} would all be equal, since nothing "
        f"is drawn there; delete 'replicates:'"
    )
    # Observations have no copies, nor has what is made by a formula.
    assert ("data.copies" in said) == (kind(generator) == "tokens" and reads(generator))


@pytest.mark.parametrize("labels", [["a", "b"], ["b", "a"]])
@pytest.mark.parametrize("count", [None, 3])
def test_one_experiment_does_not_read_and_draw(labels, count):
    mixed = {
        "label": labels,
        "data.generator": ["image", "two_levels"],
        "data.path": [PICTURE["path"], PICTURE["path"]],
    }
    said = refusal(
        "attention of a picture",
        data={},
        zip={"case": {name: mixed[name] for name in ("label", "data.generator")}},
        replicates=count,
    )
    # A parameter of the one is unknown to the other; without any, the first lacks its own.
    assert said.startswith((".data.path: is not given", ".data.n_tokens: is not given"))


def test_generators_that_read_and_draw_are_told_apart(monkeypatch):
    """Two generators of the same parameters, of which one reads."""
    monkeypatch.setitem(
        GENERATORS._facts, "two_levels", {"kind": "tokens", "reads": True, "picture": False}
    )
    cases = {"label": ["a", "b"], "data.generator": ["gaussian", "two_levels"]}
    data = {"n_tokens": 8, "d_model": 4}
    assert refusal("attention of drawn tokens", data=data, zip={"case": cases}) == (
        ".data.generator: 'two_levels' reads a file and 'gaussian' draws replicates, so one "
        "dataset cannot hold both; describe an experiment for each."
    )


def test_what_is_certain_and_what_is_drawn_are_told_apart():
    cases = {"label": ["a", "b"], "data.generator": ["ring", "dense_ring"]}
    changes = {"data": {"n_tokens": 8}, "zip": {"case": cases}}
    assert refusal("attention of drawn tokens", **changes) == (
        ".data.generator: 'dense_ring' leaves nothing to chance and 'ring' draws replicates, so "
        "one dataset cannot hold both; describe an experiment for each."
    )


# What a file states.


@pytest.mark.parametrize(
    ("role", "name"), [(role, name) for role in STATED for name in STATED[role]]
)
def test_a_parameter_that_could_not_count_is_refused(role, name):
    value = {
        "kernel": "softmax",
        "score": "dot",
        "weights": "tied",
        "mask": "none",
        "beta": 1.0,
        "n_heads": 1,
    }[name]
    base = {
        "attention": "own attention",
        "logits": "own logits",
        "query": "own queries and keys",
        "mask": "a mask of one's own",
    }
    assert refusal(base[role], **{f"attention__{name}": value}) == (
        f".attention.{name}: would not count, since data.{role} says how tokens are mixed; delete "
        f"one of them."
    )


@pytest.mark.parametrize("name", ["score", "weights"])
@pytest.mark.parametrize("generator", [n for n in GENERATORS if states(n)])
def test_a_parameter_beside_drawn_logits_that_could_not_count_is_refused(generator, name):
    value = {"score": "l2", "weights": "tied"}[name]
    changes = {"data__generator": generator, f"attention__{name}": value}
    assert refusal("drawn logits", **changes) == (
        f".attention.{name}: would not count, since '{generator}' states logits itself; delete it, "
        f"or choose another generator."
    )


def test_drawn_logits_are_those_of_one_layer_only():
    assert refusal("drawn logits", attention={**SOFTMAX, "layers": "recomputed"}) == (
        ".attention.layers: 'recomputed' layers compare tokens, and would not read the logits of "
        "'iid_logits'; write 'layers: frozen', or choose another generator."
    )


def test_heat_flows_along_no_drawn_logits():
    assert refusal("drawn logits", attention=None, diffusion=HEAT) == (
        ".data.generator: 'iid_logits' states logits, and 'diffusion' mixes by a graph and would "
        "not read them; choose another generator, or write 'attention:' instead."
    )


@pytest.mark.parametrize(
    ("base", "drawn"),
    [
        ("attention of drawn tokens", True),
        ("attention of own tokens", True),
        ("a mask of one's own", True),
        ("own queries and keys", False),
        ("own logits", False),
        ("own attention", False),
        ("drawn logits", False),
    ],
)
def test_weights_are_drawn_where_nothing_stands_in_for_them(base, drawn):
    """Only then the seed is a part of attention's own recipe."""
    (cell,) = expand(section(base), "here")
    assert compared(stated(cell.specs["data"])) != drawn


@pytest.mark.parametrize("values", [[1.0, 2.0], [1.0]])
def test_a_sweep_that_could_not_count_is_refused(values):
    said = refusal("own attention", attention__beta=values)
    assert said.startswith(".attention.beta: would not count, since data.attention says how")


def test_a_zipped_parameter_that_could_not_count_is_refused():
    cases = {"label": ["a", "b"], "attention.kernel": ["softmax", "sinkhorn"]}
    said = refusal("own attention", zip={"case": cases})
    assert said.startswith(".attention.kernel: would not count, since data.attention says how")


# Scores and kernels.


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("score", SCORES)
def test_a_kernel_fits_a_score_that_it_can_read(score, kernel):
    facts = KERNELS.facts(kernel)
    changes = {"attention__score": score, "attention__kernel": kernel}
    if facts.get("negative"):
        assert refusal("attention of drawn tokens", **changes) == (
            f".attention.kernel: '{kernel}' may give negative weights, and a stationary "
            f"distribution needs weights that are not negative; choose a positive kernel, as "
            f"'softmax'."
        )
    elif facts.get("reads") in (None, SCORES.facts(score)["gives"]):
        assert expand(section("attention of drawn tokens", **changes), "here")
    else:
        said = refusal("attention of drawn tokens", **changes)
        assert said.startswith(f".attention.kernel: the kernel '{kernel}' reads a {facts['reads']}")
        assert f"the score '{score}' gives a {SCORES.facts(score)['gives']}; " in said


def test_one_of_several_scores_that_a_kernel_cannot_read_is_refused():
    changes = {"attention__score": ["l2", "dot"], "attention__kernel": "epanechnikov"}
    said = refusal("attention of drawn tokens", **changes)
    assert said.startswith(".attention.kernel: the kernel 'epanechnikov' reads a squared distance,")


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize(
    "kernel", [name for name in KERNELS if not KERNELS.facts(name).get("reads")]
)
def test_a_kernel_that_balances_needs_a_mask_that_can_be(kernel, mask):
    changes = {"attention__kernel": kernel, "attention__mask": mask}
    balances = KERNELS.facts(kernel)["doubly_stochastic"]
    if balances and not MASKS.facts(mask)["total_support"]:
        assert refusal("attention of drawn tokens", **changes) == (
            f".attention.mask: '{mask}' allows pairs that have no weight in any doubly stochastic "
            f"matrix, and '{kernel}' makes one; choose another mask, or kernel 'softmax'."
        )
    elif not MASKS.facts(mask)["parameters"]:
        assert expand(section("attention of drawn tokens", **changes), "here")


def test_of_own_logits_the_score_does_not_count():
    """They may be distances; where they are positive, the kernel refuses them in its job."""
    assert expand(section("own logits", attention__kernel="tricube"), "here")


@pytest.mark.parametrize("role", STATED)
def test_heat_flows_along_no_attention(role):
    roles = ("query", "key") if role == "query" else (role,)
    assert refusal("diffusion of own tokens", data=own(*roles, "tokens")) == (
        f".data.{role}: 'diffusion' mixes by a graph and would not read it; delete it, or write "
        f"'attention:' instead."
    )


@pytest.mark.parametrize(
    "base",
    [
        "attention of drawn tokens",
        "attention of a picture",
        "attention of own tokens",
        "own queries and keys",
        "own logits",
    ],
)
def test_attention_that_is_computed_has_a_temperature(base):
    assert refusal(base, attention={"depth": 4}) == (
        ".attention.beta: is not given and has no default; write a value for it."
    )


# Measures and depths.


@pytest.mark.parametrize(
    ("base", "changes", "message"),
    [
        (
            "diffusion of drawn tokens",
            {"spectra": ["bessel_gain"]},
            ".spectra: 'bessel_gain' follows from 'attention.beta', which this experiment has not; "
            "delete it.",
        ),
        (
            "attention of drawn tokens",
            {"spectra": ["slem", "ring_heat_gain"]},
            ".spectra: 'ring_heat_gain' is a measure of 'diffusion', which this experiment has "
            "not; delete it.",
        ),
        (
            "diffusion of drawn tokens",
            {"spectra": ["slem"], "diffusion__method": "chebyshev"},
            ".spectra: 'slem' is a measure of the matrix of a layer, which the method 'chebyshev' "
            "never forms; delete it, or write 'method: eigh'.",
        ),
        (
            "attention of drawn tokens",
            {"spectra": ["slem", "dobrushin"], "attention__matrix": "summarised"},
            ".spectra: 'dobrushin' is a measure of the matrix of a layer, which 'matrix: "
            "summarised' does not store; delete it, or write 'matrix: stored'.",
        ),
        (
            "attention of drawn tokens",
            {"spectra": ["picture"]},
            ".spectra: 'picture' is a measure of a picture, and 'gaussian' gives none; delete it, "
            "or write 'generator: image'.",
        ),
        (
            "diffusion of drawn tokens",
            {"spectra": ["birkhoff"]},
            ".spectra: 'birkhoff' is a measure of 'attention', which this experiment has not; "
            "delete it.",
        ),
        (
            "own attention",
            {"spectra": ["tanh_bound"]},
            ".spectra: 'tanh_bound' follows from the logits of softmax, which this experiment has "
            "not; delete it.",
        ),
        (
            "own logits",
            {"spectra": ["wang_bound"]},
            ".spectra: 'wang_bound' follows from the logits of softmax, and the kernel is "
            "'sinkhorn'; delete it, or write 'kernel: softmax'.",
        ),
        (
            "attention of drawn tokens",
            {"spectra": ["tanh_bound"], "attention__mask": "cycle"},
            ".spectra: 'tanh_bound' follows from finite logits, and the mask 'cycle' makes some "
            "infinite; delete it, or write 'mask: none'.",
        ),
        (
            "attention of drawn tokens",
            {"spectra": ["tanh_bound"], "attention__n_heads": 2},
            ".spectra: 'tanh_bound' follows from the logits of one head, and there are 2; delete "
            "it, or write 'n_heads: 1'.",
        ),
        (
            "attention of drawn tokens",
            {
                "spectra": ["log10_dong_bound"],
                "attention": {**SOFTMAX, "layers": "recomputed", "projections": "fresh"},
            },
            ".spectra: 'log10_dong_bound' is a measure of weights that all layers share, and each "
            "has its own; delete it, or write 'projections: shared'.",
        ),
        (
            "own queries and keys",
            {"spectra": ["log10_dong_bound"], "attention": SOFTMAX},
            ".spectra: 'log10_dong_bound' is a measure of drawn weights, and the data state "
            "query instead; delete it.",
        ),
        (
            "attention of drawn tokens",
            {"spectra": ["log10_dong_bound"], "attention__score": "l2"},
            ".spectra: 'log10_dong_bound' is a measure of weights that make dot products, and the "
            "score is 'l2'; delete it, or write 'score: dot'.",
        ),
        (
            "attention of drawn tokens",
            {"spectra": ["flow_error"]},
            ".spectra: 'flow_error' compares layers with the flow that they are steps of, and "
            "these are no steps; delete it, or write 'skip: 1', another step than zero, and "
            "'norm: none'.",
        ),
        (
            "attention of drawn tokens",
            {"spectra": ["flow_error"], "attention": {**STEPS, "n_heads": 2}},
            ".spectra: 'flow_error' compares layers with the flow of one head that is the same in "
            "all of them; delete it, or write 'n_heads: 1', 'layers: frozen' and 'projections: "
            "shared'.",
        ),
        (
            "attention of drawn tokens",
            {"spectra": ["flow_error"], "attention": {**STEPS, "score": "cosine", **RECOMPUTED}},
            ".spectra: 'flow_error' follows from logits of the scores 'dot' and 'l2' only, and "
            "these are of 'cosine'; delete it, or write 'score: dot'.",
        ),
        (
            "attention of drawn tokens",
            {"spectra": ["flow_error"], "attention": {**STEPS, "mask": "causal", **RECOMPUTED}},
            ".spectra: 'flow_error' follows from finite logits, and the mask 'causal' makes some "
            "infinite; delete it, or write 'mask: none'.",
        ),
        (
            "attention of drawn tokens",
            {
                "spectra": ["flow_error"],
                "attention": {**STEPS, "remedy": "neutreno", "strength": 0.5},
            },
            ".spectra: 'flow_error' compares layers with a flow that forgets where it began, and "
            "'neutreno' returns to the tokens of layer 0; delete it, or the remedy.",
        ),
        (
            "attention of drawn tokens",
            {"spectra": ["predicted_rate"], "attention": {**STEPS, "sublayers": 2}},
            ".spectra: 'predicted_rate' follows from layers that are one explicit step each, and "
            "these are not; delete it, or 'integrator' and 'sublayers'.",
        ),
        (
            "attention of drawn tokens",
            {"spectra": ["lowest_share"], "attention__norm": "pre"},
            ".spectra: 'lowest_share' is a measure of logits that tokens make as they are, and "
            "layer norm stands before them; delete it, or write 'norm: none'.",
        ),
        (
            "own queries and keys",
            {"spectra": ["lowest_share"], "attention": SOFTMAX},
            ".spectra: 'lowest_share' is a measure of drawn weights, and the data state query "
            "instead; delete it.",
        ),
        (
            "own attention",
            {"spectra": ["bessel_gain"]},
            ".spectra: 'bessel_gain' follows from 'attention.beta', which this experiment has not; "
            "delete it.",
        ),
    ],
)
def test_a_measure_of_what_is_not_there_is_refused(base, changes, message):
    assert refusal(base, **changes) == message


@pytest.mark.parametrize("order", [["eigh", "chebyshev"], ["chebyshev", "eigh"]])
def test_a_method_within_one_job_is_looked_at_too(order):
    said = refusal(
        "diffusion of drawn tokens", spectra=["slem"], diffusion__method=order, inside=["method"]
    )
    assert said.startswith(".spectra: 'slem' is a measure of the matrix of a layer, which the met")


@pytest.mark.parametrize("order", [["path", "grid"], ["grid", "path"]])
def test_a_graph_within_one_job_is_looked_at_too(order):
    said = refusal("diffusion of drawn tokens", diffusion__graph=order, inside=["graph"])
    assert said.startswith(".diffusion.graph: 'grid' joins tokens by their places in a picture")


@pytest.mark.parametrize("stage", ["attention", "diffusion"])
def test_layers_of_two_depths_do_not_fit_into_one_variable(stage):
    base = f"{stage} of drawn tokens"
    assert refusal(base, **{f"{stage}__depth": [8, 4, 6]}) == (
        f".{stage}.depth: 4 and 8 layers do not fit into one 'log10_hc_dc_ratio', which has a "
        f"value for each layer; write the greatest depth alone, since the layers of the others "
        f"are its first ones."
    )


def test_depths_that_cases_set_are_looked_at_too():
    cases = {"label": ["a", "b"], "attention.depth": [4, 5]}
    data = {key: value for key, value in SOFTMAX.items() if key != "depth"}
    said = refusal("attention of drawn tokens", attention=data, zip={"case": cases})
    assert said.startswith(".attention.depth: 4 and 5 layers do not fit into one")


@pytest.mark.parametrize("name", [n for n in MEASURES if "recorded_layer" in VARIABLES[n].dims])
def test_recorded_layers_of_two_depths_do_not_fit_either(name):
    beside = {"attention__remedy": "neutreno", "attention__strength": 0.5}
    if "flow" in (MEASURES.facts(name).get("of") or ()):
        beside = {"attention__skip": 1.0}
    said = refusal("attention of a picture", spectra=[name], attention__depth=[4, 8], **beside)
    assert said.startswith(f".attention.depth: 4 and 8 layers do not fit into one '{name}'")


def test_the_same_recorded_layers_fit_whatever_the_depth():
    made = section("attention of a picture", spectra=["picture"], attention__depth=[4, 8])
    made["attention"]["record"] = [0, 3]
    assert expand(made, "here")


def test_unlike_records_do_not_fit_into_one_picture():
    cases = {"label": ["a", "b"], "attention.record": ["all", "geometric"]}
    changes = {"attention__depth": 8, "zip": {"case": cases}}
    assert expand(section("attention of a picture", spectra=["slem"], **changes), "here")
    assert refusal("attention of a picture", spectra=["picture"], **changes) == (
        ".attention.record: differs between points, whose 'picture' has a value for each recorded "
        "layer; record the same layers everywhere."
    )


# Seeds.


def seeds(base: str, **changes: Any) -> set[str]:
    """List the stages whose recipe has the seed, of an experiment whose file is Nile's table."""
    made = section(base, **changes)
    made["data"]["path"] = SERIES["path"]
    return {p.stage for p in Plan(7, {"one": made}, "here", ROOT) if "seed" in p.recipe}


@pytest.mark.parametrize("base", ["own attention", "own logits", "own queries and keys"])
def test_the_seed_is_no_part_of_what_draws_nothing(base):
    assert seeds(base) == set()


@pytest.mark.parametrize("base", ["diffusion of own tokens", "smoothing of a series"])
def test_neither_heat_nor_smoothing_of_a_file_draws(base):
    assert seeds(base) == set()


def test_weights_for_the_tokens_of_a_file_are_drawn():
    assert seeds("attention of own tokens") == {"attention", "experiment"}


# Heads and pairs.


def test_heads_share_the_features_evenly():
    said = refusal("attention of drawn tokens", data__d_model=8, attention__n_heads=3)
    assert said == (
        ".attention.n_heads: 3 heads cannot share 8 features evenly; write a divisor of 8."
    )


@pytest.mark.parametrize("name", [n for n in MEASURES if "pair" in MEASURES.facts(n).get("of", ())])
def test_one_token_is_compared_with_none(name, laboratory):
    alone = section("attention of drawn tokens", data__n_tokens=1, spectra=[name])
    if "source" in MEASURES.facts(name)["of"]:
        alone["attention"] |= {"remedy": "neutreno", "strength": 0.5}
    if "flow" in MEASURES.facts(name)["of"]:
        alone["attention"] |= {"skip": 1.0}
    with pytest.raises(Refusal, match=rf"^here\.spectra: '{name}' compares tokens, and there is "):
        expand(alone, "here")


def test_every_other_measure_of_one_token_is_a_number(laboratory):
    made = section("attention of drawn tokens", data__n_tokens=1, data__d_model=2, replicates=2)
    taken = []
    for name in MEASURES:
        try:
            expand({**made, "spectra": [name]}, "here")
            taken.append(name)
        except Refusal:
            continue
    assert len(taken) > 30
    for name, found in laboratory.run({**made, "spectra": taken}).items():
        assert not np.isnan(found.values).any(), name
