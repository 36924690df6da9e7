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

STAGES = {
    "data": data.parse,
    "attention": attention.parse,
    "diffusion": diffusion.parse,
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


def validated(params: Mapping[str, Mapping[str, Any]], inner: Inside, where: str) -> dict[str, Any]:
    """Validate the parameters of every stage, those of inner axes at their first values."""
    return {
        stage: STAGES[stage](one_of(each, inner.get(stage, {})), f"{where}.{stage}")
        for stage, each in params.items()
    }


def choices(inner: Inside) -> Iterator[Inside]:
    """Yield the inner axes cut down to one value of each, for every combination."""
    axes = [(stage, name, inner[stage][name]) for stage in inner for name in inner[stage]]
    for values in itertools.product(*(values for _, _, values in axes)):
        chosen: Inside = {}
        for (stage, name, _), value in zip(axes, values, strict=True):
            chosen.setdefault(stage, {})[name] = [value]
        yield chosen


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
