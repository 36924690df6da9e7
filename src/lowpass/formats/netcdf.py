"""A variable of a netCDF file, of which only the wanted part is read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from lowpass.formats.wanted import Wanted, chosen, damaged, refuse_type
from lowpass.registry import Refusal

if TYPE_CHECKING:
    import netCDF4

# Numbers that are stored otherwise than they are meant.
PACKING = ("scale_factor", "add_offset", "_Unsigned")


def read_nc(content: bytes, wanted: Wanted) -> np.ndarray:
    """Read from a .nc file, classic or version 4.

    Parameters
    ----------
    content : bytes
        The whole file.
    wanted : Wanted
        A variable in a group is called ``group/name``.

    Returns
    -------
    ndarray
        Nothing is unpacked or filled in.

    Raises
    ------
    Refusal
        If the file is damaged or plain HDF5, the variable is not there, is no
        array of real numbers, is packed, misses a value, or has dimensions
        that ``dims`` names in another order.
    """
    import netCDF4

    try:
        # Nothing is written, so the name only fills a place.
        with netCDF4.Dataset("memory", memory=content) as file:
            variables = dict(_variables(file))
            variable = variables[chosen(wanted, list(variables))]
            index = wanted.index(variable.shape)
            _refuse_variable(variable, wanted)
            part = variable[index]
    except (OSError, RuntimeError, UnicodeError, MemoryError) as error:
        raise damaged(wanted, error.strerror if isinstance(error, OSError) else error) from None
    if np.ma.is_masked(part):
        left = [axis for axis in wanted.dims if axis not in wanted.at]
        missing = np.argwhere(np.ma.getmaskarray(part))[0]
        place = {**wanted.at, **dict(zip(left, missing, strict=True))}
        said = ", ".join(f"{axis} {i}" for axis, i in place.items())
        raise Refusal(
            f"{wanted.where} has no value at {said}: it holds _FillValue or lies outside the "
            "valid range; every number takes part in the result. Fill it in, and save it again."
        )
    return np.ma.getdata(part)


def _variables(group: netCDF4.Dataset, above: str = "") -> Iterator[tuple[str, netCDF4.Variable]]:
    """Yield variables as 'group/name', without those that only number a dimension."""
    for name, variable in group.variables.items():
        if variable.dimensions != (name,):
            yield above + name, variable
    for name, inner in group.groups.items():
        yield from _variables(inner, f"{above}{name}/")


def _refuse_variable(variable: netCDF4.Variable, wanted: Wanted) -> None:
    """Refuse a variable that is not an array of numbers with dimensions as they were named."""
    if not isinstance(variable.datatype, np.dtype):
        kind = "text" if variable.dtype is str else f"the type '{variable.datatype.name}'"
        raise Refusal(
            f"{wanted.where} holds {kind} of netCDF; no number can be read from it. Save numbers."
        )
    refuse_type(variable.dtype, wanted)
    if any(name.startswith("phony_dim_") for name in variable.dimensions):
        raise Refusal(
            f"{wanted.where} is HDF5 whose dimensions have no names; it is no netCDF file. Write "
            "one: xarray.DataArray(array, dims=[...], name='...').to_netcdf('file.nc')."
        )
    packed = [name for name in PACKING if name in variable.ncattrs()]
    if packed:
        raise Refusal(
            f"{wanted.where} is packed ({packed[0]} = {variable.getncattr(packed[0])}); what it "
            "stood for is known to that precision only. Save it as float, without the packing."
        )
    shared = set(variable.dimensions) & set(wanted.dims)
    pairs = zip(variable.dimensions, wanted.dims, strict=True)
    if any(theirs != ours and {theirs, ours} & shared for theirs, ours in pairs):
        raise Refusal(
            f"{wanted.where} has the dimensions ({', '.join(variable.dimensions)}), and dims says "
            f"({', '.join(wanted.dims)}); an axis would be taken for another. Write the names in "
            "the order of the file."
        )
