"""Parameters of diffusion: every registered name is accepted, and every other value refused."""

from __future__ import annotations

import pytest

from lowpass.flows import FLOWS
from lowpass.graphs import GRAPHS
from lowpass.laplacians import LAPLACIANS
from lowpass.registry import Refusal
from lowpass.spec.diffusion import Diffusion, parse
from lowpass.weights import VALUES, WEIGHTS

from ..configurations import edited, planned

KEEPING = [name for name in LAPLACIANS if LAPLACIANS.facts(name)["constant_mode"]]
NAMED = {
    "graph": GRAPHS,
    "laplacian": KEEPING,
    "weights": WEIGHTS,
    "values": VALUES,
    "method": FLOWS,
}
NEEDED = {"graph": "path", "diffusion_time": 0.5, "depth": 4}
HEAT = "{graph: path, diffusion_time: 0.5, depth: 4}"
# The experiment of two temperatures, with heat in place of attention.
WARM = ("    attention: {beta: [1, 3], depth: 4}", f"    diffusion: {HEAT}")


def needed(**given) -> dict:
    """Give what has to be given beside some parameters, and these."""
    default = "affinity" if "weights" in given else "path"
    facts = GRAPHS.facts(given.get("graph", default))
    beside = {"beta": 2.0} if facts["needs_beta"] else {}
    beside |= {"laplacian": "signed"} if facts["signed"] else {}
    return {**NEEDED, "graph": default, **beside, **given}


def warm(change: str = HEAT) -> str:
    """Write the configuration with other parameters of diffusion."""
    return edited((WARM[0], WARM[1].replace(HEAT, change)))


# Laws.


@pytest.mark.parametrize(
    ("parameter", "name"), [(parameter, name) for parameter in NAMED for name in NAMED[parameter]]
)
def test_every_registered_name_is_a_choice(parameter, name):
    assert getattr(parse(needed(**{parameter: name}), "here"), parameter) == name


@pytest.mark.parametrize("parameter", sorted(NAMED))
def test_a_misspelt_name_is_answered_with_the_nearest(parameter, tmp_path):
    name = max(NAMED[parameter], key=len)
    wrong = name[:-2] + name[-1]
    given = needed() | {parameter: wrong}
    line = "{" + ", ".join(f"{each}: {value}" for each, value in given.items()) + "}"
    with pytest.raises(
        Refusal, match=rf"^mine\.yaml: experiments\.tokens\.diffusion\.{parameter}: .*'{wrong}'.*"
    ) as caught:
        planned(warm(line), tmp_path)
    assert f"'{name}'" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("parameter", sorted(NAMED))
def test_a_name_is_text(parameter):
    with pytest.raises(Refusal, match=f"^here: {parameter}: 3 is "):
        parse({**NEEDED, parameter: 3}, "here")


def test_every_parameter_says_what_it_is():
    fields = Diffusion.model_fields.items()
    assert [name for name, field in fields if not field.description] == []


@pytest.mark.parametrize("name", sorted({*LAPLACIANS} - {*KEEPING}))
def test_a_laplacian_that_keeps_no_constant_is_refused(name):
    with pytest.raises(
        Refusal,
        match=rf"^here: laplacian: '{name}' does not keep constants, so its heat flow has no mean "
        r"to tend to; write random_walk, which is similar to it\.$",
    ):
        parse({**NEEDED, "laplacian": name}, "here")


@pytest.mark.parametrize("graph", GRAPHS)
def test_beta_is_given_exactly_where_a_graph_has_a_width(graph):
    if GRAPHS.facts(graph)["needs_beta"]:
        with pytest.raises(Refusal, match=r"^here: beta: is not given and has no default; write"):
            parse({**NEEDED, "graph": graph}, "here")
    else:
        with pytest.raises(
            Refusal, match=rf"^here: beta: would not count, since the graph '{graph}' .*; delete it"
        ):
            parse({**NEEDED, "graph": graph, "beta": 1.0}, "here")


@pytest.mark.parametrize("graph", GRAPHS)
def test_weights_are_given_only_where_queries_meet_keys(graph):
    if GRAPHS.facts(graph)["needs_weights"]:
        assert parse(needed(graph=graph, weights="tied"), "here").weights == "tied"
    else:
        with pytest.raises(
            Refusal, match=rf"^here: weights: 'tied' would not count, .* '{graph}' .*; delete it"
        ):
            parse({**needed(graph=graph), "weights": "tied"}, "here")


