"""The stacking of what a job gives for every combination of its axes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import xarray as xr

from lowpass.registry import Refusal
from lowpass.spec.inside import Axes, Values, labels_along
from lowpass.stages.trajectory import Layer


def stack_arrays(arrays: Sequence[np.ndarray], axes: Axes) -> np.ndarray:
    """Stack one array for each combination along leading axes.

    Raises
    ------
    Refusal
        When an axis changes the shape, so that the arrays do not fit together.
    """
    shapes = {array.shape for array in arrays}
    if len(shapes) > 1:
        raise Refusal(
            f"inside: {', '.join(axes)} changes the shape of what is computed "
            f"({' and '.join(str(shape) for shape in sorted(shapes))}), so it cannot be a "
            f"dimension of one file; take it out of 'inside' to have one file for each value."
        )
    lengths = [len(labels_along(values)) for values in axes.values()]
    stacked = np.stack(arrays) if len(arrays) > 1 else arrays[0]
    return stacked.reshape(*lengths, *arrays[0].shape)


def stack(stage: str, datasets: Sequence[xr.Dataset], axes: Axes) -> xr.Dataset:
    """Stack datasets of equal shape along leading dimensions labelled as a stage's parameters.

    What only some of them have is left out.

    Raises
    ------
    Refusal
        When an axis changes a coordinate or a shape.
    """
    first = datasets[0]
    if not axes:
        return first
    for name in first.coords:
        if not all(first[name].equals(dataset[name]) for dataset in datasets):
            raise Refusal(
                f"inside: {', '.join(axes)} changes '{name}', so it cannot be a dimension of one "
                f"file; take it out of 'inside' to have one file for each value."
            )
    names = {
        name: (
            (*axes, *first[name].dims),
            stack_arrays([dataset[name].values for dataset in datasets], axes),
        )
        for name in first.data_vars
        if all(name in dataset for dataset in datasets)
    }
    swept = {
        name: (name, labels_along(values), {"parameter": path_of(stage, name, values)})
        for name, values in axes.items()
    }
    return xr.Dataset(names, {**swept, **{name: first[name] for name in first.coords}})


def path_of(stage: str, name: str, values: Values) -> str:
    """Say where the configuration has an axis."""
    return f"zip.{name}" if isinstance(values, Mapping) else f"{stage}.{name}"


def together(runs: Sequence[Iterator[Layer]], axes: Axes) -> Iterator[Layer]:
    """Advance the runs of a job in step, so that one layer of each is held at a time."""
    return map(lambda *rows: beside(rows, axes), *runs)


def beside(rows: Sequence[Layer], axes: Axes) -> Layer:
    """Stack one layer of every run along the axes; what only some runs have is left out."""
    return {
        name: ((*axes, *dims), stack_arrays([row[name][1] for row in rows], axes))
        for name, (dims, _) in rows[0].items()
        if all(name in row for row in rows)
    }
