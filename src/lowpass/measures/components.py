"""The tokens of recorded layers, put together from their components."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import xarray as xr


def mean_of(trajectory: xr.Dataset) -> xr.DataArray:
    """Give the token mean (..., replicate, recorded_layer, feature)."""
    return trajectory["dc"] * np.exp2(trajectory["dc_exponent"].astype(float))


def tokens_of(trajectory: xr.Dataset) -> xr.DataArray:
    """Give the tokens (..., replicate, recorded_layer, token, feature)."""
    rest = trajectory["hc"] * np.exp2(trajectory["hc_exponent"].astype(float))
    return (mean_of(trajectory) + rest).transpose(*trajectory["hc"].dims)
