"""Draw tokens, or take observations from a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr

from lowpass.data import GENERATORS, parse_table
from lowpass.spec.data import BLOCK, OBSERVATIONS, kind, parse
from lowpass.streams import stream


def data(recipe: Mapping[str, Any], resource: str | None = None) -> xr.Dataset:
    """Make the input of one point.

    Parameters
    ----------
    recipe : mapping
        ``params`` with the generator; for tokens also ``seed`` and ``block``.
    resource : str, optional
        Text of the table that observations are taken from.

    Returns
    -------
    Dataset
        ``x`` (replicate, token, feature), or ``key_position`` (key, feature) and ``value`` (key).
    """
    params = dict(recipe["params"])
    params.pop("sha256", None)
    spec = parse(params, "recipe")
    arguments = spec.model_dump(exclude={"generator"})
    generator = GENERATORS[params["generator"]]
    if kind(params["generator"]) == OBSERVATIONS:
        return observations(generator, arguments, resource or "")
    return tokens(generator, arguments, recipe, spec.model_dump())


def observations(generator, arguments: dict[str, Any], resource: str) -> xr.Dataset:
    """Label the keys and values that a generator takes from a table."""
    key_position, value = generator(parse_table(resource, arguments["path"]), **arguments)
    return xr.Dataset(
        {"key_position": (("key", "feature"), key_position), "value": ("key", value)},
        {"key": np.arange(len(value)), "feature": np.arange(key_position.shape[1])},
    )


def tokens(generator, arguments: dict[str, Any], recipe, shape) -> xr.Dataset:
    """Draw one block of replicates, each from its own stream."""
    replicates = np.arange(BLOCK) + BLOCK * recipe["block"]
    x = np.stack(
        [
            generator(stream(recipe["seed"], "tokens", shape, int(replicate)), **arguments)
            for replicate in replicates
        ]
    )
    return xr.Dataset(
        {"x": (("replicate", "token", "feature"), x)},
        {
            "replicate": replicates,
            "token": np.arange(x.shape[1]),
            "feature": np.arange(x.shape[2]),
        },
    )
