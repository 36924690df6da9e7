"""Which smoother attention is: by what routes, and of which order, signs or places."""

from __future__ import annotations

from functools import partial

import numpy as np

from lowpass.domains import Positive
from lowpass.kernels import softmax
from lowpass.labels import DIMENSIONS, VARIABLES, Card
from lowpass.rounding import ROUNDING, Remainder
from lowpass.smoothing import estimators, joint, nearness, routes
from lowpass.studies.laying import laid_out
from lowpass.studies.names import STUDIES, Answers, Observed, Watch
from lowpass.studies.similarities import forms, nearest, signs
from lowpass.studies.views import viewed

# A temperature that is wrong by so much has to show.
SLIP = 1.01
# Keys are moved away by so many times the root of the number of features.
AWAY = 4.0

DIMENSIONS.enter("reordering", Card(r"\Pi", "what is put into another order"))
VARIABLES.enter(
    "route_error",
    Card(
        r"\max|f-f'|/\mathrm{range}\,v",
        "largest difference from the same fit by another route, over the range of the values",
        dims=("route",),
    ),
)
ROUNDING.enter("route_error", Remainder())
VARIABLES.enter(
    "order_defect",
    Card(
        r"\max|f-f'|/\mathrm{range}\,v",
        "largest difference that another order makes, over the range of the values",
        dims=("reordering",),
    ),
)
ROUNDING.enter("order_defect", Remainder())


@STUDIES.add("identities", of=("values", "queries"), draws=())
def identities(
    observed: Observed,
    watch: Watch,
    rng: np.random.Generator,
    *,
    beta: Positive = 1.0,
    view_beta: Positive = 4.0,
    value_bandwidth: Positive = 0.5,
) -> Answers:
    """Compute attention by many routes, then change what should matter and what should not.

    Parameters
    ----------
    observed : Dataset
        ``query_position`` (query, feature), ``key_position`` (key, feature), of two features at
        least, and ``value`` (key).
    watch : callable
        Hands on the items of a long loop; there is none.
    rng : numpy.random.Generator
        Draws orders, projections, and where keys are moved to.
    beta : float
        Inverse temperature; dot products are divided by the root of the number of features over
        it.
    view_beta : float
        The same for the picture of a plane.
    value_bandwidth : float
        Bandwidth of the joint density along the values, in their units.

    Returns
    -------
    Dataset
        Errors of routes and of other orders in units of the range of the values, shares in which
        signs, hulls and nearness fail, and the plane of two features as one query sees it.
    """
    import xarray as xr

    q, k = observed["query_position"].values, observed["key_position"].values
    v, t = observed["value"].values, k.shape[1] ** 0.5 / beta
    far = nearness.moved(k, rng.standard_normal(k.shape[1]), AWAY * k.shape[1] ** 0.5)
    errors = {**identical(q, k, v, t), **derived(q, k, v, t, value_bandwidth)}
    errors |= {**slips(q, k, v, t), **shifted(q, k, far, v, t)}
    return xr.Dataset(
        {
            **laid_out("route", route_error=errors),
            **laid_out("reordering", order_defect=reordered(q, k, v, t, rng)),
            **signs(q, k, v, t),
            **forms(k, rng),
            **nearest(q, k, far),
            **viewed(q[:, :2], k[:, :2], 2**0.5 / view_beta),
        },
        {"query": np.arange(len(q)), "key": np.arange(len(k))},
    )


def error(got: np.ndarray, wanted: np.ndarray, value: np.ndarray) -> float:
    """Give the largest difference of two fits in units of the range of the values."""
    return float(abs(got - wanted).max() / np.ptp(value))


def identical(q: np.ndarray, k: np.ndarray, v: np.ndarray, t: float) -> dict[str, float]:
    """Compare what is the same by another route: attention, or a smoother."""
    h, even = t**0.5, nearness.equal_norms(k)
    widths = h * np.geomspace(0.5, 2.0, k.shape[1])
    attended = estimators.dot_product_attention(q, k, v, t)
    fits = {
        "exponential similarity": (estimators.smooth(q, k, v, h, kernel="exp_dot"), attended),
        "weighted keys": (routes.by_weighted_keys(q, k, v, t), attended),
        "one dimension more": (routes.by_one_dimension_more(q, k, v, t), attended),
        "smoother by dot products": (
            routes.by_dot_products(q, k, v, h),
            estimators.smooth(q, k, v, h),
        ),
        "smoother of many bandwidths": (
            routes.by_dot_products(q, k, v, widths),
            estimators.smooth(q, k, v, widths),
        ),
        "keys of equal norm": (
            estimators.smooth(q, even, v, h),
            estimators.dot_product_attention(q, even, v, t),
        ),
    }
    return {route: error(*pair, v) for route, pair in fits.items()}


def derived(
    q: np.ndarray, k: np.ndarray, v: np.ndarray, t: float, value_bandwidth: float
) -> dict[str, float]:
    """Compare attention with the conditional mean of a joint density, integrated."""
    integrated = partial(joint.conditional_mean, q, k, v, t**0.5, value_bandwidth=value_bandwidth)
    weighted = integrated(log_weight=np.square(k).sum(axis=1) / (2 * t))
    return {
        "joint density": error(integrated(), estimators.distance_attention(q, k, t) @ v, v),
        "weighted joint density": error(weighted, estimators.dot_product_attention(q, k, v, t), v),
    }


def slips(q: np.ndarray, k: np.ndarray, v: np.ndarray, t: float) -> dict[str, float]:
    """Compare attention with what is nearly the same."""
    attended = estimators.dot_product_attention(q, k, v, t)
    return {
        "no key weights": error(estimators.smooth(q, k, v, t**0.5), attended, v),
        "temperature 1 % off": error(routes.by_one_dimension_more(q, k, v, SLIP * t), attended, v),
    }


def shifted(
    q: np.ndarray, k: np.ndarray, far: np.ndarray, v: np.ndarray, t: float
) -> dict[str, float]:
    """Compare attention, and a smoother, with themselves where all keys were moved alike."""
    attend, smooth, h = estimators.dot_product_attention, estimators.smooth, t**0.5
    return {
        "keys moved away": error(attend(q, far, v, t), attend(q, k, v, t), v),
        "keys moved away, smoother": error(smooth(q, far, v, h), smooth(q, k, v, h), v),
    }


def reordered(
    q: np.ndarray, k: np.ndarray, v: np.ndarray, t: float, rng: np.random.Generator
) -> dict[str, float]:
    """Number keys with their values, then queries, anew, without a mask and under one."""
    new, turn = rng.permutation(len(k)), rng.permutation(len(q))
    seen = np.tri(len(q), len(k), max(0, len(k) - len(q)), dtype=bool)
    attended = estimators.dot_product_attention(q, k, v, t)

    def under_mask(order: np.ndarray) -> np.ndarray:
        return softmax(np.where(seen, q @ k[order].T / t, -np.inf)) @ v[order]

    fits = {
        "keys and values": (estimators.dot_product_attention(q, k[new], v[new], t), attended),
        "the queries": (estimators.dot_product_attention(q[turn], k, v, t), attended[turn]),
        "keys and values, masked": (under_mask(new), under_mask(np.arange(len(k)))),
    }
    return {what: error(*pair, v) for what, pair in fits.items()}
