"""What each parameter of a stage may be, as JSON schema read off the models."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, get_type_hints

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema

from lowpass.data import GENERATORS
from lowpass.describing import docstrings
from lowpass.labels import DIMENSIONS, VARIABLES
from lowpass.plan.axes import DECISIVE, INSIDE_STAGES, LISTS, SHAPING
from lowpass.plan.sweep import STAGES
from lowpass.registry import Registry
from lowpass.spec import data, smoothing
from lowpass.studies import STUDIES

Schema = dict[str, Any]


class Parameters(NamedTuple):
    """Hold the schema of each parameter of one thing, and which have to be given."""

    fields: dict[str, Schema]
    required: list[str]


class Choice(NamedTuple):
    """Say by which word a stage chooses its parameters, among which entries, and how they read."""

    word: str
    registry: Callable[[], Registry]
    model_of: Callable[[str], type[BaseModel]]
    meaning: str

    @property
    def entries(self) -> Registry:
        """What may be chosen; a registry is looked at inside of functions alone."""
        return self.registry()


CHOSEN = {
    "data": Choice("generator", lambda: GENERATORS, data.model_of, "what makes the data"),
    "smoothing": Choice(
        "study", lambda: STUDIES, smoothing.model_of, "what is asked of the smoother"
    ),
}


class Describer(GenerateJsonSchema):
    """Write a model as JSON schema, a name in a registry as a choice among its entries."""

    def function_after_schema(self, schema: Any) -> Schema:
        """List the entries that a validator looks a name up in."""
        written = super().function_after_schema(schema)
        registry = registry_of(schema["function"]["function"])
        return written if registry is None else {**written, **choice(registry)}


def registry_of(validator: Callable[..., Any]) -> Registry | None:
    """Find the registry that a validator looks names up in, if it does."""
    if not inspect.isfunction(validator):
        return None
    taken = inspect.getclosurevars(validator).globals.values()
    return next((thing for thing in taken if isinstance(thing, Registry)), None)


def choice(registry: Registry) -> Schema:
    """Describe a choice among the entries of a registry, each with its first line."""
    names = sorted(registry)
    return {
        "enum": names,
        "enumDescriptions": [docstrings.summary(registry[name]) for name in names],
    }


def parameters_of(model: type[BaseModel]) -> Parameters:
    """Read the parameters of a model."""
    written = model.model_json_schema(schema_generator=Describer)
    fields = {
        name: plain(field, written.get("$defs", {}))
        for name, field in written["properties"].items()
    }
    return Parameters(fields, written.get("required", []))


def plain(schema: Any, definitions: Mapping[str, Schema]) -> Any:
    """Write a schema without references and without titles, which repeat the names."""
    if isinstance(schema, list):
        return [plain(each, definitions) for each in schema]
    if not isinstance(schema, dict):
        return schema
    rest = dict(schema)
    whole = {**definitions.get(rest.pop("$ref", "").rpartition("/")[2], {}), **rest}
    # A parameter may be called "title"; a title is a text.
    return {
        name: plain(value, definitions)
        for name, value in whole.items()
        if not (name == "title" and isinstance(value, str))
    }


def generators() -> dict[str, Parameters]:
    """Read the parameters of every generator, described by its docstring."""
    return chosen("data")


def chosen(stage: str) -> dict[str, Parameters]:
    """Read, for every entry that a stage may choose, the parameters described by its docstring."""
    return {name: declared(stage, name) for name in sorted(CHOSEN[stage].entries)}


def declared(stage: str, name: str) -> Parameters:
    """Read the parameters beside the word that chooses them."""
    by = CHOSEN[stage]
    fields, required = parameters_of(by.model_of(name))
    said = docstrings.parameters(by.entries[name])
    own = {
        parameter: {**field, "description": said.get(parameter, "")}
        for parameter, field in fields.items()
        if parameter != by.word
    }
    return Parameters(own, [parameter for parameter in required if parameter in own])


def stages() -> dict[str, Parameters]:
    """Read the parameters of every stage that does not choose them by a word."""
    models = {name: get_type_hints(parse)["return"] for name, parse in STAGES.items()}
    return {name: parameters_of(model) for name, model in models.items() if name not in CHOSEN}


def options(field: Schema) -> list[Schema]:
    """List the ways in which a parameter may be given, each without what it means."""
    said = {name: value for name, value in field.items() if name not in ("description", "default")}
    return said.get("anyOf", [said])


def scalar(field: Schema) -> Schema | None:
    """Keep of a parameter's schema what no list and no mapping is, or nothing."""
    kept = [each for each in options(field) if each.get("type") not in ("array", "object")]
    if not kept:
        return None
    return {"anyOf": kept} if len(kept) > 1 else kept[0]


def can_be_swept(stage: str, name: str, field: Schema) -> bool:
    """Say whether a list of values may stand where one of a parameter does."""
    decisive = name in DECISIVE.get(stage, ())
    taken = decisive or name in DIMENSIONS or name in VARIABLES or name in LISTS.get(stage, ())
    return not taken and scalar(field) is not None


def can_be_inside(stage: str, name: str, field: Schema) -> bool:
    """Say whether the sweep of a parameter may be computed within one job."""
    inside = stage in INSIDE_STAGES and name not in SHAPING.get(stage, ())
    return inside and can_be_swept(stage, name, field)


def can_be_zipped(name: str, field: Schema) -> bool:
    """Say whether a parameter may vary along a dimension that has a name of its own."""
    return name not in DIMENSIONS and name not in VARIABLES and scalar(field) is not None
