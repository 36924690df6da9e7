"""Judges of attention as a Markov chain: how fast it mixes, and when it favours no token."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from lowpass.claims.intervals import median_interval
from lowpass.claims.names import CLAIMS, Measured, Number
from lowpass.claims.places import place_of_largest

if TYPE_CHECKING:
    import xarray as xr

# Bounds and distance come from different sums; they agree to a few units in the last place.
ROUNDED = 1e-10
LOG10_2 = float(np.log10(2))


def exactly(value: float) -> Number:
    """Give a number that has no interval."""
    return Number(value, value, value)


@CLAIMS.add("judge of R05", claim="R05", experiments=("mixing",), tolerance=1e-12)
def sinkhorn_keeps_the_mean_and_enlarges_nothing(
    experiments: Mapping[str, xr.Dataset],
) -> Measured:
    """Take the larger of the defect of column sums and of what the largest gain exceeds one by.

    The largest gain is over all starts. Softmax of the same scores is quoted beside it.
    """
    runs = experiments["mixing"]
    balanced = runs.sel(kernel="sinkhorn")
    columns, excess = balanced["column_sum_defect"], (balanced["hc_gain"] - 1).clip(min=0)
    name, worst = max(
        [("column_sum_defect", columns), ("hc_gain", excess)], key=lambda pair: float(pair[1].max())
    )
    plain = runs.sel(kernel="softmax")
    numbers = {
        "violations": exactly(float((balanced["hc_gain"] > 1 + ROUNDED).sum())),
        "largest_gain": exactly(float(balanced["hc_gain"].max())),
        "softmax_gain": median_interval(plain["hc_gain"].isel(beta=-1).values),
        "softmax_enlarges": exactly(float((plain["hc_gain"] > 1).mean())),
        "softmax_column": median_interval(plain["column_sum_defect"].isel(beta=-1).values),
    }
    return Measured(
        as_written=float(worst.max()),
        witness=f"mixing: {name} at {place_of_largest(worst)}",
        numbers=numbers,
    )


def mixing_excess(runs: xr.Dataset) -> xr.DataArray:
    """Give the decades by which a distance leaves its two bounds; zero where it does not."""
    distance = runs["log10_mixing_distance"]
    below = runs["log10_mixing_lower"] - distance
    above = distance - runs["log10_mixing_upper"]
    return below.where(below > above, above).clip(min=0)


@CLAIMS.add("judge of R10", claim="R10", experiments=("mixing",), tolerance=ROUNDED)
def reversible_attention_mixes_within_its_bounds(
    experiments: Mapping[str, xr.Dataset],
) -> Measured:
    """Hold the distance of all layers against both bounds, and against tightened ones.

    A slack is the least distance to a bound in decades, over all replicates and layers. The
    upper bound without π, and twice the lower one, are what somebody might write instead.
    """
    runs = experiments["mixing"]
    excess, distance = mixing_excess(runs), runs["log10_mixing_distance"]
    lower, upper = runs["log10_mixing_lower"], runs["log10_mixing_upper"]
    later = distance["layer"] > 0
    without_pi = (distance > lower + ROUNDED).where(later).any("layer")
    twice = (distance < lower + LOG10_2 - ROUNDED).where(later, False).any("layer")
    return Measured(
        as_written=float(excess.max()),
        witness=f"mixing: log10_mixing_distance at {place_of_largest(excess)}",
        numbers={
            "violations": exactly(float((excess > ROUNDED).sum())),
            "comparisons": exactly(float(2 * excess.size)),
            "slack_lower": exactly(float((distance - lower).min())),
            "slack_upper": exactly(float((upper - distance).min())),
            "irreversible": exactly(float(runs["reversibility_defect"].max())),
            "without_pi": exactly(float(without_pi.mean())),
            "twice_lower": exactly(float(twice.mean())),
        },
    )
