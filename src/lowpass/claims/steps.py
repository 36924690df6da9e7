"""Judges of what residual layers tend to as their steps grow small."""

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

# Orders in the step: of the error of one step, and of what is divided by a step or adds up.
LOCAL, GLOBAL = 2.0, 1.0
# Order in β of the distance of a narrow kernel from heat.
NARROWING = -1.0
# The time of the heat equation at which circles are compared; a circle that shortens is gone at ½.
QUARTER = 0.25


@CLAIMS.add("judge of B12", claim="B12", experiments=("euler", "euler-step"), tolerance=1e-9)
def layers_integrate_the_equation_as_written(experiments: Mapping[str, xr.Dataset]) -> Measured:
    """Compare the thinnest layers with the equation of the note, after a fixed time.

    Every distance is relative to what is compared with. Under the condition these are the
    tokens of its own layers in the limit, and the ratios of HC to DC of other layers: both parts
    of it have to hold. The repaired statement is that the limit of other layers solves their own
    equation.
    """
    runs, limit = experiments["euler"], experiments["euler-step"].sel(integrator="dop853")
    thin = runs.sel(strength=0).isel(sublayers=-1, recorded_layer=-1)
    note = limit["note_flow_error"].isel(recorded_layer=-1)
    ratio = limit["log10_hc_dc_ratio"].isel(layer=-1)
    apart = abs(ratio.sel(strength=0) - ratio.sel(strength=1)).sel(values="identity")
    still = float(apart.sel(layers="frozen").max())
    own = limit["flow_error"].isel(recorded_layer=-1)
    return Measured(
        as_written=float(thin["note_flow_error"].max()),
        under_condition=max(float(note.sel(strength=1).max()), share(still)),
        repaired_distance=float(own.max()),
        witness=f"euler: note_flow_error at {place_of_largest(thin['note_flow_error'])}",
        numbers={
            **by_layers("distance", thin["note_flow_error"]),
            **by_layers("own_distance", thin["flow_error"]),
            "nearest": exactly(float(thin["note_flow_error"].min())),
            "order": over_replicates(orders(last_layer(runs, "note_flow_error").sel(strength=0))),
            "remedied_distance": exactly(float(note.sel(strength=1).max())),
            "ratio_apart": exactly(share(still)),
            "recomputed_ratio_apart": exactly(share(float(apart.sel(layers="recomputed").max()))),
        },
    )


@CLAIMS.add("judge of B13", claim="B13", experiments=("euler-step", "euler"), tolerance=0.05)
def quotients_are_of_second_order(experiments: Mapping[str, xr.Dataset]) -> Measured:
    """Take orders in the step between the two smallest ones, and their distance from two.

    As written it is that of the difference quotient of the flow, under the condition that of the
    error of one step. The repaired statement has three orders: two, one and, at a fixed time, one.
    The least and the largest order between any two neighbouring steps are quoted beside them, and
    so is the error of the layers' own quotient, which is rounding.
    """
    one, many = experiments["euler-step"], experiments["euler"]
    quotient = orders(one["quotient_error"].sel(integrator="dop853"))
    local = orders(last_layer(one, "flow_error").sel(integrator="euler"))
    fixed = orders(last_layer(many, "flow_error"))
    off = abs(quotient - LOCAL)
    return Measured(
        as_written=float(off.max()),
        under_condition=float(abs(local - LOCAL).max()),
        repaired_distance=max(
            float(abs(quotient - GLOBAL).max()),
            float(abs(local - LOCAL).max()),
            float(abs(fixed - GLOBAL).max()),
        ),
        witness=f"euler-step: quotient_error at {place_of_largest(off)}",
        numbers={
            "quotient_order": over_replicates(quotient),
            "local_order": over_replicates(local),
            "global_order": over_replicates(fixed),
            **extremes("quotient_order", one["quotient_error"].sel(integrator="dop853")),
            **extremes("local_order", last_layer(one, "flow_error").sel(integrator="euler")),
            **extremes("global_order", last_layer(many, "flow_error")),
            "own_quotient": exactly(float(one["quotient_error"].sel(integrator="euler").max())),
            "quotient_off": exactly(float(abs(quotient - GLOBAL).max())),
            "local_off": exactly(float(abs(local - LOCAL).max())),
            "global_off": exactly(float(abs(fixed - GLOBAL).max())),
        },
    )


