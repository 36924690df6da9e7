"""Which parts of a section may stand together, found by asking what reads a configuration."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from lowpass.describing.parameters import CHOSEN, Parameters, Schema, chosen, generators, stages
from lowpass.plan.axes import SWEPT_STAGES
from lowpass.plan.fitting import check_stages
from lowpass.plan.sweep import STAGES, expand
from lowpass.registry import Refusal
from lowpass.spec.config import Section as Model

Family = frozenset[frozenset[str]]
Section = dict[str, Any]


def optional() -> list[str]:
    """List the parts of a section that may be missing, or nothing."""
    fields = Model.model_fields.items()
    return [name for name, field in fields if not field.is_required() and field.default is None]


@lru_cache
def accepted() -> dict[str, list[Section]]:
    """Map each generator to the sections on its data that are read, of very many that are tried.

    Every set of optional parts is tried with a few examples of each.
    """
    known = {name: ways(name, read) for name, read in stages().items()} | {
        stage: [
            one
            for name, read in chosen(stage).items()
            for one in examples(stage, read, {CHOSEN[stage].word: name})
        ]
        for stage in CHOSEN
        if stage != "data"
    }
    found: dict[str, list[Section]] = {}
    for name, read in generators().items():
        data = list(examples("data", read, {"generator": name}))
        found[name] = [
            section
            for count in range(len(optional()) + 1)
            for chosen in itertools.combinations(optional(), count)
            if lead_somewhere(chosen)
            for section in sections(data, {part: known.get(part, [1]) for part in chosen})
            if is_accepted(section)
        ]
    return found


def families() -> dict[str, Family]:
    """Map each generator to the sets of optional parts that may stand beside it."""
    return {
        name: frozenset(frozenset(section) - {"data"} for section in found)
        for name, found in accepted().items()
    }


def needed_beside(generator: str) -> dict[str, list[str]]:
    """Map each stage to the parameters that no section on a generator's data does without.

    Some have no default but nothing, and are asked for all the same, unless the data say it.
    """
    found: dict[str, list[set[str]]] = {}
    for section in accepted()[generator]:
        for stage in section:
            if stage != "data" and stage in SWEPT_STAGES:
                found.setdefault(stage, []).append(set(section[stage]))
    return {
        stage: [CHOSEN[stage].word] if stage in CHOSEN else sorted(set.intersection(*given))
        for stage, given in found.items()
    }


def sections(data: Sequence[Any], parts: Mapping[str, Sequence[Any]]) -> Iterator[Section]:
    """Yield a section for each choice of one example of each part."""
    for first, *others in itertools.product(data, *parts.values()):
        yield {"data": first, **dict(zip(parts, others, strict=True))}


def lead_somewhere(parts: Sequence[str]) -> bool:
    """Say whether some stages may stand together at all, whatever their parameters."""
    try:
        check_stages({name: {} for name in parts}, "example")
    except Refusal:
        return False
    return True


def is_accepted(section: Section) -> bool:
    """Say whether a section expands to points."""
    try:
        return bool(expand(section, "example"))
    except Refusal:
        return False


def ways(stage: str, read: Parameters) -> list[Any]:
    """List examples of what may stand under the name of a stage."""
    if stage in SWEPT_STAGES:
        return list(examples(stage, read))
    # A list of names, each of which may ask for other parts.
    (field,) = read.fields.values()
    return [[name] for name in field["items"]["enum"]]


def examples(
    stage: str, read: Parameters, given: Mapping[str, Any] | None = None
) -> Iterator[dict[str, Any]]:
    """Yield parameters that a stage accepts by itself.

    First as few as possible, then with each one, and with all, of those that are nothing where
    they are not given: another part may ask for them. So for every choice of a name that has
    to be made, since each may fit beside other parts.

    Raises
    ------
    Refusal
        When none of the values tried are accepted.
    """
    fields = read.fields
    absent = [name for name, field in fields.items() if field.get("default", "") is None]
    sets = [(), *((name,) for name in absent), absent]
    found = [
        first_accepted(stage, {**(given or {}), **chosen}, [*left, *more], fields)
        for chosen in choices(read)
        for left in [[name for name in read.required if name not in chosen]]
        for more in sets
    ]
    if not any(found):
        raise Refusal(
            f"describe: no example of '{stage}' {dict(given or {})} is accepted, so nothing can be "
            f"said of what may stand beside it; give its parameters narrower domains."
        )
    yield from (each for each in found if each)


def choices(read: Parameters) -> list[dict[str, Any]]:
    """List every combination of the names that have to be chosen from a few."""
    named = {
        name: read.fields[name]["enum"] for name in read.required if "enum" in read.fields[name]
    }
    return [dict(zip(named, values, strict=True)) for values in itertools.product(*named.values())]


def first_accepted(
    stage: str, given: Mapping[str, Any], names: Sequence[str], fields: Mapping[str, Schema]
) -> dict[str, Any]:
    """Find the first values of some parameters that a stage accepts, or nothing."""
    for values in itertools.product(*(values_of(fields[name]) for name in names)):
        params = {**given, **dict(zip(names, values, strict=True))}
        try:
            STAGES[stage](params, "example")
            return params
        except Refusal:
            continue
    return {}


def values_of(field: Schema) -> list[Any]:
    """List a few values that a schema allows, small ones first.

    Examples
    --------
    >>> values_of({"type": "number", "exclusiveMinimum": 0}), values_of({"enum": ["a", "b", "c"]})
    ([1, 2], ['a', 'b'])
    """
    if "anyOf" in field:
        return [value for each in field["anyOf"] for value in values_of(each)][:2]
    if "enum" in field or "const" in field:
        return field.get("enum", [field.get("const")])[:2]
    kind = field.get("type")
    if kind == "object":
        inner = field.get("properties", {})
        choices = [values_of(inner[name]) for name in field.get("required", [])]
        return [
            dict(zip(field.get("required", []), values, strict=True))
            for values in itertools.product(*choices)
        ]
    if kind == "array":
        return [[value] for value in values_of(field.get("items", {}))]
    if kind in ("integer", "number"):
        return numbers_of(field)
    return [False, True] if kind == "boolean" else ["a"]


def numbers_of(field: Schema) -> list[float]:
    """List two numbers that a schema allows."""
    low = field.get("minimum", field.get("exclusiveMinimum", 0))
    high = field.get("maximum", field.get("exclusiveMaximum"))
    if high is not None and field["type"] == "number":
        return [low + (high - low) / 3, low + (high - low) / 2]
    first = low + 1 if "exclusiveMinimum" in field else low
    return [first, first + 1]
