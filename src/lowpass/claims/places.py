"""Where in an experiment a value lies: the words of a witness."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import xarray as xr


def place_of_largest(values: xr.DataArray) -> str:
    """Name the coordinates of the largest value."""
    where = values.argmax(...)
    labels = {
        str(dim): values[dim].values[int(index)]
        for dim, index in where.items()  # type: ignore[union-attr]
    }
    return ", ".join(f"{dim} {label}" for dim, label in labels.items())
