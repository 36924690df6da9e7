"""Eigenvalues of the matrix that one layer mixes tokens with, and what keeps them from real."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lowpass import normality, spectra
from lowpass.labels import VARIABLES, Card
from lowpass.measures.matrices import mixing, of_matrices, slem
from lowpass.measures.names import MEASURES
from lowpass.rounding import ROUNDING, Remainder

if TYPE_CHECKING:
    import xarray as xr

VARIABLES.enter(
    "spectral_gap",
    Card(r"1-|\lambda_2|", "spectral gap", dims=("replicate",)),
)
ROUNDING.enter("spectral_gap", Remainder())


@MEASURES.add("spectral_gap", of="modulus")
def spectral_gap(trajectory: xr.Dataset) -> xr.DataArray:
    """Subtract the second-largest eigenvalue modulus of the attention matrix from one.

    Returns
    -------
    (..., replicate) float
        In [0, 1], to rounding: the larger, the sooner tokens become equal.
    """
    return 1 - slem(trajectory)


VARIABLES.enter(
    "eigenvalue_real",
    Card(
        r"\mathrm{Re}\,\lambda_m",
        "real part of an eigenvalue of attention",
        "1",
        ("replicate", "mode"),
    ),
)
ROUNDING.enter("eigenvalue_real", Remainder())


@MEASURES.add("eigenvalue_real", of="matrix")
def eigenvalue_real(trajectory: xr.Dataset) -> xr.DataArray:
    """Give the real parts of all eigenvalues of the attention matrix, by decreasing modulus.

    Returns
    -------
    (..., replicate, mode) float
        In [-1, 1]. Mode 0 has the eigenvalue one where no other has its modulus; of a conjugate
        pair the one with positive imaginary part comes first.
    """
    return over_modes(mixing(trajectory), lambda a: np.real(spectra.eigenvalues(a)))


VARIABLES.enter(
    "eigenvalue_imag",
    Card(
        r"\mathrm{Im}\,\lambda_m",
        "imaginary part of an eigenvalue of attention",
        "1",
        ("replicate", "mode"),
    ),
)
ROUNDING.enter("eigenvalue_imag", Remainder())


@MEASURES.add("eigenvalue_imag", of="matrix")
def eigenvalue_imag(trajectory: xr.Dataset) -> xr.DataArray:
    """Give the imaginary parts of all eigenvalues of the attention matrix, in the same order.

    Returns
    -------
    (..., replicate, mode) float
        In [-1, 1]; zero, to rounding, where the matrix is reversible. A multiple real
        eigenvalue may come out as a pair that is apart by the root of the rounding unit.
    """
    return over_modes(mixing(trajectory), lambda a: np.imag(spectra.eigenvalues(a)))


VARIABLES.enter(
    "second_imaginary_share",
    Card(
        r"|\mathrm{Im}\,\lambda_2|/|\lambda_2|",
        "imaginary share of the second eigenvalue",
        dims=("replicate",),
    ),
)
ROUNDING.enter("second_imaginary_share", Remainder())


@MEASURES.add("second_imaginary_share", of=("matrix", "pair"))
def second_imaginary_share(trajectory: xr.Dataset) -> xr.DataArray:
    """Tell whether the second eigenvalue is real, so that the transient does not turn.

    Returns
    -------
    (..., replicate) float
        In [0, 1]: zero where it is real.
    """
    return of_matrices(mixing(trajectory), normality.second_imaginary_share)


VARIABLES.enter(
    "henrici_number",
    Card(
        r"\sqrt{\|A\|_F^2-\sum|\lambda_m|^2}/\|A\|_F",
        "relative departure from normality",
        dims=("replicate",),
    ),
)
# Eigenvalues that nearly coincide are known to half of the digits.
ROUNDING.enter("henrici_number", Remainder(relative=1e-6))


@MEASURES.add("henrici_number", of="matrix")
def henrici_number(trajectory: xr.Dataset) -> xr.DataArray:
    """Measure how far the eigenvectors of the attention matrix are from orthogonal.

    Returns
    -------
    (..., replicate) float
        In [0, 1]: zero where the matrix is normal. In the Frobenius norm, relative to that of
        the matrix.

    References
    ----------
    .. [1] henrici1962, definition of the departure from normality.
    """
    return of_matrices(mixing(trajectory), normality.henrici_number)


VARIABLES.enter(
    "reversibility_defect",
    Card(
        r"\max|\pi_iA_{ij}-\pi_jA_{ji}|",
        "largest net flow between two tokens",
        dims=("replicate",),
    ),
)
ROUNDING.enter("reversibility_defect", Remainder())


@MEASURES.add("reversibility_defect", of="matrix")
def reversibility_defect(trajectory: xr.Dataset) -> xr.DataArray:
    """Measure how far the attention matrix is from detailed balance.

    Returns
    -------
    (..., replicate) float
        In [0, 1]: zero where it is reversible, as for symmetric logits.
    """
    pi = trajectory["stationary"].transpose(..., "token").values
    return of_matrices(mixing(trajectory), lambda a: normality.reversibility_defect(a, pi))


def over_modes(attention: xr.DataArray, function) -> xr.DataArray:
    """Apply a function of matrices (..., query, key) that gives a number for each mode."""
    ordered = attention.transpose(..., "query", "key")
    row = ordered[..., 0].drop_vars(["query", "key"], errors="ignore").rename(query="mode")
    numbered = row.copy(data=function(ordered.values))
    return numbered.assign_coords(mode=np.arange(row.sizes["mode"]))
