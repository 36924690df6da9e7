"""Judges of what grows, or is never forgotten, although every eigenvalue but one is below one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from lowpass.claims.circle import exactly
from lowpass.claims.contraction import ROUNDED, worst
from lowpass.claims.intervals import median_interval
from lowpass.claims.names import CLAIMS, Measured
from lowpass.claims.places import place_of_largest
from lowpass.claims.stochastic import LIMIT, share_off

if TYPE_CHECKING:
    import xarray as xr

# Of a fitted rate, where W_V has complex eigenvalues and the ratio swings about its slope.
RATE = 3e-3
# The infinite product has settled to every digit by then.
SETTLED = 64


@CLAIMS.add("judge of A07", claim="A07", experiments=("hubs",), tolerance=ROUNDED)
def one_layer_never_enlarges(experiments: Mapping[str, xr.Dataset]) -> Measured:
    """Take by how much the largest gain of a layer exceeds one.

    The repaired statement is that tokens gain at most that much, and their oscillation nothing.
    """
    runs = experiments["hubs"]
    gain, reached = runs["hc_gain"], runs["hc_gain"] / runs["column_gain"]
    unit = runs.assign(unit=runs["hc_gain"] * 0 + 1)
    repaired, _ = worst(unit, [("hc_layer_gain", "hc_gain"), ("oscillation_gain", "unit")])
    return Measured(
        as_written=max(float(gain.max()) - 1, 0.0),
        repaired_distance=repaired,
        witness=f"hubs: hc_gain at {place_of_largest(gain)}",
        numbers={
            "largest_gain": exactly(float(gain.max())),
            "reached": exactly(float(reached.max())),
            "share_above_one": exactly(float((gain > 1).mean())),
            "largest_oscillation": exactly(float(runs["oscillation_gain"].max())),
        },
    )


def product_of_waning(depth: int) -> float:
    """Give the product of 1 - 2⁻ˡ over l = 2, ..., depth + 1, a q-Pochhammer symbol."""
    return float(np.prod(1 - 2.0 ** -np.arange(2.0, depth + 2)))


@CLAIMS.add("judge of A09", claim="A09", experiments=("waning", "products"), tolerance=LIMIT)
def products_are_low_pass(experiments: Mapping[str, xr.Dataset]) -> Measured:
    """Set layers that wane against layers with bounded logits, at the last layer.

    The repaired statement is the closed form of what waning layers keep, the bound on
    oscillations at every layer, and that bounded logits forget.
    """
    waning, bounded = experiments["waning"], experiments["products"]
    depth = int(waning["layer"].max())
    kept = 10 ** waning["log10_hc_growth"].sel(layer=depth)
    forgotten = float((10 ** bounded["log10_hc_dc_ratio"].isel(layer=-1)).max())
    closed = float(abs(kept - product_of_waning(depth)).max())
    bound = waning["log10_oscillation_bound"].sel(layer=waning["recorded_layer"])
    broken = float((waning["log10_oscillation_growth"] - bound).max())
    return Measured(
        as_written=float(kept.max()),
        under_condition=forgotten,
        repaired_distance=max(closed, broken, forgotten, 0.0),
        witness=f"waning: log10_hc_growth at {place_of_largest(kept)}, layer {depth}",
        numbers={
            "kept": exactly(float(kept.max())),
            "kept_off": exactly(closed),
            "kept_for_ever": exactly(product_of_waning(SETTLED)),
            "bound_exceeded": exactly(max(broken, 0.0)),
        },
    )


@CLAIMS.add("judge of A12", claim="A12", experiments=("values",), tolerance=RATE)
def values_make_hc_vanish(experiments: Mapping[str, xr.Dataset]) -> Measured:
    """Take what is left of HC at the last layer, and, of the ratio, what is left and its rate.

    The repaired statement compares two fitted rates with eigenvalues: that of the ratio with
    |λ₂|, and that of HC itself with |λ₂| ρ(W_V).
    """
    runs = experiments["values"]
    last = runs.isel(layer=-1)
    grown = last["log10_hc_growth"]
    ratio = share_off(runs["transient_rate"], runs["slem"])
    norm = share_off(runs["hc_rate"], runs["slem"] * runs["value_radius"])
    left = float((10 ** last["log10_transient_ratio"]).max())
    numbers = {
        "ratio_off": exactly(float(ratio.max())),
        "norm_off": exactly(float(norm.max())),
        "ratio_left": exactly(left),
    }
    for case in runs["case"].values:
        one = runs.sel(case=case)
        numbers[f"norm_rate_{case}"] = median_interval(one["hc_rate"].values)
        numbers[f"ratio_rate_{case}"] = median_interval(one["transient_rate"].values)
    return Measured(
        as_written=10 ** float(grown.max()),
        under_condition=max(left, float(ratio.max())),
        repaired_distance=max(float(ratio.max()), float(norm.max())),
        witness=f"values: log10_hc_growth at {place_of_largest(grown)}",
        numbers=numbers,
    )
