"""Judges of what the order of tokens has to do with attention."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from lowpass.claims.circle import exactly
from lowpass.claims.intervals import median_interval
from lowpass.claims.names import CLAIMS, Measured
from lowpass.claims.places import place_of_largest

if TYPE_CHECKING:
    import xarray as xr

CIRCLE, TOKENS, NEIGHBOURS = "order-circle", "order-tokens", "order-neighbours"


def rise(gain: xr.DataArray) -> xr.DataArray:
    """Give how far a gain rises above the least at a lower frequency, from one period on."""
    waves = gain.sel(frequency=slice(1, None)).transpose(..., "frequency")
    least = np.minimum.accumulate(waves.values, axis=-1)
    return waves.copy(data=waves.values - least).max("frequency")


@CLAIMS.add("judge of A10", claim="A10", experiments=(CIRCLE, TOKENS, NEIGHBOURS), tolerance=1e-3)
def frequency_orders_the_gains(experiments: Mapping[str, xr.Dataset]) -> Measured:
    """Look for gains that rise with frequency, where all should fall.

    Repaired: numbering the tokens of a circle otherwise changes neither |λ₂| nor the worst gain
    of HC.
    """
    near, circle = experiments[NEIGHBOURS], experiments[CIRCLE]
    tokens = experiments[TOKENS].sel(case="independent")
    rises = rise(near["input_mode_gain"])
    gain = near["input_mode_gain"].isel(replicate=0)
    last = gain.sizes["frequency"] - 1
    moved = circle.sel(case="renumbered")
    kept = circle.sel(case="in order")
    off = [float(abs(moved[name] - kept[name]).max()) for name in ("slem", "hc_gain")]
    correlation = "gain_rank_correlation"
    return Measured(
        as_written=float(rises.max()),
        repaired_distance=max(off),
        witness=f"{NEIGHBOURS}: input_mode_gain at {place_of_largest(rises)}",
        numbers={
            "first_gain": exactly(float(gain.sel(frequency=1))),
            "middle_gain": exactly(float(gain.sel(frequency=last // 2))),
            "highest_gain": exactly(float(gain.sel(frequency=last))),
            "correlation_independent": median_interval(tokens[correlation].values),
            "correlation_renumbered": median_interval(moved[correlation].values),
            "circle_rise": exactly(float(rise(kept["input_mode_gain"]).max())),
            "correlation_in_order": median_interval(kept[correlation].values),
        },
    )


@CLAIMS.add("judge of A11", claim="A11", experiments=(CIRCLE, NEIGHBOURS, TOKENS), tolerance=1e-13)
def circulant_attention_is_diagonal(experiments: Mapping[str, xr.Dataset]) -> Measured:
    """Take the share of attention that couples frequencies, as an amplitude.

    The Laplacian I - A has the eigenvectors of A.
    """
    share = "offdiagonal_dft_energy"
    found = {
        CIRCLE: experiments[CIRCLE][share].sel(case="in order"),
        NEIGHBOURS: experiments[NEIGHBOURS][share],
    }
    name, worst = max(found.items(), key=lambda pair: float(pair[1].max()))
    smooth = experiments[TOKENS].sel(case="smooth")
    return Measured(
        as_written=float(np.sqrt(worst.max())),
        witness=f"{name}: {share} at {place_of_largest(worst)}",
        numbers={
            "correlation_smooth": median_interval(smooth["gain_rank_correlation"].values),
            "coupling_smooth": median_interval(smooth[share].values),
            "coupling_independent": median_interval(
                experiments[TOKENS][share].sel(case="independent").values
            ),
        },
    )
