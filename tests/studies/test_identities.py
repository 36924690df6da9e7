"""What the study of identities says of draws that are small enough to be done by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
import xarray as xr
from numpy.testing import assert_allclose, assert_array_equal

from lowpass.pairs import pairs
from lowpass.registry import Refusal
from lowpass.stages.data import labelled
from lowpass.studies.identities import identities
from lowpass.studies.laying import laid_out

RIGHT = [
    "exponential similarity",
    "weighted keys",
    "one dimension more",
    "smoother by dot products",
    "smoother of many bandwidths",
    "keys of equal norm",
    "joint density",
    "weighted joint density",
    "keys moved away",
]
SIZES = {"n_queries": 7, "n_keys": 11, "n_features": 4}


@pytest.fixture
def observed(rng) -> xr.Dataset:
    return labelled(pairs(rng, **SIZES))


@pytest.fixture
def made(observed) -> xr.Dataset:
    return asked(observed)


def asked(observed: xr.Dataset, **parameters: float) -> xr.Dataset:
    return identities(observed, iter, np.random.default_rng(3), **parameters)


def average(q, k, v, score) -> list[float]:
    """Average values with exponential weights of scores, in a loop."""
    fits = []
    for a in q:
        weights = [math.exp(score(a, b)) for b in k]
        fits.append(math.fsum(w * y for w, y in zip(weights, v, strict=True)) / math.fsum(weights))
    return fits


# Laws.


@pytest.mark.parametrize("beta", [0.2, 1.0, 4.0])
def test_right_routes_agree_and_slips_show(observed, beta):
    errors = asked(observed, beta=beta)["route_error"]
    assert errors.sel(route=RIGHT).max() < 1e-14
    assert errors.drop_sel(route=RIGHT).min() > 1e-5


def test_orders_change_nothing_but_under_a_mask(made):
    defect = made["order_defect"]
    assert defect.sel(reordering=["keys and values", "the queries"]).max() < 1e-14
    assert defect.sel(reordering="keys and values, masked") > 1e-3


@pytest.mark.parametrize("width", [0.05, 5.0])
def test_the_width_of_the_density_along_the_values_drops_out(observed, width):
    errors = asked(observed, value_bandwidth=width)["route_error"]
    densities = errors.sel(route=["joint density", "weighted joint density"])
    assert densities.max() < 1e-14 * (1 + width)


def test_an_answer_follows_from_its_generator(observed, made):
    xr.testing.assert_identical(made, asked(observed))


def test_a_temperature_leaves_signs_and_orders_alone(observed, made):
    """Of inner products only the exponential knows the scale."""
    cold = asked(observed, beta=8.0)
    for name in ("negative_share", "outside_share", "disorder", "nearest_wins"):
        assert_array_equal(cold[name], made[name])


# By hand.


def test_the_smoother_without_key_weights_is_off_by_what_a_loop_finds(observed, made):
    q, k, v = (observed[name].values for name in ("query_position", "key_position", "value"))
    attended = average(q, k, v, lambda a, b: a @ b / 2)
    smoothed = average(q, k, v, lambda a, b: -((a - b) @ (a - b)) / 4)
    apart = max(abs(a - b) for a, b in zip(attended, smoothed, strict=True)) / (max(v) - min(v))
    assert_allclose(made["route_error"].sel(route="no key weights"), apart, rtol=1e-12)


def test_signs_are_counted_as_a_loop_counts_them(observed, made):
    q, k, v = (observed[name].values for name in ("query_position", "key_position", "value"))
    product = (q @ k.T).tolist()
    weight = [[x / math.fsum(row) for x in row] for row in product]
    fits = [math.fsum(w * y for w, y in zip(row, v, strict=True)) for row in weight]
    outside = sum(not min(v) <= f <= max(v) for f in fits)
    inner = made.sel(similarity="inner product")
    assert_allclose(inner["negative_share"], sum(w < 0 for row in weight for w in row) / 77)
    assert_allclose(inner["outside_share"], outside / 7)
    left = [abs(math.fsum(row)) / math.fsum(map(abs, row)) for row in product]
    assert_allclose(inner["normaliser_share"], left, rtol=1e-12)


def test_similarities_of_one_sign_average_within_the_values(made):
    for name in ("exponential", "inner product, positive"):
        one = made.sel(similarity=name)
        assert one["negative_share"] == one["outside_share"] == 0
        assert_allclose(one["normaliser_share"], 1, rtol=1e-15)


def test_inner_products_with_centred_keys_cancel(made):
    assert made["centred_normaliser_share"].max() < 1e-14
    assert made["weight_sum_defect"].max() < 1e-15


def test_only_one_map_makes_a_kernel(made):
    assert made["asymmetry"].sel(form="two maps") > 0.05
    assert made["asymmetry"].drop_sel(form="two maps").max() < 1e-14
    assert made["negative_eigenvalue"].sel(form="one map") < 1e-14
    assert made["negative_eigenvalue"].sel(form="two maps, symmetric part") > 1e-3


def test_keys_of_equal_norm_count_by_nearness(made):
    even, drawn = (made.sel(key_set=name) for name in ("of equal norm", "as drawn"))
    assert (even["disorder"], even["nearest_wins"]) == (0, 1)
    assert drawn["disorder"] > 0.05
    assert drawn["nearest_wins"] < 1


# The view.


def test_the_view_is_of_the_query_in_the_middle(observed, made):
    norms = sorted(np.hypot(*observed["query_position"].values[:, :2].T))
    assert_allclose(made["query_norm"], norms[3], rtol=1e-14)


def test_the_view_is_turned_and_lifted(observed, made):
    lengths = np.hypot(made["key_along"], made["key_across"])
    assert_allclose(lengths, np.hypot(*observed["key_position"].values[:, :2].T), rtol=1e-13)
    radius = made["largest_key_norm"]
    assert_allclose(radius, lengths.max(), rtol=1e-14)
    assert_allclose(np.hypot(made["key_along"], made["key_away"]), radius, rtol=1e-13)
    assert_array_equal(np.sign(made["key_away"]), np.sign(made["key_across"]))


def test_weights_of_the_view_are_those_of_its_geometry(made):
    """The plane is weighed by distance, and so is the sphere, at a temperature of √2/4."""
    for reading, height in (("of distances", "key_across"), ("of dot products", "key_away")):
        square = (made["key_along"] - made["query_norm"]) ** 2 + made[height] ** 2
        weight = np.exp((square.min() - square) / (2 * 2**0.5 / 4))
        seen = made["view_weights"].sel(reading=reading)
        assert_allclose(seen, weight / weight.sum(), rtol=1e-11)


def test_contours_descend_by_one_power_of_e(made):
    t = 2**0.5 / 4
    assert_allclose(np.diff(made["contour_radius"] ** 2), 2 * t, rtol=1e-12)
    assert_allclose(np.diff(made["contour_along"]) * float(made["query_norm"]), -t, rtol=1e-12)
    assert_allclose(np.diff(made["contour_lifted_radius"] ** 2), 2 * t, rtol=1e-12)


# Refusals.


def test_a_line_has_no_view(rng):
    observed = labelled(pairs(rng, n_queries=3, n_keys=4, n_features=1))
    with pytest.raises(Refusal, match=r"keys have 1 feature; .* Draw more with 'n_features'"):
        asked(observed)


def test_tables_lie_along_their_names():
    laid = laid_out("fruit", weight={"apple": 1.0, "pear": 2.0}, price={"pear": 4.0, "apple": 3.0})
    assert laid["price"] == ("fruit", [3.0, 4.0])
