"""The canonical form of an experiment's section: equal experiments are equal texts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lowpass.plan.axes import SWEPT_STAGES, swept_lists, zip_axes
from lowpass.plan.sweep import Cell
from lowpass.spec.inside import LABEL

WHERE = "section"


def canonical_section(section: Mapping[str, Any], cells: list[Cell]) -> dict[str, Any]:
    """Write a section so that it expands to the same cells, however it was written.

    Sweeps and cases ascend, every value is as validated, values that equal their defaults are
    left out, and so is the reason why.

    Parameters
    ----------
    section : mapping
        As the configuration has it.
    cells : list of Cell
        What it expands to.

    Returns
    -------
    dict
        A section.
    """
    first = cells[0].specs
    result: dict[str, Any] = {
        stage: stage_section(stage, section, cells) for stage in SWEPT_STAGES if stage in first
    }
    if "spectra" in first:
        result["spectra"] = first["spectra"].measures
    if section.get("replicates") is not None:
        result["replicates"] = section["replicates"]
    if section.get("inside"):
        result["inside"] = sorted(section["inside"])
    if section.get("zip"):
        result["zip"] = {name: columns(section, name, cells) for name in section["zip"]}
    return result


def stage_section(stage: str, section: Mapping[str, Any], cells: list[Cell]) -> dict[str, Any]:
    """Write one stage's parameters: sweeps in ascending order, and what is no default."""
    swept = [name for where, name, _ in swept_lists(section, WHERE) if where == stage]
    zipped = {
        name
        for _, options in zip_axes(section, WHERE)
        for where, name in options[0].settings
        if where == stage
    }
    # A value may be the default of one generator and not of another.
    given: dict[str, Any] = {}
    for cell in cells:
        given |= cell.specs[stage].model_dump(exclude_defaults=True)
    fixed = {name: value for name, value in given.items() if name not in zipped}
    return {**fixed, **{name: swept_values(cells, stage, name) for name in swept}}


def swept_values(cells: list[Cell], stage: str, name: str) -> list[Any]:
    """List the validated values of a sweep in ascending order."""
    inner = cells[0].inside.get(stage, {}).get(name)
    return sorted(inner or {getattr(each.specs[stage], name) for each in cells})


def columns(section: Mapping[str, Any], axis: str, cells: list[Cell]) -> dict[str, list[Any]]:
    """Write lists that advance together, in the order of their labels."""
    for stage, axes in cells[0].inside.items():
        inner = axes.get(axis)
        if isinstance(inner, Mapping):
            return {
                name if name == LABEL else f"{stage}.{name}": list(values)
                for name, values in inner.items()
            }
    rows = {each.place[axis]: each.specs for each in cells}
    labels = sorted(rows)
    paths = [path.partition(".") for path in sorted(section["zip"][axis]) if path != "label"]
    return {
        "label": labels,
        **{
            f"{stage}.{name}": [getattr(rows[label][stage], name) for label in labels]
            for stage, _, name in paths
        },
    }
