"""Draw tokens, or take what a file holds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr

from lowpass.data import GENERATORS
from lowpass.labels import VARIABLES
from lowpass.registry import Refusal
from lowpass.spec.data import BLOCK, TOKENS, draws, kind, parse, reads, states
from lowpass.stages.components import LABELS
from lowpass.streams import stream


def data(recipe: Mapping[str, Any], content: bytes | None = None) -> xr.Dataset:
    """Make the input of one point.

    Parameters
    ----------
    recipe : mapping
        ``params`` with the generator; where it draws, also ``seed`` and ``block``.
    content : bytes, optional
        Of the file that a generator reads.

    Returns
    -------
    Dataset
        For attention ``x`` (replicate, token, feature), and what is stated of how tokens are
        mixed; for smoothing ``key_position`` (key, feature) and what is observed there, behind
        a dimension ``replicate`` where they are drawn.
    """
    params = dict(recipe["params"])
    params.pop("sha256", None)
    spec = parse(params, "recipe")
    arguments = spec.model_dump(exclude={"generator"})
    generator = GENERATORS[params["generator"]]
    if draws(params["generator"]):
        alone = kind(params["generator"]) == TOKENS and not states(params["generator"])
        return drawn(generator, arguments, recipe, spec.model_dump(), alone=alone)
    if not reads(params["generator"]):
        return labelled(generator(**arguments))
    if content is None:
        raise Refusal(f"{arguments['path']}: its content was not handed to the stage 'data'.")
    return labelled(generator(content, **arguments))


def labelled(arrays: Mapping[str, np.ndarray]) -> xr.Dataset:
    """Label arrays with the dimensions on their cards, counted from zero."""
    variables = {name: (dims_of(name, array), array) for name, array in arrays.items()}
    dataset = xr.Dataset(variables).set_coords([name for name in LABELS if name in arrays])
    return dataset.assign_coords({dim: np.arange(size) for dim, size in dataset.sizes.items()})


def dims_of(name: str, array: np.ndarray) -> tuple[str, ...]:
    """Name the dimensions of an array, which may have one more than its card."""
    dims = VARIABLES[name].dims
    return dims if array.ndim == len(dims) else ("replicate", *dims)


def drawn(generator, arguments: dict[str, Any], recipe, shape, *, alone: bool) -> xr.Dataset:
    """Draw one block of replicates, each from its own stream."""
    replicates = np.arange(BLOCK) + BLOCK * recipe["block"]
    made = [
        generator(stream(recipe["seed"], "tokens", shape, int(replicate)), **arguments)
        for replicate in replicates
    ]
    each = [{"x": x} for x in made] if alone else made
    block = {name: np.stack([one[name] for one in each]) for name in each[0]}
    return labelled(block).assign_coords(replicate=replicates)
