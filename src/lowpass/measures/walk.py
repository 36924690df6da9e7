"""Whether attention is a step of the random walk along exponentiated logits."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from lowpass import walk
from lowpass.labels import VARIABLES, Card
from lowpass.measures.components import logits_of, tokens_of
from lowpass.measures.eigen import over_modes
from lowpass.measures.names import MEASURES
from lowpass.measures.symmetrised import in_order, of_attention_and_logits
from lowpass.rounding import ROUNDING, Remainder
from lowpass.symmetrised import symmetric_part

if TYPE_CHECKING:
    import numpy as np
    import xarray as xr

VARIABLES.enter(
    "walk_defect",
    Card(
        r"\max|A-(I-L_{rw})|",
        "largest defect of attention as a step of the walk along exp S̃",
        dims=("replicate",),
    ),
)
ROUNDING.enter("walk_defect", Remainder())


@MEASURES.add("walk_defect", of=("matrix", "scores"))
def walk_defect(trajectory: xr.Dataset) -> xr.DataArray:
    """Compare attention with I - L for the random-walk Laplacian of exp(S̃), entry by entry.

    Returns
    -------
    (..., replicate) float
        In [0, 1]: zero to rounding where logits are symmetric.
    """
    return of_both(trajectory, walk.step_defect)


VARIABLES.enter(
    "walk_balance_defect",
    Card(
        r"\max|\pi_iA_{ij}-\pi_jA_{ji}|",
        "largest net flow of attention, for π in proportion to the degrees of exp S̃",
        dims=("replicate",),
    ),
)
ROUNDING.enter("walk_balance_defect", Remainder())


@MEASURES.add("walk_balance_defect", of=("matrix", "scores"))
def walk_balance_defect(trajectory: xr.Dataset) -> xr.DataArray:
    """Measure how far the degrees of exp(S̃) are from detailed balance.

    Returns
    -------
    (..., replicate) float
        In [0, 1]: zero to rounding where logits are symmetric.
    """
    return of_both(trajectory, walk.balance_defect)


VARIABLES.enter(
    "walk_spectrum_defect",
    Card(
        r"\max|\lambda_m(A)-(1-\lambda_m(L_{rw}))|",
        "largest distance of an eigenvalue of attention from that of the walk",
        dims=("replicate",),
    ),
)
ROUNDING.enter("walk_spectrum_defect", Remainder())


@MEASURES.add("walk_spectrum_defect", of=("matrix", "scores"))
def walk_spectrum_defect(trajectory: xr.Dataset) -> xr.DataArray:
    """Compare the eigenvalues of attention with those of a similar symmetric matrix.

    Returns
    -------
    (..., replicate) float
        Not negative: zero to rounding where logits are symmetric.
    """
    return of_both(trajectory, walk.spectrum_defect)


VARIABLES.enter(
    "walk_energy_defect",
    Card(
        r"|\mathcal E-\langle X,(I-A)X\rangle_\pi|/\langle X,X\rangle_\pi",
        "relative defect of the Dirichlet energy, for π of the walk along exp S̃",
        dims=("replicate",),
    ),
)
ROUNDING.enter("walk_energy_defect", Remainder())


@MEASURES.add("walk_energy_defect", of=("matrix", "scores", "pair"))
def walk_energy_defect(trajectory: xr.Dataset) -> xr.DataArray:
    """Compare the Dirichlet energy of the tokens with their product with (I - A)X.

    Returns
    -------
    (..., replicate) float
        Not negative: zero to rounding where logits are symmetric.
    """
    a = in_order(trajectory)
    x = tokens_of(trajectory).sel(recorded_layer=0).transpose(*a.dims[:-2], "token", "feature")
    return of_both(trajectory, lambda a, s: walk.energy_defect(a, s, x.values))


VARIABLES.enter(
    "walk_eigenvalue",
    Card(
        r"\lambda_m(L_{rw})",
        "eigenvalue of the Laplacian of the walk along exp S̃",
        dims=("replicate", "mode"),
    ),
)
ROUNDING.enter("walk_eigenvalue", Remainder())


@MEASURES.add("walk_eigenvalue", of=("matrix", "scores"))
def walk_eigenvalue(trajectory: xr.Dataset) -> xr.DataArray:
    """List the eigenvalues of the random-walk Laplacian of exp(S̃) in ascending order.

    Returns
    -------
    (..., replicate, mode) float
        In [0, 2); in [0, 1] where queries and keys are the same.
    """
    symmetric = symmetric_part(logits_of(trajectory))
    return over_modes(in_order(trajectory), lambda _: walk.walk_eigenvalues(symmetric))


def of_both(
    trajectory: xr.Dataset, function: Callable[[np.ndarray, np.ndarray], np.ndarray]
) -> xr.DataArray:
    """Apply a function of A and S̃, both (..., replicate, query, key)."""
    return of_attention_and_logits(trajectory, lambda a, s: function(a, symmetric_part(s)))
