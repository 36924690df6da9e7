"""Every kind of fault that a specification can have, in one line with a remedy."""

from __future__ import annotations

from typing import Annotated, Literal

import pytest
from annotated_types import Ge, Gt, Lt, MinLen
from pydantic import AfterValidator, ValidationError

from lowpass.registry import Refusal
from lowpass.spec.base import REASONS, Spec, build, place, shown


def never(text: str) -> str:
    raise Refusal(f"no colour is called '{text}'.")


class Inner(Spec):
    """Stand below another specification."""

    low: float = 0.0


class Sample(Spec):
    """Have one parameter of every kind."""

    whole: Annotated[int, Ge(1)] = 1
    real: Annotated[float, Gt(0), Lt(1)] = 0.5
    text: str = ""
    one: Literal["red", "blue"] = "red"
    many: Annotated[list[str] | None, MinLen(1)] = None
    either: Literal["all"] | list[int] = "all"
    colour: Annotated[str, AfterValidator(never)] = ""
    inner: Inner = Inner()
    below: dict[str, Inner] | None = None


class Needy(Spec):
    """Have a parameter without a default."""

    size: int


FAULTS = [
    ("float_type", {"real": True}, "real: true is not a number; write one, as 0.5."),
    ("float_type", {"real": None}, "real: nothing is not a number; write one, as 0.5."),
    ("int_type", {"whole": True}, "whole: true is not a whole number; write one, as 3."),
    ("int_type", {"whole": "three"}, "whole: 'three' is not a whole number; write one, as 3."),
    ("int_type", {"whole": 3.0}, "whole: 3.0 is not a whole number; write one, as 3."),
    ("int_type", {"whole": 2.5}, "whole: 2.5 is not a whole number; write one, as 3."),
    ("finite_number", {"real": float("inf")}, "real: inf is not finite, and nothing can be"),
    ("finite_number", {"real": float("nan")}, "real: nan is not finite, and nothing can be"),
    ("int_type", {"whole": float("inf")}, "whole: inf is not a whole number"),
    ("greater_than_equal", {"whole": 0}, "whole: 0 is below 1, the least it can be; write 1 or"),
    ("greater_than_equal", {"whole": -(10**30)}, f"whole: {-(10**30)} is below 1, the least"),
    ("greater_than", {"real": 0}, "real: 0 is not above 0, as it has to be; write a larger"),
    ("less_than", {"real": 1}, "real: 1 is not below 1, as it has to be; write a smaller"),
    ("string_type", {"text": False}, "text: false is not text; write text, in quotes where"),
    ("dict_type", {"below": ["a"]}, "below: ['a'] is not a mapping; write names with their"),
    ("model_type", {"inner": 3}, "inner: 3 is not a mapping; write names with their values"),
    ("list_type", {"many": "a"}, "many: 'a' is not a list; write one, as [first, second]."),
    ("too_short", {"many": []}, "many: [] is too short a list; write 1 or more."),
    ("literal_error", {"one": "green"}, "one: 'green' is no choice here; write 'red' or 'blue'."),
]


# Laws.


@pytest.mark.parametrize(("kind", "params", "message"), FAULTS)
def test_a_fault_is_told_with_place_value_and_remedy(kind, params, message):
    with pytest.raises(Refusal) as caught:
        build(Sample, params, "mine.yaml: here")
    assert str(caught.value).startswith(f"mine.yaml: here.{message}")
    assert str(caught.value).endswith(".")


@pytest.mark.parametrize(("kind", "params"), [(kind, params) for kind, params, _ in FAULTS])
def test_a_fault_is_of_the_kind_that_its_reason_is_written_for(kind, params):
    with pytest.raises(ValidationError) as caught:
        Sample.model_validate(params)
    assert [fault["type"] for fault in caught.value.errors()] == [kind]


def test_every_reason_is_of_a_fault_that_occurs():
    assert {kind for kind, _, _ in FAULTS} | {"missing"} == set(REASONS)


