"""What a layer of heat does, beside what the flow or a polynomial of it would do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lowpass import fourier, ring, taylor
from lowpass.labels import DIMENSIONS, VARIABLES, Card
from lowpass.measures.frequencies import on_frequencies
from lowpass.measures.names import MEASURES
from lowpass.registry import Refusal
from lowpass.rounding import DECADES, ROUNDING, Logarithm, Remainder

if TYPE_CHECKING:
    import xarray as xr

# From one Euler step to where even a long sum has nothing right.
ORDERS = (1, 2, 4, 8, 16, 30)
NOTHING_FLOWS = "nothing flows, so that the polynomial is exact"

DIMENSIONS.enter("taylor_power", Card("p", "order of the polynomial"))

VARIABLES.enter(
    "heat_reach",
    Card(r"\tau\max|\lambda|", "diffusion time times the largest eigenvalue", dims=("replicate",)),
)


@MEASURES.add("heat_reach", of=("diffusion", "gains"))
def heat_reach(trajectory: xr.Dataset) -> xr.DataArray:
    """Give the diffusion time of a layer in units of the fastest mode.

    Returns
    -------
    (..., replicate) float
        Not negative.
    """
    value = abs(trajectory["laplacian_eigenvalue"]).max("mode")
    return trajectory["layer_time"] * value


VARIABLES.enter(
    "log10_taylor_error",
    Card(
        r"\log_{10}\|e^{-\tau L}-T_p(-\tau L)\|_2",
        "decimal logarithm of the error of a Taylor sum",
        dims=("replicate", "taylor_power"),
        infinite=NOTHING_FLOWS,
    ),
)
ROUNDING.enter("log10_taylor_error", Logarithm(reach=DECADES, end=-DECADES))


@MEASURES.add("log10_taylor_error", of=("diffusion", "matrix"))
def log10_taylor_error(trajectory: xr.Dataset) -> xr.DataArray:
    """Compare the heat kernel of a layer with Taylor polynomials, as floats sum them.

    Returns
    -------
    (..., replicate, taylor_power) float
        Decimal logarithm of the spectral norm, for the orders 1, 2, 4, 8, 16 and 30; what
        rounding adds is part of it.

    References
    ----------
    .. [1] moler2003, method 1.
    """
    kernel = trajectory["heat_kernel"].transpose(..., "query", "key")
    rate = (trajectory["layer_time"] * trajectory["laplacian_matrix"]).transpose(*kernel.dims)
    one = np.broadcast_to(np.eye(kernel.sizes["key"]), kernel.shape)
    errors = [
        np.linalg.norm(
            kernel.values - taylor.action(lambda x: -(rate.values @ x), one, 1.0, order),
            ord=2,
            axis=(-2, -1),
        )
        for order in ORDERS
    ]
    with np.errstate(divide="ignore"):
        return by_order(kernel[..., 0, 0], np.log10(np.stack(errors, axis=-1)))


VARIABLES.enter(
    "log10_taylor_lead",
    Card(
        r"\log_{10}(\tau\max|\lambda|)^{p+1}/(p+1)!",
        "decimal logarithm of the first term that a Taylor polynomial leaves out",
        dims=("replicate", "taylor_power"),
        infinite=NOTHING_FLOWS,
    ),
)


@MEASURES.add("log10_taylor_lead", of=("diffusion", "gains"))
def log10_taylor_lead(trajectory: xr.Dataset) -> xr.DataArray:
    """Give the norm of the first term that a Taylor polynomial of the heat kernel leaves out.

    Returns
    -------
    (..., replicate, taylor_power) float
        Decimal logarithm. Where L has no negative eigenvalue it bounds the error, rounding
        aside; of order one it is τ²‖L²‖/2.
    """
    reach = heat_reach(trajectory)
    with np.errstate(divide="ignore"):
        decades = np.log10(reach.values)
    terms = [(p + 1) * decades - np.log10(np.arange(1.0, p + 2)).sum() for p in ORDERS]
    return by_order(reach, np.stack(terms, axis=-1))


VARIABLES.enter(
    "mode_gain",
    Card(
        r"\max_{i\geq2,j}|g(\tau\lambda_i\mu_j)|",
        "largest factor by which a layer changes a mode",
        dims=("replicate",),
        infinite="it is beyond the range of floats",
    ),
)


@MEASURES.add("mode_gain", of=("diffusion", "gains"))
def mode_gain(trajectory: xr.Dataset) -> xr.DataArray:
    """Predict the factor by which a layer multiplies what differs between tokens, in the end.

    Returns
    -------
    (..., replicate) float
        From eigenvalues of the Laplacian and of the map of values alone; for Euler steps the
        largest |1 - τλμ|.
    """
    with np.errstate(over="ignore"):
        return 10 ** trajectory["log10_mode_gain"]


@MEASURES.add("stable", of=("diffusion", "gains"))
def stable(trajectory: xr.Dataset) -> xr.DataArray:
    """Tell whether no mode grows from layer to layer.

    Returns
    -------
    (..., replicate) float
        One where none does, else zero.
    """
    return trajectory["stable"].astype(float)


VARIABLES.enter(
    "ring_step_gain",
    Card(
        r"1-\tau(2-2\cos\omega)", "gain of an Euler step on a ring", dims=("replicate", "frequency")
    ),
)


@MEASURES.add("ring_step_gain", of="diffusion", ordered=True)
def ring_step_gain(trajectory: xr.Dataset) -> xr.DataArray:
    """Predict the gain of one Euler step of diffusion on a ring of tokens.

    Returns
    -------
    (..., replicate, frequency) float
        One at frequency zero, falling along the frequencies through zero and below.
    """
    turn = 2 * np.pi / trajectory.sizes["token"]
    return on_frequencies(
        trajectory,
        trajectory["layer_time"],
        lambda k, time: 1 - time * ring.ring_eigenvalue(turn * k),
    )


VARIABLES.enter(
    "wave_gain",
    Card("g_k", "gain of a frequency in one layer", dims=("replicate", "frequency")),
)
ROUNDING.enter("wave_gain", Remainder())


@MEASURES.add("wave_gain", ordered=True)
def wave_gain(trajectory: xr.Dataset) -> xr.DataArray:
    """Give the factor, sign included, by which the first layer multiplies each frequency.

    Returns
    -------
    (..., replicate, frequency) float
        In phase: for an operator that turns features it is the real part.

    Raises
    ------
    Refusal
        Where the tokens of layers 0 and 1 are not both recorded.
    """
    import xarray as xr

    if not {0, 1} <= set(trajectory["recorded_layer"].values.tolist()):
        raise Refusal(
            f"wave_gain needs the tokens of layers 0 and 1, and layers "
            f"{trajectory['recorded_layer'].values.tolist()} are recorded; write "
            f"'record: geometric'."
        )
    before, after = (tokens(trajectory.sel(recorded_layer=layer)) for layer in (0, 1))
    gain = fourier.in_phase_gain(before.values, after.values)
    dims = (*before.dims[:-2], "frequency")
    leading = {name: before[name] for name in before.dims[:-2] if name in before.coords}
    return xr.DataArray(gain, {**leading, "frequency": np.arange(gain.shape[-1])}, dims)


def tokens(layer: xr.Dataset) -> xr.DataArray:
    """Put the tokens (..., token, feature) of one layer together from their two parts."""
    mean = layer["dc"] * 2.0 ** layer["dc_exponent"]
    return (mean + layer["hc"] * 2.0 ** layer["hc_exponent"]).transpose(..., "token", "feature")


def by_order(like: xr.DataArray, values: np.ndarray) -> xr.DataArray:
    """Label values (..., taylor_power), whose other dimensions are those of a number."""
    import xarray as xr

    leading = {name: like[name] for name in like.dims if name in like.coords}
    return xr.DataArray(
        values, {**leading, "taylor_power": list(ORDERS)}, (*like.dims, "taylor_power")
    )
