"""Judges of the kernel-smoothing view: which smoother attention is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from lowpass.claims.names import CLAIMS, Measured, Number

if TYPE_CHECKING:
    import xarray as xr


def route_defect(nile: xr.Dataset, route: str) -> xr.DataArray:
    """Compare a route with the textbook smoother, in units of the data's range."""
    textbook = nile["fit_by_route"].sel(route="Nadaraya-Watson", drop=True)
    span = nile["value"].max() - nile["value"].min()
    return abs(nile["fit_by_route"].sel(route=route, drop=True) - textbook) / span


def worst_query(defect: xr.DataArray) -> str:
    """Name the query of the largest defect."""
    place = defect.argmax("query").item()
    return f"query {int(defect['query'].values[place])}"


@CLAIMS.add("judge of N01", claim="N01", experiments=("nile",), tolerance=1e-13)
def attention_is_nadaraya_watson(experiments: Mapping[str, xr.Dataset]) -> Measured:
    """Compare softmax attention with the textbook estimator of the same similarity."""
    nile = experiments["nile"]
    defect = route_defect(nile, "softmax of distances")
    chosen = {
        name: Number(*[float(nile[name])] * 3)
        for name in ("bandwidth_selected", "temperature_selected", "loo_score_selected")
    }
    return Measured(
        as_written=float(defect.max()),
        witness=f"nile: fit_by_route at {worst_query(defect)}",
        numbers=chosen,
    )


@CLAIMS.add("judge of N02", claim="N02", experiments=("nile",), tolerance=1e-13)
def weights_sum_to_one(experiments: Mapping[str, xr.Dataset]) -> Measured:
    """Ask how much of the similarities cancels in the sum that should normalise them.

    Where nothing is left of the sum, no weights exist; where all similarities are
    positive, nothing cancels.
    """
    nile = experiments["nile"]
    lost = 1 - nile["normaliser_share"]
    positive = lost.sel(similarity="exponential")
    inner = lost.sel(similarity="inner product")
    return Measured(
        as_written=float(lost.max()),
        under_condition=float(max(positive.max(), nile["weight_sum_defect"].max())),
        witness=f"nile: normaliser_share of the inner product at {worst_query(inner)}",
    )


@CLAIMS.add("judge of N04", claim="N04", experiments=("nile",), tolerance=1e-12)
def dot_products_are_distances(experiments: Mapping[str, xr.Dataset]) -> Measured:
    """Compare dot-product attention with the Gaussian smoother, without and with key weights."""
    nile = experiments["nile"]
    plain = route_defect(nile, "dot product")
    weighted = route_defect(nile, "dot product, weighted keys")
    return Measured(
        as_written=float(plain.max()),
        under_condition=float(weighted.max()),
        witness=f"nile: fit_by_route of the dot product at {worst_query(plain)}",
    )
