"""Take measures of a trajectory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import xarray as xr

from lowpass.measures import MEASURES
from lowpass.registry import Refusal
from lowpass.spec.spectra import parse


def spectra(
    recipe: Mapping[str, Any],
    trajectory: xr.Dataset,
    watch: Callable[[Iterable[str]], Iterable[str]] = iter,
) -> xr.Dataset:
    """Compute one variable for each measure that is asked for.

    Parameters
    ----------
    recipe : mapping
        ``params`` with the names of the ``measures``.
    trajectory : Dataset
        What the attention stage stored.
    watch : callable
        Hands on the measures one by one, so that somebody may count them.

    Returns
    -------
    Dataset
        A variable of the same name for each measure.
    """
    spec = parse(recipe["params"], "recipe")
    return xr.Dataset(
        {name: taken(name, trajectory).reset_coords(drop=True) for name in watch(spec.measures)}
    )


def taken(name: str, trajectory: xr.Dataset) -> xr.DataArray:
    """Take one measure.

    Raises
    ------
    Refusal
        When it compares tokens, and a file held one only.
    """
    of = MEASURES.facts(name).get("of", ())
    if "pair" in of and trajectory.sizes["token"] < 2:
        raise Refusal(
            f"spectra: '{name}' compares tokens, and there is one only; delete it, or give two."
        )
    return MEASURES[name](trajectory)
