"""What a parameter may be: that of the models, with the names of registries."""

from __future__ import annotations

from typing import Annotated, Literal

import pytest
from pydantic import AfterValidator, Field

from lowpass.describing.parameters import (
    CHOSEN,
    can_be_inside,
    can_be_swept,
    can_be_zipped,
    chosen,
    generators,
    parameters_of,
    registry_of,
    scalar,
    stages,
)
from lowpass.kernels import KERNELS, SCORES
from lowpass.masks import MASKS
from lowpass.measures import MEASURES
from lowpass.plan.sweep import STAGES
from lowpass.registry import Registry
from lowpass.spec.base import Spec
from lowpass.starts import STARTS
from lowpass.weights import WEIGHTS

SHAPES = Registry("shape")


@SHAPES.add("round")
def circle() -> None:
    """Have no corners.

    At all.
    """


@SHAPES.add("cornered")
def square() -> None:
    """Have corners."""


def known_shape(name: str) -> str:
    SHAPES[name]
    return name


class Inner(Spec):
    low: int = Field(description="the lower end")


class Trial(Spec):
    shape: Annotated[str, AfterValidator(known_shape)] = Field("round", description="which shape")
    shapes: list[Annotated[str, AfterValidator(known_shape)]] = Field([], description="several")
    form: Literal["a"] | list[int] = Field("a", description="a word or numbers")
    title: Annotated[str, AfterValidator(str)] = Field(description="a title of one's own")
    inner: Inner = Field(description="something nested")
    beta: float | None = Field(None, description="a number or nothing")


FIELDS, REQUIRED = parameters_of(Trial)


def test_a_name_that_is_looked_up_is_a_choice_among_the_entries():
    assert FIELDS["shape"] == {
        "description": "which shape",
        "default": "round",
        "type": "string",
        "enum": ["cornered", "round"],
        "enumDescriptions": ["Have corners.", "Have no corners."],
    }
    assert FIELDS["shapes"]["items"]["enum"] == ["cornered", "round"]


def test_other_validators_leave_a_text_a_text():
    assert FIELDS["title"] == {"description": "a title of one's own", "type": "string"}
    assert registry_of(lambda name: name) is None


def test_what_is_nested_stands_in_its_place():
    assert FIELDS["inner"] == {
        "description": "something nested",
        "type": "object",
        "properties": {"low": {"description": "the lower end", "type": "integer"}},
        "required": ["low"],
        "additionalProperties": False,
    }
    assert REQUIRED == ["title", "inner"]


def test_a_scalar_is_what_is_no_list_and_no_mapping():
    assert scalar(FIELDS["form"]) == {"type": "string", "const": "a"}
    assert scalar(FIELDS["inner"]) is None
    assert scalar(FIELDS["shapes"]) is None
    assert scalar(FIELDS["beta"]) == {"anyOf": [{"type": "number"}, {"type": "null"}]}


# The stages of the project.


@pytest.mark.parametrize("stage", [stage for stage in STAGES if stage not in CHOSEN])
def test_every_parameter_of_a_stage_says_what_it_is(stage):
    fields = stages()[stage].fields
    assert [name for name, field in fields.items() if not field.get("description")] == []


@pytest.mark.parametrize(
    ("stage", "name"), [(stage, name) for stage in CHOSEN for name in CHOSEN[stage].entries]
)
def test_every_parameter_of_a_generator_or_a_study_says_what_it_is(stage, name):
    fields = chosen(stage)[name].fields
    assert [name for name, field in fields.items() if not field["description"]] == []


@pytest.mark.parametrize(
    ("parameter", "registry"),
    [
        ("kernel", KERNELS),
        ("score", SCORES),
        ("mask", MASKS),
        ("weights", WEIGHTS),
        ("start", STARTS),
    ],
)
def test_attention_may_name_every_entry(parameter, registry):
    assert stages()["attention"].fields[parameter]["enum"] == sorted(registry)


def test_spectra_may_name_every_measure():
    (field,) = stages()["spectra"].fields.values()
    assert field["items"]["enum"] == sorted(MEASURES)


def test_a_list_that_is_no_sweep_is_none():
    attention = stages()["attention"].fields
    assert not can_be_swept("attention", "record", attention["record"])
    assert can_be_swept("attention", "beta", attention["beta"])
    assert not can_be_inside("attention", "depth", attention["depth"])
    assert can_be_swept("attention", "depth", attention["depth"])
    assert can_be_zipped("record", attention["record"])
    selection = chosen("smoothing")["selection"].fields
    assert not can_be_swept("smoothing", "bandwidths", selection["bandwidths"])
    assert can_be_inside("smoothing", "level", selection["level"])


def test_a_study_is_no_sweep():
    assert not can_be_swept("smoothing", "study", {"enum": ["selection"]})


def test_a_parameter_called_like_a_dimension_cannot_be_one():
    series = generators()["series"].fields
    assert not can_be_swept("data", "key", series["key"])
    assert not can_be_zipped("key", series["key"])
    assert can_be_swept("data", "path", series["path"])
