"""The schema of a configuration, by which an editor completes, explains and checks it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from lowpass.describing.conditions import complete, fitting, swept_inside
from lowpass.describing.definitions import Group, definitions, groups, reference
from lowpass.describing.parameters import (
    Parameters,
    Schema,
    can_be_inside,
    generators,
    parameters_of,
    stages,
)
from lowpass.plan.axes import SWEPT_STAGES
from lowpass.spec.config import (
    DIMENSION_NAME,
    EXPERIMENT_NAME,
    LONGEST_NAME,
    TAKEN,
    Config,
    Section,
)

DRAFT = "https://json-schema.org/draft/2020-12/schema"


def as_text() -> str:
    """Write the schema as JSON."""
    return json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"


def schema() -> Schema:
    """Compose the schema of a configuration."""
    fields, required = parameters_of(Config)
    experiments = {
        "description": fields["experiments"]["description"],
        "type": "object",
        "minProperties": 1,
        "propertyNames": {
            "pattern": f"^{EXPERIMENT_NAME}$",
            "maxLength": LONGEST_NAME,
            "not": {"enum": sorted(TAKEN)},
        },
        "additionalProperties": reference("experiment"),
    }
    return {
        "$schema": DRAFT,
        "$comment": "Written by 'make describe'; an edit of this file would be lost.",
        "type": "object",
        "properties": {**fields, "experiments": experiments},
        "required": required,
        "additionalProperties": False,
        "$defs": {"experiment": experiment(), **definitions()},
    }


def experiment() -> Schema:
    """Describe one experiment: its parts, and what they ask of each other."""
    read = stages()
    places = inside_places(groups())
    fields, required = parameters_of(Section)
    parts = {name: part(name, field, read) for name, field in fields.items()}
    parts["inside"] |= {"items": {"pattern": f"^{DIMENSION_NAME}$"}, "uniqueItems": True}
    parts["zip"] |= {
        "propertyNames": {"pattern": f"^{DIMENSION_NAME}$"},
        "additionalProperties": reference("case"),
    }
    return {
        "type": "object",
        "properties": parts,
        "required": required,
        "additionalProperties": False,
        "allOf": [*fitting(), complete(generators()), swept_inside(places)],
    }


def part(name: str, field: Schema, read: Mapping[str, Parameters]) -> Schema:
    """Describe what stands under one name of an experiment."""
    said = {"description": field["description"]}
    if name in SWEPT_STAGES:
        return {**said, **reference(name)}
    if name in read:
        # Not swept: what stands there is its only parameter, a list of names.
        (names,) = read[name].fields.values()
        return {**names, **said, "type": ["array", "null"], "uniqueItems": True}
    return field


def inside_places(swept: Iterable[Group]) -> dict[str, list[str]]:
    """Map what may be swept inside a job to the stages that have it."""
    places: dict[str, set[str]] = {}
    for stage, _, each in swept:
        for name, field in each.fields.items():
            if can_be_inside(stage, name, field):
                places.setdefault(name, set()).add(stage)
    return {name: sorted(places[name]) for name in sorted(places)}
