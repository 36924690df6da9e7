"""How fast a trajectory forgets: ratios over layers, and rates fitted to them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from lowpass import spectra
from lowpass.labels import VARIABLES, Card
from lowpass.measures.names import MEASURES
from lowpass.measures.predictions import predicted_rate
from lowpass.rounding import ROUNDING, Fitted, Logarithm

if TYPE_CHECKING:
    import xarray as xr

# A rate is fitted over the later half of the layers: the slower modes have died out by then.
LATER = 2


VARIABLES.enter(
    "log10_hc_dc_ratio",
    Card(
        r"\log_{10}\|CX\|/\|JX\|",
        "decimal logarithm of the HC/DC ratio",
        dims=("replicate", "layer"),
        infinite="one of the two components is exactly zero",
    ),
)
ROUNDING.enter("log10_hc_dc_ratio", Logarithm(floored=True))


@MEASURES.add("log10_hc_dc_ratio")
def log10_hc_dc_ratio(trajectory: xr.Dataset) -> xr.DataArray:
    """Compare what differs between tokens with their mean, layer by layer.

    Parameters
    ----------
    trajectory : Dataset
        With ``log10_hc_norm`` and ``log10_dc_norm`` (..., replicate, layer).

    Returns
    -------
    (..., replicate, layer) float
        Decimal logarithm of the Frobenius norms' ratio; any real number or ±infinity.

    References
    ----------
    .. [1] wang2022, definition of high- and low-frequency components.
    """
    return trajectory["log10_hc_norm"] - trajectory["log10_dc_norm"]


VARIABLES.enter(
    "log10_transient_ratio",
    Card(
        r"\log_{10}\|(I-1\pi^\top)X\|/\|1\pi^\top X\|",
        "decimal logarithm of the transient ratio",
        dims=("replicate", "layer"),
        infinite="one of the two components is exactly zero",
    ),
)
ROUNDING.enter("log10_transient_ratio", Logarithm(floored=True))


@MEASURES.add("log10_transient_ratio", of="transient")
def log10_transient_ratio(trajectory: xr.Dataset) -> xr.DataArray:
    """Compare what attention forgets with what it keeps, layer by layer.

    Parameters
    ----------
    trajectory : Dataset
        With ``log10_transient_norm`` and ``log10_stationary_norm`` (..., replicate, layer).

    Returns
    -------
    (..., replicate, layer) float
        Decimal logarithm of the Frobenius norms' ratio; any real number or ±infinity.
    """
    return trajectory["log10_transient_norm"] - trajectory["log10_stationary_norm"]


VARIABLES.enter(
    "log10_predicted_ratio",
    Card(
        r"\log_{10}c\,\rho^t",
        "decimal logarithm of the predicted transient ratio",
        dims=("replicate", "layer"),
        infinite="the prediction for a component that is exactly zero",
    ),
)
ROUNDING.enter("log10_predicted_ratio", Fitted(of=Logarithm(), off=2.0))


@MEASURES.add("log10_predicted_ratio", of=("matrix", "transient", "frozen", "pair"))
def log10_predicted_ratio(trajectory: xr.Dataset) -> xr.DataArray:
    """Continue the ratio backwards from the later half at the predicted rate.

    The slope follows from eigenvalues alone, and for plain attention is that of the second
    one; only the height c is read off the ratio.

    Returns
    -------
    (..., replicate, layer) float
        Decimal logarithm of c ρ^t.
    """
    ratio = log10_transient_ratio(trajectory)
    with np.errstate(divide="ignore"):
        slope = np.log10(predicted_rate(trajectory))
    line = (ratio["layer"] * slope).where(np.isfinite(slope), slope)
    later = ratio["layer"] >= ratio.sizes["layer"] // LATER
    height = (ratio - line).where(later, drop=True).mean("layer").where(np.isfinite(slope), 0.0)
    return (line + height).transpose(*ratio.dims)


@MEASURES.add("log10_hc_norm")
def log10_hc_norm(trajectory: xr.Dataset) -> xr.DataArray:
    """Hand on the norm of what differs between tokens, layer by layer.

    Returns
    -------
    (..., replicate, layer) float
        Decimal logarithm of the Frobenius norm; minus infinity where all tokens are equal.
    """
    return trajectory["log10_hc_norm"]


@MEASURES.add("log10_dc_norm")
def log10_dc_norm(trajectory: xr.Dataset) -> xr.DataArray:
    """Hand on the norm of the token mean, repeated for every token, layer by layer.

    Returns
    -------
    (..., replicate, layer) float
        Decimal logarithm of the Frobenius norm; minus infinity where the mean is zero.
    """
    return trajectory["log10_dc_norm"]


VARIABLES.enter(
    "transient_rate",
    Card(
        r"\rho",
        "fitted rate of the transient ratio",
        dims=("replicate",),
        infinite="a layer leaves nothing of the stationary component",
    ),
)
ROUNDING.enter("transient_rate", Fitted(off=0.1))


@MEASURES.add("transient_rate", of="transient")
def transient_rate(trajectory: xr.Dataset) -> xr.DataArray:
    """Fit the factor by which one layer shrinks the transient ratio, over the later half.

    Returns
    -------
    (..., replicate) float
        Ten to the least-squares slope; below one where the ratio falls.
    """
    return rate(log10_transient_ratio(trajectory))


VARIABLES.enter(
    "tapered_rate",
    Card(
        r"\bar\rho",
        "rate of the transient ratio",
        dims=("replicate",),
        infinite="a layer leaves nothing of the stationary component",
    ),
)
ROUNDING.enter("tapered_rate", Fitted(off=0.1))


@MEASURES.add("tapered_rate", of="transient")
def tapered_rate(trajectory: xr.Dataset) -> xr.DataArray:
    """Average the factor by which one layer changes the transient ratio, over the later half.

    The layers at both ends of that half count least, so that a ratio that swings about its
    slope, as complex modes make it, gives that slope.

    Returns
    -------
    (..., replicate) float
        Below one where the ratio falls.
    """
    return fitted(log10_transient_ratio(trajectory), spectra.tapered_rate)


VARIABLES.enter(
    "tapered_growth",
    Card(r"\bar\gamma", "growth of the transient component", dims=("replicate",)),
)
ROUNDING.enter("tapered_growth", Fitted(off=0.1))


@MEASURES.add("tapered_growth", of="transient")
def tapered_growth(trajectory: xr.Dataset) -> xr.DataArray:
    """Average the factor by which one layer multiplies the transient component, likewise.

    Returns
    -------
    (..., replicate) float
        Zero where nothing is left.
    """
    return fitted(trajectory["log10_transient_norm"], spectra.tapered_rate)


VARIABLES.enter(
    "transient_growth",
    Card(r"\gamma", "fitted growth of the transient component", dims=("replicate",)),
)
ROUNDING.enter("transient_growth", Fitted(off=0.1))


@MEASURES.add("transient_growth", of="transient")
def transient_growth(trajectory: xr.Dataset) -> xr.DataArray:
    """Fit the factor by which one layer multiplies the transient component, later half.

    Returns
    -------
    (..., replicate) float
        Ten to the least-squares slope; zero where nothing is left.
    """
    return rate(trajectory["log10_transient_norm"])


VARIABLES.enter(
    "hc_dc_rate",
    Card(r"\rho_{HC/DC}", "fitted rate of the HC/DC ratio", dims=("replicate",)),
)
ROUNDING.enter("hc_dc_rate", Fitted(off=0.1))


@MEASURES.add("hc_dc_rate")
def hc_dc_rate(trajectory: xr.Dataset) -> xr.DataArray:
    """Fit the factor by which one layer shrinks the HC/DC ratio, over the later half.

    Returns
    -------
    (..., replicate) float
        Ten to the least-squares slope; below one where the ratio falls.
    """
    return rate(log10_hc_dc_ratio(trajectory))


VARIABLES.enter(
    "collapse_order",
    Card(
        "p",
        "order at which the HC/DC ratio collapses",
        dims=("replicate",),
        infinite="one of the two components became exactly zero",
    ),
)
# Where plain arithmetic ends, noise is fitted to noise.
ROUNDING.enter("collapse_order", Fitted(off=math.inf))


@MEASURES.add("collapse_order")
def collapse_order(trajectory: xr.Dataset) -> xr.DataArray:
    """Fit the power of the HC/DC ratio that the next layer's is, over the later half or more.

    Returns
    -------
    (..., replicate) float
        One where the ratio falls geometrically, as under one repeated matrix, and three where
        it falls cubically.
    """
    return fitted(log10_hc_dc_ratio(trajectory), spectra.fitted_order, at_least=3)


VARIABLES.enter(
    "hc_rate",
    Card(r"\rho_{HC}", "fitted rate of the high-frequency component", dims=("replicate",)),
)
ROUNDING.enter("hc_rate", Fitted(off=0.1))


@MEASURES.add("hc_rate", of="pair")
def hc_rate(trajectory: xr.Dataset) -> xr.DataArray:
    """Fit the factor by which one layer changes ‖HC‖ itself, over the later half.

    Returns
    -------
    (..., replicate) float
        Ten to the least-squares slope; above one where the component grows.
    """
    return rate(trajectory["log10_hc_norm"])


@MEASURES.add("log10_rounding_floor")
def log10_rounding_floor(trajectory: xr.Dataset) -> xr.DataArray:
    """Hand on where rounding stops the HC/DC ratio of the arithmetic used.

    Returns
    -------
    (..., replicate) float
        Minus infinity for the split form.
    """
    return trajectory["log10_rounding_floor"]


def rate(log10_ratio: xr.DataArray) -> xr.DataArray:
    """Fit the rate of a ratio over the later half of its layers."""
    return fitted(log10_ratio, spectra.fitted_rate)


def fitted(
    log10_ratio: xr.DataArray, fit: Callable[[np.ndarray, int], np.ndarray], at_least: int = 2
) -> xr.DataArray:
    """Fit one number to the later half of the layers, or the few more that it needs."""
    ordered = log10_ratio.transpose(..., "layer")
    n_layers = ordered.sizes["layer"]
    first = max(min(n_layers // LATER, n_layers - at_least), 0)
    return ordered[..., 0].drop_vars("layer").copy(data=fit(ordered.values, first))
