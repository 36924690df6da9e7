"""Judges of remedies: what the eigenvalues of attention foretell, against iterated layers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from lowpass.claims.intervals import median_interval
from lowpass.claims.names import CLAIMS, Measured, Number
from lowpass.claims.places import place_of_largest

if TYPE_CHECKING:
    import xarray as xr

# A growth is fitted over the later half of the layers. A run is deep enough to judge it when
# the second-largest gain has died out, relative to the largest, before that half begins.
DIED_OUT = 1e-12
# The strength at which remedies are I + A, 2I - A and I - A.
WHOLE = 1.0
INVERTED = ("residual", "attinv", "highpass")
# A distance that was followed over half of the layers has moved by a decade when it is judged.
MOVED = 1.0
SETTLED = 1e-9


def exactly(value: float) -> Number:
    """Give a number that has no interval."""
    return Number(value, value, value)


def deep(runs: xr.Dataset) -> xr.DataArray:
    """Say which runs are deep enough, by prediction, for their growth to show."""
    half = int(runs["layer"].max()) / 2
    return runs["second_gain_share"] ** half < DIED_OUT


def share_off(measured: xr.DataArray, foretold: xr.DataArray, shown: xr.DataArray) -> xr.DataArray:
    """Give the relative distance of two factors where it shows, and zero elsewhere."""
    return abs(measured / foretold - 1).where(shown, 0.0)


def judged_growth(
    runs: xr.Dataset, off: xr.DataArray, shown: xr.DataArray, **numbers: Number
) -> Measured:
    """Judge a growth, in runs that provably saw the same attention."""
    spread = runs["attention_spread"]
    return Measured(
        as_written=float(max(off.max(), spread.max())),
        witness=f"remedies: {off.name} at {place_of_largest(off)}",
        numbers={
            "deep_share": exactly(float(shown.mean())),
            "attention_spread": exactly(float(spread.max())),
            **numbers,
        },
    )


@CLAIMS.add("judge of R01", claim="R01", experiments=("remedies",), tolerance=1e-11)
def attnscale_multiplies_every_other_mode(experiments: Mapping[str, xr.Dataset]) -> Measured:
    """Compare the iterated growth with 1 + ω times |λ₂| of plain attention."""
    every = experiments["remedies"]
    runs = every.sel(remedy="attnscale")
    shown = deep(runs)
    foretold = (1 + runs["strength"]) * runs["slem"]
    off = share_off(runs["transient_growth"], foretold, shown).rename("transient_growth")
    strongest = runs["transient_growth"].isel(strength=-1)
    return judged_growth(
        every,
        off,
        shown,
        sharpens=exactly(float((strongest > 1).mean())),
        strongest=median_interval(strongest.values),
        slem=median_interval(runs["slem"].isel(strength=0).values),
    )


@CLAIMS.add("judge of R02", claim="R02", experiments=("remedies",), tolerance=1e-11)
def featscale_has_the_rate_of_attnscale(experiments: Mapping[str, xr.Dataset]) -> Measured:
    """Compare the iterated rates of the two remedies."""
    every = experiments["remedies"]
    runs, other = every.sel(remedy="featscale"), every.sel(remedy="attnscale", drop=True)
    shown = deep(runs)
    off = share_off(runs["transient_rate"], other["transient_rate"], shown)
    return judged_growth(every, off.rename("transient_rate"), shown)


@CLAIMS.add("judge of R03", claim="R03", experiments=("remedies", "powers"), tolerance=1e-11)
def gfsa_has_its_gains_and_its_bound(experiments: Mapping[str, xr.Dataset]) -> Measured:
    """Take the larger of how far growths are off, and of what errors exceed 2K - 2 by."""
    every, powers = experiments["remedies"], experiments["powers"]
    runs = every.sel(remedy="gfsa")
    shown = deep(runs)
    off = share_off(runs["transient_growth"], runs["predicted_growth"], shown)
    error, bound = powers["power_error"], 2 * powers["order"] - 2
    excess = (error - bound).clip(min=0)
    measured = judged_growth(
        every,
        off.rename("transient_growth"),
        shown,
        violations=exactly(float((excess > DIED_OUT).sum())),
        comparisons=exactly(float(error.size)),
        cycle=exactly(float(abs(error / bound - 1).sel(mask="cycle").max())),
        dense=exactly(float((error / bound).sel(mask="none").max())),
        tightened=exactly(float((error > bound - 1).sum())),
    )
    worst = float(excess.max())
    if worst <= measured.as_written:
        return measured
    witness = f"powers: power_error at {place_of_largest(excess)}"
    return Measured(as_written=worst, witness=witness, numbers=measured.numbers)


@CLAIMS.add("judge of R04", claim="R04", experiments=("neutreno",), tolerance=SETTLED)
def neutreno_settles_where_it_is_foretold(experiments: Mapping[str, xr.Dataset]) -> Measured | None:
    """Follow the distance to the fixed point, draw by draw.

    Judged are draws whose distance moves by a decade in half of the layers, by prediction;
    those that settle are held against the tolerance where their depth suffices for it.
    """
    runs = experiments["neutreno"]
    distance, factor = runs["log10_fixed_point_distance"], runs["predicted_stability"]
    foretold = factor.copy(data=np.log10(factor.values))
    last, layers = distance.isel(recorded_layer=-1), runs["recorded_layer"]
    depth = int(layers.max())
    halfway = distance.sel(recorded_layer=depth / 2, method="nearest")
    clear = abs(foretold) * depth / 2 > MOVED
    settles = (last < halfway) | (last < np.log10(SETTLED))
    wrong = ((foretold < 0) != settles) & clear
    # Four decades are spared for the constant before the power.
    arrived = last.where(foretold * depth < np.log10(SETTLED) - 4)
    if bool(arrived.isnull().all()):
        return None
    return Measured(
        as_written=10 ** float(last.max()),
        under_condition=10 ** float(arrived.max()),
        repaired_distance=float(wrong.sum() / clear.sum()),
        witness=f"neutreno: log10_fixed_point_distance at {place_of_largest(last)}",
        numbers={
            "wrong": exactly(float(wrong.sum())),
            "clear_share": exactly(float(clear.mean())),
            **{
                f"leaves_{strength:g}": exactly(float((foretold > 0).sel(strength=strength).mean()))
                for strength in runs["strength"].values
            },
        },
    )


@CLAIMS.add("judge of R06", claim="R06", experiments=("remedies",), tolerance=1e-11)
def inverted_filters_have_their_gains(experiments: Mapping[str, xr.Dataset]) -> Measured:
    """Compare iterated growths with those of the largest 1 + λ, 2 - λ and 1 - λ."""
    every = experiments["remedies"]
    runs = every.sel(remedy=list(INVERTED), strength=WHOLE)
    shown = deep(runs)
    off = share_off(runs["transient_growth"], runs["predicted_growth"], shown)
    numbers = {
        name: median_interval(runs["transient_growth"].sel(remedy=name).values) for name in INVERTED
    }
    return judged_growth(every, off.rename("transient_growth"), shown, **numbers)


@CLAIMS.add("judge of R12", claim="R12", experiments=("remedies",), tolerance=1e-8)
def the_mean_hides_what_sharpens(experiments: Mapping[str, xr.Dataset]) -> Measured:
    """Compare the rate of the HC/DC ratio with the predicted one, and its end with the mode's.

    The faster part, be it a mode or the constant, must have died out for either to show.
    """
    runs = experiments["remedies"]
    half = int(runs["layer"].max()) / 2
    foretold = runs["predicted_rate"]
    apart = np.minimum(foretold, 1 / foretold) ** half < DIED_OUT
    shown = deep(runs) & apart & np.isfinite(foretold)
    sharpens = shown & (foretold > 1)
    off = share_off(runs["hc_dc_rate"], foretold, shown).rename("hc_dc_rate")
    ends = runs["log10_hc_dc_ratio"].isel(layer=-1) - runs["log10_mode_ratio"]
    numbers = {"sharpens_share": exactly(float(sharpens.mean()))}
    if bool(sharpens.any()):
        rates = runs["hc_dc_rate"].where(sharpens)
        numbers |= {"highest": exactly(float(rates.max())), "lowest": exactly(float(rates.min()))}
    return Measured(
        as_written=float(off.max()),
        under_condition=float(off.where(foretold < 1, 0.0).max()),
        repaired_distance=float(abs(ends.where(sharpens, 0.0)).max()),
        witness=f"remedies: hc_dc_rate at {place_of_largest(off)}",
        numbers=numbers,
    )
