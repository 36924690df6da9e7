"""Medians of what an experiment measured, over its replicates.

This module owns the choice of what the paper may print of an experiment:
numbers, at the first and the last layer, for each place of its sweeps.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import TYPE_CHECKING, Any

from lowpass.claims.intervals import median_interval
from lowpass.paper.numbers import antilog, interval, parameter, rounded

if TYPE_CHECKING:
    import xarray as xr

LOGARITHM = "log10_"


def summary(dataset: xr.Dataset) -> list[dict[str, Any]]:
    """Give the median of every measure, for each place of the swept parameters.

    Parameters
    ----------
    dataset : Dataset
        An experiment.

    Returns
    -------
    list of dict
        ``measure``, its ``long_name``, where it was taken (``at``), and the texts ``first``
        and ``last`` of the first and last layer. The measure of a logarithm is the number
        itself, without ``log10_`` in its name.
    """
    swept = [str(name) for name in dataset.dims if "parameter" in coordinate(dataset, name)]
    rows = []
    for name, variable in dataset.data_vars.items():
        if set(variable.dims) <= {*swept, "replicate", "layer"} and variable.dtype.kind in "fiu":
            rows += [
                {"measure": str(name).removeprefix(LOGARITHM), **row}
                for row in measured(variable, [dim for dim in swept if dim in variable.dims])
            ]
    return rows


def coordinate(dataset: xr.Dataset, name: Any) -> dict[str, Any]:
    """Give the attributes of a dimension's coordinate; none where it has no coordinate."""
    return dataset[name].attrs if name in dataset.coords else {}


def measured(variable: xr.DataArray, swept: list[str]) -> Iterator[dict[str, Any]]:
    """Summarise one measure."""
    write = antilog if str(variable.name).startswith(LOGARITHM) else rounded
    layers = [int(layer) for layer in variable["layer"].values] if "layer" in variable.dims else []
    for place in product(*(range(variable.sizes[dim]) for dim in swept)):
        cell = variable.isel(dict(zip(swept, place, strict=True)))
        ends = [cell.isel(layer=end) for end in (0, -1)] if layers else [cell, cell]
        numbers = [median_interval(end.values) for end in ends]
        texts = [interval(write(n.value), write(n.low), write(n.high)) for n in numbers]
        yield {
            "long_name": plain_name(variable.attrs.get("long_name", "")),
            "at": {dim: parameter(cell[dim].values.item()) for dim in swept},
            "first": texts[0],
            "last": texts[1],
            "layer": str(layers[-1]) if layers else "",
        }


def plain_name(long_name: str) -> str:
    """Name the number instead of its logarithm.

    Examples
    --------
    >>> plain_name("decimal logarithm of the HC/DC ratio"), plain_name("selected bandwidth")
    ('HC/DC ratio', 'selected bandwidth')
    """
    words = long_name.removeprefix("decimal logarithm of ").removesuffix(", as a decimal logarithm")
    return words.removeprefix("the ") if words != long_name else words
