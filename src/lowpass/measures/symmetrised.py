"""What note 1 makes of logits, and how far each of its steps is from an identity."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from lowpass import symmetrised
from lowpass.labels import VARIABLES, Card
from lowpass.measures.components import logits_of
from lowpass.measures.matrices import mixing, of_matrices
from lowpass.measures.names import MEASURES
from lowpass.rounding import ROUNDING, Remainder

if TYPE_CHECKING:
    import numpy as np
    import xarray as xr

UNIFORM = "attention is uniform"

VARIABLES.enter(
    "uniform_distance",
    Card(r"\|A-J\|_F", "distance of attention from the uniform one", dims=("replicate",)),
)
ROUNDING.enter("uniform_distance", Remainder())


@MEASURES.add("uniform_distance", of="matrix")
def uniform_distance(trajectory: xr.Dataset) -> xr.DataArray:
    """Give the distance of attention from J, which every approximation of it has to beat.

    Returns
    -------
    (..., replicate) float
        In [0, √(n - 1)].
    """
    return of_matrices(mixing(trajectory), symmetrised.uniform_distance)


VARIABLES.enter(
    "symmetrised_distance",
    Card(
        r"\|A-\mathrm{softmax}\,\tilde S\|_F",
        "distance of attention from that of symmetrised logits",
        dims=("replicate",),
    ),
)
ROUNDING.enter("symmetrised_distance", Remainder())


@MEASURES.add("symmetrised_distance", of=("matrix", "scores"))
def symmetrised_distance(trajectory: xr.Dataset) -> xr.DataArray:
    """Give the distance of attention from the softmax of the symmetric part of its logits.

    Returns
    -------
    (..., replicate) float
        Not negative; zero where the logits are symmetric.
    """
    return of_attention_and_logits(
        trajectory,
        lambda a, s: symmetrised.distance(a, symmetrised.symmetrised_attention(s)),
    )


VARIABLES.enter(
    "symmetrised_error",
    Card(
        r"\|A-\mathrm{softmax}\,\tilde S\|/\|A-J\|",
        "distance of attention from that of symmetrised logits, in units of that from J",
        dims=("replicate",),
        infinite=UNIFORM,
    ),
)
ROUNDING.enter("symmetrised_error", Remainder())


@MEASURES.add("symmetrised_error", of=("matrix", "scores"))
def symmetrised_error(trajectory: xr.Dataset) -> xr.DataArray:
    """Give the distance from the softmax of the symmetric part in units of that from J.

    Returns
    -------
    (..., replicate) float
        Not negative; one where symmetrised logits are no better than none.
    """
    return in_units_of_uniform(trajectory, symmetrised_distance(trajectory))


VARIABLES.enter(
    "spectral_exponential_defect",
    Card(
        r"\|Ue^\Lambda U^\top-e^{\tilde S}\|/\|e^{\tilde S}\|",
        "relative defect of the exponential of S̃ by its eigenvalues",
        dims=("replicate",),
    ),
)
ROUNDING.enter("spectral_exponential_defect", Remainder())


@MEASURES.add("spectral_exponential_defect", of=("matrix", "scores"))
def spectral_exponential_defect(trajectory: xr.Dataset) -> xr.DataArray:
    """Compare the exponential of S̃ by its eigenvalues with that by scaling and squaring.

    Returns
    -------
    (..., replicate) float
        Not negative, of the size of rounding.
    """
    return of_symmetric(trajectory, symmetrised.spectral_exponential_defect)


VARIABLES.enter(
    "elementwise_gap",
    Card(
        r"\|(e^{\tilde S_{ij}})-e^{\tilde S}\|/\|e^{\tilde S}\|",
        "relative distance of the exponentials of entries from that of the matrix",
        dims=("replicate",),
    ),
)


@MEASURES.add("elementwise_gap", of=("matrix", "scores"))
def elementwise_gap(trajectory: xr.Dataset) -> xr.DataArray:
    """Compare the exponentials of the entries of S̃ with the exponential of S̃.

    Returns
    -------
    (..., replicate) float
        Not negative; tends to √(n - 1) as the logits vanish.
    """
    return of_symmetric(trajectory, symmetrised.elementwise_gap)


VARIABLES.enter(
    "spectral_kernel_gap",
    Card(
        r"\|Ue^{-\tau\Lambda}U^\top-e^{-\tau L}\|/\|e^{-\tau L}\|",
        "relative distance of the heat kernel as the note writes it from that of L",
        dims=("replicate",),
    ),
)


@MEASURES.add("spectral_kernel_gap", of=("matrix", "scores"))
def spectral_kernel_gap(trajectory: xr.Dataset) -> xr.DataArray:
    """Compare the heat kernel by the modes and eigenvalues of S̃ with that of L, at time 1/ρ(L).

    Returns
    -------
    (..., replicate) float
        Not negative.
    """
    return of_symmetric(trajectory, symmetrised.spectral_kernel_gap)


VARIABLES.enter(
    "other_modes_energy",
    Card(
        r"\sum_{\lambda_a\neq\lambda_b}(U^\top LU)_{ab}^2/\|L\|^2",
        "share of L that no modes of S̃ diagonalise",
        dims=("replicate",),
    ),
)
ROUNDING.enter("other_modes_energy", Remainder())


@MEASURES.add("other_modes_energy", of=("matrix", "scores"))
def other_modes_energy(trajectory: xr.Dataset) -> xr.DataArray:
    """Give the share of the energy of L that joins modes of S̃ with different eigenvalues.

    Returns
    -------
    (..., replicate) float
        In [0, 1]: zero where both have modes in common.
    """
    return of_symmetric(trajectory, symmetrised.other_modes_energy)


VARIABLES.enter(
    "own_modes_defect",
    Card(
        r"\|Ve^{-\tau\Lambda(L)}V^\top-e^{-\tau L}\|/\|e^{-\tau L}\|",
        "relative defect of the heat kernel by the modes of L",
        dims=("replicate",),
    ),
)
ROUNDING.enter("own_modes_defect", Remainder())


@MEASURES.add("own_modes_defect", of=("matrix", "scores"))
def own_modes_defect(trajectory: xr.Dataset) -> xr.DataArray:
    """Compare the heat kernel by the modes of L with that by scaling and squaring, at time 1/ρ(L).

    Returns
    -------
    (..., replicate) float
        Not negative, of the size of rounding.
    """
    return of_symmetric(trajectory, symmetrised.own_modes_defect)


def of_symmetric(
    trajectory: xr.Dataset, function: Callable[[np.ndarray], np.ndarray]
) -> xr.DataArray:
    """Apply a function of S̃ (..., replicate, query, key) that gives one number for each."""
    return of_attention_and_logits(trajectory, lambda _, s: function(symmetrised.symmetric_part(s)))


def of_attention_and_logits(
    trajectory: xr.Dataset, function: Callable[[np.ndarray, np.ndarray], np.ndarray]
) -> xr.DataArray:
    """Apply a function of A and S, both (..., replicate, query, key)."""
    logits = logits_of(trajectory)
    return of_matrices(in_order(trajectory), lambda a: function(a, logits))


def in_order(trajectory: xr.Dataset) -> xr.DataArray:
    """Give the matrix of a layer with replicates after what was swept."""
    return mixing(trajectory).transpose(..., "replicate", "query", "key")


def in_units_of_uniform(trajectory: xr.Dataset, distance: xr.DataArray) -> xr.DataArray:
    """Divide a distance from attention by that of J."""
    unit = uniform_distance(trajectory).transpose(*distance.dims)
    return distance.copy(data=symmetrised.share(distance.values, unit.values))
