"""Which bandwidth observations ask for, what is fitted with it, and by how many routes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from annotated_types import Gt, Lt

from lowpass.domains import Bandwidths
from lowpass.smoothing import bands, bandwidth, estimators
from lowpass.studies.names import STUDIES, Answers, Observed, Watch

if TYPE_CHECKING:
    import xarray as xr


@STUDIES.add("selection", of=("values",))
def selection(
    observed: Observed,
    watch: Watch,
    *,
    bandwidths: Bandwidths,
    level: Annotated[float, Gt(0), Lt(1)] = 0.95,
) -> Answers:
    """Choose a bandwidth by leave-one-out cross-validation, then fit with a band.

    Parameters
    ----------
    observed : Dataset
        ``key_position`` (key, feature) and ``value`` (key).
    watch : callable
        Hands on the bandwidths one by one, so that somebody may count them.
    bandwidths : mapping
        Geometric grid the criterion is computed on.
    level : float
        Pointwise coverage of the band.

    Returns
    -------
    Dataset
        Criterion over bandwidths, weights, fit and band at the keys, and the same fit by
        several routes. Positions count from their mean.
    """
    import xarray as xr

    k, v = observed["key_position"].values, observed["value"].values
    k = k - k.mean(axis=0)
    grid = bandwidths.grid()
    judged = criterion(k, v, grid, watch)
    h = judged["bandwidth_selected"]
    places = {"query": observed["key"].values, "key": observed["key"].values}
    return xr.Dataset(
        {
            "key_position": observed["key_position"],
            "value": observed["value"],
            **judged,
            **fitted(k, v, h, level),
            "fit_by_route": routes(k, v, h),
            "normaliser_share": shares(k, h),
        },
        {"bandwidth": grid, **places},
    )


def criterion(k: np.ndarray, v: np.ndarray, grid: np.ndarray, watch: Watch) -> dict[str, Any]:
    """Judge every bandwidth, and choose one."""
    score = bandwidth.loo_score(k, v, watch(grid))
    h = bandwidth.select(grid, score)
    smoothers = (estimators.distance_attention(k, k, each**2) for each in watch(grid))
    return {
        "loo_score": ("bandwidth", score),
        "effective_dof": ("bandwidth", np.array([bandwidth.effective_dof(a) for a in smoothers])),
        "bandwidth_selected": h,
        "temperature_selected": h**2,
        "loo_score_selected": score.min(),
    }


def fitted(k: np.ndarray, v: np.ndarray, h: float, level: float) -> dict[str, tuple]:
    """Smooth at the keys (key, feature) with one bandwidth, and bound the fit."""
    weights = estimators.distance_attention(k, k, h**2)
    fit = weights @ v
    lower, upper = bands.pointwise_band(weights, v, fit, level=level)
    return {
        "nw_weights": (("query", "key"), weights),
        "fit": ("query", fit),
        "lower": ("query", lower),
        "upper": ("query", upper),
        "weight_sum_defect": ("query", abs(weights.sum(axis=-1) - 1)),
    }


def routes(k: np.ndarray, v: np.ndarray, h: float) -> xr.DataArray:
    """Compute the fit at the keys (key, feature) in four ways."""
    import xarray as xr

    fits = {
        "Nadaraya-Watson": estimators.nadaraya_watson(k, k, v, h),
        "softmax of distances": estimators.distance_attention(k, k, h**2) @ v,
        "dot product, weighted keys": estimators.weighted_dot_product_attention(k, k, v, h**2),
        "dot product": estimators.dot_product_attention(k, k, v, h**2),
    }
    return xr.DataArray(np.stack(list(fits.values())), {"route": list(fits)}, ("route", "query"))


def shares(k: np.ndarray, h: float) -> xr.DataArray:
    """Compare the sum of the similarities with the sum of their moduli, for each query."""
    import xarray as xr

    product = k @ k.T / h**2
    similarities = {
        "exponential": np.exp(product - product.max(axis=-1, keepdims=True)),
        "inner product": product,
    }
    share = [abs(each.sum(axis=-1)) / abs(each).sum(axis=-1) for each in similarities.values()]
    return xr.DataArray(
        np.stack(share), {"similarity": list(similarities)}, ("similarity", "query")
    )
