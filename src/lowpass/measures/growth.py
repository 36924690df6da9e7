"""How much of what differs between tokens is there after some layers, against the start."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lowpass import contraction, frozen
from lowpass.labels import VARIABLES, Card
from lowpass.measures.layered import with_layers
from lowpass.measures.matrices import mixing
from lowpass.measures.names import MEASURES
from lowpass.registry import Refusal
from lowpass.rounding import ROUNDING, Logarithm, Remainder

if TYPE_CHECKING:
    import xarray as xr

RECORDED = ("replicate", "recorded_layer")
NOTHING_LEFT = "the start or the layer has nothing that differs between tokens"

VARIABLES.enter(
    "log10_hc_growth",
    Card(
        r"\log_{10}\|CX_t\|/\|CX_0\|",
        "decimal logarithm of the share of HC that is kept",
        dims=("replicate", "layer"),
        infinite=NOTHING_LEFT,
    ),
)
ROUNDING.enter("log10_hc_growth", Logarithm(floored=True))


@MEASURES.add("log10_hc_growth", of="pair")
def log10_hc_growth(trajectory: xr.Dataset) -> xr.DataArray:
    """Compare the norm of the high-frequency component of every layer with that of layer 0.

    Returns
    -------
    (..., replicate, layer) float
        Decimal logarithm; zero at layer 0, above zero where the component has grown.
    """
    norm = trajectory["log10_hc_norm"]
    return norm - norm.sel(layer=0, drop=True)


VARIABLES.enter(
    "hc_layer_gain",
    Card(r"\|CX_1\|/\|CX_0\|", "gain of HC of the tokens", dims=("replicate",)),
)
ROUNDING.enter("hc_layer_gain", Remainder())


@MEASURES.add("hc_layer_gain", of="pair")
def hc_layer_gain(trajectory: xr.Dataset) -> xr.DataArray:
    """Give the factor by which the first layer changes the high-frequency component of tokens.

    Returns
    -------
    (..., replicate) float
        Not negative; at most the largest gain where the layer is attention alone.
    """
    return 10 ** log10_hc_growth(trajectory).sel(layer=1, drop=True)


VARIABLES.enter(
    "log10_oscillation_growth",
    Card(
        r"\log_{10}\mathrm{osc}(z_t)/\mathrm{osc}(z_0)",
        "decimal logarithm of the largest share of an oscillation that is kept",
        dims=RECORDED,
        infinite=NOTHING_LEFT,
    ),
)
ROUNDING.enter("log10_oscillation_growth", Logarithm(floored=True))


@MEASURES.add("log10_oscillation_growth", of="pair")
def log10_oscillation_growth(trajectory: xr.Dataset) -> xr.DataArray:
    """Compare the oscillation max z - min z of every feature with that of the start.

    Returns
    -------
    (..., replicate, recorded_layer) float
        Decimal logarithm of the largest ratio over the features z; zero at the first recorded
        layer. No attention matrix ever lets it rise.

    References
    ----------
    .. [1] seneta2006, chapter 3.
    """
    exponent = trajectory["hc_exponent"]
    high = trajectory["hc"].transpose(*exponent.dims, "token", "feature").values
    return exponent.copy(data=contraction.log10_oscillation_growth(high, exponent.values))


VARIABLES.enter(
    "oscillation_gain",
    Card(
        r"\mathrm{osc}(z_1)/\mathrm{osc}(z_0)",
        "largest gain of an oscillation",
        dims=("replicate",),
    ),
)
ROUNDING.enter("oscillation_gain", Remainder())


@MEASURES.add("oscillation_gain", of="pair")
def oscillation_gain(trajectory: xr.Dataset) -> xr.DataArray:
    """Give the largest factor by which the first layer changes the oscillation of a feature.

    Returns
    -------
    (..., replicate) float
        Not negative; at most Dobrushin's coefficient where the layer is attention alone.

    Raises
    ------
    Refusal
        Where the tokens of layers 0 and 1 are not both recorded.
    """
    if not {0, 1} <= set(trajectory["recorded_layer"].values.tolist()):
        raise Refusal(
            f"oscillation_gain needs the tokens of layers 0 and 1, and layers "
            f"{trajectory['recorded_layer'].values.tolist()} are recorded; write "
            f"'record: geometric'."
        )
    first = trajectory.sel(recorded_layer=[0, 1])
    return 10 ** log10_oscillation_growth(first).sel(recorded_layer=1, drop=True)


VARIABLES.enter(
    "log10_oscillation_bound",
    Card(
        r"\log_{10}\prod_l\tau_1(A_l)",
        "decimal logarithm of the bound on the share of an oscillation that is kept",
        dims=("replicate", "layer"),
        infinite="a layer makes all tokens equal",
    ),
)
ROUNDING.enter("log10_oscillation_bound", Logarithm())


@MEASURES.add("log10_oscillation_bound", of=("matrix", "transient"))
def log10_oscillation_bound(trajectory: xr.Dataset) -> xr.DataArray:
    """Multiply Dobrushin's coefficients of the layers, which share one matrix or wane.

    Returns
    -------
    (..., replicate, layer) float
        Decimal logarithm of the product over layers 1 to t; zero at layer 0. It tends to minus
        infinity where the sum of 1 - τ₁ diverges, and to a finite number where it does not.

    References
    ----------
    .. [1] seneta2006, chapter 4.
    """
    a = mixing(trajectory).transpose(..., "query", "key")
    factors = [coefficient(a.values, share) for share in shares(trajectory)]
    with np.errstate(divide="ignore"):
        product = np.cumsum(np.log10(np.stack(factors, axis=-1)), axis=-1)
    return with_layers(trajectory, a[..., 0, 0], product)


def coefficient(attention: np.ndarray, share: float) -> np.ndarray:
    """Give Dobrushin's coefficient of a layer that mixes a share of attention with the identity."""
    return contraction.dobrushin(frozen.diluted(attention, share))


def shares(trajectory: xr.Dataset) -> list[float]:
    """Give the share of attention in layers 0, 1, ...: none at layer 0, and all where frozen."""
    if "layer_share" in trajectory:
        # What is swept within one job does not change it.
        return (
            trajectory["layer_share"]
            .transpose(..., "layer")
            .values.reshape(-1, trajectory.sizes["layer"])[0]
            .tolist()
        )
    return [0.0] + [1.0] * (trajectory.sizes["layer"] - 1)
