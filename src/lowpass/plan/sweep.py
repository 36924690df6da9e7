"""From an experiment's section to cells: one set of scalar parameters for each point."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from lowpass.plan.axes import SWEPT_STAGES, Option, inside_axes, outer_axes
from lowpass.plan.fitting import (
    check_depths,
    check_heads,
    check_kernel,
    check_kind,
    check_places,
    check_replicates,
    check_stages,
    check_stated,
    check_study,
)
from lowpass.plan.measurable import check_measures
from lowpass.spec import attention, data, diffusion, smoothing, spectra
from lowpass.spec.inside import LABEL, Values, labels_along, settings_along, swept_along

STAGES = {
    "data": data.parse,
    "attention": attention.parse,
    "diffusion": diffusion.parse,
    "smoothing": smoothing.parse,
    "spectra": spectra.parse,
}
Inside = dict[str, dict[str, Values]]
Chosen = dict[str, dict[str, Any]]


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
    specs = [each.specs for each in cells]
    check_replicates(section, specs, where)
    check_depths(specs, where)
    return cells


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
    # Any of the values computed within one job may be the one that does not fit.
    every = [validated(params, chosen, where) for chosen in choices(inner)]
    for each in every:
        check_kind(each, where)
        check_study(each, where)
        check_stated(each, params, where)
        check_kernel(each, where)
        check_places(each, where)
        check_heads(each, where)
        check_measures(each, where)
    specs = every[0]
    place = {
        name: each.label if each.label is not None else value_of(specs, each)
        for name, each in options.items()
    }
    inside = {stage: ascending(stage, params[stage], axes, where) for stage, axes in inner.items()}
    return Cell(place, specs, inside)


def validated(
    params: Mapping[str, Mapping[str, Any]], chosen: Chosen, where: str
) -> dict[str, Any]:
    """Validate the parameters of every stage, those of inner axes as they are chosen."""
    return {
        stage: STAGES[stage]({**each, **chosen.get(stage, {})}, f"{where}.{stage}")
        for stage, each in params.items()
    }


def choices(inner: Inside) -> Iterator[Chosen]:
    """Yield the parameters that inner axes set, for every combination of their places."""
    axes = [
        [(stage, settings) for settings in settings_along(name, inner[stage][name])]
        for stage in inner
        for name in inner[stage]
    ]
    for places in itertools.product(*axes):
        chosen: Chosen = {}
        for stage, settings in places:
            chosen.setdefault(stage, {}).update(settings)
        yield chosen


def ascending(
    stage: str, params: Mapping[str, Any], axes: Mapping[str, Values], where: str
) -> dict[str, Values]:
    """Validate the values of a stage's inner axes, and put them in order."""
    first = one_of(params, axes)

    def validated(settings: Mapping[str, Any]) -> list[Any]:
        spec = STAGES[stage]({**first, **settings}, f"{where}.{stage}")
        return [getattr(spec, name) for name in settings]

    return {
        name: in_order(values, [validated(row) for row in settings_along(name, values)])
        for name, values in axes.items()
    }


def in_order(values: Values, rows: list[list[Any]]) -> Values:
    """Sort the validated values of an axis, and columns by their labels."""
    if not isinstance(values, Mapping):
        return sorted(value for (value,) in rows)
    labelled = sorted(zip(labels_along(values), rows, strict=True), key=lambda each: each[0])
    columns: dict[str, list[Any]] = {LABEL: [label for label, _ in labelled]}
    for place, name in enumerate(name for name in values if name != LABEL):
        columns[name] = [row[place] for _, row in labelled]
    return columns


def one_of(params: Mapping[str, Any], axes: Mapping[str, Values]) -> dict[str, Any]:
    """Replace what inner axes set by its first values."""
    return {**params, **{name: values[0] for name, values in swept_along(axes).items()}}


def value_of(specs: Mapping[str, Any], option: Option) -> Any:
    """Read the validated value that a plain sweep sets."""
    stage, name = next(iter(option.settings))
    return getattr(specs[stage], name)
