"""What tokens tend to: how far they are from one row that all of them might come to share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lowpass.labels import VARIABLES, Card
from lowpass.measures.components import mean_of, tokens_of
from lowpass.measures.names import MEASURES
from lowpass.rounding import ROUNDING, Remainder

if TYPE_CHECKING:
    import xarray as xr

RECORDED = ("replicate", "recorded_layer")

VARIABLES.enter(
    "mean_departure",
    Card(
        r"\|X_t-JX_0\|/\|X_0\|",
        "distance of the tokens from the mean of the first ones",
        dims=RECORDED,
    ),
)
ROUNDING.enter("mean_departure", Remainder())


@MEASURES.add("mean_departure")
def mean_departure(trajectory: xr.Dataset) -> xr.DataArray:
    """Give the distance of all tokens from the token mean of layer 0.

    Returns
    -------
    (..., replicate, recorded_layer) float
        In units of the Frobenius norm of the tokens of layer 0; not below rounding.
    """
    return departure(trajectory, mean_of(trajectory).sel(recorded_layer=0, drop=True))


VARIABLES.enter(
    "first_departure",
    Card(
        r"\|X_t-1x_1^\top\|/\|X_0\|",
        "distance of the tokens from the first of the first ones",
        dims=RECORDED,
    ),
)
ROUNDING.enter("first_departure", Remainder())


@MEASURES.add("first_departure", ordered=True)
def first_departure(trajectory: xr.Dataset) -> xr.DataArray:
    """Give the distance of all tokens from the first token of layer 0.

    Returns
    -------
    (..., replicate, recorded_layer) float
        In units of the Frobenius norm of the tokens of layer 0; not below rounding.
    """
    start = tokens_of(trajectory).sel(recorded_layer=0, drop=True)
    return departure(trajectory, start.isel(token=0, drop=True))


def departure(trajectory: xr.Dataset, row: xr.DataArray) -> xr.DataArray:
    """Give the distance of all tokens from one row, in units of the tokens of layer 0."""
    x = tokens_of(trajectory)
    unit = norm(x.sel(recorded_layer=0, drop=True))
    return (norm(x - row) / unit).transpose(*trajectory["hc_exponent"].dims)


def norm(x: xr.DataArray) -> xr.DataArray:
    """Take the Frobenius norm over tokens and features."""
    return (x**2).sum(("token", "feature")) ** 0.5
