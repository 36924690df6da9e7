"""What may stand together, as what reads a configuration says, set by set."""

from __future__ import annotations

import pytest

from lowpass.data import GENERATORS
from lowpass.describing.parameters import chosen, stages
from lowpass.describing.probing import examples, families, optional, values_of
from lowpass.graphs import GRAPHS
from lowpass.plan.sweep import STAGES
from lowpass.registry import Refusal
from lowpass.spec.data import draws
from lowpass.studies import STUDIES

# What is drawn is drawn more than once.
OBSERVED = {False: {frozenset({"smoothing"})}, True: {frozenset({"smoothing", "replicates"})}}


@pytest.fixture(scope="module")
def found():
    return families()


def test_every_generator_has_a_use(found):
    assert set(found) == set(GENERATORS)
    assert all(found.values())


def test_observations_are_smoothed_and_nothing_else(found):
    kinds = {name: GENERATORS.facts(name)["kind"] for name in GENERATORS}
    assert {name for name, sets in found.items() if sets == OBSERVED[draws(name)]} == {
        name for name, kind in kinds.items() if kind == "observations"
    }


@pytest.mark.parametrize("stage", ["attention", "diffusion"])
def test_drawn_tokens_are_mixed_measured_and_repeated(stage, found):
    assert frozenset({stage, "spectra", "replicates"}) in found["gaussian"]
    assert all("replicates" in chosen and "smoothing" not in chosen for chosen in found["gaussian"])


def test_what_may_be_missing_is_what_is_nothing_by_default():
    assert {"attention", "smoothing", "spectra", "replicates"} <= {*optional()}
    assert {"why", "data", "inside", "zip"}.isdisjoint(optional())


@pytest.mark.parametrize("stage", ["attention", "diffusion"])
def test_examples_are_accepted_by_their_stage(stage):
    made = list(examples(stage, stages()[stage]))
    assert made
    for params in made:
        STAGES[stage](params, "here")


@pytest.mark.parametrize("study", STUDIES)
def test_every_study_has_examples_that_its_stage_accepts(study):
    made = list(examples("smoothing", chosen("smoothing")[study], {"study": study}))
    assert made
    for params in made:
        assert STAGES["smoothing"](params, "here").study == study


def test_graphs_are_among_the_examples_since_each_may_fit_elsewhere():
    """But those whose Laplacian has to be named; they fit wherever a graph of tokens does."""
    made = examples("diffusion", stages()["diffusion"])
    signed = {name for name in GRAPHS if GRAPHS.facts(name)["signed"]}
    assert {params["graph"] for params in made} == {*GRAPHS} - signed
    assert not any(GRAPHS.facts(name)["needs_place"] for name in signed)


def test_a_stage_that_accepts_no_example_is_refused():
    read = stages()["attention"]
    impossible = {**read.fields, "depth": {"const": -1}}
    with pytest.raises(
        Refusal, match=r"no example of 'attention' \{\} is accepted, so nothing can"
    ):
        list(examples("attention", read._replace(fields=impossible)))


@pytest.mark.parametrize(
    ("field", "values"),
    [
        ({"type": "integer", "minimum": 3}, [3, 4]),
        ({"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}, [1 / 3, 1 / 2]),
        ({"const": "frozen"}, ["frozen"]),
        ({"type": "string"}, ["a"]),
        ({"type": "boolean"}, [False, True]),
        ({"type": "array", "items": {"const": 1}}, [[1]]),
        ({"anyOf": [{"const": 1}, {"const": 2}, {"const": 3}]}, [1, 2]),
        (
            {"type": "object", "properties": {"a": {"enum": [1, 2]}}, "required": ["a"]},
            [{"a": 1}, {"a": 2}],
        ),
    ],
)
def test_values_are_among_those_that_are_allowed(field, values):
    assert values_of(field) == values
