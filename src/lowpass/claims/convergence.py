"""Judges of how fast kernel regression comes near to the truth, which attention never does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from lowpass.claims.circle import exactly
from lowpass.claims.names import CLAIMS, Measured
from lowpass.claims.places import place_of_largest

if TYPE_CHECKING:
    import xarray as xr

NAME = "convergence"
# Ends, degree, the power of n that the least error falls with, and that of the bandwidth which
# the first correction to it has.
REGIMES = {
    "ring": ("joined", 0, -4 / 5, 2),
    "constants": ("open", 0, -3 / 4, 1),
    "lines": ("open", 1, -4 / 5, 1),
}
# Three errors over the bandwidth are a parabola, whose value at zero is of third order.
NARROWEST = 3
# Attention, whose weights are Gaussian, averages; it fits no lines and knows no ring.
ATTENTION = {"kernel": "gaussian", "degree": 0, "ends": "open"}
# A slope below half of what regression has in the same place has stopped.
STOPPED = -3 / 8


def regime(runs: xr.Dataset, name: str) -> xr.Dataset:
    """Take the runs of one regime, those of the most keys first."""
    ends, degree, *_ = REGIMES[name]
    return runs.sel(ends=ends, degree=degree)


def slopes(runs: xr.Dataset, name: str) -> xr.DataArray:
    """Give powers of the number of keys between neighbouring numbers, the largest first."""
    error, keys = (
        runs[each].copy(data=np.log(runs[each].values)).diff("thin") for each in (name, "kept_keys")
    )
    return error / keys


def last_slope(runs: xr.Dataset, name: str) -> xr.DataArray:
    """Give the power between the two largest numbers of keys."""
    return slopes(runs, name).isel(thin=0, drop=True)


def slope_in_the_limit(runs: xr.Dataset, power: int) -> xr.DataArray:
    """Extrapolate the power from the two last, which differ by one of the bandwidth."""
    near = slopes(runs, "mise")
    width = runs["mise_bandwidth"]
    share = (width.isel(thin=0, drop=True) / width.isel(thin=1, drop=True)) ** power
    return (near.isel(thin=0, drop=True) - share * near.isel(thin=1, drop=True)) / (1 - share)


def end_in_the_limit(run: xr.Dataset) -> float:
    """Extrapolate the bias at the end, in its units, to a bandwidth of zero."""
    last = run.isel(end_place=0, thin=slice(NARROWEST))
    return float(np.polyfit(last["mise_bandwidth"].values, last["end_bias"].values, 2)[-1])


def end_errors(runs: xr.Dataset) -> dict[tuple[str, str], tuple[float, float]]:
    """Give constant and limit of the bias at the end, by regime and kernel."""
    return {
        (name, str(kernel)): (
            end_in_the_limit(regime(runs, name).sel(kernel=kernel)),
            float(regime(runs, name).sel(kernel=kernel)["end_constant"].isel(thin=0)),
        )
        for name in ("constants", "lines")
        for kernel in runs["kernel"].values
    }


@CLAIMS.add(
    "judge of K09",
    claim="K09",
    experiments=(NAME,),
    tolerance=1e-6,
    trend_tolerance=0.02,
)
def rates_and_ends(experiments: Mapping[str, xr.Dataset]) -> Measured:
    """Compare slopes between the two largest numbers of keys, and constants at the end.

    As written, the error is its leading term. Slopes are not extrapolated; what they tend to
    stands beside them.
    """
    runs = experiments[NAME]
    gap = abs(runs["mise"] / runs["mise_leading"] - 1).isel(thin=0, drop=True)
    numbers, off = {"gap": exactly(float(gap.max()))}, [0.0]
    for name, (_, _, wanted, power) in REGIMES.items():
        each = regime(runs, name)
        slope = last_slope(each, "mise")
        off.append(float(abs(slope - wanted).max()))
        shown = each.sel(kernel="gaussian")
        numbers[f"slope_{name}"] = exactly(float(last_slope(shown, "mise")))
        numbers[f"limit_{name}"] = exactly(float(slope_in_the_limit(shown, power)))
        share = shown["variance_share"].isel(thin=0)
        numbers[f"variance_share_{name}"] = exactly(float(share))
    for (name, kernel), (found, wanted) in end_errors(runs).items():
        off.append(abs(found / wanted - 1))
        numbers[f"end_{name}_{kernel}"] = exactly(found)
        numbers[f"end_{name}_{kernel}_theory"] = exactly(wanted)
    keys = runs["kept_keys"]
    numbers |= {"most": exactly(float(keys.max())), "fewest": exactly(float(keys.min()))}
    return Measured(
        as_written=float(gap.max()),
        trend=max(off),
        witness=f"{NAME}: mise at {place_of_largest(gap)}, of the most keys",
        numbers=numbers,
    )


@CLAIMS.add("judge of N07", claim="N07", experiments=(NAME,), tolerance=1e-12)
def both_are_one_estimator(experiments: Mapping[str, xr.Dataset]) -> Measured:
    """Take by how much the error of attention exceeds that of regression, for the most keys.

    Under the condition it is the difference of two formulas. The repaired statement counts, too,
    how often regression does not come nearer to the truth with more keys, and whether attention
    still does.
    """
    runs = experiments[NAME].sel(ATTENTION)
    excess = runs["mise_fixed"] / runs["mise"] - 1
    gap = float(runs["attention_gap"].max())
    fixed = float(last_slope(runs, "mise_fixed"))
    misjudged = int((slopes(runs, "mise") >= 0).sum()) + int(fixed < STOPPED)
    last = runs.isel(thin=0)
    return Measured(
        as_written=float(excess.isel(thin=0)),
        under_condition=gap,
        repaired_distance=max(gap, float(misjudged)),
        witness=f"{NAME}: mise_fixed and mise of {int(last['kept_keys'])} keys",
        numbers={
            "times": exactly(float(excess.isel(thin=0)) + 1),
            "least_excess": exactly(float(excess.min())),
            "least_keys": exactly(float(runs["kept_keys"].isel(thin=int(excess.argmin("thin"))))),
            "slope_fixed": exactly(fixed),
            "slope": exactly(float(last_slope(runs, "mise"))),
            "bias_share": exactly(float(last["bias_fixed"] / last["mise_fixed"])),
        },
    )