@CLAIMS.add(
    "judge of B14",
    claim="B14",
    experiments=("to-continuum",),
    tolerance=0.02,
    trend_tolerance=0.05,
)
def thin_layers_are_a_partial_differential_equation(
    experiments: Mapping[str, xr.Dataset],
) -> Measured | None:
    """Compare the thinnest layers on a circle with the heat equation, at one matched time.

    The condition is a limit, and the distance has to tend to zero on the way: with the most tokens
    in the inverse of β, between the two narrowest kernels. The repaired statement compares with
    the ordinary differential equation, for any number of tokens.
    """
    runs = at_matched_time(experiments["to-continuum"], QUARTER)
    if runs is None:
        return None
    thin = runs.isel(sublayers=-1, replicate=0)
    heat = thin["heat_equation_error"].sel(layers="frozen")
    order = order_in_beta(heat.isel(n_tokens=-1))
    thinner = runs["heat_equation_error"].sel(layers="frozen").isel(replicate=0)
    changed = abs(thinner.isel(sublayers=-1) - thinner.isel(sublayers=-2)) / heat
    return Measured(
        as_written=float(heat.max()),
        trend=abs(order - NARROWING),
        repaired_distance=float(thin["flow_error"].max()),
        witness=f"to-continuum: heat_equation_error at {place_of_largest(heat)}",
        numbers={
            "many_tokens": exactly(float(heat.isel(n_tokens=-1, beta=-1))),
            "few_tokens": exactly(float(heat.isel(n_tokens=0, beta=-1))),
            "few_order": exactly(order_in_beta(heat.isel(n_tokens=0))),
            "few_tokens_changed": exactly(float(changed.isel(n_tokens=0, beta=-1))),
            "heat_order": exactly(order),
            **recomputed(thin.sel(layers="recomputed").isel(n_tokens=-1)),
        },
    )


def recomputed(runs: xr.Dataset) -> dict[str, Number]:
    """Tell how far recomputed attention is from either flow of a circle."""
    heat, circle = runs["heat_equation_error"], runs["curve_shortening_error"]
    return {
        "circle_order": exactly(order_in_beta(circle)),
        "recomputed_heat": exactly(float(heat.isel(beta=-1))),
        "recomputed_circle": exactly(float(circle.isel(beta=-1))),
    }


def share(decades: float) -> float:
    """Say by which share of the smaller two numbers differ that lie some decades apart."""
    return float(np.expm1(decades * np.log(10)))


def last_layer(runs: xr.Dataset, name: str) -> xr.DataArray:
    """Select a measure at the last recorded layer."""
    return runs[name].isel(recorded_layer=-1)


def orders(error: xr.DataArray) -> xr.DataArray:
    """Give the order in the step at the finest end of a sweep, of every run and replicate."""
    dim = "step" if "step" in error.dims else "sublayers"
    return all_orders(error).isel({dim: 0 if dim == "step" else -1}, drop=True)


def all_orders(error: xr.DataArray) -> xr.DataArray:
    """Give the order in the step between all neighbours of a sweep, of every run and replicate."""
    dim, sign = ("step", 1) if "step" in error.dims else ("sublayers", -1)
    places = np.diff(np.log(error[dim].values))
    rise = np.diff(np.log(error.transpose(..., dim).values), axis=-1)
    # An order carries the label of the finer of two numbers of layers, or of the longer step.
    later = error.transpose(..., dim).isel({dim: slice(1, None)})
    return later.copy(data=sign * rise / places)


def extremes(name: str, error: xr.DataArray) -> dict[str, Number]:
    """Give the least and the largest order in a whole sweep, of any run and replicate."""
    every = all_orders(error)
    return {
        f"{name}_least": exactly(float(every.min())),
        f"{name}_most": exactly(float(every.max())),
    }


def over_replicates(values: xr.DataArray) -> Number:
    """Give the median over replicates of what is averaged over all else."""
    # A sum rounds by the order of its terms, which must not be that of the replicates.
    rows = np.ascontiguousarray(values.transpose("replicate", ...).values)
    return median_interval(rows.reshape(len(rows), -1).mean(axis=1))


def by_layers(name: str, values: xr.DataArray) -> dict[str, Number]:
    """Name the medians of frozen and of recomputed attention."""
    return {
        f"{name}_{layers}": median_interval(values.sel(layers=layers).values)
        for layers in values["layers"].values
    }


def at_matched_time(runs: xr.Dataset, time: float) -> xr.Dataset | None:
    """Select, for every β, the layer at one time of the heat equation; None where one has none."""
    import xarray as xr

    others = {dim: 0 for dim in runs["matched_time"].dims if dim not in ("beta", "recorded_layer")}
    times = runs["matched_time"].isel(others).transpose("beta", "recorded_layer")
    there = np.isclose(times.values, time, rtol=1e-12)
    if not there.any(axis=1).all():
        return None
    layers = runs["recorded_layer"].values[there.argmax(axis=1)]
    return runs.sel(recorded_layer=xr.DataArray(layers, dims="beta")).drop_vars("recorded_layer")


def order_in_beta(error: xr.DataArray) -> float:
    """Give the log-slope between the two narrowest kernels."""
    wide, narrow = error.isel(beta=-2), error.isel(beta=-1)
    return float(np.log(narrow / wide) / np.log(float(narrow["beta"] / wide["beta"])))
