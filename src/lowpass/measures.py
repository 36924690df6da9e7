"""Measures of a trajectory, each with its card.

A measure maps a labelled trajectory to one labelled variable of the same name.
It owns the choice of dimensions; the mathematics stands in ``spectra``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lowpass import spectra
from lowpass.labels import VARIABLES, Card
from lowpass.registry import Registry

if TYPE_CHECKING:
    import xarray as xr

MEASURES = Registry("measure")

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


@MEASURES.add("log10_transient_ratio")
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
    "slem",
    Card(r"|\lambda_2|", "second-largest eigenvalue modulus", dims=("replicate",)),
)


@MEASURES.add("slem")
def slem(trajectory: xr.Dataset) -> xr.DataArray:
    """Give the second-largest eigenvalue modulus of the attention matrix.

    Returns
    -------
    (..., replicate) float
        In [0, 1].
    """
    return of_matrices(trajectory["attention"], spectra.slem)


VARIABLES.enter(
    "log10_predicted_ratio",
    Card(
        r"\log_{10}c\,|\lambda_2|^t",
        "decimal logarithm of the predicted transient ratio",
        dims=("replicate", "layer"),
        infinite="the prediction for a component that is exactly zero",
    ),
)


@MEASURES.add("log10_predicted_ratio")
def log10_predicted_ratio(trajectory: xr.Dataset) -> xr.DataArray:
    """Continue the ratio backwards from the later half at the rate of the second eigenvalue.

    The slope is that of the eigenvalue alone; only the height c is read off the ratio.

    Returns
    -------
    (..., replicate, layer) float
        Decimal logarithm of c |λ₂|^t.
    """
    ratio = log10_transient_ratio(trajectory)
    line = ratio["layer"] * np.log10(slem(trajectory))
    later = ratio["layer"] >= ratio.sizes["layer"] // LATER
    height = (ratio - line).where(later, drop=True).mean("layer")
    return (line + height).transpose(*ratio.dims)


VARIABLES.enter(
    "transient_rate",
    Card(r"\rho", "fitted rate of the transient ratio", dims=("replicate",)),
)


@MEASURES.add("transient_rate")
def transient_rate(trajectory: xr.Dataset) -> xr.DataArray:
    """Fit the factor by which one layer shrinks the transient ratio, over the later half.

    Returns
    -------
    (..., replicate) float
        Ten to the least-squares slope; below one where the ratio falls.
    """
    return rate(log10_transient_ratio(trajectory))


VARIABLES.enter(
    "hc_dc_rate",
    Card(r"\rho_{HC/DC}", "fitted rate of the HC/DC ratio", dims=("replicate",)),
)


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
    "row_sum_defect",
    Card(r"\max_i|\sum_jA_{ij}-1|", "largest defect of a row sum", dims=("replicate",)),
)


@MEASURES.add("row_sum_defect")
def row_sum_defect(trajectory: xr.Dataset) -> xr.DataArray:
    """Measure how far the rows of the attention matrix are from summing to one.

    Returns
    -------
    (..., replicate) float
        Non-negative.
    """
    return of_matrices(trajectory["attention"], spectra.row_sum_defect)


VARIABLES.enter(
    "unit_eigenvalue_defect",
    Card(
        r"|\lambda_1-1|",
        "distance of the largest eigenvalue from one",
        dims=("replicate",),
    ),
)


@MEASURES.add("unit_eigenvalue_defect")
def unit_eigenvalue_defect(trajectory: xr.Dataset) -> xr.DataArray:
    """Measure how far the eigenvalue that should be one is from one.

    Returns
    -------
    (..., replicate) float
        Non-negative.
    """
    return of_matrices(trajectory["attention"], spectra.unit_eigenvalue_defect)


VARIABLES.enter(
    "min_attention",
    Card(r"\min A_{ij}", "smallest entry of the attention matrix", dims=("replicate",)),
)


@MEASURES.add("min_attention")
def min_attention(trajectory: xr.Dataset) -> xr.DataArray:
    """Give the smallest entry: positive entries make a stochastic matrix primitive.

    Returns
    -------
    (..., replicate) float
        At most 1/n.
    """
    return trajectory["attention"].min(("query", "key"))


VARIABLES.enter(
    "dft_mean_defect",
    Card(
        r"\max|F^{-1}e_1\hat z_1-Jz|",
        "largest difference between zero frequency and token mean",
        dims=("replicate",),
    ),
)


@MEASURES.add("dft_mean_defect")
def dft_mean_defect(trajectory: xr.Dataset) -> xr.DataArray:
    """Compare the zero-frequency part of the tokens' Fourier transform with their mean.

    Returns
    -------
    (..., replicate) float
        Largest absolute difference over tokens and features of layer 0.
    """
    first = trajectory.sel(recorded_layer=0)
    mean = first["dc"] * np.exp2(first["dc_exponent"].astype(float))
    x = mean + first["hc"] * np.exp2(first["hc_exponent"].astype(float))
    x = x.transpose(..., "token", "feature")
    zero_frequency = x.copy(data=spectra.dft_mean(x.values))
    return abs(zero_frequency - mean).max(("token", "feature"))


@MEASURES.add("log10_rounding_floor")
def log10_rounding_floor(trajectory: xr.Dataset) -> xr.DataArray:
    """Hand on where rounding stops the HC/DC ratio of the arithmetic used.

    Returns
    -------
    (..., replicate) float
        Minus infinity for the split form.
    """
    return trajectory["log10_rounding_floor"]


def of_matrices(attention: xr.DataArray, function) -> xr.DataArray:
    """Apply a function of matrices (..., query, key) that gives one number for each."""
    ordered = attention.transpose(..., "query", "key")
    return (
        ordered[..., 0, 0]
        .drop_vars(["query", "key"], errors="ignore")
        .copy(data=function(ordered.values))
    )


def rate(log10_ratio: xr.DataArray) -> xr.DataArray:
    """Fit the rate of a ratio over the later half of its layers."""
    ordered = log10_ratio.transpose(..., "layer")
    first = ordered.sizes["layer"] // LATER
    return ordered[..., 0].drop_vars("layer").copy(data=spectra.fitted_rate(ordered.values, first))
