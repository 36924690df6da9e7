"""Judges of residual layers and of the sign of W_V: modes, rates, and flows that run backwards."""

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

ROUNDED = 1e-12
# Of a rate. Depth suffices for it where the error that is foretold is less.
RATE = 1e-6
# A transient that outgrows the rest by a tenth in each layer has soon hidden it.
CLEAR = 1.1


@CLAIMS.add("judge of B10", claim="B10", experiments=("residual-values",), tolerance=ROUNDED)
def transfer_goes_through_values(experiments: Mapping[str, xr.Dataset]) -> Measured:
    """Take the largest defect of the note's gains in one layer, and for W_V = I.

    The repaired statement is that the operator whose skip passes W_V by has none.
    """
    runs = experiments["residual-values"]
    written, operator = runs["written_defect"], runs["operator_defect"]
    same = written.sel(values="identity", value_scale=1)
    mapped = written.where((written["values"] != "identity") | (written["value_scale"] != 1))
    return Measured(
        as_written=float(written.max()),
        under_condition=float(same.max()),
        repaired_distance=float(operator.max()),
        witness=f"residual-values: written_defect at {place_of_largest(written)}",
        numbers={
            "least": exactly(float(mapped.min())),
            **{
                str(name): median_interval(mapped.sel(values=name, value_scale=1).values)
                for name in mapped["values"].values
                if name != "identity"
            },
        },
    )


def rate_off(runs: xr.Dataset) -> xr.DataArray:
    """Give the relative distance of rates from what is foretold, where depth suffices for it.

    A rate that is infinite is right where it is foretold to be, and off by one elsewhere.
    """
    found, foretold = runs["tapered_rate"], runs["predicted_rate"]
    finite = np.isfinite(found) & np.isfinite(foretold)
    off = abs(found.where(finite, 1.0) / foretold.where(finite, 1.0) - 1)
    return off.where(finite | (found == foretold), 1.0).where(deep(runs), 0.0)


def deep(runs: xr.Dataset) -> xr.DataArray:
    """Say which runs are deep enough, by prediction, for their rates to show."""
    return runs["predicted_rate_error"] < RATE


def outgrown(growth: xr.DataArray) -> xr.DataArray:
    """Give 1 - 1/g of factors g above one, a distance below one however large they are."""
    return (1 - 1 / growth).clip(min=0)


@CLAIMS.add(
    "judge of B11", claim="B11", experiments=("residual", "residual-values"), tolerance=RATE
)
def residual_slows_the_smoothing(experiments: Mapping[str, xr.Dataset]) -> Measured:
    """Take by how much a residual layer sharpens, or falls short of |λ₂|, which would be slower.

    The repaired statement compares rates with those of eigenvalues, wherever depth suffices,
    and the signs of their logarithms with the interval in which W_V = μI sharpens.
    """
    runs, others = experiments["residual"], experiments["residual-values"]
    rate, scale = runs["tapered_rate"], runs["value_scale"]
    short = runs["slem"] - rate
    distance = outgrown(rate).where(outgrown(rate) > short, short.clip(min=0))
    second = runs["eigenvalue_real"].sel(mode=1, drop=True)
    off = {"sweep": rate_off(runs), "values": rate_off(others)}
    sharpens = (scale < 0) & (scale > runs["sharpening_edge"])
    # At μ = 0 a layer hands tokens on, and on the edge too a rate is one.
    wrong = (sharpens & (rate < 1 - RATE)) | (~sharpens & (rate > 1 + RATE))
    misplaced = float(wrong.sum())
    return Measured(
        as_written=float(distance.max()),
        under_condition=float(distance.where((scale > 0) & (second > 0), 0.0).max()),
        repaired_distance=max(misplaced, *(float(each.max()) for each in off.values())),
        witness=f"residual: tapered_rate at {place_of_largest(distance)}",
        numbers={
            **{f"{name}_off": exactly(float(each.max())) for name, each in off.items()},
            "deep_share": exactly(float(deep(runs).mean())),
            "values_deep_share": exactly(float(deep(others).mean())),
            "misplaced": exactly(misplaced),
            "infinite": exactly(float(np.isinf(rate).sum())),
            "edge": median_interval(runs["sharpening_edge"].isel(value_scale=0).values),
            **of_positive(runs),
            **of_wang(runs),
        },
    )


def of_positive(runs: xr.Dataset) -> dict[str, Number]:
    """Say of positive μ how near rates come to one, and how they compare with |λ₂|."""
    positive = runs.isel(value_scale=np.flatnonzero(runs["value_scale"].values > 0))
    rate = positive["tapered_rate"]
    return {
        "positive_runs": exactly(float(rate.size)),
        "positive_violations": exactly(float((rate >= 1).sum())),
        "slack": exactly(float((1 - rate).min())),
        "tightened": exactly(float((rate > positive["slem"]).sum())),
        "faster_share": exactly(float((rate < positive["slem"]).mean())),
    }


def of_wang(runs: xr.Dataset) -> dict[str, Number]:
    """Say what the HC/DC ratio shows of runs that clearly sharpen."""
    clear = deep(runs) & (runs["predicted_rate"] > CLEAR)
    finite = runs["tapered_rate"].where(clear & np.isfinite(runs["tapered_rate"]))
    return {
        "steepest": exactly(float(finite.max())),
        "wang_off_one": exactly(float(abs(runs["hc_dc_rate"] - 1).where(clear, 0.0).max())),
    }


@CLAIMS.add("judge of B17", claim="B17", experiments=("flow-values", "circle"), tolerance=ROUNDED)
def flow_is_a_diffusion(experiments: Mapping[str, xr.Dataset]) -> Measured:
    """Take by how much the flow of a Laplacian enlarges what differs between tokens.

    The repaired statement is that it does exactly where a real part is negative; the distance
    is the share of runs that do otherwise. Quoted is also by how many decades the fastest mode
    on a circle grows when heat runs back for the time in which mode k falls by exp(-k²).
    """
    runs = experiments["flow-values"]
    growth, least = runs["tapered_growth"], runs["least_real_value"]
    distance = outgrown(growth)
    return Measured(
        as_written=float(distance.max()),
        under_condition=float(distance.where(least > 0, 0.0).max()),
        repaired_distance=float(((growth > 1) != (least < 0)).mean()),
        witness=f"flow-values: tapered_growth at {place_of_largest(distance)}",
        numbers={
            "wrong": exactly(float(((growth > 1) != (least < 0)).sum())),
            "damping_share": exactly(float((least > 0).mean())),
            "damped_most": exactly(float(growth.where(least > 0).max())),
            "grown_least": exactly(float(growth.where(least < 0).min())),
            **backwards(experiments["circle"]),
        },
    )


def backwards(runs: xr.Dataset) -> dict[str, Number]:
    """Give the decades of growth in a unit of time that layers of 1/(2β) each make of a circle."""
    fastest = 2 * runs["beta"] * (1 - runs["input_mode_gain"].min(("frequency", "replicate")))
    return {
        f"backward_beta_{beta:g}": exactly(float(fastest.sel(beta=beta) / np.log(10)))
        for beta in fastest["beta"].values
    }
