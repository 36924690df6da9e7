"""How soon every token has forgotten where it started, and where it arrives."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lowpass import powers
from lowpass.labels import VARIABLES, Card
from lowpass.measures.layered import depth, over_layers, with_layers
from lowpass.measures.matrices import mixing, slem
from lowpass.measures.names import MEASURES
from lowpass.rounding import ROUNDING, Logarithm

if TYPE_CHECKING:
    import numpy as np
    import xarray as xr


@MEASURES.add("stationary", of="mode")
def stationary(trajectory: xr.Dataset) -> xr.DataArray:
    """Hand on the distribution that a layer leaves as it is.

    Returns
    -------
    (..., replicate, token) float
        Not negative; sums to one. Of a matrix that falls apart, the limit of the uniform start.
    """
    return trajectory["stationary"]


VARIABLES.enter(
    "stationary_min",
    Card(r"\pi_{\min}", "smallest entry of the stationary distribution", dims=("replicate",)),
)


@MEASURES.add("stationary_min", of="mode")
def stationary_min(trajectory: xr.Dataset) -> xr.DataArray:
    """Give the smallest entry of the stationary distribution.

    Returns
    -------
    (..., replicate) float
        In [0, 1/n]; zero where a token is left for good.
    """
    return trajectory["stationary"].min("token")


VARIABLES.enter(
    "log10_mixing_distance",
    Card(
        r"\log_{10}d(t)",
        "decimal logarithm of the largest total-variation distance",
        dims=("replicate", "layer"),
        infinite="every token has arrived",
    ),
)
ROUNDING.enter("log10_mixing_distance", Logarithm())


@MEASURES.add("log10_mixing_distance", of="matrix")
def log10_mixing_distance(trajectory: xr.Dataset) -> xr.DataArray:
    """Give the total-variation distance of powers of attention from their limit.

    Returns
    -------
    (..., replicate, layer) float
        Decimal logarithm of max_i ½ Σ_j |(Aᵗ)_ij - π_j|, at most zero; it never rises.

    References
    ----------
    .. [1] levin2017, section 4.4.
    """
    a = mixing(trajectory)
    pi = trajectory["stationary"].transpose(..., "token").values
    return over_layers(
        trajectory, a, lambda each, depth: powers.log10_mixing_distance(each, pi, depth)
    )


VARIABLES.enter(
    "log10_mixing_lower",
    Card(
        r"\log_{10}\frac{1}{2}|\lambda_2|^t",
        "decimal logarithm of the lower bound on reversible mixing",
        dims=("replicate", "layer"),
        infinite="the second eigenvalue is zero",
    ),
)
ROUNDING.enter("log10_mixing_lower", Logarithm())


@MEASURES.add("log10_mixing_lower", of="matrix")
def log10_mixing_lower(trajectory: xr.Dataset) -> xr.DataArray:
    """Bound the distance of reversible mixing from below by the second eigenvalue.

    Returns
    -------
    (..., replicate, layer) float
        Decimal logarithm. Where attention is not reversible this bound still holds.

    References
    ----------
    .. [1] levin2017, section 12.2.
    """
    return bounds(trajectory, 0)


VARIABLES.enter(
    "log10_mixing_upper",
    Card(
        r"\log_{10}\frac{1}{2}\pi_{\min}^{-1/2}|\lambda_2|^t",
        "decimal logarithm of the upper bound on reversible mixing",
        dims=("replicate", "layer"),
        infinite="the second eigenvalue is zero, or a token is left for good",
    ),
)
ROUNDING.enter("log10_mixing_upper", Logarithm())


@MEASURES.add("log10_mixing_upper", of="matrix")
def log10_mixing_upper(trajectory: xr.Dataset) -> xr.DataArray:
    """Bound the distance of reversible mixing from above by the second eigenvalue.

    Returns
    -------
    (..., replicate, layer) float
        Decimal logarithm. Where attention is not reversible it is no bound.

    References
    ----------
    .. [1] diaconis1991, proposition 3.
    """
    return bounds(trajectory, 1)


def bounds(trajectory: xr.Dataset, side: int) -> xr.DataArray:
    """Give the lower bound (0) or the upper one (1)."""
    modulus = slem(trajectory)
    smallest: np.ndarray = stationary_min(trajectory).transpose(*modulus.dims).values
    both = powers.log10_mixing_bounds(modulus.values, smallest, depth(trajectory))
    return with_layers(trajectory, modulus, both[side])
