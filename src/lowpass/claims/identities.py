"""Judges of the identities: which smoother attention is, and what a similarity has to be."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from lowpass.claims.intervals import median_interval
from lowpass.claims.names import CLAIMS, Measured, Number
from lowpass.claims.places import place_of_largest

if TYPE_CHECKING:
    import xarray as xr

# Each of them is attention as a smoother, or a smoother as attention.
BOTH_WAYS = (
    "weighted keys",
    "one dimension more",
    "smoother by dot products",
    "smoother of many bandwidths",
)
DENSITIES = ("joint density", "weighted joint density")
ORDERS = ("keys and values", "the queries")


def worst(*distances: xr.DataArray) -> float:
    """Give the largest of some distances."""
    return max(float(each.max()) for each in distances)


def over_replicates(**variables: xr.DataArray) -> dict[str, Number]:
    """Give medians with their intervals, by the names that the paper quotes."""
    return {name: median_interval(each.values) for name, each in variables.items()}


@CLAIMS.add("judge of N01", claim="N01", experiments=("identities", "nile"), tolerance=1e-13)
def attention_is_nadaraya_watson(experiments: Mapping[str, xr.Dataset]) -> Measured:
    """Compare softmax attention with the smoother of its similarity, and on a real record."""
    errors = experiments["identities"]["route_error"].sel(route="exponential similarity")
    nile = experiments["nile"]
    fits = nile["fit_by_route"]
    apart = abs(fits.sel(route="softmax of distances") - fits.sel(route="Nadaraya-Watson"))
    told = {
        "nile_difference": apart.max() / (nile["value"].max() - nile["value"].min()),
        **{name: nile[name] for name in ("bandwidth_selected", "temperature_selected")},
        "loo_score_selected": nile["loo_score_selected"],
    }
    return Measured(
        as_written=worst(errors, told["nile_difference"]),
        witness=f"identities: route_error of the exponential at {place_of_largest(errors)}",
        numbers={name: Number(*[float(number)] * 3) for name, number in told.items()},
    )


@CLAIMS.add("judge of N02", claim="N02", experiments=("identities",), tolerance=1e-13)
def weights_sum_to_one(experiments: Mapping[str, xr.Dataset]) -> Measured:
    """Ask how much of the similarities cancels in the sum that should normalise them.

    Where nothing is left of the sum, no weights exist; where all similarities are
    positive, nothing cancels.
    """
    runs = experiments["identities"]
    left, centred = runs["normaliser_share"], runs["centred_normaliser_share"]
    positive = 1 - left.sel(similarity="exponential")
    inner = left.sel(similarity="inner product").min("query")
    lost = 1 - centred
    return Measured(
        as_written=worst(lost, 1 - left),
        under_condition=worst(positive, runs["weight_sum_defect"]),
        witness=f"identities: centred_normaliser_share at {place_of_largest(lost)}",
        numbers=over_replicates(least_left=inner, centred_left=centred.max("query")),
    )


@CLAIMS.add("judge of N03", claim="N03", experiments=("identities",), tolerance=1e-13)
def inner_products_average(experiments: Mapping[str, xr.Dataset]) -> Measured:
    """Count outputs outside the range of the values, for inner products of both signs and of one.

    Of exponentials there are none, which is the repair.
    """
    runs = experiments["identities"]
    outside = runs["outside_share"].sel(similarity="inner product")
    negative = runs["negative_share"].sel(similarity="inner product")
    positive = runs.sel(similarity="inner product, positive")
    repaired = runs.sel(similarity="exponential")
    return Measured(
        as_written=float(outside.max()),
        under_condition=float(
            max(positive["outside_share"].max(), positive["negative_share"].max())
        ),
        repaired_distance=float(
            max(repaired["outside_share"].max(), repaired["negative_share"].max())
        ),
        witness=f"identities: outside_share of the inner product at {place_of_largest(outside)}",
        numbers=over_replicates(outside=outside, negative=negative),
    )


@CLAIMS.add("judge of N04", claim="N04", experiments=("identities",), tolerance=1e-13)
def attention_is_gaussian(experiments: Mapping[str, xr.Dataset]) -> Measured:
    """Compare attention with the Gaussian smoother, of any keys, of equal norms, and weighted."""
    errors = experiments["identities"]["route_error"]
    plain = errors.sel(route="no key weights")
    return Measured(
        as_written=float(plain.max()),
        under_condition=float(errors.sel(route="keys of equal norm").max()),
        repaired_distance=float(errors.sel(route="weighted keys").max()),
        witness=f"identities: route_error without key weights at {place_of_largest(plain)}",
        numbers=over_replicates(plain=plain),
    )


@CLAIMS.add("judge of N05", claim="N05", experiments=("identities",), tolerance=1e-12)
def similarity_is_mercer(experiments: Mapping[str, xr.Dataset]) -> Measured:
    """Ask a similarity for symmetry and for negative eigenvalues, of two maps and of one."""
    runs = experiments["identities"]
    skew, below = runs["asymmetry"], runs["negative_eigenvalue"]
    two, symmetric = (skew.sel(form="two maps"), below.sel(form="two maps, symmetric part"))
    return Measured(
        as_written=worst(two, below.sel(form="two maps")),
        under_condition=worst(skew.sel(form="one map"), below.sel(form="one map")),
        witness=f"identities: asymmetry of two maps at {place_of_largest(two)}",
        numbers=over_replicates(asymmetry=two, symmetric_below=symmetric),
    )


@CLAIMS.add("judge of N06", claim="N06", experiments=("identities",), tolerance=1e-13)
def order_does_not_matter(experiments: Mapping[str, xr.Dataset]) -> Measured:
    """Number keys with their values, then queries, anew, and see what a mask makes of it."""
    defect = experiments["identities"]["order_defect"]
    free = defect.sel(reordering=list(ORDERS))
    return Measured(
        as_written=float(free.max()),
        witness=f"identities: order_defect at {place_of_largest(free)}",
        numbers=over_replicates(masked=defect.sel(reordering="keys and values, masked")),
    )


@CLAIMS.add("judge of N09", claim="N09", experiments=("identities",), tolerance=1e-13)
def attention_is_a_conditional_mean(experiments: Mapping[str, xr.Dataset]) -> Measured:
    """Compare attention with the mean that an integrated joint density gives."""
    errors = experiments["identities"]["route_error"].sel(route=list(DENSITIES))
    return Measured(
        as_written=float(errors.max()),
        witness=f"identities: route_error at {place_of_largest(errors)}",
    )


@CLAIMS.add("judge of B19", claim="B19", experiments=("identities",), tolerance=1e-13)
def attention_decays_with_distance(experiments: Mapping[str, xr.Dataset]) -> Measured:
    """Count pairs of keys of which the farther one counts more, of any norms and of equal ones.

    That all keys are moved alike, which changes distances and no weight, is the counterexample
    to any repair by other distances.
    """
    runs = experiments["identities"]
    disorder, wins = runs["disorder"], runs["nearest_wins"]
    drawn = disorder.sel(key_set="as drawn")
    return Measured(
        as_written=float(drawn.max()),
        under_condition=float(disorder.sel(key_set="of equal norm").max()),
        repaired_distance=float(runs["route_error"].sel(route="keys moved away").max()),
        witness=f"identities: disorder as drawn at {place_of_largest(drawn)}",
        numbers=over_replicates(
            disorder=drawn,
            nearest_wins=wins.sel(key_set="as drawn"),
            moved_disorder=disorder.sel(key_set="moved away"),
            moved_smoother=runs["route_error"].sel(route="keys moved away, smoother"),
        ),
    )


@CLAIMS.add("judge of K01", claim="K01", experiments=("identities",), tolerance=1e-14)
def attention_and_smoothers_convert(experiments: Mapping[str, xr.Dataset]) -> Measured:
    """Compare both sides of every conversion, beside two that are nearly right."""
    errors = experiments["identities"]["route_error"]
    right = errors.sel(route=list(BOTH_WAYS))
    return Measured(
        as_written=float(right.max()),
        witness=f"identities: route_error at {place_of_largest(right)}",
        numbers={
            **over_replicates(
                no_key_weights=errors.sel(route="no key weights"),
                slip=errors.sel(route="temperature 1 % off"),
            ),
            **{
                name: Number(*[float(errors.sel(route=route).max())] * 3)
                for name, route in (
                    ("weighted", "weighted keys"),
                    ("lifted", "one dimension more"),
                    ("products", "smoother by dot products"),
                    ("scaled_products", "smoother of many bandwidths"),
                )
            },
        },
    )
