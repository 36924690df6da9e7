"""Smooth observations by attention over their keys."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
import xarray as xr

from lowpass.smoothing import bands, bandwidth, estimators
from lowpass.spec.smoothing import Smoothing, parse
from lowpass.stages.inside import combinations, stack

Watch = Callable[[Iterable[float]], Iterable[float]]


def smoothing(recipe: Mapping[str, Any], data: xr.Dataset, watch: Watch = iter) -> xr.Dataset:
    """Choose a bandwidth by leave-one-out cross-validation, and fit with a band.

    Parameters
    ----------
    recipe : mapping
        ``params`` of the specification; ``inside`` maps swept ones to values.
    data : Dataset
        ``key_position`` (key, feature) and ``value`` (key).
    watch : callable
        Hands on the bandwidths one by one, so that somebody may count them.

    Returns
    -------
    Dataset
        Criterion over bandwidths, weights, fit and band at the keys, and the same fit by
        several routes.
    """
    axes = recipe["params"].get("inside", {})
    specs = [parse(params, "recipe") for params in combinations(recipe["params"])]
    return stack("smoothing", [smooth(spec, data, watch) for spec in specs], axes)


def smooth(spec: Smoothing, data: xr.Dataset, watch: Watch) -> xr.Dataset:
    """Smooth with one specification; positions count from their mean."""
    k, v = data["key_position"].values, data["value"].values
    k = k - k.mean(axis=0)
    grid = np.geomspace(spec.bandwidths.low, spec.bandwidths.high, spec.bandwidths.count)
    score = bandwidth.loo_score(k, v, watch(grid))
    h = bandwidth.select(grid, score)
    weights = estimators.smoother_matrix(k, k, h**2)
    fit = weights @ v
    lower, upper = bands.pointwise_band(weights, v, fit, level=spec.level)
    smoothers = (estimators.smoother_matrix(k, k, each**2) for each in watch(grid))
    dof = [bandwidth.effective_dof(matrix) for matrix in smoothers]
    return xr.Dataset(
        {
            "key_position": data["key_position"],
            "value": data["value"],
            "loo_score": ("bandwidth", score),
            "effective_dof": ("bandwidth", np.array(dof)),
            "bandwidth_selected": h,
            "temperature_selected": h**2,
            "loo_score_selected": score.min(),
            "nw_weights": (("query", "key"), weights),
            "fit": ("query", fit),
            "lower": ("query", lower),
            "upper": ("query", upper),
            "weight_sum_defect": ("query", abs(weights.sum(axis=-1) - 1)),
            "fit_by_route": routes(k, v, h),
            "normaliser_share": shares(k, h),
        },
        {"bandwidth": grid, "query": data["key"].values, "key": data["key"].values},
    )


def routes(k: np.ndarray, v: np.ndarray, h: float) -> xr.DataArray:
    """Compute the fit at the keys (key, feature) in four ways."""
    fits = {
        "Nadaraya-Watson": estimators.nadaraya_watson(k, k, v, h),
        "softmax of distances": estimators.smoother_matrix(k, k, h**2) @ v,
        "dot product, weighted keys": estimators.weighted_dot_product_attention(k, k, v, h**2),
        "dot product": estimators.dot_product_attention(k, k, v, h**2),
    }
    return xr.DataArray(np.stack(list(fits.values())), {"route": list(fits)}, ("route", "query"))


def shares(k: np.ndarray, h: float) -> xr.DataArray:
    """Compare the sum of the similarities with the sum of their moduli, for each query."""
    product = k @ k.T / h**2
    similarities = {
        "exponential": np.exp(product - product.max(axis=-1, keepdims=True)),
        "inner product": product,
    }
    share = [abs(each.sum(axis=-1)) / abs(each).sum(axis=-1) for each in similarities.values()]
    return xr.DataArray(
        np.stack(share), {"similarity": list(similarities)}, ("similarity", "query")
    )
