"""Gather all points of an experiment into one dataset."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from lowpass.registry import Refusal


class Part(NamedTuple):
    """Hold one point's result, its place on the swept axes, and its block of replicates."""

    place: Mapping[str, Any]
    block: int
    dataset: xr.Dataset


def place_of(section: Mapping[str, Any], history: Mapping[str, Any]) -> dict[str, Any]:
    """Find a point's place on the swept axes from what its records say.

    Parameters
    ----------
    section : mapping
        Of the experiment, in canonical form.
    history : mapping of str to value
        Every parameter the point was made with, by path: ``attention.beta``.

    Returns
    -------
    dict
        A value for each axis that is swept from file to file, a label for each zipped one there.

    Raises
    ------
    Refusal
        When no case of a zipped dimension has these parameters.
    """
    inside, zipped = section.get("inside", []), section.get("zip", {})
    place = {
        axis: history[path]
        for axis, path in parameters(section).items()
        if axis not in inside and axis not in zipped
    }
    for axis, columns in zipped.items():
        if axis in inside:
            continue
        paths = [path for path in columns if path != "label"]
        for label, *values in zip(
            columns["label"], *(columns[path] for path in paths), strict=True
        ):
            if [history[path] for path in paths] == values:
                place[axis] = str(label)
        if axis not in place:
            raise Refusal(
                f"no case of '{axis}' has the parameters "
                f"{ {path: history[path] for path in paths} } of a stored point; run again."
            )
    return place


# Parameters that are lists, and no sweeps.
LISTED = ("record", "keys")


def experiment(recipe: Mapping[str, Any], parts: Iterable[Part]) -> xr.Dataset:
    """Lay results out along the swept parameters.

    Parameters
    ----------
    recipe : mapping
        ``params`` with the experiment's ``section``, whose ``replicates`` are selected.
    parts : iterable of Part
        Every point of the experiment.

    Returns
    -------
    Dataset
        Swept parameters come first, in alphabetical order, whether they were swept inside a
        job or outside; zipped parameters become coordinates along their common dimension.

    Raises
    ------
    Refusal
        When a label, such as the layers, is not the same at all points, or a point is missing.
    """
    section = recipe["params"]["section"]
    groups: dict[tuple, list[Part]] = {}
    for part in parts:
        groups.setdefault(tuple(part.place.items()), []).append(part)
    cells = [joined(group, section.get("replicates")) for group in groups.values()]
    check_labels(cells)
    zipped = section.get("zip", {})
    axes = {
        axis: sorted({dict(place)[axis] for place in groups}) for axis in dict(next(iter(groups)))
    }
    grid = {
        tuple(axes[axis].index(value) for axis, value in place): cell
        for place, cell in zip(groups, cells, strict=True)
    }
    wanted = math.prod(len(values) for values in axes.values())
    if len(grid) != wanted:
        raise Refusal(
            f"this experiment has {wanted} places and results for {len(grid)} of them; "
            f"two places must not have the same parameters."
        )
    gathered = xr.Dataset(
        {name: gather(str(name), grid, axes) for name in cells[0].data_vars},
        {**cells[0].coords, **{axis: list(values) for axis, values in axes.items()}},
    )
    for axis, columns in zipped.items():
        gathered = gathered.assign_coords(companions(axis, columns, list(gathered[axis].values)))
    return ordered(gathered, section)


def check_labels(cells: list[xr.Dataset]) -> None:
    """Refuse points that would be laid side by side although their labels differ."""
    for name, labels in cells[0].coords.items():
        other = next((each[name] for each in cells if not labels.equals(each[name])), None)
        if other is not None:
            raise Refusal(
                f"'{name}' differs between the points of this experiment ({labels.size} places "
                f"and {other.size}), so one dataset cannot hold them; sweep what changes "
                f"'{name}' in experiments of their own."
            )


def joined(blocks: list[Part], replicates: int | None) -> xr.Dataset:
    """Join a point's blocks and select the first replicates."""
    datasets = [part.dataset for part in sorted(blocks, key=lambda part: part.block)]
    if replicates is None:
        return datasets[0]
    constant = [name for name, each in datasets[0].items() if "replicate" not in each.dims]
    whole = xr.concat(
        [dataset.drop_vars(constant) for dataset in datasets],
        "replicate",
        data_vars="all",
        coords="minimal",
        compat="override",
        join="exact",
    )
    return whole.assign(datasets[0][constant]).isel(replicate=slice(replicates))


def gather(name: str, grid: Mapping[tuple, xr.Dataset], axes: Mapping[str, list]) -> xr.Variable:
    """Fill one variable's array, cell by cell of the swept grid."""
    first = next(iter(grid.values()))[name]
    lengths = [len(values) for values in axes.values()]
    whole = np.empty((*lengths, *first.shape), dtype=first.dtype)
    for place, cell in grid.items():
        whole[place] = cell[name].transpose(*first.dims).values
    return xr.Variable((*axes, *first.dims), whole)


def companions(axis: str, columns: Mapping[str, list], labels: list) -> dict[str, tuple]:
    """Label a zipped dimension with each of the parameters that vary along it."""
    order = [columns["label"].index(label) for label in labels]
    return {
        parameter.rsplit(".", 1)[-1]: (axis, [values[i] for i in order])
        for parameter, values in columns.items()
        if parameter != "label"
    }


def ordered(gathered: xr.Dataset, section: Mapping[str, Any]) -> xr.Dataset:
    """Put swept dimensions first, in alphabetical order, and mark their coordinates."""
    swept = parameters(section)
    result = gathered.sortby(list(swept)) if swept else gathered
    for name, variable in result.data_vars.items():
        first = sorted(str(dim) for dim in variable.dims if dim in swept)
        result[name] = variable.transpose(*first, ...)
    for name, path in {**swept, **zipped_parameters(section)}.items():
        if name in result.coords:
            result[name].attrs["parameter"] = path
    return result


def parameters(section: Mapping[str, Any]) -> dict[str, str]:
    """Map every swept dimension of a section to the path of its parameter."""
    swept = {axis: f"zip.{axis}" for axis in section.get("zip", {})}
    for stage in ("data", "attention", "diffusion", "smoothing"):
        for name, value in section.get(stage, {}).items():
            if isinstance(value, list) and name not in LISTED:
                swept[name] = f"{stage}.{name}"
    return swept


def zipped_parameters(section: Mapping[str, Any]) -> dict[str, str]:
    """Map the short name of every zipped parameter to its path."""
    return {
        path.rsplit(".", 1)[-1]: path
        for columns in section.get("zip", {}).values()
        for path in columns
        if path != "label"
    }
