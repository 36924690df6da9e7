"""Judges of the steps from logits to a heat kernel, as note 1 takes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from lowpass.claims.circle import exactly
from lowpass.claims.intervals import median_interval, share_interval
from lowpass.claims.names import CLAIMS, Measured, Number
from lowpass.claims.places import place_of_largest

if TYPE_CHECKING:
    import xarray as xr

# Identities hold to the rounding of matrices whose norm is a hundred.
IDENTITY = 1e-10
# Signs are told from rounding.
ROUNDED = 1e-12
KINDS = ("untied", "symmetric", "tied")


def of_kind(experiments: Mapping[str, xr.Dataset], kind: str) -> xr.Dataset:
    """Select the runs whose queries and keys have one kind of projections."""
    return experiments["heat-kernel"].sel(weights=kind)


def over_temperatures(values: xr.DataArray, name: str) -> dict[str, Number]:
    """Give medians for every inverse temperature, each under its own name."""
    return {
        f"{name}_beta_{beta:g}": median_interval(values.sel(beta=beta).values)
        for beta in values["beta"].values
    }


@CLAIMS.add(
    "judge of B01", claim="B01", experiments=("heat-kernel", "row-shifts"), tolerance=ROUNDED
)
def logits_may_be_symmetrised(experiments: Mapping[str, xr.Dataset]) -> Measured:
    """Compare attention with that of symmetrised logits, in units of the distance from J.

    The repaired statement is that nothing changes where logits are symmetric. The stored
    counterexample has uniform attention, which its symmetrised logits have not.
    """
    error = of_kind(experiments, "untied")["symmetrised_error"]
    symmetric = [of_kind(experiments, kind)["symmetrised_error"] for kind in ("symmetric", "tied")]
    shifts = experiments["row-shifts"]
    return Measured(
        as_written=float(error.max()),
        repaired_distance=max(float(each.max()) for each in symmetric),
        witness=f"heat-kernel: symmetrised_error at weights untied, {place_of_largest(error)}",
        numbers={
            "mild": median_interval(error.isel(beta=0).values),
            "sharp": median_interval(error.isel(beta=-1).values),
            "least": exactly(float(error.min())),
            "shifted_uniform": exactly(float(shifts["uniform_distance"].max())),
            "shifted_symmetrised": median_interval(shifts["symmetrised_distance"].values),
        },
    )


@CLAIMS.add("judge of B02", claim="B02", experiments=("heat-kernel",), tolerance=IDENTITY)
def eigenvalues_exponentiate_a_matrix(experiments: Mapping[str, xr.Dataset]) -> Measured:
    """Compare the exponential by eigenvalues with that by scaling and squaring.

    How far the exponentials of the entries are from it is quoted.
    """
    runs = experiments["heat-kernel"]
    defect, gap = runs["spectral_exponential_defect"], runs["elementwise_gap"]
    return Measured(
        as_written=float(defect.max()),
        witness=f"heat-kernel: spectral_exponential_defect at {place_of_largest(defect)}",
        numbers={
            "least_gap": exactly(float(gap.min())),
            "largest_gap": exactly(float(gap.max())),
        },
    )


@CLAIMS.add("judge of B03", claim="B03", experiments=("heat-kernel",), tolerance=IDENTITY)
def the_laplacian_has_the_modes_of_the_logits(experiments: Mapping[str, xr.Dataset]) -> Measured:
    """Compare the heat kernel of the modes of S̃ with that of L, at the time 1/ρ(L).

    For the repaired statement the modes are those of L, and the oracle is scaling and squaring.
    """
    runs = experiments["heat-kernel"]
    gap = runs["spectral_kernel_gap"]
    one = of_kind(experiments, "untied").isel(beta=-1)
    return Measured(
        as_written=float(gap.max()),
        repaired_distance=float(runs["own_modes_defect"].max()),
        witness=f"heat-kernel: spectral_kernel_gap at {place_of_largest(gap)}",
        numbers={
            "gap": median_interval(one["spectral_kernel_gap"].values),
            "least_gap": exactly(float(gap.min())),
            "other_modes": median_interval(one["other_modes_energy"].values),
        },
    )


@CLAIMS.add("judge of B04", claim="B04", experiments=("heat-kernel",), tolerance=ROUNDED)
def the_heat_kernel_damps(experiments: Mapping[str, xr.Dataset]) -> Measured:
    """Take how far below zero eigenvalues of L reach, in units of the largest modulus.

    Under the condition the rows of the logits are shifted until no weight is negative. Signs do
    not depend on the temperature, so that one of them is counted.
    """
    runs = experiments["heat-kernel"]
    below, shifted = -runs["lowest_share"], runs["shifted_lowest"]
    numbers = {}
    for kind in KINDS:
        one = of_kind(experiments, kind).isel(beta=-1)
        numbers[f"indefinite_{kind}"] = share_interval(one["lowest_share"].values < -ROUNDED)
        numbers[f"lowest_{kind}"] = median_interval(one["lowest_share"].values)
        numbers[f"degrees_{kind}"] = median_interval(one["negative_degree_share"].values)
    return Measured(
        as_written=max(float(below.max()), 0.0),
        under_condition=max(float(-shifted.min()), 0.0),
        witness=f"heat-kernel: lowest_share at {place_of_largest(below)}",
        numbers={
            **numbers,
            "violations": exactly(float((shifted < -ROUNDED).sum())),
            "checks": exactly(float(shifted.size)),
        },
    )


@CLAIMS.add("judge of B05", claim="B05", experiments=("heat-kernel",), tolerance=IDENTITY)
def rows_have_to_be_normalised(experiments: Mapping[str, xr.Dataset]) -> Measured:
    """Take the share of runs in which dividing by row sums changes nothing.

    The repaired statement is that rows sum to one, and that entries are not negative once a
    shift leaves no negative weight.
    """
    runs = experiments["heat-kernel"]
    defect, entry = runs["heat_row_defect"], runs["shifted_min_entry"]
    one = of_kind(experiments, "untied").isel(beta=-1)
    return Measured(
        as_written=float((defect <= IDENTITY).mean()),
        repaired_distance=max(float(defect.max()), float(-entry.min()), 0.0),
        witness=f"heat-kernel: heat_row_defect at {place_of_largest(defect)}",
        numbers={
            "row_defect": exactly(float(defect.max())),
            "negative": share_interval(one["heat_min_entry"].values < -ROUNDED),
            "min_entry": median_interval(one["heat_min_entry"].values),
            "without_root": share_interval(one["negative_degree_share"].values > 0),
            "normalised": median_interval(one["normalised_row_defect"].values),
        },
    )
