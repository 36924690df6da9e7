"""How near the heat kernel of the note can come to attention, and what bounds that."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from lowpass import heat_fit, symmetrised
from lowpass.labels import VARIABLES, Card
from lowpass.laplacians import signed
from lowpass.measures.matrices import of_matrices
from lowpass.measures.names import MEASURES
from lowpass.measures.symmetrised import (
    UNIFORM,
    in_order,
    in_units_of_uniform,
    of_attention_and_logits,
)
from lowpass.rounding import ROUNDING, Logarithm, Remainder

if TYPE_CHECKING:
    import xarray as xr

UNIT = ", in units of that from J"

VARIABLES.enter(
    "heat_error",
    Card(
        r"\min_\tau\|A-e^{-\tau L}\|/\|A-J\|",
        "distance of attention from its nearest heat kernel" + UNIT,
        dims=("replicate",),
        infinite=UNIFORM,
    ),
)


@MEASURES.add("heat_error", of=("matrix", "scores", "pair"))
def heat_error(trajectory: xr.Dataset) -> xr.DataArray:
    """Give the distance of attention from the heat kernel of L = D - S̃ at its best time.

    Returns
    -------
    (..., replicate) float
        Not negative, in units of the distance from J: above one, J is nearer.
    """
    found = of_attention_and_logits(trajectory, lambda a, s: nearest(a, s)[1])
    return in_units_of_uniform(trajectory, found)


VARIABLES.enter(
    "heat_best_time",
    Card(
        r"\tau\rho(L)",
        "time of the nearest heat kernel, in units of that of the fastest mode",
        dims=("replicate",),
        infinite="no heat kernel is nearer than J",
    ),
)
ROUNDING.enter("heat_best_time", Remainder())


@MEASURES.add("heat_best_time", of=("matrix", "scores", "pair"))
def heat_best_time(trajectory: xr.Dataset) -> xr.DataArray:
    """Give the time at which the heat kernel of L = D - S̃ is nearest to attention.

    Returns
    -------
    (..., replicate) float
        Not negative, multiplied by the largest modulus of an eigenvalue of L: zero where
        the identity is nearest.
    """

    def in_units(attention: np.ndarray, logits: np.ndarray) -> np.ndarray:
        laplacian = signed(symmetrised.symmetric_part(logits))
        radius = np.abs(np.linalg.eigvalsh(laplacian)).max(axis=-1)
        return nearest(attention, logits)[0] * radius

    return of_attention_and_logits(trajectory, in_units)


def nearest(attention: np.ndarray, logits: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Give the best time and the least distance for the Laplacian of symmetrised logits."""
    return heat_fit.nearest_heat(attention, signed(symmetrised.symmetric_part(logits)))


VARIABLES.enter(
    "log10_heat_distance",
    Card(
        r"\log_{10}\|A-e^{-L}\|_F/\sqrt{n-1}",
        "decimal logarithm of the distance of attention from its heat kernel at the time one",
        dims=("replicate",),
    ),
)
ROUNDING.enter("log10_heat_distance", Logarithm())


@MEASURES.add("log10_heat_distance", of=("matrix", "scores", "pair"))
def log10_heat_distance(trajectory: xr.Dataset) -> xr.DataArray:
    """Give the distance of attention from the heat kernel of L = D - S̃ at the time one.

    Returns
    -------
    (..., replicate) float
        Decimal logarithm, in units of √(n - 1), which is the distance of I from J: it tends
        to zero as the logits vanish.
    """

    def at_one(attention: np.ndarray, logits: np.ndarray) -> np.ndarray:
        laplacian = signed(symmetrised.symmetric_part(logits))
        value, overlap = heat_fit.overlaps(attention, laplacian)
        far = symmetrised.uniform_distance(attention)
        found = heat_fit.log10_distance_at_one(far, overlap, value)
        return found - np.log10(attention.shape[-1] - 1) / 2

    return of_attention_and_logits(trajectory, at_one)


VARIABLES.enter(
    "identity_error",
    Card(
        r"\|A-I\|/\|A-J\|",
        "distance of attention from the identity" + UNIT,
        dims=("replicate",),
        infinite=UNIFORM,
    ),
)


@MEASURES.add("identity_error", of="matrix")
def identity_error(trajectory: xr.Dataset) -> xr.DataArray:
    """Give the distance of attention from the identity, which is the heat kernel at time zero.

    Returns
    -------
    (..., replicate) float
        Not negative, in units of the distance from J.
    """
    return of_attention(trajectory, heat_fit.identity_distance)


VARIABLES.enter(
    "column_bound",
    Card(
        r"\|A^\top1-1\|/(\sqrt n\,\|A-J\|)",
        "bound by column sums on the distance from a symmetric kernel" + UNIT,
        dims=("replicate",),
    ),
)
ROUNDING.enter("column_bound", Remainder())


@MEASURES.add("column_bound", of="matrix")
def column_bound(trajectory: xr.Dataset) -> xr.DataArray:
    """Bound the distance of attention from every kernel whose columns sum to one.

    Returns
    -------
    (..., replicate) float
        In [0, 1], in units of the distance from J.
    """
    return of_attention(trajectory, heat_fit.column_bound)


VARIABLES.enter(
    "symmetric_floor",
    Card(
        r"\min\{\|A-E\|/\|A-J\|:E=E^\top,E1=1\}",
        "least distance of attention from a symmetric kernel" + UNIT,
        dims=("replicate",),
    ),
)
ROUNDING.enter("symmetric_floor", Remainder())


@MEASURES.add("symmetric_floor", of="matrix")
def symmetric_floor(trajectory: xr.Dataset) -> xr.DataArray:
    """Give the least distance of attention from a symmetric matrix whose rows sum to one.

    Returns
    -------
    (..., replicate) float
        In [0, 1], in units of the distance from J.
    """
    return of_attention(trajectory, heat_fit.symmetric_floor)


VARIABLES.enter(
    "heat_floor",
    Card(
        r"\inf_{L=L^\top,L1=0}\|A-e^{-L}\|/\|A-J\|",
        "least distance of attention from the heat kernel of any graph" + UNIT,
        dims=("replicate",),
    ),
)
ROUNDING.enter("heat_floor", Remainder())


@MEASURES.add("heat_floor", of="matrix")
def heat_floor(trajectory: xr.Dataset) -> xr.DataArray:
    """Give the least distance of attention from the heat kernel of any graph, whatever its weights.

    Returns
    -------
    (..., replicate) float
        In [0, 1], in units of the distance from J.
    """
    return of_attention(trajectory, heat_fit.heat_floor)


def of_attention(
    trajectory: xr.Dataset, function: Callable[[np.ndarray], np.ndarray]
) -> xr.DataArray:
    """Apply a distance of matrices (..., query, key) from something, in units of that from J."""
    return in_units_of_uniform(trajectory, of_matrices(in_order(trajectory), function))
