"""Axes swept inside one job: what is at each of their places, and all combinations."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

# Values of one parameter, or under 'label' and several names columns that advance together.
Values = Sequence[Any] | Mapping[str, Sequence[Any]]
Axes = Mapping[str, Values]
LABEL = "label"


def labels_along(values: Values) -> list[Any]:
    """Give what the places on an axis are called."""
    return list(values[LABEL] if isinstance(values, Mapping) else values)


def settings_along(name: str, values: Values) -> list[dict[str, Any]]:
    """Give the parameters that each place on an axis sets."""
    columns = values if isinstance(values, Mapping) else {name: values}
    names = [each for each in columns if each != LABEL]
    rows = zip(*(columns[each] for each in names), strict=True)
    return [dict(zip(names, row, strict=True)) for row in rows]


def swept_along(axes: Axes) -> dict[str, list[Any]]:
    """Give every parameter that some axis sets, with its value at each place."""
    return {
        parameter: [row[parameter] for row in rows]
        for rows in (settings_along(*axis) for axis in axes.items())
        for parameter in rows[0]
    }


def combinations(params: Mapping[str, Any]) -> list[dict[str, Any]]:
    """List the parameter sets of a job, the last axis running fastest.

    Parameters
    ----------
    params : mapping
        Parameters of a stage; ``inside`` maps an axis to its values, or to columns of them.
    """
    axes = params.get("inside", {})
    fixed = {name: value for name, value in params.items() if name != "inside"}
    rows = itertools.product(*(settings_along(*axis) for axis in axes.items()))
    return [dict(itertools.chain(fixed.items(), *(row.items() for row in each))) for each in rows]
