"""A trajectory of patches beside heat that has lost as much of what differs between them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lowpass import matching
from lowpass.labels import VARIABLES, Card
from lowpass.measures.components import mean_of
from lowpass.measures.names import MEASURES
from lowpass.measures.pictures import assembled, on_grid, places_of
from lowpass.rounding import ROUNDING, Remainder
from lowpass.spectra import log10_norm

if TYPE_CHECKING:
    import xarray as xr

PICTURE = ("replicate", "recorded_layer", "pixel_row", "pixel_column")


class Matched(NamedTuple):
    """Hold both flows at the recorded layers, each in units of the norm they share.

    Attributes
    ----------
    time : (..., recorded_layer) DataArray
        Diffusion time of heat.
    own, heat : (..., recorded_layer, token, feature) DataArray
        What differs from the mean of the tokens.
    log_norm : (..., recorded_layer) DataArray
        Natural logarithm of the norm.
    """

    time: xr.DataArray
    own: xr.DataArray
    heat: xr.DataArray
    log_norm: xr.DataArray


def matched(trajectory: xr.Dataset) -> Matched:
    """Let heat flow on the grid of patches from layer 0 until it is down to each layer's norm."""
    hc, like = trajectory["hc"], trajectory["hc_exponent"]
    hc = hc.transpose(*like.dims, "token", "feature")
    log_norm = np.log(10) * log10_norm(hc.values, like.values)
    first = int(np.flatnonzero(trajectory["recorded_layer"].values == 0)[0])
    exponent = like.values[..., first, None, None, None]
    grid = on_grid(trajectory, hc)
    modes = matching.grid_modes(np.ldexp(grid.values[..., first, :, :, :], exponent))
    time = matching.matched_time(modes, log_norm)
    heat = matching.heat_on_grid(modes, time, log_norm)
    length = np.exp(log_norm - np.log(2) * like.values)[..., None, None]
    return Matched(
        like.copy(data=time),
        hc.copy(data=hc.values / np.where(length > 0, length, 1.0)),
        hc.copy(data=tokens_on(trajectory, heat)),
        like.copy(data=log_norm),
    )


def tokens_on(trajectory: xr.Dataset, grid: np.ndarray) -> np.ndarray:
    """Read tokens (..., token, feature) off a grid (..., feature, row, column)."""
    places = places_of(trajectory)
    row, column = (np.unique(places[name], return_inverse=True)[1] for name in ("row", "column"))
    return np.swapaxes(grid[..., row, column], -1, -2)


VARIABLES.enter(
    "matched_heat_time",
    Card(
        r"\tau",
        "diffusion time after which heat has left as much",
        dims=("replicate", "recorded_layer"),
        infinite="nothing is left that differs between tokens",
    ),
)
ROUNDING.enter("matched_heat_time", Remainder())


@MEASURES.add("matched_heat_time", of="picture", ordered=True)
def matched_heat_time(trajectory: xr.Dataset) -> xr.DataArray:
    """Find when heat that flows between neighbouring patches has lost as much as these layers.

    Returns
    -------
    (..., replicate, recorded_layer) float
        For the grid's combinatorial Laplacian, from the tokens of layer 0. Zero where a layer
        has left more than there was.
    """
    return matched(trajectory).time


VARIABLES.enter(
    "matched_difference",
    Card(
        r"\|HC-HC_\tau\|/\|HC\|",
        "distance from heat that has left as much",
        dims=("replicate", "recorded_layer"),
    ),
)
ROUNDING.enter("matched_difference", Remainder())


@MEASURES.add("matched_difference", of="picture", ordered=True)
def matched_difference(trajectory: xr.Dataset) -> xr.DataArray:
    """Compare what differs between patches with heat of the same norm.

    Returns
    -------
    (..., replicate, recorded_layer) float
        In [0, 2] where the norms are equal: zero for the same picture, √2 for pictures that
        have nothing in common.
    """
    found = matched(trajectory)
    off = (found.own - found.heat).values
    return found.time.copy(data=np.linalg.norm(off, axis=(-2, -1)))


VARIABLES.enter("matched_heat_picture", Card("X", "heat that has left as much", dims=PICTURE))


@MEASURES.add("matched_heat_picture", of="picture", ordered=True)
def matched_heat_picture(trajectory: xr.Dataset) -> xr.DataArray:
    """Show heat at the time at which it differs from its mean as much as each recorded layer.

    Returns
    -------
    (..., replicate, recorded_layer, pixel_row, pixel_column) float
        Around the mean patch of layer 0, which heat keeps.
    """
    found = matched(trajectory)
    mean = mean_of(trajectory).sel(recorded_layer=0, drop=True)
    heat = mean + found.heat * np.exp(found.log_norm)
    return assembled(trajectory, heat.transpose(*found.heat.dims))


VARIABLES.enter(
    "matched_difference_picture",
    Card(r"HC-HC_\tau", "difference from heat that has left as much", dims=PICTURE),
)
ROUNDING.enter("matched_difference_picture", Remainder())


@MEASURES.add("matched_difference_picture", of="picture", ordered=True)
def matched_difference_picture(trajectory: xr.Dataset) -> xr.DataArray:
    """Show what a layer differs by from heat that has left as much, without either mean.

    Returns
    -------
    (..., replicate, recorded_layer, pixel_row, pixel_column) float
        In units of the tokens.
    """
    found = matched(trajectory)
    return assembled(trajectory, (found.own - found.heat) * np.exp(found.log_norm))
