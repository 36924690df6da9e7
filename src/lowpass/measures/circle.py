"""How far tokens on a circle are from partial differential equations."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from lowpass import ring
from lowpass.equations import relative_distance
from lowpass.labels import VARIABLES, Card
from lowpass.measures.components import tokens_of
from lowpass.measures.names import MEASURES
from lowpass.rounding import ROUNDING, Departure, Remainder

if TYPE_CHECKING:
    import xarray as xr

RECORDED = ("replicate", "recorded_layer")
VANISHED = "nothing is left of the solution"

VARIABLES.enter(
    "matched_time",
    Card(
        r"\tau=th/2\beta",
        "matched time of the heat equation",
        dims=RECORDED,
        infinite="attention is the mean of all tokens",
    ),
)


@MEASURES.add("matched_time", of="temperature")
def matched_time(trajectory: xr.Dataset) -> xr.DataArray:
    """Give the time in which the heat equation on a circle forgets as much as the layers do.

    Attention with the logits β cos(θᵢ − θⱼ) forgets the longest wave as the heat equation
    does within 1/(2β), so t layers of step h are matched with the time th/(2β).

    Returns
    -------
    (..., replicate, recorded_layer) float
        Zero at layer 0; infinite beyond where β is zero.
    """
    like = trajectory["hc_exponent"]
    elapsed = (trajectory["recorded_layer"] * trajectory["step_size"]).transpose(*like.dims)
    beta = trajectory["inverse_temperature"].broadcast_like(elapsed).transpose(*like.dims)
    time = np.where(elapsed == 0, 0.0, np.inf)
    np.divide(elapsed.values, 2 * beta.values, out=time, where=beta.values > 0)
    return like.copy(data=time)


VARIABLES.enter(
    "heat_equation_error",
    Card(
        r"\|X_t-e^{\tau\partial^2}X_0\|/\|e^{\tau\partial^2}X_0\|",
        "relative distance from the heat equation on a circle",
        dims=RECORDED,
        infinite=VANISHED,
    ),
)
ROUNDING.enter("heat_equation_error", Remainder())


@MEASURES.add("heat_equation_error", of="temperature", ordered=True)
def heat_equation_error(trajectory: xr.Dataset) -> xr.DataArray:
    """Compare tokens, numbered around a circle, with the heat equation after the matched time.

    Returns
    -------
    (..., replicate, recorded_layer) float
        Not negative; zero at layer 0.
    """
    return compared(trajectory, ring.circle_heat)


VARIABLES.enter(
    "curve_shortening_error",
    Card(
        r"\|X_t-\sqrt{1-2\tau}X_0\|/\|\sqrt{1-2\tau}X_0\|",
        "relative distance from a circle that shortens",
        dims=RECORDED,
        infinite=VANISHED,
    ),
)
ROUNDING.enter("curve_shortening_error", Departure())


@MEASURES.add("curve_shortening_error", of="temperature")
def curve_shortening_error(trajectory: xr.Dataset) -> xr.DataArray:
    """Compare tokens on a circle with the flow by which a curve shortens, at the matched time.

    It is what heat becomes where neighbours are measured by their distance in space and not
    along the numbers of the tokens: as the circle shrinks, neighbours come near.

    Returns
    -------
    (..., replicate, recorded_layer) float
        Not negative; zero at layer 0.

    References
    ----------
    .. [1] gage1986.
    """
    return compared(trajectory, ring.shortened_circle)


def compared(
    trajectory: xr.Dataset, solution: Callable[[np.ndarray, float], np.ndarray]
) -> xr.DataArray:
    """Compare recorded tokens with a solution (tokens, time) from those of layer 0."""
    time = matched_time(trajectory)
    x = tokens_of(trajectory).transpose(*time.dims, "token", "feature")
    first = x.sel(recorded_layer=0).values
    found = np.empty(time.shape)
    for place in np.ndindex(time.shape):
        exact = solution(first[place[:-1]], float(time.values[place]))
        found[place] = relative_distance(x.values[place], exact)
    return time.copy(data=found)
