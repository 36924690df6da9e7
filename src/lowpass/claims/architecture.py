"""Judges of what a stack does that is no repetition of one bare matrix."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from lowpass.claims.intervals import median_interval
from lowpass.claims.names import CLAIMS, Measured, Number
from lowpass.claims.places import place_of_largest

if TYPE_CHECKING:
    import xarray as xr

# Orders of convergence, by what they are called.
GEOMETRIC, CUBIC = 1.0, 3.0
# Dong's bound has a factor 4; a tenth of it must be too little somewhere.
TIGHTENED = np.log10(4 / 0.4)

# Tokens that differ by less than this are one and the same in an array of doubles.
DOUBLE = -16.0
# A run is deep enough to judge a limit when its prediction lies below this, in decades.
DEEP = -13.0


@CLAIMS.add("judge of A13", claim="A13", experiments=("recomputed",), tolerance=1e-2)
def one_matrix_describes_a_stack(experiments: Mapping[str, xr.Dataset]) -> Measured:
    """Compare the order at which recomputed attention collapses with that of a geometric law.

    The repaired statement is compared with the order three. What the same measure makes of a
    repeated matrix, which is geometric, is quoted.
    """
    order = experiments["recomputed"]["collapse_order"].sel(arithmetic="split")
    recomputed = order.sel(layers="recomputed")
    off = abs(recomputed - GEOMETRIC)
    return Measured(
        as_written=float(off.max()),
        repaired_distance=float(abs(recomputed - CUBIC).max()),
        witness=f"recomputed: collapse_order at {place_of_largest(off)}",
        numbers={
            "recomputed_order": median_interval(recomputed.values),
            "frozen_order": median_interval(order.sel(layers="frozen").values),
        },
    )


@CLAIMS.add("judge of R07", claim="R07", experiments=("dong-bound",), tolerance=1e-9)
def rank_is_lost_doubly_exponentially(experiments: Mapping[str, xr.Dataset]) -> Measured:
    """Take the largest excess over the bound of Dong et al. at any layer, in decades.

    The residual from the mean row is at least that of the theorem, and the bound starts from at
    most that of the theorem, so that no excess here is none of the theorem. For the tightened
    bound it is the other way round: a lower bound on the residual exceeds it.
    """
    runs = experiments["dong-bound"].isel(layer=slice(1, None))
    upper, lower = (
        at_layers(runs, name) for name in ("log10_composite_norm", "log10_composite_norm_infimum")
    )
    slack = runs["log10_dong_bound"] - upper
    sharper = runs["log10_dong_bound"] - TIGHTENED * (CUBIC ** runs["layer"] - 1) / 2
    broken = (lower > sharper).any("layer")
    return Measured(
        as_written=max(0.0, float(-slack.min())),
        witness=f"dong-bound: log10_composite_norm at {place_of_largest(-slack)}",
        numbers={
            "violations": exactly(float((slack < 0).sum())),
            "worst_slack": exactly(float(slack.min())),
            **by_case("worst_slack", slack.min(("layer", "replicate"))),
            **by_case("tightened_violated", broken.mean("replicate")),
        },
    )


@CLAIMS.add("judge of B18", claim="B18", experiments=("architecture",), tolerance=1e-9)
def layer_norm_may_be_ignored(experiments: Mapping[str, xr.Dataset]) -> Measured | None:
    """Compare last ratios with and without layer norm, in decades, where there is a skip.

    Under the condition, tokens that agree to every digit of one array, the largest ratio is taken
    that layers with layer norm leave of them; zero where they agree to those digits still.
    """
    runs = experiments["architecture"]
    ratio = runs["log10_hc_dc_ratio"]
    last = ratio.isel(layer=-1).sel(skip=1)
    off = abs(last.sel(norm=["pre", "post"]) - last.sel(norm="none"))
    normed = ratio.sel(norm=["pre", "post"], skip=0)
    agreed = normed.shift(layer=1, fill_value=np.inf) < DOUBLE
    if not bool(agreed.any()):
        return None
    kept = float(normed.where(agreed).max())
    rise = ratio.sel(norm="post", skip=1, value_scale=-0.5).isel(layer=[0, -1])
    return Measured(
        as_written=float(off.max()),
        under_condition=10**kept if kept > DOUBLE else 0.0,
        witness=f"architecture: log10_hc_dc_ratio at {place_of_largest(off)}",
        numbers={
            "rise_decades": median_interval(rise.diff("layer").values),
            "least_rise_decades": exactly(float(rise.diff("layer").min())),
            "post_rate": median_interval(late_factor(last_of(ratio, 1.0))),
            "backward_factor": median_interval(first_factor(last_of(ratio, -0.5))),
        },
    )


def last_of(ratio: xr.DataArray, scale: float) -> xr.DataArray:
    """Select layer norm after a skip, with values of one scale."""
    return ratio.sel(norm="post", skip=1, value_scale=scale)


def late_factor(ratio: xr.DataArray) -> np.ndarray:
    """Give the factor of the last layer."""
    return 10 ** ratio.isel(layer=[-2, -1]).diff("layer").values


def first_factor(ratio: xr.DataArray) -> np.ndarray:
    """Give the factor of the first layer."""
    return 10 ** ratio.isel(layer=[0, 1]).diff("layer").values


@CLAIMS.add("judge of B20", claim="B20", experiments=("causal", "window"), tolerance=1e-9)
def a_causal_mask_keeps_the_mean(experiments: Mapping[str, xr.Dataset]) -> Measured | None:
    """Compare what is left with the mean of the tokens, and with the first token.

    The repaired statement is judged on the runs deep enough for it, and by the second eigenvalue
    of uniform attention, which is one half for any number of tokens.
    """
    runs, windows = experiments["causal"], experiments["window"]["slem"]
    last = runs.sel(start="tokens").isel(recorded_layer=-1, layer=-1)
    deep = int(last["layer"]) * np.log10(last["slem"]) < DEEP
    if not bool(deep.any()):
        return None
    mean = last["mean_departure"].where(deep)
    half = abs(last["slem"].sel(kernel="uniform") - 0.5)
    kept = runs["log10_hc_dc_ratio"].sel(start="no_stationary").isel(layer=-1)
    even = windows.sel(kernel="uniform")
    return Measured(
        as_written=float(mean.max()),
        repaired_distance=max(float(last["first_departure"].where(deep).max()), float(half.max())),
        witness=f"causal: mean_departure at {place_of_largest(mean)}",
        numbers={
            "nearest_to_the_mean": exactly(float(mean.min())),
            "deep_share": exactly(float(deep.mean())),
            "half_defect": exactly(float(half.max())),
            "least_kept": exactly(10 ** float(kept.min())),
            "uniform_kept": exactly(
                10 ** float(kept.sel(kernel="uniform").isel(n_tokens=-1).max())
            ),
            "narrowest_slem": exactly(float(even.isel(mask_width=0).max())),
            "widest_slem": exactly(float(even.isel(mask_width=-1).max())),
            "widest_softmax_slem": median_interval(
                windows.sel(kernel="softmax").isel(mask_width=-1).values
            ),
        },
    )


def at_layers(runs: xr.Dataset, name: str) -> xr.DataArray:
    """Read what was measured at recorded layers as measured at those layers."""
    return runs[name].rename(recorded_layer="layer").sel(layer=runs["layer"])


def by_case(name: str, values: xr.DataArray) -> dict[str, Number]:
    """Name the numbers of several cases."""
    return {
        f"{name}_{case.replace(' ', '_')}": exactly(float(values.sel(case=case)))
        for case in values["case"].values
    }


def exactly(value: float) -> Number:
    """Give a number that is no median."""
    return Number(value, value, value)
