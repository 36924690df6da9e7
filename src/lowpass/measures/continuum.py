"""What one layer generates on a ring of tokens, beside what the continuum would."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lowpass import continuum
from lowpass.labels import DIMENSIONS, VARIABLES, Card
from lowpass.measures.components import tokens_of
from lowpass.measures.names import MEASURES
from lowpass.rounding import ROUNDING, Remainder

if TYPE_CHECKING:
    import xarray as xr

# Softmax, Sinkhorn and density-corrected attention are said to tend to these.
DRIFTS = (2.0, 1.0, 0.0)

DIMENSIONS.enter("drift", Card("c", "weight of the drift along the density"))


VARIABLES.enter(
    "layer_generator",
    Card(
        r"(AX-X)\,/\,\frac{1}{2}h^2",
        "generator of a layer",
        dims=("replicate", "token", "feature"),
    ),
)
# Of coordinates of order one a difference is divided by h²/2.
ROUNDING.enter("layer_generator", Remainder(magnitude=1e3))


@MEASURES.add("layer_generator", of=("density", "temperature"))
def layer_generator(trajectory: xr.Dataset) -> xr.DataArray:
    """Divide what the first layer changes by h²/2, for a bandwidth h = β^(-1/2).

    Of the score "l2" this is the generator of the kernel, applied to the tokens' coordinates.

    Returns
    -------
    (..., replicate, token, feature) float

    References
    ----------
    .. [1] coifman2006, section 3.
    """
    x = tokens_of(trajectory)
    before, after = (x.sel(recorded_layer=layer, drop=True) for layer in (0, 1))
    beta = trajectory["inverse_temperature"].transpose(*before.dims[:-2]).values
    return before.copy(data=continuum.layer_generator(before.values, after.values, beta))


VARIABLES.enter(
    "limit_generator",
    Card(
        r"f''+c\,(\log p)'f'",
        "diffusion with a drift, applied to the coordinates",
        dims=("replicate", "drift", "token", "feature"),
    ),
)


@MEASURES.add("limit_generator", of="density")
def limit_generator(trajectory: xr.Dataset) -> xr.DataArray:
    """Apply the differential operators that kernels may tend to, from the density's own formula.

    Returns
    -------
    (..., replicate, drift, token, feature) float
        For drifts along the gradient of log p of weight 2, 1 and 0; the last is the heat equation.

    References
    ----------
    .. [1] coifman2006, section 3.
    """
    import xarray as xr

    x = tokens_of(trajectory).sel(recorded_layer=0, drop=True)
    slope = trajectory["log_density_slope"].values
    leading = {name: x[name] for name in x.dims if name in x.coords}
    return xr.DataArray(
        continuum.limit_generator(x.values, slope, np.array(DRIFTS)),
        {**leading, "drift": list(DRIFTS)},
        (*x.dims[:-2], "drift", *x.dims[-2:]),
    )


VARIABLES.enter(
    "generator_error",
    Card(
        r"\|G-G_c\|/\|G_c\|",
        "distance from an operator",
        dims=("replicate", "drift"),
    ),
)
ROUNDING.enter("generator_error", Remainder(magnitude=1e3))


@MEASURES.add("generator_error", of=("density", "temperature"))
def generator_error(trajectory: xr.Dataset) -> xr.DataArray:
    """Compare what the first layer generates with each differential operator.

    The score takes distances along chords, whose square is shorter than that of the arc by its
    fourth power over twelve. That is of the order h², as is the error of any kernel.

    Returns
    -------
    (..., replicate, drift) float
        Relative root mean square over tokens, of both coordinates.
    """
    found, wanted = layer_generator(trajectory), limit_generator(trajectory)
    error = continuum.relative_error(found.values[..., None, :, :], wanted.values)
    return wanted.isel(token=0, feature=0, drop=True).copy(data=error)


VARIABLES.enter(
    "kernel_width",
    Card(
        "h",
        "bandwidth",
        dims=("replicate",),
        infinite="at the inverse temperature zero all keys are alike",
    ),
)


@MEASURES.add("kernel_width", of="temperature")
def kernel_width(trajectory: xr.Dataset) -> xr.DataArray:
    """Give the bandwidth of the Gaussian that softmax of the score "l2" is, β^(-1/2).

    Returns
    -------
    (..., replicate) float
        In units of the tokens.
    """
    beta = trajectory["inverse_temperature"]
    with np.errstate(divide="ignore"):
        return beta.copy(data=1 / np.sqrt(beta.values))


VARIABLES.enter(
    "angle", Card(r"\theta", "angle along the ring", units="rad", dims=("replicate", "token"))
)


@MEASURES.add("angle", of="density")
def angle(trajectory: xr.Dataset) -> xr.DataArray:
    """Say where on the ring the tokens of layer 0 lie.

    Returns
    -------
    (..., replicate, token) float
        Radians in (-π, π].
    """
    x = tokens_of(trajectory).sel(recorded_layer=0, drop=True)
    place = np.arctan2(x.isel(feature=1).values, x.isel(feature=0).values)
    return x.isel(feature=0, drop=True).copy(data=place)
