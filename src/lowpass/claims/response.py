"""Judges of the bridge: one filter in two notes, and where it is two."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from lowpass.claims.circle import exactly
from lowpass.claims.names import CLAIMS, Measured, Number
from lowpass.claims.places import place_of_largest

if TYPE_CHECKING:
    import xarray as xr

# From here on the images of a Gaussian, and those of its square, are below rounding.
WIDE, FINE = 2.0, 4.0
LOW_PASS = ["gaussian", "laplace", "triangle"]
LOBED = ["boxcar", "epanechnikov", "tricube"]


def at(runs: xr.Dataset, bandwidth: float) -> xr.Dataset:
    """Take the runs whose bandwidth, in spacings, is nearest to one."""
    away = abs(np.log(runs["relative_bandwidth"].values / bandwidth))
    return runs.isel(bandwidth=int(away.argmin()))


def no_narrower(runs: xr.Dataset, bandwidth: float) -> xr.Dataset:
    """Take the runs whose bandwidth is so many spacings at least, to rounding."""
    return runs.isel(bandwidth=(runs["relative_bandwidth"] > bandwidth * (1 - 1e-9)).values)


def gaussian(runs: xr.Dataset) -> xr.DataArray:
    """Take the measured gain of the Gaussian smoother."""
    return runs["smoother_gain"].sel(smoothing_kernel="gaussian", drop=True)


def spacings(runs: xr.Dataset, values: xr.DataArray) -> str:
    """Say at which bandwidth values are largest."""
    widest = runs["relative_bandwidth"].isel(bandwidth=int(values.argmax("bandwidth")))
    return f"h/D {float(widest):.4g}"


@CLAIMS.add("judge of K02", claim="K02", experiments=("bridge",), tolerance=1e-13)
def a_ring_has_a_theta_ratio(experiments: Mapping[str, xr.Dataset]) -> Measured:
    """Compare what a smoother leaves of each wave with the ratio of theta functions.

    The bound on its distance to the Gaussian has to hold too.
    """
    runs = experiments["bridge"]
    off = abs(gaussian(runs) - runs["ring_symbol"])
    beyond = (runs["grid_distance"] - runs["grid_bound"]).clip(min=0)
    one = at(runs, 1.0)
    return Measured(
        as_written=float(max(off.max(), beyond.max())),
        witness=f"bridge: smoother_gain at {place_of_largest(off)}",
        numbers={
            "distance_at_spacing": exactly(float(one["grid_distance"])),
            "bound_at_spacing": exactly(float(one["grid_bound"])),
            "beyond": exactly(float(beyond.max())),
        },
    )


def octave(runs: xr.Dataset, name: str) -> tuple[float, float]:
    """Give the power with which a distance falls over the last octave, and its constant.

    The constant is relative to the leading term.
    """
    wide, narrow = runs.isel(bandwidth=-1), at(runs, float(runs["relative_bandwidth"][-1]) / 2)
    ratio = float(wide["relative_bandwidth"] / narrow["relative_bandwidth"])
    slope = float(np.log(wide[f"{name}_distance"] / narrow[f"{name}_distance"])) / np.log(ratio)
    return slope, float(wide[f"{name}_distance"] / wide[f"{name}_limit"])


@CLAIMS.add(
    "judge of K03",
    claim="K03",
    experiments=("bridge",),
    tolerance=1e-6,
    trend_tolerance=0.01,
)
def heat_is_the_smoother(experiments: Mapping[str, xr.Dataset]) -> Measured:
    """Ask whether heat nears the smoother as D²/h², with the predicted constants.

    The power and both constants count alike, of the largest difference of gains as of the
    sum along a row.
    """
    runs = experiments["bridge"]
    found = {name: octave(runs, name) for name in ("heat", "heat_row")}
    numbers = {f"slope_{name}": exactly(slope) for name, (slope, _) in found.items()}
    for name in found:
        scale = float(runs["relative_bandwidth"][-1]) ** 2
        for kind in ("distance", "limit"):
            constant = float(runs[f"{name}_{kind}"][-1]) * scale
            numbers[f"{name}_{kind}_constant"] = exactly(constant)
    return Measured(
        as_written=float(runs["heat_distance"][-1]),
        trend=max(max(abs(slope + 2), abs(ratio - 1)) for slope, ratio in found.values()),
        witness="bridge: heat_distance and heat_row_distance at the two ends of the last octave",
        numbers={**numbers, "heat_at_spacing": exactly(float(at(runs, 1.0)["heat_distance"]))},
    )


@CLAIMS.add("judge of K04", claim="K04", experiments=("bridge",), tolerance=1e-13)
def depth_is_time(experiments: Mapping[str, xr.Dataset]) -> Measured:
    """Compare layers of smoothing with one that is wider, at every bandwidth and at wide ones."""
    runs = experiments["bridge"]
    off = runs["layers_distance"]
    wide, one = no_narrower(runs, WIDE)["layers_distance"], at(runs, 1.0)
    two = one.sel(smoothing_layers=2)
    return Measured(
        as_written=float(off.max()),
        under_condition=float(wide.max()),
        witness=f"bridge: layers_distance at {place_of_largest(off)}",
        numbers={
            "two_at_spacing": exactly(float(two["layers_distance"])),
            "two_at_spacing_limit": exactly(float(two["layers_limit"])),
        },
    )


def misfits(runs: xr.Dataset, symbol: xr.DataArray) -> xr.DataArray:
    """Compare a symbol with the smoother, relative to what the smoother takes away at most."""
    gain = gaussian(runs)
    return abs(symbol - gain).max("ring_wave") / (1 - gain).max("ring_wave")


@CLAIMS.add("judge of K05", claim="K05", experiments=("bridge",), tolerance=1e-9)
def one_step_is_one_layer(experiments: Mapping[str, xr.Dataset]) -> Measured:
    """Compare one step of heat with one layer of smoothing, at every bandwidth and at its best.

    What the repaired statement says of the fastest wave and of nearest neighbours is
    compared where it says so.
    """
    runs = experiments["bridge"]
    step, neighbours = (misfits(runs, runs[of]) for of in ("step_gain", "neighbour_symbol"))
    turns, whole = (
        float(at(runs, bandwidth)["step_gain"].isel(ring_wave=-1))
        for bandwidth in (np.sqrt(0.5), 1.0)
    )
    best = int(step.argmin("bandwidth"))
    heat = abs(runs["step_gain"] - runs["heat_gain"]).max("ring_wave")
    heat = heat / (1 - runs["heat_gain"]).max("ring_wave")
    return Measured(
        as_written=float(step.max()),
        under_condition=float(step[best]),
        repaired_distance=max(float(neighbours[0]), abs(turns), abs(whole + 1)),
        witness=f"bridge: step_gain at {spacings(runs, step)}",
        numbers={
            "best_bandwidth": exactly(float(runs["relative_bandwidth"][best])),
            "narrowest": exactly(float(runs["relative_bandwidth"][0])),
            "narrowest_misfit": exactly(float(step[0])),
            "narrowest_heat_misfit": exactly(float(heat[0])),
            "narrowest_neighbours": exactly(float(neighbours[0])),
            "fastest_at_spacing": exactly(whole),
        },
    )


@CLAIMS.add("judge of K07", claim="K07", experiments=("bridge",), tolerance=1e-3)
def kernels_are_low_pass(experiments: Mapping[str, xr.Dataset]) -> Measured:
    """Ask how far below zero each kernel's gain goes, at any bandwidth.

    Lobes that are deeper than the tolerance count; those of the repaired statement have
    to be as deep as on a line where the bandwidth is widest.
    """
    runs = experiments["bridge"]
    depth = (-runs["lowest_gain"]).clip(min=0)
    wide = runs.isel(bandwidth=-1).sel(smoothing_kernel=LOBED)
    off = abs(wide["lowest_gain"] - wide["lowest_symbol"])
    return Measured(
        as_written=float(depth.max()),
        under_condition=float(depth.sel(smoothing_kernel=LOW_PASS).max()),
        repaired_distance=float(off.max()),
        witness=f"bridge: lowest_gain at {place_of_largest(depth)}",
        numbers=lobes(runs),
    )


def lobes(runs: xr.Dataset) -> dict[str, Number]:
    """Say where each lobed kernel turns negative and how far it goes, at the widest bandwidth."""
    numbers = {}
    for kernel in LOBED:
        wide = runs.isel(bandwidth=-1).sel(smoothing_kernel=kernel)
        for name in ("lowest_gain", "lowest_symbol", "first_zero", "symbol_zero"):
            numbers[f"{name}_{kernel}"] = exactly(float(wide[name]))
    return numbers


@CLAIMS.add("judge of N08", claim="N08", experiments=("bridge",), tolerance=1e-13)
def the_smoother_is_low_pass(experiments: Mapping[str, xr.Dataset]) -> Measured:
    """Compare the gain with a Gaussian at every bandwidth, and where the grid is fine.

    There, no wave may turn into another either.
    """
    runs = experiments["bridge"]
    off, fine = runs["grid_distance"], no_narrower(runs, FINE)
    mixed = fine["filter_defect"].sel(smoothing_kernel="gaussian")
    four = at(runs, FINE)
    scale = float(four["bandwidth"] / four["relative_bandwidth"])
    return Measured(
        as_written=float(off.max()),
        under_condition=float(max(fine["grid_distance"].max(), mixed.max())),
        witness=f"bridge: grid_distance at {spacings(runs, off)}",
        numbers={
            "half_power": exactly(float(four["half_power"]) * scale),
            "half_power_predicted": exactly(float(np.sqrt(np.log(2)) / four["relative_bandwidth"])),
            "filter_defect": exactly(float(mixed.max())),
        },
    )
