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
from lowpass.rounding import ROUNDING, Remainder

if TYPE_CHECKING:
    import xarray as xr

RECORDED = ("replicate", "recorded_layer")
VANISHED = "nothing is left of the solution"

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

    Attention with the logits β cos(θᵢ − θⱼ) forgets the longest wave as the heat equation
    does within 1/(2β), so t layers of step h are matched with the time th/(2β).

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
ROUNDING.enter("curve_shortening_error", Remainder())


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
    like = trajectory["hc_exponent"]
    x = tokens_of(trajectory).transpose(*like.dims, "token", "feature")
    first = x.sel(recorded_layer=0).values
    elapsed = (trajectory["recorded_layer"] * trajectory["step_size"]).transpose(*like.dims)
    beta = trajectory["inverse_temperature"].broadcast_like(elapsed).transpose(*like.dims)
    found = np.empty(like.shape)
    for place in np.ndindex(like.shape):
        time = matched(float(elapsed.values[place]), float(beta.values[place]))
        found[place] = relative_distance(x.values[place], solution(first[place[:-1]], time))
    return like.copy(data=found)


def matched(elapsed: float, beta: float) -> float:
    """Give the time of the heat equation; where attention is the mean, all time passes at once."""
    if elapsed == 0:
        return 0.0
    return elapsed / (2 * beta) if beta else np.inf
