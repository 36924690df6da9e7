"""The signs that symmetrised logits leave in the note's Laplacian and its heat kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lowpass import symmetrised
from lowpass.labels import VARIABLES, Card
from lowpass.measures.eigen import over_modes
from lowpass.measures.names import MEASURES
from lowpass.measures.symmetrised import in_order, logits_of, of_symmetric
from lowpass.modes import eigenvalues
from lowpass.rounding import ROUNDING, Remainder

if TYPE_CHECKING:
    import xarray as xr

VARIABLES.enter(
    "signed_eigenvalue",
    Card(
        r"\lambda_m(L)/\rho(L)",
        "eigenvalue of the signed Laplacian, in units of the largest modulus",
        dims=("replicate", "mode"),
    ),
)
ROUNDING.enter("signed_eigenvalue", Remainder())


@MEASURES.add("signed_eigenvalue", of=("matrix", "scores"))
def signed_eigenvalue(trajectory: xr.Dataset) -> xr.DataArray:
    """List the eigenvalues of L = D - S̃ in ascending order.

    Returns
    -------
    (..., replicate, mode) float
        In [-1, 1], in units of the largest modulus.
    """
    s = symmetrised.symmetric_part(logits_of(trajectory))
    return over_modes(in_order(trajectory), lambda _: eigenvalues(symmetrised.unit_laplacian(s)))


VARIABLES.enter(
    "lowest_share",
    Card(
        r"\lambda_{\min}(L)/\rho(L)",
        "lowest eigenvalue of the signed Laplacian, in units of the largest modulus",
        dims=("replicate",),
    ),
)
ROUNDING.enter("lowest_share", Remainder())


@MEASURES.add("lowest_share", of=("matrix", "scores"))
def lowest_share(trajectory: xr.Dataset) -> xr.DataArray:
    """Give the lowest eigenvalue of L = D - S̃: heat amplifies where it is negative.

    Returns
    -------
    (..., replicate) float
        In [-1, 0], in units of the largest modulus.
    """
    return of_symmetric(trajectory, symmetrised.lowest_share)


VARIABLES.enter(
    "negative_degree_share",
    Card(
        r"\langle L_{ii}<0\rangle",
        "share of the tokens whose degree is negative",
        dims=("replicate",),
    ),
)


@MEASURES.add("negative_degree_share", of=("matrix", "scores"))
def negative_degree_share(trajectory: xr.Dataset) -> xr.DataArray:
    """Count the tokens that S̃ gives a negative degree, which has no root.

    Returns
    -------
    (..., replicate) float
        In [0, 1].
    """
    return of_symmetric(trajectory, symmetrised.negative_degree_share)


VARIABLES.enter(
    "heat_row_defect",
    Card(
        r"\max_i|(e^{-\tau L}1)_i-1|",
        "largest defect of a row sum of the heat kernel",
        dims=("replicate",),
    ),
)
ROUNDING.enter("heat_row_defect", Remainder())


@MEASURES.add("heat_row_defect", of=("matrix", "scores"))
def heat_row_defect(trajectory: xr.Dataset) -> xr.DataArray:
    """Measure how far the rows of the heat kernel of L are from summing to one, at time 1/ρ(L).

    Returns
    -------
    (..., replicate) float
        Not negative, of the size of rounding.
    """
    return of_symmetric(trajectory, lambda s: symmetrised.row_defect(symmetrised.unit_kernel(s)))


VARIABLES.enter(
    "normalised_row_defect",
    Card(
        r"\max_i|(e^{-L_{sym}}1)_i-1|",
        "largest defect of a row sum for the normalised Laplacian",
        dims=("replicate",),
    ),
)
ROUNDING.enter("normalised_row_defect", Remainder())


@MEASURES.add("normalised_row_defect", of=("matrix", "scores"))
def normalised_row_defect(trajectory: xr.Dataset) -> xr.DataArray:
    """Measure row sums for the symmetrically normalised Laplacian of exp(S̃), at the time one.

    Returns
    -------
    (..., replicate) float
        Not negative; zero where all tokens have the same degree.
    """
    return of_symmetric(trajectory, symmetrised.normalised_row_defect)


VARIABLES.enter(
    "heat_min_entry",
    Card(r"\min(e^{-\tau L})_{ij}", "smallest entry of the heat kernel", dims=("replicate",)),
)
ROUNDING.enter("heat_min_entry", Remainder())


@MEASURES.add("heat_min_entry", of=("matrix", "scores"))
def heat_min_entry(trajectory: xr.Dataset) -> xr.DataArray:
    """Give the smallest entry of the heat kernel of L at the time 1/ρ(L).

    Returns
    -------
    (..., replicate) float
        Negative where it mixes tokens with weights that are no distribution.
    """
    return of_symmetric(trajectory, lambda s: symmetrised.unit_kernel(s).min(axis=(-2, -1)))


VARIABLES.enter(
    "shifted_lowest",
    Card(
        r"\lambda_2(L)/\rho(L)",
        "lowest eigenvalue but that of the mean, once a shift leaves no negative weight",
        dims=("replicate",),
    ),
)
ROUNDING.enter("shifted_lowest", Remainder())


@MEASURES.add("shifted_lowest", of=("matrix", "scores"))
def shifted_lowest(trajectory: xr.Dataset) -> xr.DataArray:
    """Give the lowest eigenvalue of L after the least shift that leaves no weight negative.

    Returns
    -------
    (..., replicate) float
        In [0, 1], in units of the largest modulus; the constant mode is left out.
    """

    def lowest(symmetric: np.ndarray) -> np.ndarray:
        unit = symmetrised.unit_laplacian(symmetrised.without_negative(symmetric))
        # The constant mode is among the lowest two, wherever rounding puts it.
        return np.linalg.eigvalsh(unit)[..., :2].sum(axis=-1)

    return of_symmetric(trajectory, lowest)


VARIABLES.enter(
    "shifted_min_entry",
    Card(
        r"\min(e^{-\tau L})_{ij}",
        "smallest entry of the heat kernel, once a shift leaves no negative weight",
        dims=("replicate",),
    ),
)
ROUNDING.enter("shifted_min_entry", Remainder())


@MEASURES.add("shifted_min_entry", of=("matrix", "scores"))
def shifted_min_entry(trajectory: xr.Dataset) -> xr.DataArray:
    """Give the smallest entry of the heat kernel after the least shift with no negative weight.

    Returns
    -------
    (..., replicate) float
        In [0, 1/n].
    """
    return of_symmetric(
        trajectory,
        lambda s: symmetrised.unit_kernel(symmetrised.without_negative(s)).min(axis=(-2, -1)),
    )
