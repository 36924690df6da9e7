"""Judges of the stochastic-matrix view: what attention forgets, and how fast."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from lowpass.claims.intervals import median_interval
from lowpass.claims.names import CLAIMS, Measured, Number
from lowpass.claims.places import place_of_largest

if TYPE_CHECKING:
    import xarray as xr

# A run is deep enough to judge a limit when its prediction lies this far below the tolerance:
# the constant before the geometric factor costs at most a few of these decades.
SPARE_DECADES = 4.0
LIMIT = 1e-9
RATES = ("transient_rate", "hc_dc_rate")


def split(experiments: Mapping[str, xr.Dataset]) -> xr.Dataset:
    """Select the runs in split form, which rounding does not end."""
    return experiments["dc-limit"].sel(arithmetic="split")


@CLAIMS.add("judge of A01", claim="A01", experiments=("dc-limit",), tolerance=1e-13)
def zero_frequency_is_the_mean(experiments: Mapping[str, xr.Dataset]) -> Measured:
    """Compare the zero-frequency part of a Fourier transform with the token mean."""
    defect = split(experiments)["dft_mean_defect"]
    return Measured(
        as_written=float(defect.max()),
        witness=f"dc-limit: dft_mean_defect at {place_of_largest(defect)}",
    )


@CLAIMS.add("judge of A02", claim="A02", experiments=("dc-limit",), tolerance=1e-13)
def attention_is_stochastic(experiments: Mapping[str, xr.Dataset]) -> Measured:
    """Take the larger defect of row sums and of the eigenvalue one."""
    runs = split(experiments)
    rows, unit = runs["row_sum_defect"], runs["unit_eigenvalue_defect"]
    name, worst = max(
        [("row_sum_defect", rows), ("unit_eigenvalue_defect", unit)],
        key=lambda pair: float(pair[1].max()),
    )
    return Measured(
        as_written=float(worst.max()),
        witness=f"dc-limit: {name} at {place_of_largest(worst)}",
    )


def final_ratios_of_deep_runs(runs: xr.Dataset) -> xr.DataArray | None:
    """Select the last ratios of runs whose depth suffices for the limit; None if none does."""
    last = int(runs["layer"].max())
    deep = last * np.log10(runs["slem"]) < np.log10(LIMIT) - SPARE_DECADES
    positive = runs["min_attention"] > 0
    if not bool((deep & positive).any()):
        return None
    return runs["log10_hc_dc_ratio"].sel(layer=last).where(deep & positive)


def share_of(deep: xr.DataArray) -> Number:
    """Give the share of all runs whose depth suffices."""
    share = float(deep.notnull().mean())
    return Number(share, share, share)


@CLAIMS.add(
    "judge of A03", claim="A03", experiments=("dc-limit", "counterexamples"), tolerance=LIMIT
)
def stochastic_implies_the_limit(experiments: Mapping[str, xr.Dataset]) -> Measured | None:
    """Set attention with zero entries against attention that is positive throughout."""
    last = experiments["counterexamples"].isel(layer=-1)
    not_primitive = last["log10_hc_dc_ratio"].where(last["min_attention"] == 0)
    deep = final_ratios_of_deep_runs(split(experiments))
    if deep is None or bool(not_primitive.isnull().all()):
        return None
    return Measured(
        as_written=10 ** float(not_primitive.max()),
        under_condition=10 ** float(deep.max()),
        numbers={"deep_share": share_of(deep)},
        witness=f"counterexamples: log10_hc_dc_ratio at {place_of_largest(not_primitive)}",
    )


@CLAIMS.add(
    "judge of A04", claim="A04", experiments=("dc-limit", "counterexamples"), tolerance=LIMIT
)
def every_start_forgets(experiments: Mapping[str, xr.Dataset]) -> Measured | None:
    """Set starts without a stationary part against those of the deep runs.

    The counterexample with a finite ratio decides; the other, whose mean is zero, is infinite.
    """
    last = experiments["counterexamples"].isel(layer=-1)
    ratio = last["log10_hc_dc_ratio"]
    kept = ratio.where((last["min_attention"] > 0) & np.isfinite(ratio))
    deep = final_ratios_of_deep_runs(split(experiments))
    if deep is None or bool(kept.isnull().all()):
        return None
    return Measured(
        as_written=10 ** float(kept.max()),
        under_condition=10 ** float(deep.max()),
        numbers={"deep_share": share_of(deep)},
        witness=f"counterexamples: log10_hc_dc_ratio at {place_of_largest(kept)}",
    )


def share_off(one: xr.DataArray, other: xr.DataArray) -> xr.DataArray:
    """Give a difference in units of the larger of two numbers, so that small rates count alike."""
    return abs(one - other) / np.maximum(one, other)


@CLAIMS.add(
    "judge of A05", claim="A05", experiments=("dc-limit",), tolerance=1e-3, trend_tolerance=5e-3
)
def rate_is_the_second_eigenvalue(experiments: Mapping[str, xr.Dataset]) -> Measured:
    """Compare the ratio with c|λ₂|ᵗ at every layer, and its late slope with |λ₂|."""
    runs = split(experiments)
    off = abs(runs["log10_transient_ratio"] - runs["log10_predicted_ratio"])
    rates = [(name, share_off(runs[name], runs["slem"])) for name in RATES]
    name, worst = max(rates, key=lambda pair: float(pair[1].max()))
    numbers = {
        f"slem_beta_{beta:g}": median_interval(runs["slem"].sel(beta=beta).values)
        for beta in runs["beta"].values
    }
    return Measured(
        as_written=float(off.max()),
        trend=float(worst.max()),
        witness=f"dc-limit: {name} at {place_of_largest(worst)}",
        numbers=numbers,
    )
