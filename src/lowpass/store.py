"""Labelled results in netCDF files: written whole or layer by layer, and digested.

A file gets its name only when it is complete, obeys the cards of its variables
and carries its record. The digest covers dimensions, variables, raw bytes and
every attribute but itself.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import netCDF4
import numpy as np
import xarray as xr

from lowpass.labels import DIMENSIONS, VARIABLES, Card
from lowpass.records import INLINE_PARENTS, NewerRecord, canonical, checked, merkle, sha256
from lowpass.registry import Refusal
from lowpass.stages.trajectory import Trajectory
from lowpass.writing import refusing, whole

LAYERED = ("layer", "recorded_layer")
# Bytes of each variable that the netCDF library may keep in memory.
CHUNK_CACHE = 2**20
# As many numbers of a variable are digested at a time: half a mebibyte of them.
PART = 2**16
# Whole names, because a fingerprint covers only the cards whose names stand in the code.
PARENT_TABLE = {"parent_path": "path", "parent_key": "key", "parent_digest": "digest"}


def write(
    path: Path,
    product: xr.Dataset | Trajectory,
    record: Mapping[str, Any],
    parents: Sequence[Mapping[str, str]] = (),
    confirm: Callable[[], object] = bool,
) -> str:
    """Write a product with its record, and return its digest.

    Parameters
    ----------
    path : Path
        The final name, which appears only when everything is on disk.
    product : Dataset or Trajectory
        A trajectory is appended layer by layer; one layer is held at a time.
    record : mapping
        Provenance, stored as JSON text in the attribute ``record``.
    parents : sequence of {path, key, digest}
        Listed in a table where the record has no room for them.
    confirm : callable
        Called when all is computed; what it raises keeps the file from getting its name.

    Raises
    ------
    Refusal
        When a name has no card, a variable disobeys its card, or the disk refuses.
    """
    header, layers = product if isinstance(product, Trajectory) else (product, iter(()))
    header = header.assign(_table(parents))
    with whole([path], confirm) as (part,), refusing(path, part):
        with netCDF4.Dataset(part, "w", format="NETCDF4") as file:
            _write_header(file, header)
            _append(file, layers)
            aside = [str(name) for name in header.coords if name not in header.dims]
            file.setncatts({"coordinates": " ".join(aside)} if aside else {})
            file.setncatts({"record": canonical(record)})
            mark = _digest(file)
            file.setncatts({"digest": mark})
    return mark


def read(path: Path) -> xr.Dataset:
    """Read a stored dataset into memory, with its record and digest as attributes.

    A table of parents belongs to the record, and is no part of what was computed.
    """
    try:
        with xr.open_dataset(path, engine="netcdf4", mask_and_scale=False) as file:
            return file.drop_dims("parent", errors="ignore").load()
    except FileNotFoundError:
        raise Refusal(f"{path}: there is no such file; run the workflow to make it.") from None
    except (OSError, ValueError) as fault:
        raise Refusal(f"{path}: is not a readable netCDF file ({fault}); make it again.") from None


def read_record(path: Path) -> tuple[dict[str, Any], list[dict[str, str]]]:
    """Read the record of a netCDF file and the list of its parents.

    Returns
    -------
    record : dict
        With the ``digest`` that the file states.
    parents : list of {path, key, digest}
        From the record, or from the table of a file with many parents.

    Raises
    ------
    Refusal
        When the file cannot be read, carries no record, or one that only later code can read.
    """
    try:
        with netCDF4.Dataset(path) as file:
            record = checked(json.loads(file.getncattr("record")), path)
            record["digest"] = file.getncattr("digest")
            listed = record["parents"]
            return record, listed if isinstance(listed, list) else _parents(file)
    except FileNotFoundError:
        raise Refusal(f"{path}: there is no such file; check the path.") from None
    except NewerRecord:
        raise
    except (OSError, RuntimeError, AttributeError, LookupError, TypeError, ValueError) as fault:
        raise Refusal(
            f"{path}: carries no record of lowpass ({fault}), so it cannot be traced; "
            f"it was overwritten, or made by something else."
        ) from None


def digest(path: Path) -> str:
    """Compute the digest of a netCDF file from its content."""
    with netCDF4.Dataset(path) as file:
        return _digest(file)


def _table(parents: Sequence[Mapping[str, str]]) -> dict[str, tuple]:
    if len(parents) <= INLINE_PARENTS:
        return {}
    return {
        name: ("parent", np.array([parent[column] for parent in parents], object))
        for name, column in PARENT_TABLE.items()
    }


def _parents(file: netCDF4.Dataset) -> list[dict[str, str]]:
    columns = {column: file[name][:] for name, column in PARENT_TABLE.items()}
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    if merkle(rows) != json.loads(file.getncattr("record"))["parents"]["merkle"]:
        raise ValueError("the table of parents does not belong to the record")
    return rows


def _write_header(file: netCDF4.Dataset, header: xr.Dataset) -> None:
    for name, length in zip(map(str, header.sizes), header.sizes.values(), strict=True):
        if name not in header.coords or "parameter" not in header[name].attrs:
            DIMENSIONS[name]  # Refuses a name that has no card.
        file.createDimension(name, length)
    for name, variable in header.variables.items():
        values = np.asarray(variable.values)
        created = _create(file, str(name), variable.dims, values.dtype, dict(variable.attrs))
        _check(str(name), variable.dims, values)
        created[...] = values.astype(object) if created.dtype is str else values


def _create(
    file: netCDF4.Dataset, name: str, dims: Sequence[Any], dtype: np.dtype, attrs: dict[str, Any]
) -> netCDF4.Variable:
    text = dtype.kind in "UOT"
    if not text and dtype.kind not in "iu" and dtype not in (np.float32, np.float64):
        raise Refusal(
            f"variable '{name}' has the type {dtype}, which netCDF cannot hold; store real numbers."
        )
    sizes = [1 if dim in LAYERED else len(file.dimensions[dim]) for dim in dims]
    layered = any(dim in LAYERED for dim in dims) and len(dims) > 1
    variable = file.createVariable(
        name,
        str if text else dtype,
        dims,
        fill_value=None if text else False,
        chunksizes=sizes if layered and not text else None,
        # A layer is written once and is not read again, so it need not be kept: 64 MB would be.
        chunk_cache=CHUNK_CACHE,
    )
    if "parameter" in attrs:
        attrs = {"long_name": name.replace("_", " "), **attrs}
    else:
        attrs = _attributes(name, dims)
    variable.setncatts(dict(sorted(attrs.items())))
    return variable


def _attributes(name: str, dims: Sequence[Any]) -> dict[str, str]:
    card: Card = DIMENSIONS[name] if tuple(dims) == (name,) else VARIABLES[name]
    inner = tuple(dims)[len(dims) - len(card.dims) :]
    if tuple(dims) != (name,) and inner != card.dims:
        raise Refusal(
            f"variable '{name}' has the dimensions {tuple(dims)}, but its card says {card.dims}; "
            f"transpose it or correct the card."
        )
    return {"symbol": card.symbol, "long_name": card.long_name, "units": card.units}


def _check(name: str, dims: Sequence[Any], values: np.ndarray) -> None:
    if values.dtype.kind != "f":
        return
    # Extremes find both without an array of verdicts.
    extremes = [values.min(initial=0), values.max(initial=0)]
    if np.isnan(extremes).any():
        raise Refusal(f"variable '{name}' holds NaN, which is never a result; find where it arose.")
    if np.isinf(extremes).any() and (tuple(dims) == (name,) or not VARIABLES[name].infinite):
        raise Refusal(
            f"variable '{name}' holds an infinite value, and its card gives no reason why that "
            f"would be a result; find where it arose."
        )


def _append(file: netCDF4.Dataset, layers: Iterator[Mapping[str, tuple]]) -> None:
    written: dict[str, int] = {}
    for layer in layers:
        for name, (dims, values) in layer.items():
            if name not in file.variables:
                _create(file, name, _placed(name, dims), values.dtype, {})
            _check(name, dims, values)
            _put(file[name], dims, written.get(name, 0), values)
            written[name] = written.get(name, 0) + 1
    for name, count in written.items():
        wanted = next(len(file.dimensions[dim]) for dim in file[name].dimensions if dim in LAYERED)
        if count != wanted:
            raise Refusal(
                f"variable '{name}' has {count} layers of {wanted}; the run stopped early."
            )
    for dim in LAYERED:
        used = [name for name, each in file.variables.items() if dim in each.dimensions]
        if used == [dim]:
            raise Refusal(
                f"dimension '{dim}' has {len(file.dimensions[dim])} places and no variable fills "
                f"them; the run stopped early."
            )


def _put(variable: netCDF4.Variable, dims: tuple[str, ...], layer: int, values: np.ndarray) -> None:
    """Write one layer, which netCDF would stretch or turn without a word where it did not fit."""
    axis = next(i for i, dim in enumerate(variable.dimensions) if dim in LAYERED)
    whole = dict(zip(variable.dimensions, variable.shape, strict=True))
    if layer == whole.pop(variable.dimensions[axis]):
        raise Refusal(
            f"variable '{variable.name}' has more than its {layer} layers; correct the coordinate."
        )
    if dict(zip(dims, values.shape, strict=True)) != whole or dims != tuple(whole):
        raise Refusal(
            f"layer {layer} of variable '{variable.name}' has the dimensions {dims} and the shape "
            f"{values.shape}, but the file holds {whole}; every layer has one form."
        )
    variable[(*(slice(None),) * axis, layer)] = values


def _placed(name: str, dims: tuple[str, ...]) -> tuple[str, ...]:
    card: Card = VARIABLES[name]
    return (*(dim for dim in dims if dim not in card.dims), *card.dims)


def _digest(file: netCDF4.Dataset) -> str:
    attrs = {name: file.getncattr(name) for name in file.ncattrs() if name != "digest"}
    variables = {
        name: [list(variable.dimensions), str(variable.dtype), _attrs(variable), _bytes(variable)]
        for name, variable in file.variables.items()
    }
    sizes = {name: len(dimension) for name, dimension in file.dimensions.items()}
    return sha256(canonical({"dims": sizes, "variables": variables, "attrs": attrs}))


def _attrs(variable: netCDF4.Variable) -> dict[str, str]:
    return {name: str(variable.getncattr(name)) for name in variable.ncattrs()}


def _bytes(variable: netCDF4.Variable) -> str:
    """Digest raw bytes, part by part so that memory stays small."""
    variable.set_auto_mask(False)
    total = hashlib.sha256()
    for part in _parts(variable):
        total.update(_raw(part))
    return total.hexdigest()


def _parts(variable: netCDF4.Variable) -> Iterator[Any]:
    """Read numbers in their order, but layer after layer; texts at once."""
    if variable.dtype is str or not variable.ndim:
        yield variable[...]
        return
    places = sorted(range(variable.ndim), key=lambda i: variable.dimensions[i] not in LAYERED)
    shape = [variable.shape[i] for i in places]
    depth = next(i for i in range(len(shape)) if math.prod(shape[i + 1 :]) <= PART)
    # Every access costs 0.1 ms, much more than the few numbers a layer may have.
    step = max(1, PART // max(1, math.prod(shape[depth + 1 :])))
    for outer in np.ndindex(*shape[:depth]):
        for first in range(0, shape[depth], step):
            spans = [*(slice(i, i + 1) for i in outer), slice(first, first + step)]
            index = dict(zip(places, spans, strict=False))
            part = variable[tuple(index.get(i, slice(None)) for i in range(variable.ndim))]
            yield part.transpose(places)


def _raw(values: Any) -> bytes | memoryview:
    if np.asarray(values).dtype.kind in "OU":
        return canonical(np.asarray(values).tolist()).encode()
    return np.ascontiguousarray(values).data
