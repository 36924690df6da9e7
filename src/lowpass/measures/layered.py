"""Values for every layer, or every recorded one, put into their dimensions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from lowpass.diversity import Tokens

if TYPE_CHECKING:
    import xarray as xr


def over_layers(
    trajectory: xr.Dataset, attention: xr.DataArray, function: Callable[..., np.ndarray]
) -> xr.DataArray:
    """Apply a function of matrices (..., query, key) and a depth that gives (..., layer)."""
    ordered = attention.transpose(..., "query", "key")
    return with_layers(trajectory, ordered[..., 0, 0], function(ordered.values, depth(trajectory)))


def depth(trajectory: xr.Dataset) -> int:
    """Give the number of the last layer."""
    return trajectory.sizes["layer"] - 1


def with_layers(trajectory: xr.Dataset, like: xr.DataArray, values: np.ndarray) -> xr.DataArray:
    """Label values (..., layer) whose leading dimensions are those of another variable."""
    import xarray as xr

    leading = {name: like[name] for name in like.dims if name in like.coords}
    return xr.DataArray(values, {**leading, "layer": trajectory["layer"]}, (*like.dims, "layer"))


def of_tokens(trajectory: xr.Dataset, function: Callable[[Tokens], np.ndarray]) -> xr.DataArray:
    """Apply a function of tokens that gives one number for each recorded layer."""
    exponent = trajectory["hc_exponent"]
    return exponent.copy(data=function(split_tokens(trajectory)))


def split_tokens(trajectory: xr.Dataset) -> Tokens:
    """Give the two parts of the tokens (..., replicate, recorded_layer, token, feature)."""
    dims = trajectory["hc_exponent"].dims
    return Tokens(
        trajectory["dc"].transpose(*dims, "feature").values,
        trajectory["dc_exponent"].transpose(*dims).values,
        trajectory["hc"].transpose(*dims, "token", "feature").values,
        trajectory["hc_exponent"].values,
    )