@pytest.mark.parametrize(
    "params", [{"real": 1e-300}, {"whole": 10**30}, {"either": []}, {"inner": {"low": -1}}]
)
def test_what_lies_in_the_domain_is_kept(params):
    given = build(Sample, params, "here").model_dump(include=set(params))
    assert given == params


def test_a_whole_number_serves_as_a_real_one():
    spec = build(Inner, {"low": 3}, "here")
    assert spec == Inner(low=3.0)
    assert isinstance(spec.low, float)


def test_what_was_read_cannot_change():
    with pytest.raises(ValueError, match="frozen"):
        Sample().whole = 2


# Texts that look like numbers.


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"real": "1e-3"}, "real: '1e-3' is text in YAML 1.1; write 1.0e-3."),
        ({"real": "2.5E4"}, r"real: '2.5E4' is text in YAML 1.1; write 2.5e\+4."),
        ({"whole": "1e3"}, "whole: '1e3' is text in YAML 1.1; write 1000."),
        ({"whole": "3"}, "whole: '3' is text, since it stands in quotes; write 3 without them."),
        ({"real": "-.5"}, "real: '-.5' is text, since it stands in quotes; write -.5 without"),
    ],
)
def test_a_text_that_reads_as_a_number_is_shown_as_one(params, message):
    with pytest.raises(Refusal, match=f"^mine.yaml: {message}"):
        build(Sample, params, "mine.yaml")


@pytest.mark.parametrize("text", ["nan", "inf", "-Infinity", "1e999"])
def test_a_text_for_no_finite_number_is_just_text(text):
    with pytest.raises(Refusal, match=f"real: '{text}' is not a number; write one"):
        build(Sample, {"real": text}, "mine.yaml")


def test_where_text_belongs_a_number_in_quotes_is_only_an_unknown_name():
    with pytest.raises(Refusal, match="colour: no colour is called '1e-3'"):
        build(Sample, {"colour": "1e-3"}, "mine.yaml")


# Which fault is told, and where.


def test_a_misspelt_name_is_told_before_the_one_it_leaves_missing():
    with pytest.raises(Refusal, match=r"sise: no parameter is called 'sise'; .* 'size'\?"):
        build(Needy, {"sise": 1}, "mine.yaml")


def test_a_missing_parameter_is_named():
    with pytest.raises(Refusal, match=r"^mine.yaml: size: is not given and has no default; write"):
        build(Needy, {}, "mine.yaml")


@pytest.mark.parametrize(
    ("params", "path"),
    [
        ({"lo": 1}, "lo: .* Known here: whole, real, text"),
        ({"inner": {"lo": 1}}, r"inner\.lo: .*'lo'; did you mean 'low'\? Known here: low\.$"),
        ({"below": {"a": {"lo": 1}}}, r"below\.a\.lo: .*'low'\? Known here: low\.$"),
    ],
)
def test_an_unknown_name_is_compared_with_those_of_its_own_level(params, path):
    with pytest.raises(Refusal, match=f"^mine.yaml: {path}"):
        build(Sample, params, "mine.yaml")


def test_of_two_readings_the_one_that_goes_further_is_told():
    """A list is no 'all', but what is wrong with it is its second entry."""
    with pytest.raises(Refusal, match="either: 'x' is not a whole number"):
        build(Sample, {"either": [1, "x"]}, "mine.yaml")


def test_a_place_is_a_file_and_then_keys():
    assert place("mine.yaml") == "mine.yaml"
    assert place("mine.yaml", "a", "b") == "mine.yaml: a.b"
    assert place("mine.yaml: a", "b") == "mine.yaml: a.b"


def test_a_long_value_is_cut():
    assert len(shown(list(range(1000)))) == 80
    assert shown(list(range(1000))).endswith("...")
    assert shown(list(range(3))) == "[0, 1, 2]"
