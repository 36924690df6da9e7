"""How large are the data that jobs work on, before any of them exists.

It owns the reading of sizes off recipes, and off the headers of data files; no number of a file
is looked at.
"""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lowpass.spec.data import BLOCK, draws, reads, states

# Tokens on a circle have two features, and nothing that says so.
FEATURES = 2
# What mixes tokens, beside the tokens themselves.
SQUARES = ("logits", "attention", "mask")
ROLES = ("tokens", "query", "key", *SQUARES)


@dataclass(frozen=True)
class Size:
    """Hold how large data are.

    Parameters
    ----------
    replicates : int
    tokens : int
        Of observations the number of keys.
    features : int
    queries : int
        Of observations.
    squares : int
        Matrices (replicate, query, key) that are stated beside the tokens.
    file : int
        Bytes of the file that they are read from.
    """

    replicates: int = 1
    tokens: int = 1
    features: int = 1
    queries: int = 0
    squares: int = 0
    file: int = 0

    @property
    def square(self) -> float:
        """Bytes of one matrix between tokens, for every replicate."""
        return 8.0 * self.replicates * self.tokens**2

    @property
    def state(self) -> float:
        """Bytes of all tokens."""
        return 8.0 * self.replicates * self.tokens * self.features

    @property
    def weights(self) -> float:
        """Bytes of one matrix between features, for every replicate."""
        return 8.0 * self.replicates * self.features**2

    @property
    def stored(self) -> float:
        """Bytes of all that is stated."""
        asked = 8.0 * self.replicates * self.queries * self.features
        return self.state + asked + self.squares * self.square


def size_of(params: Mapping[str, Any], file: Path | None) -> Size:
    """Give the size of what a generator makes.

    Parameters
    ----------
    params : mapping
        All parameters of the stage 'data'.
    file : Path, optional
        What it reads.
    """
    name = params["generator"]
    if file is None or not reads(name):
        return Size(
            BLOCK if draws(name) else 1,
            params.get("n_tokens", params.get("n_keys", 1)),
            params.get("d_model", params.get("n_features", FEATURES)),
            params.get("n_queries", 0),
            len(states(name)),
        )
    try:
        return size_in(file, params)
    except (OSError, ValueError, LookupError):
        return Size()  # The job will say what is wrong with its file.


def size_in(file: Path, params: Mapping[str, Any]) -> Size:
    """Give the size of what a file holds."""
    copies: int = params.get("copies", 1)
    n_bytes = file.stat().st_size
    if params["generator"] == "image":
        from PIL import Image

        with Image.open(file) as picture:
            pixels = picture.size[0] * picture.size[1]
        width = params["patch"] ** 2
        return Size(copies, pixels // width, width, file=n_bytes)
    if params["generator"] != "file":
        rows = lines_in(file) // params.get("patch", 1)
        width = params.get("patch", len(params.get("keys", [1])))
        return Size(copies, rows, width, file=n_bytes)
    sizes: dict[str, int] = {}
    roles = [role for role in ROLES if params.get(role)]
    for role in roles:
        axes = axes_of(file, params[role])
        sizes["token"] = axes.get("token", axes.get("query", 1))
        sizes["replicate"] = max(axes.get("replicate", copies), sizes.get("replicate", 1))
        sizes["feature"] = max(axes.get("feature", 1), sizes.get("feature", 1))
    # Without tokens they are impulses, a feature for each token.
    width = sizes["feature"] if "tokens" in roles else sizes["token"]
    squares = len({*roles} & {*SQUARES})
    return Size(sizes["replicate"], sizes["token"], width, sizes["token"], squares, n_bytes)


def axes_of(file: Path, tensor: Mapping[str, Any]) -> dict[str, int]:
    """Give the sizes of the axes of a tensor that are not taken at an index."""
    shape, taken = shape_in(file, tensor.get("name")), tensor.get("at") or {}
    sizes = zip(tensor["dims"], shape, strict=True)
    return {axis: size for axis, size in sizes if axis not in taken}


def shape_in(file: Path, name: str | None) -> tuple[int, ...]:
    """Read the shape of an array off its file."""
    import numpy as np

    suffix = file.suffix.lower()
    if suffix == ".npy":
        return np.load(file, mmap_mode="r").shape
    if suffix == ".npz":
        with zipfile.ZipFile(file) as archive:
            member = f"{name}.npy" if name else archive.namelist()[0]
            with archive.open(member) as array:
                first = np.lib.format.read_magic(array)[0] == 1
                header = "read_array_header_1_0" if first else "read_array_header_2_0"
                return getattr(np.lib.format, header)(array)[0]
    if suffix == ".nc":
        import netCDF4

        with netCDF4.Dataset(file) as dataset:
            others = [each for each in dataset.variables if each not in dataset.dimensions]
            return dataset[name or others[0]].shape
    with file.open("rb") as table:
        return lines_in(file), table.readline().count(b",") + 1


def lines_in(file: Path) -> int:
    """Count the lines of a text."""
    with file.open("rb") as text:
        return sum(1 for _ in text)
