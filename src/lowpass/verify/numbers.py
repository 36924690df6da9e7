"""The named numbers of a result: a few statistics at every place of its sweeps.

A statistic is an order statistic, so that it moves by no more than the value that moves
most, and two values that change ranks change nothing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from lowpass.records import NAME, canonical, sha256
from lowpass.rounding import FLOOR, Rounding, account

if TYPE_CHECKING:
    import xarray as xr

# Dimensions along which a result evolves: its first, middle and last places are told apart.
IN_TURN = ("layer", "recorded_layer", "time")
# Of swept and named places beyond this number, whole axes are taken together.
MOST_PLACES = 48
EVERYWHERE = "everywhere"
# What follows from the other numbers of a verdict.
DERIVED = ("margin_decades",)


class Place(NamedTuple):
    """Hold the statistics of a variable at one place, and the floor of the arithmetic there."""

    statistics: Mapping[str, float | str]
    floor: float = -math.inf


Numbers = dict[str, dict[str, Place]]


def of_dataset(dataset: xr.Dataset) -> Numbers:
    """Take the numbers of an experiment.

    Parameters
    ----------
    dataset : Dataset
        Swept parameters are dimensions whose coordinates are marked as such.

    Returns
    -------
    dict
        By variable, then by place.
    """
    sizes = {str(name): size for name, size in dataset.sizes.items()}
    measured = {str(name): of_variable(dataset, str(name)) for name in dataset.data_vars}
    return {"dimensions": {EVERYWHERE: Place(sizes)}, **measured}


def of_claims(verdicts: Mapping[str, Any]) -> Numbers:
    """Take the verdict and the numbers of every claim."""
    found = {}
    for claim, entry in verdicts.items():
        if claim != NAME:
            held = {EVERYWHERE: entry, **entry.get("numbers", {})}
            taken = {place: Place(told_numbers(each)) for place, each in held.items()}
            found[claim] = taken
    return found


def told_numbers(entry: Mapping[str, Any]) -> dict[str, float | str]:
    """Select what a verdict is made of, and leave its words out."""
    told: dict[str, float | str] = {}
    for name, value in entry.items():
        if name == "verdict" or isinstance(value, bool):
            told[name] = str(value)
        elif isinstance(value, int | float) and name not in DERIVED:
            told[name] = float(value)
    return told


def of_variable(dataset: xr.Dataset, name: str) -> dict[str, Place]:
    """Take the numbers of one variable, place by place."""
    variable = dataset[name]
    turns = [str(dim) for dim in variable.dims if dim in IN_TURN]
    chosen = variable.isel({dim: ends_and_middle(variable.sizes[dim]) for dim in turns})
    kept = told_apart(chosen, turns)
    ordered = chosen.transpose(*kept, ...)
    pooled = set(map(str, ordered.dims)) - {*kept, "replicate"}
    has_pattern = bool(pooled) and account(name, Rounding()).arranged
    places = {}
    for index in np.ndindex(*(ordered.sizes[dim] for dim in kept)):
        place = dict(zip(kept, index, strict=True))
        floor = floor_at(dataset, {dim: i for dim, i in place.items() if dim not in turns})
        labels = [f"{dim} {label_of(ordered, dim, i)}" for dim, i in place.items()]
        cell = ordered.values[index].ravel()
        arranged = has_pattern and math.isinf(floor)
        places[", ".join(labels) or EVERYWHERE] = Place(statistics(cell, arranged), floor)
    return places


def ends_and_middle(length: int) -> list[int]:
    """Choose the first, the middle and the last of some places."""
    return sorted({0, length // 2, length - 1})


def told_apart(variable: xr.DataArray, turns: Sequence[str]) -> list[str]:
    """Choose the dimensions whose places are told apart.

    Those are swept parameters, dimensions with named places, and those in turn, as long as
    there are few places; the longest of the others is given up first.
    """
    kept = [
        str(dim)
        for dim in variable.dims
        if dim in turns
        or (
            dim in variable.coords
            and ("parameter" in variable[dim].attrs or variable[dim].dtype.kind in "UO")
        )
    ]
    while math.prod(variable.sizes[dim] for dim in kept) > MOST_PLACES:
        kept.remove(max(kept, key=lambda dim: variable.sizes[dim]))
    return kept


def label_of(variable: xr.DataArray, dim: str, index: int) -> str:
    """Write the label of a place as shortly as it can be told from others."""
    if dim not in variable.coords:
        return str(index)
    value = variable[dim].values[index].item()
    if isinstance(value, float):
        return f"{value:g}" if float(f"{value:g}") == value else repr(value)
    return str(value)


def floor_at(dataset: xr.Dataset, place: Mapping[str, int]) -> float:
    """Give the highest floor of the arithmetics at a place; minus infinity where there is none."""
    if FLOOR not in dataset:
        return -math.inf
    floor = dataset[FLOOR]
    return float(floor.isel({dim: i for dim, i in place.items() if dim in floor.dims}).max())


def statistics(cell: np.ndarray, arranged: bool) -> dict[str, float | str]:
    """Describe some values (value,) by a few numbers.

    Parameters
    ----------
    cell : (value,) float or text
        In the order of their dimensions.
    arranged : bool
        Whether that order means more than a number of the replicate.

    Returns
    -------
    dict
        Lowest, middle and highest value, and where the order counts a pattern: the mean
        after weighting by cos 1, cos 2, ..., which moves when values change places.
    """
    if cell.dtype.kind in "UO":
        return {"text": sha256(canonical(cell.tolist()))[:16]}
    if cell.size == 1:
        return {"value": float(cell[0])}
    ordered = np.sort(cell.astype(float))
    middle = ordered[(cell.size - 1) // 2]
    told = {"lowest": ordered[0], "middle": middle, "highest": ordered[-1]}
    if arranged and np.isfinite(ordered).all():
        told["pattern"] = np.mean(cell * np.cos(np.arange(1.0, cell.size + 1)))
    return {name: float(value) for name, value in told.items()}
