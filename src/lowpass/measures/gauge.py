"""What shifts of rows, which attention does not see, make of the distance to its heat kernel."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from lowpass import gauge, symmetrised
from lowpass.labels import DIMENSIONS, VARIABLES, Card
from lowpass.measures.components import logits_of
from lowpass.measures.heat_fit import UNIT
from lowpass.measures.names import MEASURES
from lowpass.measures.symmetrised import (
    UNIFORM,
    in_order,
    uniform_distance,
)
from lowpass.rounding import ROUNDING, Rounding

if TYPE_CHECKING:
    import xarray as xr

DIMENSIONS.enter("gauge", Card(r"cn/\rho(L)", "shift of all rows of the logits"))
VARIABLES.enter(
    "gauge_error",
    Card(
        r"\min_\tau\|A-e^{-\tau(L+cnC)}\|/\|A-J\|",
        "distance of attention from its nearest heat kernel after a shift" + UNIT,
        dims=("replicate", "gauge"),
        infinite=UNIFORM,
    ),
)


@MEASURES.add("gauge_error", of=("matrix", "scores", "pair"))
def gauge_error(trajectory: xr.Dataset) -> xr.DataArray:
    """Give the distance from the nearest heat kernel after several shifts of all rows alike.

    Returns
    -------
    (..., replicate, gauge) float
        Not negative, in units of the distance from J, at the best time for each. The gauge is
        in units of ρ(L)/n: beyond one every mode is damped, and the distance is at most one.
    """
    return in_units(trajectory, gauge.constant_gauges, gauge=gauge.GAUGES)


DIMENSIONS.enter("search", Card("r", "rank of a search for the best shift"))
VARIABLES.enter(
    "best_gauge_error",
    Card(
        r"\min_{\tau,c}\|A-e^{-L(\tau S+c1^\top)}\|/\|A-J\|",
        "distance of attention from its nearest heat kernel in the best gauge" + UNIT,
        dims=("replicate", "search"),
    ),
)
# A search ends where its steps are small, which depends on the last digits of all before.
ROUNDING.enter("best_gauge_error", Rounding(relative=1e-3))


@MEASURES.add("best_gauge_error", of=("matrix", "scores", "pair"))
def best_gauge_error(trajectory: xr.Dataset) -> xr.DataArray:
    """Give the distance from the heat kernel whose time and shift of every row fit best.

    Returns
    -------
    (..., replicate, search) float
        In [0, 1], in units of the distance from J: what several searches over n + 1 unknowns
        find, the best one first. It bounds the best there is from above.
    """
    return in_units(trajectory, gauge.best_gauges, search=range(gauge.SEARCHES))


def in_units(
    trajectory: xr.Dataset,
    function: Callable[[np.ndarray, np.ndarray], np.ndarray],
    **dimension: Sequence[float],
) -> xr.DataArray:
    """Apply a function of A and S̃ that gives several distances, in units of that from J."""
    symmetric = symmetrised.symmetric_part(logits_of(trajectory))
    ordered = in_order(trajectory)
    row = ordered[..., 0, 0].drop_vars(["query", "key"], errors="ignore")
    (name, labels), *_ = dimension.items()
    wide = row.expand_dims({name: list(labels)}, axis=-1)
    unit = uniform_distance(trajectory).transpose(*row.dims).values[..., None]
    found = function(ordered.values, symmetric)
    return wide.copy(data=symmetrised.share(found, np.broadcast_to(unit, found.shape)))
