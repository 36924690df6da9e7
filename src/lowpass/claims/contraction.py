"""Judges of inequalities: what one layer contracts, and what is said to bound it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from lowpass.claims.circle import exactly
from lowpass.claims.names import CLAIMS, Measured
from lowpass.claims.places import place_of_largest

if TYPE_CHECKING:
    import xarray as xr

# What rounding adds to numbers of the order of one.
ROUNDED = 1e-13
# Each is at most the next, by name.
CHAIN = (
    ("oscillation_gain", "dobrushin"),
    ("slem", "dobrushin"),
    ("dobrushin", "birkhoff"),
    ("birkhoff", "tanh_bound"),
)
LADDER = (
    ("hc_layer_gain", "hc_gain"),
    ("hc_gain", "ca_gain"),
    ("hc_gain", "column_gain"),
    ("column_gain", "wang_bound"),
)
QUOTED = (("hc_layer_gain", "wang_bound"),)
# By these factors the bounds are tightened, to see that a wrong one would be caught.
CHAIN_TIGHTER, WANG_TIGHTER = 2, 10


def excess(runs: xr.Dataset, below: str, above: str) -> xr.DataArray:
    """Give by how much a number exceeds its bound; negative where it does not."""
    return runs[below] - runs[above]


def worst(runs: xr.Dataset, links: Sequence[tuple[str, str]]) -> tuple[float, str]:
    """Find the largest excess of several inequalities, zero if there is none, and its place."""
    broken = [(excess(runs, *link), link) for link in links]
    most, (below, above) = max(broken, key=lambda pair: float(pair[0].max()))
    return max(float(most.max()), 0.0), f"{below} against {above} at {place_of_largest(most)}"


def violations(runs: xr.Dataset, links: Sequence[tuple[str, str]]) -> float:
    """Count the runs that violate an inequality beyond rounding."""
    return float(sum(int((excess(runs, *link) > ROUNDED).sum()) for link in links))


def per_value(runs: xr.Dataset) -> xr.Dataset:
    """Divide measured gains by the norm of W_V, which the bound is multiplied with."""
    return runs.assign(hc_layer_gain=runs["hc_layer_gain"] / runs["value_norm"])


def reached(runs: xr.Dataset, below: str, above: str) -> xr.DataArray:
    """Give the share of a bound that is reached; missing where the bound is zero."""
    return (runs[below] / runs[above]).where(runs[above] > 0)


@CLAIMS.add("judge of A06", claim="A06", experiments=("bounds",), tolerance=ROUNDED)
def oscillation_is_contracted(experiments: Mapping[str, xr.Dataset]) -> Measured:
    """Follow the chain from measured oscillations and |λ₂| up to the bound by logits.

    Quoted are the violations of the chain beyond rounding, the largest share that is reached of
    each bound, and the least share of runs that violate a link whose bound is half as large.
    """
    runs = experiments["bounds"]
    distance, place = worst(runs, CHAIN)
    shares = {below: reached(runs, below, above) for below, above in CHAIN}
    tightened = [float((share > 1 / CHAIN_TIGHTER).mean()) for share in shares.values()]
    numbers = {
        "runs": exactly(float(runs["slem"].size)),
        "violations": exactly(violations(runs, CHAIN)),
        "tightened_share": exactly(min(tightened)),
    }
    numbers |= {f"reached_{below}": exactly(float(s.max())) for below, s in shares.items()}
    return Measured(as_written=distance, witness=f"bounds: {place}", numbers=numbers)


@CLAIMS.add("judge of A08", claim="A08", experiments=("bounds", "values"), tolerance=ROUNDED)
def gain_is_below_the_bound_of_wang(experiments: Mapping[str, xr.Dataset]) -> Measured:
    """Compare measured gains of HC with the bound, with and without W_V, and the bound with one.

    The repaired statement is the ladder of bounds that lie below it, and that it is never below
    one. Quoted is the slack in decades, over the runs in which anything of HC is left.
    """
    runs = experiments["bounds"]
    distance, place = worst(runs, QUOTED)
    valued = per_value(experiments["values"])
    with_values, other = worst(valued, QUOTED)
    vacuous = float(np.maximum(1 - runs["wang_bound"], 0).max())
    share = reached(runs, "hc_layer_gain", "wang_bound")
    slack = -np.log10(share.where(share > 0))
    numbers = {
        "violations": exactly(violations(runs, QUOTED) + violations(valued, QUOTED)),
        "tightened_share": exactly(float((share > 1 / WANG_TIGHTER).mean())),
        "least_bound": exactly(float(runs["wang_bound"].min())),
        "least_slack": exactly(float(slack.min())),
        "largest_slack": exactly(float(slack.max())),
        "gain_reached": exactly(float(reached(runs, "hc_layer_gain", "hc_gain").max())),
    }
    return Measured(
        as_written=max(distance, with_values),
        repaired_distance=max(worst(runs, LADDER)[0], vacuous),
        witness=f"values: {other}" if with_values > distance else f"bounds: {place}",
        numbers=numbers,
    )
