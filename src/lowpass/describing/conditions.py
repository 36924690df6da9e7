"""What the parts of an experiment ask of each other, as conditions of JSON schema."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TypeVar

from lowpass.describing.parameters import CHOSEN, Parameters, Schema, chosen
from lowpass.describing.probing import Family, families, needed_beside, optional

T = TypeVar("T")

# An editor that knows errorMessage, as that of VS Code does, shows it.
ABSENT = {"type": "null", "errorMessage": "Nothing here reads this; delete it."}
PRESENT = {"not": {"type": "null"}}


def given(*names: str) -> Schema:
    """Ask that parts are there and are not nothing."""
    return {"required": list(names), "properties": dict.fromkeys(names, PRESENT)}


def demand(needed: Sequence[str], never: Sequence[str]) -> Schema:
    """Ask that some parts are there, and others are not."""
    there, absent = given(*needed) if needed else {}, dict.fromkeys(never, ABSENT)
    return {**there, "properties": {**there.get("properties", {}), **absent}}


def named(names: Collection[str]) -> Schema:
    """Ask that a value is one of some names, or a sweep over one of them."""
    choice = {"enum": sorted(names)}
    return {"anyOf": [choice, {"type": "array", "contains": choice}]}


def generated(names: Collection[str]) -> Schema:
    """Ask that an experiment's data come from one of some generators, or none is named."""
    if not names:
        return {"properties": {"data": {"not": {"required": ["generator"]}}}}
    data = {"required": ["generator"], "properties": {"generator": named(names)}}
    return {"required": ["data"], "properties": {"data": data}}


def fitting() -> Iterator[Schema]:
    """Yield what may stand beside each generator, those that are alike together."""
    found = families()
    for names, family in alike(found):
        yield {"if": generated(names), "then": chain(family)}
    # A generator that is chosen case by case may be any.
    anything = frozenset(chosen for family in found.values() for chosen in family)
    yield {"if": generated([]), "then": chain(anything)}


def chain(family: Family) -> Schema:
    """Ask that the optional parts of an experiment are one of some sets.

    What is asked follows from every set of the family: where the sets are so many that this
    does not tell them from others, those others pass.
    """
    every = frozenset.intersection(*family)
    never = [name for name in optional() if not any(name in chosen for chosen in family)]
    asked = demand(sorted(every), never)
    least = [chosen - every for chosen in family if not any(other < chosen for other in family)]
    if frozenset() not in least:
        asked["anyOf"] = [given(*sorted(each)) for each in sorted(least, key=sorted)]
    rules = [rule for name in optional() for rule in implied(name, family, every)]
    return {**asked, "allOf": rules} if rules else asked


def implied(name: str, family: Family, every: Collection[str]) -> Iterator[Schema]:
    """Yield what the presence of one part asks of the others."""
    holding = [chosen for chosen in family if name in chosen]
    if not holding or name in every:
        return
    needs = sorted(frozenset.intersection(*holding) - {name} - frozenset(every))
    allowed = frozenset.union(*holding)
    never = [other for other in sorted(frozenset.union(*family)) if other not in allowed]
    if needs or never:
        yield {"if": given(name), "then": demand(needs, never)}


def complete(generators: Mapping[str, Parameters]) -> Schema:
    """Ask for every parameter that has to be given, by its stage or, where there are any, a case.

    The two are asked apart, since an editor says more about what is missing in one place.
    """
    here: list[Schema] = [{"properties": {"data": {"required": ["generator"]}}}]
    spread = in_case("data", ["generator"])
    for names, needed in alike({name: needs(name, read) for name, read in generators.items()}):
        asked = {stage: {"required": given} for stage, given in needed.items()}
        cases = [each for stage, given in needed.items() for each in in_case(stage, given)]
        here.append({"if": generated(names), "then": {"properties": asked}})
        spread.append({"if": generated(names), "then": {"allOf": cases}})
    for asked, cases in map(demanded, (stage for stage in CHOSEN if stage != "data")):
        here += asked
        spread += cases
    return {
        "if": {"required": ["zip"], "properties": {"zip": {"minProperties": 1}}},
        "then": {"allOf": spread},
        "else": {"allOf": here},
    }


def demanded(stage: str) -> tuple[list[Schema], list[Schema]]:
    """Ask for the parameters that each entry needs which a stage chooses: here, or in a case."""
    here: list[Schema] = []
    spread: list[Schema] = []
    for names, required in alike({name: read.required for name, read in chosen(stage).items()}):
        if not required:
            continue
        choice = {
            "required": [CHOSEN[stage].word],
            "properties": {CHOSEN[stage].word: named(names)},
        }
        asked = {"required": [stage], "properties": {stage: {"type": "object", **choice}}}
        here.append({"if": asked, "then": {"properties": {stage: {"required": required}}}})
        spread.append({"if": asked, "then": {"allOf": in_case(stage, required)}})
    return here, spread


def needs(generator: str, read: Parameters) -> dict[str, list[str]]:
    """Map data and each stage to the parameters that have to be given beside a generator."""
    found = {"data": read.required, **needed_beside(generator)}
    return {stage: names for stage, names in found.items() if names}


def alike(found: Mapping[str, T]) -> list[tuple[list[str], T]]:
    """Gather the names that stand for equal things."""
    things = [thing for i, thing in enumerate(found.values()) if thing not in [*found.values()][:i]]
    return [([name for name in found if found[name] == thing], thing) for thing in things]


def in_case(stage: str, names: Sequence[str]) -> list[Schema]:
    """Ask that parameters are given by a stage or by some case."""
    return [
        {
            "anyOf": [
                {"properties": {stage: {"required": [name]}}},
                {"properties": {"zip": {"not": {"additionalProperties": without(stage, name)}}}},
            ]
        }
        for name in names
    ]


def without(stage: str, name: str) -> Schema:
    """Ask that a case leaves a parameter alone."""
    return {"not": {"required": [f"{stage}.{name}"]}}


def swept_inside(places: Mapping[str, Sequence[str]]) -> Schema:
    """Ask that what stands under ``inside`` is swept, where no lists have a name of their own."""
    known = {"properties": {"inside": {"items": {"enum": sorted(places)}}}}
    return {
        "if": {"not": {"required": ["zip"]}},
        "then": {**known, "allOf": [*swept_by_name(places)]},
    }


def swept_by_name(places: Mapping[str, Sequence[str]]) -> Iterator[Schema]:
    """Yield, for each name that may stand under ``inside``, that one of its stages sweeps it."""
    for name, stages in places.items():
        swept = [
            {
                "required": [stage],
                "properties": {
                    stage: {
                        "type": "object",
                        "required": [name],
                        "properties": {name: {"type": "array"}},
                    }
                },
            }
            for stage in stages
        ]
        listed = {"type": "array", "contains": {"const": name}}
        yield {
            "if": {"required": ["inside"], "properties": {"inside": listed}},
            "then": swept[0] if len(swept) == 1 else {"anyOf": swept},
        }
