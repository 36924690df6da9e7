"""One layer in split form, alone, with its records, and with its file, against A @ X."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from lowpass import store
from lowpass.frozen import iterate_plain, iterate_split
from lowpass.records import record_of
from lowpass.splits import Split
from lowpass.stages.attention import attention
from lowpass.stages.trajectory import Trajectory
from lowpass.starts import STARTS

from .measuring import Row, alternate, divided, own_cpu

D_MODEL = 64
ROUNDS = 11
# A round lasts about as long, so that neither the clock nor the machine's moods matter.
SECONDS_A_ROUND = 0.1
NEVER = 10**6
AGAINST = "A @ X in float64"


class Size(NamedTuple):
    """Hold a size, and how many products A @ X its layers may cost.

    Beside the 2 n² d operations of the product a layer has a multiple of n d others, so
    that the quotient tends to one as n grows and cannot be one for small n.
    """

    replicates: int
    n_tokens: int
    split: float
    records: float

    def __str__(self) -> str:
        return f"n = {self.n_tokens}, d = {D_MODEL}, {self.replicates} at a time"


SIZES = (
    Size(1, 64, 2.3, 8.0),
    Size(10, 64, 1.6, 2.8),
    Size(10, 256, 1.2, 1.4),
    Size(10, 1024, 1.1, 1.15),
    Size(1, 4096, 1.1, 1.15),
)
# Layers that are written to a file, of the paper's size and of a large one.
FILES = ((SIZES[1], 400, 8.0), (SIZES[3], 40, 1.3))


def tokens(replicates: int, n_tokens: int, d_model: int) -> xr.Dataset:
    """Draw gaussian tokens."""
    dims = {"replicate": replicates, "token": n_tokens, "feature": d_model}
    x = np.random.default_rng(20261129).standard_normal(tuple(dims.values()))
    return xr.Dataset(
        {"x": (tuple(dims), x)}, {name: np.arange(length) for name, length in dims.items()}
    )


def run(data: xr.Dataset, depth: int = NEVER) -> Trajectory:
    """Give the stage's own run, whose layers are computed as they are asked for."""
    params = {"weights": "untied", "beta": 1.0, "depth": depth, "record": [0]}
    return attention({"params": params, "seed": 7}, data)


def sides(data: xr.Dataset) -> dict[str, Iterator[Any]]:
    """Iterate over the same layers: in split form, with the stage's records, and plainly."""
    made, x = run(data), data["x"].values
    a, pi = made.header["attention"].values, made.header["stationary"].values
    return {
        "split": iterate_split(a, Split.of(*STARTS["tokens"](x, a, pi)), pi),
        "records": iter(made.layers),
        "plain": iterate_plain(a, x, "float64"),
    }


def rows(*, long: bool) -> Iterator[Row]:
    """Measure one layer at several sizes, and one with its file."""
    for size in SIZES:
        yield from layer_rows(size)
    for size, depth, limit in FILES:
        yield file_row(size, depth, limit)


def layer_rows(size: Size) -> Iterator[Row]:
    """Compare split form and records with the bare product."""
    running = sides(tokens(size.replicates, size.n_tokens, D_MODEL))
    operations = 2 * size.replicates * size.n_tokens**2 * D_MODEL
    # Forty operations a nanosecond, and some microseconds for Python, are a rough guess.
    count = max(2, round(SECONDS_A_ROUND / (operations / 4e10 + 2e-5)))
    timed = {name: lambda each=each: advance(each, count) for name, each in running.items()}
    found = alternate(timed, ROUNDS, {"cpu": own_cpu})["cpu"]
    per_layer = {name: divided(samples, count) for name, samples in found.items()}
    for name, limit in (("split", size.split), ("records", size.records)):
        what = {"split": "layer in split form", "records": "layer with its records"}[name]
        yield Row(what, str(size), "s", per_layer[name], per_layer["plain"], AGAINST, limit)


def advance(layers: Iterator[Any], count: int) -> Any:
    """Compute the next layers, and give the last of them."""
    return next(islice(layers, count - 1, None))


def file_row(size: Size, depth: int, limit: float) -> Row:
    """Compare layers that are computed, written and digested with bare products."""
    data = tokens(size.replicates, size.n_tokens, D_MODEL)
    rounds = 5
    runs = [run(data, depth) for _ in range(rounds + 1)]
    plain = iterate_plain(runs[0].header["attention"].values, data["x"].values, "float64")
    # The matrices are written once for all layers, and are no part of the price of one.
    header = runs[0].header.drop_vars([*runs[0].header.data_vars])
    with TemporaryDirectory() as folder:

        def write() -> None:
            stored = Trajectory(header, runs.pop().layers)
            store.write(Path(folder) / "run.nc", stored, some_record())

        timed = {"file": write, "plain": lambda: advance(plain, depth + 1)}
        found = alternate(timed, rounds, {"cpu": own_cpu})["cpu"]
    ours, theirs = (divided(found[name], depth + 1) for name in ("file", "plain"))
    return Row("layer with its file", str(size), "s", ours, theirs, AGAINST, limit)


def some_record() -> Mapping[str, Any]:
    """Compose a record for files that nobody traces."""
    return record_of({"stage": "attention", "params": {}}, {}, (), "0" * 16, {"python": "3"})
