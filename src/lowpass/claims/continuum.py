"""Judges of the continuum limit: which differential equation attention is a layer of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from lowpass.claims.circle import exactly
from lowpass.claims.names import CLAIMS, Measured

if TYPE_CHECKING:
    import xarray as xr

# The weight of the drift in the operator that each kernel is said to tend to.
OWN = {"softmax": 2.0, "sinkhorn": 1.0, "density_corrected": 0.0}
HEAT = 0.0
POSITION = ("replicate", "token", "feature")


def in_the_limit(runs: xr.Dataset) -> xr.DataArray:
    """Extrapolate what a layer generates to a bandwidth of zero, from the two narrowest.

    Where the error falls with the square of the bandwidth, as ``K06`` examines, what is left is
    of the fourth order.
    """
    narrow, wide = (runs.isel(beta=place) for place in (-1, -2))
    share = (narrow["kernel_width"] / wide["kernel_width"]) ** 2
    return (narrow["layer_generator"] - share * wide["layer_generator"]) / (1 - share)


def operator(runs: xr.Dataset, drift: float) -> xr.DataArray:
    """Give the differential operator with a drift, which no kernel and no bandwidth enters."""
    return runs["limit_generator"].isel(beta=-1, kernel=0, drop=True).sel(drift=drift, drop=True)


def distance(found: xr.DataArray, wanted: xr.DataArray) -> xr.DataArray:
    """Give the root mean square of a difference, relative to what is wanted."""
    return (((found - wanted) ** 2).sum(POSITION) / (wanted**2).sum(POSITION)) ** 0.5


def own_distances(runs: xr.Dataset) -> dict[str, float]:
    """Say how far each kernel in the limit is from its own operator."""
    limit = in_the_limit(runs)
    return {
        kernel: float(distance(limit.sel(kernel=kernel), operator(runs, drift)))
        for kernel, drift in OWN.items()
    }


def own_errors(runs: xr.Dataset, kernel: str) -> xr.DataArray:
    """Give the error of one kernel's layer against its own operator, over the bandwidths."""
    return runs["generator_error"].sel(kernel=kernel, drift=OWN[kernel]).isel(replicate=0)


def slope(runs: xr.Dataset, kernel: str) -> float:
    """Give the power of the bandwidth with which that error falls between the two narrowest."""
    error = own_errors(runs, kernel).isel(beta=slice(-2, None)).values
    width = runs["kernel_width"].sel(kernel=kernel).isel(replicate=0, beta=slice(-2, None)).values
    return float(np.log(error[1] / error[0]) / np.log(width[1] / width[0]))


def fitted_drift(runs: xr.Dataset, kernel: str) -> float:
    """Fit the weight of the drift to what a kernel generates in the limit."""
    heat = operator(runs, HEAT)
    drift = operator(runs, 1.0) - heat
    found = in_the_limit(runs).sel(kernel=kernel) - heat
    return float((found * drift).sum(POSITION) / (drift**2).sum(POSITION))


def uneven(runs: xr.Dataset) -> xr.Dataset:
    """Take the tokens that are least evenly spread."""
    return runs.sel(modulation=runs["modulation"].max(), drop=True)


def even(runs: xr.Dataset) -> xr.Dataset:
    """Take the tokens whose density is uniform."""
    return runs.sel(modulation=0.0, drop=True)


@CLAIMS.add("judge of B15", claim="B15", experiments=("continuum",), tolerance=1e-3)
def the_limit_is_the_heat_equation(experiments: Mapping[str, xr.Dataset]) -> Measured:
    """Compare softmax in the limit with heat, for uneven and even tokens, and each with its own."""
    runs = experiments["continuum"]
    own = own_distances(uneven(runs))
    found = {
        of: in_the_limit(each).sel(kernel="softmax")
        for of, each in {"uneven": uneven(runs), "even": even(runs)}.items()
    }
    numbers = {}
    for kernel in OWN:
        numbers[f"drift_{kernel}"] = exactly(fitted_drift(uneven(runs), kernel))
        numbers[f"distance_{kernel}"] = exactly(own[kernel])
    return Measured(
        as_written=float(distance(found["uneven"], operator(uneven(runs), HEAT))),
        under_condition=float(distance(found["even"], operator(even(runs), HEAT))),
        repaired_distance=max(own.values()),
        witness="continuum: layer_generator of softmax at the two narrowest bandwidths",
        numbers=numbers,
    )


@CLAIMS.add(
    "judge of K06",
    claim="K06",
    experiments=("continuum",),
    tolerance=1e-6,
    trend_tolerance=0.05,
)
def density_bends_the_generator(experiments: Mapping[str, xr.Dataset]) -> Measured:
    """Ask whether the errors of both kernels fall with the square of the bandwidth.

    Those of the operators that are not their own have to stay, or nothing would be told apart.
    """
    runs = uneven(experiments["continuum"])
    named = ("softmax", "density_corrected")
    narrowest = {kernel: float(own_errors(runs, kernel).isel(beta=-1)) for kernel in named}
    worst = max(narrowest, key=narrowest.__getitem__)
    numbers = {f"slope_{kernel}": exactly(slope(runs, kernel)) for kernel in OWN}
    for kernel, drift in OWN.items():
        error = runs["generator_error"].sel(kernel=kernel).isel(replicate=0, beta=-1)
        numbers[f"error_{kernel}"] = exactly(float(error.sel(drift=drift)))
        others = error.sel(drift=[other for other in OWN.values() if other != drift])
        numbers[f"other_{kernel}"] = exactly(float(others.min()))
    return Measured(
        as_written=narrowest[worst],
        trend=max(abs(slope(runs, kernel) - 2) for kernel in named),
        witness=f"continuum: generator_error at kernel {worst}, beta {float(runs['beta'][-1]):g}",
        numbers=numbers,
    )
