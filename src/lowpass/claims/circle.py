"""Judges of attention on a circle, whose spectrum is known in closed form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from lowpass.claims.names import CLAIMS, Measured, Number
from lowpass.claims.places import place_of_largest

if TYPE_CHECKING:
    import xarray as xr


@CLAIMS.add("judge of R11", claim="R11", experiments=("circle",), tolerance=1e-13)
def circle_has_a_bessel_spectrum(experiments: Mapping[str, xr.Dataset]) -> Measured:
    """Compare measured gains with ratios of Bessel functions, below the frequencies that alias.

    Attention on a circle is circulant and its eigenvalues are positive, so that the gain of a
    mode is its eigenvalue. The distance to the gain of heat, and the slope with which it falls
    between the two sharpest temperatures, are quoted.
    """
    runs = experiments["circle"]
    resolved = runs.isel(frequency=slice(runs.sizes["frequency"] // 2 + 1))
    off = abs(resolved["input_mode_gain"] - resolved["bessel_gain"])
    heat = abs(resolved["input_mode_gain"] - resolved["gaussian_gain"])
    distance = heat.max(("frequency", "replicate"))
    numbers = {
        f"heat_distance_beta_{beta:g}": exactly(float(distance.sel(beta=beta)))
        for beta in distance["beta"].values
    }
    if distance.sizes["beta"] > 1:
        near, far = distance.isel(beta=-2), distance.isel(beta=-1)
        numbers["heat_slope"] = exactly(
            float(np.log(far / near) / np.log(float(far["beta"] / near["beta"])))
        )
    return Measured(
        as_written=float(off.max()),
        witness=f"circle: input_mode_gain at {place_of_largest(off)}",
        numbers=numbers,
    )


def exactly(value: float) -> Number:
    """Give a number that no draw moves."""
    return Number(value, value, value)
