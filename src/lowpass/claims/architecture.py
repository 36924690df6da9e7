"""Judges of what a stack does that is no repetition of one bare matrix."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from lowpass.claims.intervals import median_interval
from lowpass.claims.names import CLAIMS, Measured, Number
from lowpass.claims.places import place_of_largest

if TYPE_CHECKING:
    import xarray as xr

# Orders of convergence, by what they are called.
GEOMETRIC, CUBIC = 1.0, 3.0
# Dong's bound has a factor 4; a tenth of it must be too little somewhere.
TIGHTENED = np.log10(4 / 0.4)


@CLAIMS.add("judge of A13", claim="A13", experiments=("recomputed",), tolerance=1e-2)
def one_matrix_describes_a_stack(experiments: Mapping[str, xr.Dataset]) -> Measured:
    """Compare the order at which recomputed attention collapses with that of a geometric law.

    The repaired statement is compared with the order three. What the same measure makes of a
    repeated matrix, which is geometric, is quoted.
    """
    order = experiments["recomputed"]["collapse_order"].sel(arithmetic="split")
    recomputed = order.sel(layers="recomputed")
    off = abs(recomputed - GEOMETRIC)
    return Measured(
        as_written=float(off.max()),
        repaired_distance=float(abs(recomputed - CUBIC).max()),
        witness=f"recomputed: collapse_order at {place_of_largest(off)}",
        numbers={
            "recomputed_order": median_interval(recomputed.values),
            "frozen_order": median_interval(order.sel(layers="frozen").values),
        },
    )


@CLAIMS.add("judge of R07", claim="R07", experiments=("dong-bound",), tolerance=1e-9)
def rank_is_lost_doubly_exponentially(experiments: Mapping[str, xr.Dataset]) -> Measured:
    """Take the largest excess over the bound of Dong et al. at any layer, in decades.

    The residual from the mean row is at least that of the theorem, and the bound starts from at
    most that of the theorem, so that no excess here is none of the theorem. For the tightened
    bound it is the other way round: a lower bound on the residual exceeds it.
    """
    runs = experiments["dong-bound"].isel(layer=slice(1, None))
    upper, lower = (
        at_layers(runs, name) for name in ("log10_composite_norm", "log10_composite_norm_infimum")
    )
    slack = runs["log10_dong_bound"] - upper
    sharper = runs["log10_dong_bound"] - TIGHTENED * (CUBIC ** runs["layer"] - 1) / 2
    broken = (lower > sharper).any("layer")
    return Measured(
        as_written=max(0.0, float(-slack.min())),
        witness=f"dong-bound: log10_composite_norm at {place_of_largest(-slack)}",
        numbers={
            "violations": exactly(float((slack < 0).sum())),
            "worst_slack": exactly(float(slack.min())),
            **by_case("worst_slack", slack.min(("layer", "replicate"))),
            **by_case("tightened_violated", broken.mean("replicate")),
        },
    )


def at_layers(runs: xr.Dataset, name: str) -> xr.DataArray:
    """Read what was measured at recorded layers as measured at those layers."""
    return runs[name].rename(recorded_layer="layer").sel(layer=runs["layer"])


def by_case(name: str, values: xr.DataArray) -> dict[str, Number]:
    """Name the numbers of several cases."""
    return {
        f"{name}_{case.replace(' ', '_')}": exactly(float(values.sel(case=case)))
        for case in values["case"].values
    }


def exactly(value: float) -> Number:
    """Give a number that is no median."""
    return Number(value, value, value)
