"""Judges of what |λ₂| tends to in long sequences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from lowpass.claims.intervals import ranked
from lowpass.claims.names import CLAIMS, Measured, Number
from lowpass.claims.places import place_of_largest

if TYPE_CHECKING:
    import xarray as xr

# Tokens are many when they are so many times exp(β²), the variance of a weight.
MANY = 500.0
# Logits of a larger standard deviation leave most of a row to a few keys.
MILD = 1.0


@CLAIMS.add("judge of R08", claim="R08", experiments=("scaling",), tolerance=0.05)
def gaussian_tokens_scale(experiments: Mapping[str, xr.Dataset]) -> Measured:
    """Compare the mean of |λ₂| over its prediction with one, for all lengths and for many tokens.

    A mean over replicates is what the claim is about: that of a single draw scatters with
    the outliers of its projections.
    """
    ratio = experiments["scaling"]["slem_over_gaussian"]
    enough = ratio["n_tokens"] >= MANY * np.exp(ratio["beta"] ** 2)
    found = measured("scaling", ratio, enough)
    found.numbers["many"] = Number(MANY, MANY, MANY)
    return found


@CLAIMS.add("judge of R09", claim="R09", experiments=("independent-logits",), tolerance=0.1)
def independent_logits_scale(experiments: Mapping[str, xr.Dataset]) -> Measured:
    """Compare the mean of |λ₂| over its prediction with one, for all β and for mild ones."""
    ratio = experiments["independent-logits"]["slem_over_independent"]
    longest = ratio["n_tokens"] == ratio["n_tokens"].max()
    return measured("independent-logits", ratio, longest & (ratio["beta"] <= MILD))


def measured(name: str, ratio: xr.DataArray, where: xr.DataArray) -> Measured:
    """Give the largest distance of a mean from one, everywhere and under a condition."""
    sorted_ratio = ranked(ratio)
    off = abs(sorted_ratio.mean("replicate") - 1)
    under = off.where(where)
    numbers = {}
    for beta in ratio["beta"].values:
        longest = sorted_ratio.sel(beta=beta).isel(n_tokens=-1)
        for text, each in by_width(longest):
            numbers[f"ratio_beta_{beta:g}{text}"] = mean_and_range(each.values)
    return Measured(
        as_written=float(off.max()),
        under_condition=float(under.max()) if bool(where.any()) else None,
        witness=f"{name}: {ratio.name} at {place_of_largest(under if where.any() else off)}",
        numbers=numbers,
    )


def by_width(ratio: xr.DataArray) -> list[tuple[str, xr.DataArray]]:
    """Take the widths of tokens one by one, where they are swept."""
    if "d_model" not in ratio.dims:
        return [("", ratio)]
    return [(f"_d_{d}", ratio.sel(d_model=d)) for d in ratio["d_model"].values]


def mean_and_range(values: np.ndarray) -> Number:
    """Give the mean of some draws, and the least and the largest of them."""
    return Number(float(values.mean()), float(values.min()), float(values.max()))
