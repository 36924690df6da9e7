"""Smooth observations by attention over their keys."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr

from lowpass.spec.inside import combinations
from lowpass.spec.signatures import arguments
from lowpass.spec.smoothing import draws, parse
from lowpass.stages.inside import stack
from lowpass.streams import stream
from lowpass.studies import STUDIES
from lowpass.studies.names import Watch


def smoothing(recipe: Mapping[str, Any], data: xr.Dataset, watch: Watch = iter) -> xr.Dataset:
    """Ask what one study asks of a smoother.

    Parameters
    ----------
    recipe : mapping
        ``params`` with the study, ``inside`` mapping swept ones to values; where it draws, also
        ``seed``.
    data : Dataset
        ``key_position`` (key, feature), and what else the study needs; with a leading dimension
        ``replicate`` where they were drawn.
    watch : callable
        Hands on the items of a loop one by one, so that somebody may count them.

    Returns
    -------
    Dataset
        What the study gives, behind the dimensions swept inside, then ``replicate``.
    """
    axes = recipe["params"].get("inside", {})
    runs = [studied(params, recipe, data, watch) for params in combinations(recipe["params"])]
    return stack("smoothing", runs, axes)


def studied(
    params: dict[str, Any], recipe: Mapping[str, Any], data: xr.Dataset, watch: Watch
) -> xr.Dataset:
    """Ask one study of every replicate, each with a stream of its own where it draws."""
    if "replicate" not in data.dims:
        return asked(params, recipe, data, watch, 0)
    each = [
        asked(params, recipe, data.isel(replicate=place, drop=True), watch, int(replicate))
        for place, replicate in enumerate(data["replicate"].values)
    ]
    joined = xr.concat(
        each, "replicate", data_vars="all", coords="minimal", compat="override", join="exact"
    )
    return joined.assign_coords(replicate=data["replicate"].values)


def asked(
    params: dict[str, Any],
    recipe: Mapping[str, Any],
    observed: xr.Dataset,
    watch: Watch,
    replicate: int,
) -> xr.Dataset:
    """Ask one study of one set of observations."""
    spec = parse(params, "recipe")
    given = arguments(spec, "study")
    study = STUDIES[params["study"]]
    if not draws(params["study"]):
        return study(observed, watch, **given)
    return study(observed, watch, drawing(params["study"], given, recipe, replicate), **given)


def drawing(
    study: str, given: Mapping[str, Any], recipe: Mapping[str, Any], replicate: int
) -> np.random.Generator:
    """Open the stream of what a study draws, keyed by the parameters that shape it."""
    shape = {name: given[name] for name in STUDIES.facts(study)["draws"]}
    return stream(recipe["seed"], "study", {"study": study, **shape}, replicate)