@pytest.mark.parametrize("name", KEEPING)
def test_affinities_of_either_sign_have_a_laplacian_that_takes_them(name):
    if LAPLACIANS.facts(name)["positive"]:
        with pytest.raises(
            Refusal, match=rf"^here: laplacian: '{name}' needs .* write 'laplacian: signed', or"
        ):
            parse(needed(graph="logits", laplacian=name), "here")
    else:
        assert parse(needed(graph="logits", laplacian=name), "here").laplacian == name


@pytest.mark.parametrize("method", FLOWS)
@pytest.mark.parametrize(("name", "value"), [("taylor_order", 3), ("tolerance", 1e-6)])
def test_a_knob_is_turned_only_where_a_method_has_it(method, name, value):
    if name in FLOWS.facts(method)["knobs"]:
        assert parse(needed(method=method, **{name: value}), "here").knobs == {name: value}
    else:
        with pytest.raises(Refusal, match=rf"^here: {name}: .* '{method}' has no '{name}'; delete"):
            parse(needed(method=method, **{name: value}), "here")


@pytest.mark.parametrize("method", FLOWS)
@pytest.mark.parametrize("given", [{"values": "graded"}, {"value_scale": -1.0}])
def test_values_are_mapped_by_methods_that_can(method, given):
    if FLOWS.facts(method)["maps_values"]:
        assert parse(needed(method=method, **given), "here").maps_values
    else:
        with pytest.raises(
            Refusal, match=rf"^here: method: '{method}' follows the real .*; write 'method: eigh'"
        ):
            parse(needed(method=method, **given), "here")


# Numbers.


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("time: 0.5", "time: -0.5", r"diffusion_time: -0\.5 is below 0, the least it can be; wri"),
        ("time: 0.5", "time: [1, -1]", "diffusion_time: -1 is below 0, the least it can be"),
        ("time: 0.5", "time: .inf", "diffusion_time: inf is not finite, .*; write a finite number"),
        ("time: 0.5", "time: 5e-1", r"diffusion_time: '5e-1' is text in YAML 1\.1; write 5\.0e-1"),
        ("diffusion_time: 0.5, ", "", "diffusion_time: is not given and has no default; write a"),
        ("graph: path, ", "", "graph: is not given and has no default; write a value for it"),
        (", depth: 4", "", "depth: is not given and has no default; write a value for it"),
        (
            "depth: 4",
            "depth: 4, tolerance: 0.0",
            r"tolerance: 0\.0 is below 1e-13, the least",
        ),
        (
            "depth: 4",
            "depth: 4, tolerance: 1.0",
            r"tolerance: 1\.0 is not below 1, as it has",
        ),
        ("depth: 4", "depth: 0", "depth: 0 is below 1, the least it can be; write 1 or more"),
        ("depth: 4", "depth: true", "depth: true is not a whole number; write one, as 3"),
        ("depth: 4", "depth: 4, tau: 1", r"tau: no parameter is called 'tau'.* Known here: graph,"),
        ("depth: 4", "depth: 4, kernel: softmax", "kernel: no parameter is called 'kernel'"),
        ("depth: 4", "depth: 4, record: some", "record: 'some' is no choice here; write 'all' or"),
        ("depth: 4", "depth: 4, record: [5]", "record: layer 5 lies beyond the last layer 4, .*"),
        ("path", "tokens, beta: -1", "beta: -1 is below 0, the least it can be; write 0 or more"),
    ],
)
def test_a_value_out_of_its_domain_is_told(old, new, message, tmp_path):
    with pytest.raises(
        Refusal, match=rf"^mine\.yaml: experiments\.tokens\.diffusion\.{message}"
    ) as caught:
        planned(warm(HEAT.replace(old, new)), tmp_path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("time", [0, 0.0, 1e-300, 1e300])
def test_any_time_that_does_not_run_backwards_may_pass(time):
    assert parse({**NEEDED, "diffusion_time": time}, "here").diffusion_time == time


def test_what_is_given_in_the_right_way_is_planned(tmp_path):
    stages = {point.stage for point in planned(warm(), tmp_path)}
    assert stages >= {"data", "diffusion", "spectra", "experiment"}
