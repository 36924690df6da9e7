"""Judges of how near a heat kernel comes to attention, in the note's gauge and in others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from lowpass.claims.circle import exactly
from lowpass.claims.heat import KINDS, of_kind, over_temperatures
from lowpass.claims.intervals import median_interval, share_interval
from lowpass.claims.names import CLAIMS, Measured, Number
from lowpass.claims.places import place_of_largest

if TYPE_CHECKING:
    import xarray as xr

# A kernel that is a tenth as far from attention as J is would be an approximation.
APPROXIMATE = 0.1
# Two searches for one minimum agree to half of all digits or better.
SAME = 1e-9
# A floor that somebody might hope for instead.
HIGHER = 1.1


@CLAIMS.add("judge of B06", claim="B06", experiments=("heat-kernel",), tolerance=APPROXIMATE)
def attention_is_a_heat_kernel(experiments: Mapping[str, xr.Dataset]) -> Measured:
    """Take the least distance of attention from its heat kernel at the best time, of all runs.

    It is in units of the distance from J. So the verdict rests on the run that is kindest to the
    note. The repaired statement is a bound: its distance is the number of runs that violate it.
    """
    runs = experiments["heat-kernel"]
    error, bound = runs["heat_error"], runs["column_bound"]
    return Measured(
        as_written=float(error.min()),
        repaired_distance=float((error < bound).sum()),
        witness=f"heat-kernel: heat_error at {place_of_largest(-error)}",
        numbers={
            "least": exactly(float(error.min())),
            "violations": exactly(float((error < bound).sum())),
            "checks": exactly(float(error.size)),
            "slack": exactly(float((error - bound).min())),
            **beside_uniform(experiments),
            **limits(experiments),
        },
    )


def beside_uniform(experiments: Mapping[str, xr.Dataset]) -> dict[str, Number]:
    """Tell how the best heat kernel compares with J, and with the identity."""
    numbers = {}
    for kind in KINDS:
        runs = of_kind(experiments, kind)
        worse = (runs["heat_error"] > 1).all("beta").values
        numbers[f"worse_{kind}"] = share_interval(worse)
        gained = 1 - runs["heat_error"] / runs["identity_error"]
        numbers[f"beyond_identity_{kind}"] = exactly(float(gained.max()))
        numbers[f"no_time_{kind}"] = exactly(float((runs["heat_best_time"] == 0).mean()))
        last = runs["heat_best_time"].isel(beta=-1)
        numbers[f"time_{kind}"] = median_interval(last.values)
    return numbers


def limits(experiments: Mapping[str, xr.Dataset]) -> dict[str, Number]:
    """Tell how far the heat kernel at the time one is, from the mildest to the sharpest logits."""
    decades = of_kind(experiments, "untied")["log10_heat_distance"]
    return {
        "mild": median_interval(10 ** decades.isel(beta=0).values),
        "sharp": median_interval(10 ** decades.isel(beta=-1).values),
    }


@CLAIMS.add(
    "judge of B06b", claim="B06b", experiments=("heat-kernel", "row-shifts"), tolerance=SAME
)
def attention_has_one_heat_kernel(experiments: Mapping[str, xr.Dataset]) -> Measured:
    """Take how much one attention matrix's distance from its heat kernel depends on the gauge.

    The statement is an identity, that what attention does not see does not matter; so the spread,
    in units of the distance from J, is held to rounding. The repaired statement is counted: by
    searches that go below the floor, and by shifts that damp every mode and leave J out of reach.
    """
    runs, shifts = experiments["heat-kernel"], experiments["row-shifts"]
    gauges = runs["gauge_error"]
    spread = gauges.max("gauge") - gauges.min("gauge")
    beyond = gauges.sel(gauge=slice(1, None))
    best, floor = runs["best_gauge_error"], runs["heat_floor"]
    return Measured(
        as_written=float(spread.max()),
        repaired_distance=float((best < floor - SAME).sum() + (beyond > 1 + SAME).sum()),
        witness=f"heat-kernel: gauge_error at {place_of_largest(spread)}",
        numbers={
            **best_cases(experiments),
            "violations": exactly(float((best < floor - SAME).sum())),
            "checks": exactly(float(best.size)),
            "slack": exactly(float((best.min("search") - floor).min())),
            "higher_floor": exactly(float((best.min("search") < HIGHER * floor).mean())),
            "searches_differ": exactly(float((best.max("search") - best.min("search")).max())),
            "uniform_lowest": median_interval(shifts["lowest_share"].values),
            "uniform_kernel": median_interval(10 ** shifts["log10_heat_distance"].values),
        },
    )


def best_cases(experiments: Mapping[str, xr.Dataset]) -> dict[str, Number]:
    """Tell what the best gauges reach beside the floors, kind by kind."""
    numbers = {}
    for kind in KINDS:
        runs = of_kind(experiments, kind)
        numbers |= over_temperatures(runs["best_gauge_error"].min("search"), f"best_{kind}")
        numbers |= over_temperatures(runs["gauge_error"].min("gauge"), f"constant_{kind}")
        beaten = (runs["symmetrised_error"] < runs["heat_floor"]).values
        numbers[f"walk_below_floor_{kind}"] = exactly(float(beaten.mean()))
    return numbers
