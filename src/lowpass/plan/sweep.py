"""From an experiment's section to cells: one set of scalar parameters for each point."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any, NamedTuple

from lowpass.labels import VARIABLES
from lowpass.plan.axes import SWEPT_STAGES, Option, inside_axes, outer_axes
from lowpass.registry import Refusal
from lowpass.spec import attention, data, smoothing, spectra

STAGES = {
    "data": data.parse,
    "attention": attention.parse,
    "smoothing": smoothing.parse,
    "spectra": spectra.parse,
}
Inside = dict[str, dict[str, list[Any]]]


class Cell(NamedTuple):
    """Hold one point's place on the swept axes and its stages' parameters."""

    place: dict[str, Any]
    specs: dict[str, Any]
    inside: Inside


def expand(section: Mapping[str, Any], where: str) -> list[Cell]:
    """List the points of a section.

    Parameters
    ----------
    section : mapping
        As the configuration has it, or in canonical form.
    where : str
        File and key path, for messages.

    Raises
    ------
    Refusal
        At an empty or repeated sweep, an unknown parameter, or stages that do not fit together.
    """
    check_stages(section, where)
    outer, inner = outer_axes(section, where), inside_axes(section, where)
    cells = [
        cell(section, dict(choice), inner, where)
        for choice in itertools.product(
            *([(name, option) for option in options] for name, options in outer)
        )
    ]
    check_depths(cells, where)
    return cells


def check_depths(cells: list[Cell], where: str) -> None:
    """Refuse points of several depths whose measures have a value for each layer."""
    depths = sorted({each.specs["attention"].depth for each in cells if "attention" in each.specs})
    if len(depths) < 2:
        return
    measures = cells[0].specs["spectra"].measures
    layered = [name for name in measures if "layer" in VARIABLES[name].dims]
    if layered:
        raise Refusal(
            f"{where}.attention.depth: {depths[0]} and {depths[-1]} layers do not fit into one "
            f"'{layered[0]}', which has a value for each layer; write the greatest depth alone, "
            f"since the layers of the others are its first ones."
        )


def check_stages(section: Mapping[str, Any], where: str) -> None:
    """Refuse a chain of stages that leads nowhere, and what no stage would read."""
    given = {name for name, value in section.items() if value is not None}
    if ("attention" in given) == ("smoothing" in given):
        count = "both" if "attention" in given else "neither"
        raise Refusal(
            f"{where}: has {count} of 'attention' (of tokens) and 'smoothing' (of observations); "
            f"keep one of them."
        )
    needs = {"attention": ("spectra", "replicates"), "spectra": ("attention",)}
    for stage, others in needs.items():
        for other in others:
            if stage in given and other not in given:
                raise Refusal(
                    f"{where}: '{stage}' is given without '{other}', which it needs; "
                    f"add '{other}:'."
                )
    if "smoothing" in given and "replicates" in given:
        raise Refusal(
            f"{where}.replicates: {section['replicates']} replicates of observations would all "
            f"be equal, since nothing is drawn; delete 'replicates:'."
        )


def cell(
    section: Mapping[str, Any], options: Mapping[str, Option], inner: Inside, where: str
) -> Cell:
    """Validate one choice of values, one from each axis."""
    params = {
        stage: dict(section[stage]) for stage in SWEPT_STAGES if section.get(stage) is not None
    }
    for each in options.values():
        for (stage, name), value in each.settings.items():
            params[stage][name] = value
    if section.get("spectra") is not None:
        params["spectra"] = {"measures": sorted(section["spectra"])}
    specs = {
        stage: STAGES[stage](one_of(each, inner.get(stage, {})), f"{where}.{stage}")
        for stage, each in params.items()
    }
    check_kind(specs, where)
    place = {
        name: each.label if each.label is not None else value_of(specs, each)
        for name, each in options.items()
    }
    inside = {stage: ascending(stage, params[stage], axes, where) for stage, axes in inner.items()}
    return Cell(place, specs, inside)


def ascending(
    stage: str, params: Mapping[str, Any], axes: Mapping[str, list[Any]], where: str
) -> dict[str, list[Any]]:
    """Validate the values of a stage's inner axes, and put them in order."""
    first = one_of(params, axes)
    parse, spot = STAGES[stage], f"{where}.{stage}"
    return {
        name: sorted(getattr(parse({**first, name: value}, spot), name) for value in values)
        for name, values in axes.items()
    }


def one_of(params: Mapping[str, Any], axes: Mapping[str, list[Any]]) -> dict[str, Any]:
    """Replace every inner sweep by its first value."""
    return {**params, **{name: values[0] for name, values in axes.items()}}


def value_of(specs: Mapping[str, Any], option: Option) -> Any:
    """Read the validated value that a plain sweep sets."""
    stage, name = next(iter(option.settings))
    return getattr(specs[stage], name)


def check_kind(specs: Mapping[str, Any], where: str) -> None:
    """Refuse attention of observations and smoothing of tokens."""
    kind = data.kind(specs["data"].generator)
    reads, given = "attention", "smoothing"
    if kind == data.OBSERVATIONS:
        reads, given = given, reads
    if reads not in specs:
        raise Refusal(
            f"{where}.data.generator: '{specs['data'].generator}' gives {kind}, which '{given}' "
            f"does not read; write '{reads}:' instead, or choose another generator."
        )
