"""The second modulus beside what it tends to in long sequences."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lowpass import scaling
from lowpass.labels import VARIABLES, Card
from lowpass.measures.matrices import slem
from lowpass.measures.names import MEASURES

if TYPE_CHECKING:
    import xarray as xr

VARIABLES.enter(
    "gaussian_slem",
    Card(
        r"\lambda_\mathrm{G}=\beta\rho(W_KW_Q^\top)/\sqrt{d}",
        "limit of the second modulus for Gaussian tokens",
        dims=("replicate",),
    ),
)


@MEASURES.add("gaussian_slem", of=("weights", "temperature"))
def gaussian_slem(trajectory: xr.Dataset) -> xr.DataArray:
    """Predict |λ₂| of many Gaussian tokens from the projections alone.

    Returns
    -------
    (..., replicate) float
        Not negative.
    """
    w_q, w_k = (trajectory[name].transpose(..., "feature", "projected") for name in ("w_q", "w_k"))
    beta = trajectory["inverse_temperature"].transpose(*w_q.dims[:-2])
    return beta.copy(data=scaling.gaussian_modulus(w_q.values, w_k.values, beta.values))


VARIABLES.enter(
    "slem_over_gaussian",
    Card(
        r"|\lambda_2|/\lambda_\mathrm{G}",
        "second modulus over Gaussian limit",
        dims=("replicate",),
    ),
)


@MEASURES.add("slem_over_gaussian", of=("modulus", "weights", "temperature"))
def slem_over_gaussian(trajectory: xr.Dataset) -> xr.DataArray:
    """Divide |λ₂| by what it tends to for Gaussian tokens.

    Returns
    -------
    (..., replicate) float
        Not negative; one in the limit.
    """
    return slem(trajectory) / gaussian_slem(trajectory)


VARIABLES.enter(
    "independent_slem",
    Card(
        r"\lambda_\mathrm{I}=\sqrt{(e^{\beta^2}-1)/n}",
        "limit of the second modulus for independent normal logits",
        dims=("replicate",),
    ),
)


@MEASURES.add("independent_slem", of=("attention", "temperature"))
def independent_slem(trajectory: xr.Dataset) -> xr.DataArray:
    """Predict |λ₂| as if logits were independent and normal, with β for a standard deviation.

    Returns
    -------
    (..., replicate) float
        Not negative.

    References
    ----------
    .. [1] bordenave2012.
    """
    beta = trajectory["inverse_temperature"]
    return beta.copy(data=scaling.independent_modulus(beta.values, trajectory.sizes["token"]))


VARIABLES.enter(
    "slem_over_independent",
    Card(
        r"|\lambda_2|/\lambda_\mathrm{I}",
        "second modulus over random limit",
        dims=("replicate",),
    ),
)


@MEASURES.add("slem_over_independent", of=("modulus", "attention", "temperature"))
def slem_over_independent(trajectory: xr.Dataset) -> xr.DataArray:
    """Divide |λ₂| by what it tends to for independent normal logits.

    Returns
    -------
    (..., replicate) float
        Not negative; one in the limit.
    """
    return slem(trajectory) / independent_slem(trajectory)


VARIABLES.enter(
    "millionth_depth",
    Card(
        r"6/(-\log_{10}|\lambda_2|)",
        "layers until the slowest mode has shrunk to a millionth",
        dims=("replicate",),
        infinite="a mode that does not decay",
    ),
)


@MEASURES.add("millionth_depth", of="modulus")
def millionth_depth(trajectory: xr.Dataset) -> xr.DataArray:
    """Say after how many layers the slowest mode has shrunk to a millionth.

    Returns
    -------
    (..., replicate) float
        Not negative, not rounded; zero where attention forgets at once.
    """
    modulus = slem(trajectory)
    return modulus.copy(data=scaling.layers_to_a_millionth(np.asarray(modulus.values)))
