"""Judges of layers that step along the heat equation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from lowpass.claims.circle import exactly
from lowpass.claims.intervals import median_interval
from lowpass.claims.names import CLAIMS, Measured, Number
from lowpass.claims.places import place_of_largest

if TYPE_CHECKING:
    import xarray as xr

ORDERS, STABILITY = "heat-orders", "stability"
# Where a growth of one is meant, a fit over some hundred layers is this close to it.
MARGINAL = 1e-3
# Rounding of a gain.
ZERO = 1e-12


@CLAIMS.add("judge of B08", claim="B08", experiments=(ORDERS,), tolerance=1e-2)
def kernel_is_linear_at_first(experiments: Mapping[str, xr.Dataset]) -> Measured:
    """Compare the error of I - τL at the two shortest times with τ²‖L²‖/2.

    The statement is one about τ → 0, where the error's logarithm has the slope two.
    """
    runs = experiments[ORDERS]
    first = runs.sel(taylor_power=1)
    short = first.isel(diffusion_time=slice(0, 2))
    rise = short["log10_taylor_error"].diff("diffusion_time").isel(diffusion_time=0)
    slope = rise / np.diff(np.log10(short["diffusion_time"].values))[0]
    constant = 10 ** (short["log10_taylor_error"] - short["log10_taylor_lead"]).isel(
        diffusion_time=0
    )
    off = abs(slope - 2)
    last = runs.isel(diffusion_time=-1).sel(graph="affinity")
    worst = last["log10_taylor_error"].sel(taylor_power=last["taylor_power"].max())
    return Measured(
        as_written=float(np.maximum(off, abs(constant - 1)).max()),
        witness=f"{ORDERS}: log10_taylor_error at {place_of_largest(off)}",
        numbers={
            "slope": median_interval(slope.values),
            "constant": median_interval(constant.values),
            "error_at_one": power_of_ten(last["log10_taylor_error"].sel(taylor_power=1)),
            "reach_at_one": median_interval(last["heat_reach"].values),
            "worst_error": power_of_ten(worst),
        },
    )


@CLAIMS.add("judge of B09", claim="B09", experiments=(STABILITY,), tolerance=1e-12)
def a_step_is_a_low_pass(experiments: Mapping[str, xr.Dataset]) -> Measured:
    """Look for gains of an Euler step that are negative, above one, or rise with frequency.

    Repaired: the gain is 1 - τλ.
    """
    runs = experiments[STABILITY].sel(values="identity")
    gain = runs["wave_gain"].transpose(..., "frequency")
    off = fault(gain)
    reach = 1 - runs["ring_step_gain"].min("frequency")
    short = reach <= 1
    # The ring is the same for every replicate, but for rounding.
    lowest, reaches = gain.isel(frequency=-1).min("replicate"), reach.max("replicate")
    return Measured(
        as_written=float(off.max()),
        under_condition=float(off.where(short, 0).max()),
        repaired_distance=float(abs(gain - runs["ring_step_gain"]).max()),
        witness=f"{STABILITY}: wave_gain at {place_of_largest(off)}",
        numbers={
            "longest_reach": exactly(float(reaches.max())),
            "longest_gain": exactly(float(lowest.values[reaches.values.argmax()])),
            "turned_reach": exactly(float(reaches.where(lowest < -ZERO).min())),
            "amplified_reach": exactly(float(reaches.where(lowest < -1 - ZERO).min())),
        },
    )


def fault(gain: xr.DataArray) -> xr.DataArray:
    """Give by how much gains (..., frequency) fail to fall from one to zero with frequency."""
    values = gain.transpose(..., "frequency").values
    modulus = np.abs(values)
    faults = (np.diff(modulus).max(axis=-1), -values.min(axis=-1), modulus.max(axis=-1) - 1)
    one = gain.transpose(..., "frequency").isel(frequency=0, drop=True)
    return one.copy(data=np.maximum(np.maximum.reduce(faults), 0))


@CLAIMS.add("judge of B16", claim="B16", experiments=(STABILITY,), tolerance=1e-3)
def a_step_is_stable_within_a_disc(experiments: Mapping[str, xr.Dataset]) -> Measured:
    """Compare measured growth with the largest |1 - τλμ|, and the two sides of one.

    A single step that grows although it should not, or the other way round, refutes.
    """
    runs = experiments[STABILITY]
    grown = runs["transient_growth"]
    off = abs(grown / runs["mode_gain"] - 1)
    misjudged = int(((grown > 1 + MARGINAL) == (runs["stable"] == 1)).sum())
    turning = runs.sel(values="quarter_turn").isel(diffusion_time=0)
    return Measured(
        as_written=max(float(off.max()), float(misjudged)),
        witness=f"{STABILITY}: transient_growth at {place_of_largest(off)}",
        numbers={
            "runs": exactly(float(grown.size)),
            "misjudged": exactly(float(misjudged)),
            "real_threshold": longest(runs.sel(values="identity")),
            "oblique_threshold": longest(runs.sel(values="oblique")),
            "turning_stable": exactly(float((runs.sel(values="quarter_turn")["stable"]).sum())),
            "turning_growth": median_interval(turning["transient_growth"].values),
            "turning_time": exactly(float(turning["diffusion_time"])),
        },
    )


def longest(runs: xr.Dataset) -> Number:
    """Give the longest time at which every replicate is stable."""
    every = (runs["stable"] == 1).all("replicate")
    return exactly(float(runs["diffusion_time"].where(every, drop=True).max()))


def power_of_ten(decades: xr.DataArray) -> Number:
    """Give the median and interval of what has been stored as a logarithm."""
    middle = median_interval(decades.values)
    return Number(10**middle.value, 10**middle.low, 10**middle.high)
