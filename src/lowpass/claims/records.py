"""The judge of a temperature that is learned by leaving observations out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from lowpass.claims.circle import exactly
from lowpass.claims.names import CLAIMS, Measured, Number

if TYPE_CHECKING:
    import xarray as xr

SHOWN = ("pooling", "co2", "penguins", "penguins-2d")


@CLAIMS.add("judge of K11", claim="K11", experiments=SHOWN, tolerance=0.01)
def leaving_out_finds_the_temperature(experiments: Mapping[str, xr.Dataset]) -> Measured:
    """Take the share by which the expected error of the learned bandwidth exceeds the least one.

    It is exact, since the truth is known and nothing is drawn. What real records choose is
    quoted beside it; their truth is not known.
    """
    excess = experiments["pooling"]["learned_excess"].clip(min=0)
    worst = excess.isel(correlation=int(np.argmax(excess.values)))
    return Measured(
        as_written=float(worst),
        under_condition=float(excess.sel(correlation=0)),
        witness="pooling: learned_excess at correlation "
        f"{float(worst['correlation']):g} of successive errors",
        numbers={
            **pooled(experiments["pooling"]),
            **weekly(experiments["co2"]),
            **birds(experiments["penguins"], experiments["penguins-2d"]),
        },
    )


def pooled(runs: xr.Dataset) -> dict[str, Number]:
    """Quote the textbook's example, then what errors that are alike change."""
    free, alike = runs.sel(correlation=0), runs.isel(correlation=-1)
    errors, widths = free["rule_error"], free["rule_bandwidth"]
    trained = free["trained_bandwidth"].values, free["trained_error"].values
    return {
        **{
            f"{rule}_error": exactly(float(errors.sel(pooling_rule=rule)))
            for rule in errors["pooling_rule"].values
        },
        "learned_bandwidth": exactly(float(widths.sel(pooling_rule="learned"))),
        "best_bandwidth": exactly(float(widths.sel(pooling_rule="best"))),
        "learned_excess_percent": exactly(100 * float(free["learned_excess"])),
        **{
            f"trained_{word}": Number(*map(float, (np.median(all_), all_.min(), all_.max())))
            for word, all_ in zip(("bandwidth", "error"), trained, strict=True)
        },
        "correlation": exactly(float(alike["correlation"])),
        "alike_learned_bandwidth": exactly(
            float(alike["rule_bandwidth"].sel(pooling_rule="learned"))
        ),
        "alike_best_bandwidth": exactly(float(alike["rule_bandwidth"].sel(pooling_rule="best"))),
        "alike_excess_percent": exactly(100 * float(alike["learned_excess"])),
    }


def weekly(runs: xr.Dataset) -> dict[str, Number]:
    """Quote what every window makes of the weeks."""
    around = runs.isel(window=1)
    return {
        **{
            f"{name}_bandwidth": exactly(float(runs["bandwidth_selected"].isel(window=place)))
            for place, name in enumerate(("week", "half_year", "year"))
        },
        "half_year_correlation": exactly(float(around["residual_correlation"])),
    }


def birds(ties: xr.Dataset, plane: xr.Dataset) -> dict[str, Number]:
    """Quote what the penguins choose, by one feature or by two."""
    widths = plane["scaled_bandwidth"]
    return {
        "flipper_bandwidth": exactly(float(ties["bandwidth_selected"])),
        "one_bandwidth": exactly(float(widths.sel(scaling="one").isel(feature=0))),
        **{
            f"{name}_bandwidth": exactly(float(widths.sel(scaling="each its own", feature=place)))
            for place, name in enumerate(("length", "depth"))
        },
        "one_excess_percent": exactly(100 * float(plane["one_bandwidth_excess"])),
    }
