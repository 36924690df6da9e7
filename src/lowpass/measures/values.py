"""How much the projection of values enlarges features, in one layer or in many."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from lowpass.labels import VARIABLES, Card
from lowpass.measures.names import MEASURES

if TYPE_CHECKING:
    import xarray as xr

VARIABLES.enter(
    "value_norm",
    Card(r"\|W_VW_O\|_2", "largest singular value of the values' projection", dims=("replicate",)),
)


@MEASURES.add("value_norm", of="attention")
def value_norm(trajectory: xr.Dataset) -> xr.DataArray:
    """Give the largest factor by which the projection of values and outputs enlarges a token.

    Returns
    -------
    (..., replicate) float
        Not negative; one where both projections are the identity.
    """
    return of_values(trajectory, lambda w: np.linalg.svd(w, compute_uv=False)[..., 0])


VARIABLES.enter(
    "value_radius",
    Card(r"\rho(W_VW_O)", "spectral radius of the values' projection", dims=("replicate",)),
)


@MEASURES.add("value_radius", of="attention")
def value_radius(trajectory: xr.Dataset) -> xr.DataArray:
    """Give the factor per layer by which the projection of values enlarges tokens in the end.

    Returns
    -------
    (..., replicate) float
        Not negative, at most the norm; one where both projections are the identity.
    """
    return of_values(trajectory, lambda w: np.abs(np.linalg.eigvals(w)).max(axis=-1))


VARIABLES.enter(
    "least_real_value",
    Card(
        r"\min_j\mathrm{Re}\,\mu_j",
        "least real part of an eigenvalue of the values' projection",
        dims=("replicate",),
    ),
)


@MEASURES.add("least_real_value")
def least_real_value(trajectory: xr.Dataset) -> xr.DataArray:
    """Give the least real part of an eigenvalue of the projection of values and outputs.

    Returns
    -------
    (..., replicate) float
        Any real number; one where both projections are the identity. The flow of
        -L X W_V damps every mode exactly where it is positive, if those of L are real.
    """
    return of_values(trajectory, lambda w: np.linalg.eigvals(w).real.min(axis=-1))


def of_values(trajectory: xr.Dataset, function: Callable[[np.ndarray], np.ndarray]) -> xr.DataArray:
    """Apply a function of matrices to W_V W_O, of which a missing one is the identity."""
    drawn = [
        trajectory[name].transpose(..., "feature", "projected").values
        for name in ("w_v", "w_o")
        if name in trajectory
    ]
    like = trajectory["skip_weight" if "skip_weight" in trajectory else "layer_time"]
    if not drawn:
        return like.copy(data=np.ones(like.shape))
    product = drawn[0] if len(drawn) == 1 else drawn[0] @ drawn[1]
    return like.copy(data=function(product))
