"""The tokens of recorded layers, put together from their components, and what these are scored."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lowpass.registry import Refusal
from lowpass.scores import logits

if TYPE_CHECKING:
    import xarray as xr


def mean_of(trajectory: xr.Dataset) -> xr.DataArray:
    """Give the token mean (..., replicate, recorded_layer, feature)."""
    return trajectory["dc"] * np.exp2(trajectory["dc_exponent"].astype(float))


def tokens_of(trajectory: xr.Dataset) -> xr.DataArray:
    """Give the tokens (..., replicate, recorded_layer, token, feature)."""
    rest = trajectory["hc"] * np.exp2(trajectory["hc_exponent"].astype(float))
    return (mean_of(trajectory) + rest).transpose(*trajectory["hc"].dims)


def logits_of(trajectory: xr.Dataset) -> np.ndarray:
    """Give the logits (..., replicate, query, key) of layer 0, stated or made from tokens again.

    Raises
    ------
    Refusal
        Where the tokens of layer 0 are not recorded.
    """
    if "logits" in trajectory:
        return trajectory["logits"].transpose(..., "replicate", "query", "key").values
    if 0 not in trajectory["recorded_layer"].values:
        raise Refusal(
            "this is a measure of the logits of layer 0, and its tokens are not recorded; write "
            "'record: geometric', or leave it out."
        )
    x = tokens_of(trajectory).sel(recorded_layer=0)
    beta = trajectory["inverse_temperature"]
    dims = [dim for dim in beta.dims if dim != "replicate"]
    order = (*dims, "replicate")
    drawn = (trajectory[name].transpose(*order, "feature", "projected") for name in ("w_q", "w_k"))
    x = x.transpose(*order, "token", "feature").values
    q, k = (x @ each.values for each in drawn)
    unit = logits(q, k, score="dot", mask="none", beta=1.0)
    return unit * beta.transpose(*order).values[..., None, None]
