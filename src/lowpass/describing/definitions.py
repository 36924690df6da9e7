"""What may stand in an experiment, part by part: stages, generators, parameters, cases."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from lowpass.describing import docstrings
from lowpass.describing.conditions import named
from lowpass.describing.parameters import (
    CHOSEN,
    Parameters,
    Schema,
    can_be_swept,
    can_be_zipped,
    choice,
    chosen,
    options,
    scalar,
    stages,
)
from lowpass.plan.axes import SWEPT_STAGES


class Group(NamedTuple):
    """Hold parameters that are given together: those of a stage, or of one entry it chooses."""

    stage: str
    place: str
    parameters: Parameters


def groups() -> list[Group]:
    """List the stages whose parameters may be swept, each entry of those that choose one."""
    made = [
        Group(stage, f"{stage}.{name}", each)
        for stage in CHOSEN
        for name, each in chosen(stage).items()
    ]
    read = [Group(name, name, each) for name, each in stages().items() if name in SWEPT_STAGES]
    return made + read


def definitions() -> dict[str, Schema]:
    """Describe every part, by the name it is referred to."""
    found: dict[str, Schema] = {"case": case()}
    for stage, by in CHOSEN.items():
        found |= {stage: choosing(stage), f"{stage}.{by.word}": choice(by.entries)}
    for stage, place, each in groups():
        found[place] = entry(stage, place, each) if stage in CHOSEN else optional_stage(place, each)
        for name, field in each.fields.items():
            if can_be_swept(stage, name, field) or can_be_zipped(name, field):
                found[f"{place}.{name}"] = scalar(field) or {}
    return found


def reference(name: str) -> Schema:
    """Refer to a definition."""
    return {"$ref": f"#/$defs/{name}"}


def optional_stage(name: str, each: Parameters) -> Schema:
    """Describe the parameters of a stage, which may be nothing."""
    return {
        "type": ["object", "null"],
        "properties": properties(name, name, each),
        "additionalProperties": False,
    }


def entry(stage: str, place: str, each: Parameters) -> Schema:
    """Describe the parameters beside one choice of a stage."""
    word, entries = CHOSEN[stage].word, CHOSEN[stage].entries
    return {
        "description": docstrings.summary(entries[place.removeprefix(f"{stage}.")]),
        "properties": {word: True, **properties(stage, place, each)},
        "additionalProperties": False,
    }


def properties(stage: str, place: str, each: Parameters) -> dict[str, Schema]:
    """Describe parameters by name."""
    return {
        name: either(field, f"{place}.{name}") if can_be_swept(stage, name, field) else field
        for name, field in each.fields.items()
    }


def either(field: Schema, place: str) -> Schema:
    """Describe one value or a sweep, which may be over scalars only."""
    said = {key: field[key] for key in ("description", "default") if key in field}
    whole = [each for each in options(field) if each.get("type") == "object"]
    one = reference(place)
    return {**said, "anyOf": [*whole, one, {**several(one), "uniqueItems": True}]}


def several(one: Schema) -> Schema:
    """Describe a list of one value or more."""
    return {"type": "array", "items": one, "minItems": 1}


def choosing(stage: str) -> Schema:
    """Describe a stage that chooses: the word, and by it the other parameters."""
    word, meaning = CHOSEN[stage].word, CHOSEN[stage].meaning
    made = [group for group in groups() if group.stage == stage]
    every = sorted({name for group in made for name in group.parameters.fields})
    by_choice = [
        {
            "if": {
                "type": "object",
                "required": [word],
                "properties": {word: named([group.place.removeprefix(f"{stage}.")])},
            },
            "then": reference(group.place),
        }
        for group in made
    ]
    # Cases may choose; then any parameter may belong to one of theirs.
    without = {
        "if": {"required": [word]},
        "else": {"properties": dict.fromkeys(every, True), "additionalProperties": False},
    }
    said = {"description": meaning}
    one = reference(f"{stage}.{word}")
    swept = can_be_swept(stage, word, one)
    return {
        "type": "object" if stage == "data" else ["object", "null"],
        "properties": {word: either(said, f"{stage}.{word}") if swept else {**said, **one}},
        "allOf": [*by_choice, without],
    }


def case() -> Schema:
    """Describe lists that advance together: a label for each case, and what differs."""
    columns: dict[str, list[Schema]] = {"data.generator": [reference("data.generator")]}
    meanings = {"data.generator": CHOSEN["data"].meaning}
    for stage, place, each in groups():
        for name, field in each.fields.items():
            if can_be_zipped(name, field):
                path = f"{stage}.{name}"
                columns.setdefault(path, []).append(reference(f"{place}.{name}"))
                meanings.setdefault(path, field.get("description", ""))
    label = {**several({"type": "string"}), "uniqueItems": True}
    return {
        "type": "object",
        "properties": {
            "label": {"description": "a name for each case", **label},
            **{
                path: {"description": meanings[path], **several(one_of(described))}
                for path, described in columns.items()
            },
        },
        "required": ["label"],
        "minProperties": 2,
        "additionalProperties": False,
    }


def one_of(described: Sequence[Schema]) -> Schema:
    """Describe a value that is described in one way or several."""
    return described[0] if len(described) == 1 else {"anyOf": list(described)}
