"""The Nile, smoothed with loops: a fit, a criterion, and four ways to the same curve."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr
from numpy.testing import assert_allclose

from lowpass.registry import Refusal
from lowpass.stages.smoothing import smoothing

GRID = {"low": 1.0, "high": 40.0, "count": 7}
ROUTES = ["Nadaraya-Watson", "softmax of distances", "dot product, weighted keys", "dot product"]


def observed(position, value) -> xr.Dataset:
    return xr.Dataset(
        {
            "key_position": (("key", "feature"), np.asarray(position)[:, None]),
            "value": ("key", value),
        },
        {"key": np.arange(len(value)), "feature": [0]},
    )


@pytest.fixture
def noisy(rng) -> xr.Dataset:
    """Hold thirty observations of a slow wave, at uneven positions far from the origin."""
    position = 1900 + np.sort(rng.uniform(0, 60, 30))
    return observed(position, np.sin(position / 9) + 0.3 * rng.standard_normal(30))


def smooth(data: xr.Dataset, **params) -> xr.Dataset:
    return smoothing({"params": {"study": "selection", "bandwidths": GRID, **params}}, data)


def average(k, v, at, h, without=None) -> float:
    """Take the Gaussian average of all but one observation, in a loop."""
    kept = [i for i in range(len(k)) if i != without]
    weight = [np.exp(-((at - k[i]) ** 2) / (2 * h**2)) for i in kept]
    return sum(w * v[i] for w, i in zip(weight, kept, strict=True)) / sum(weight)


# Closed forms and loops.


def test_the_fit_is_a_gaussian_average(noisy):
    made = smooth(noisy)
    k, v = noisy["key_position"].values[:, 0], noisy["value"].values
    h = float(made["bandwidth_selected"])
    assert_allclose(made["fit"], [average(k, v, at, h) for at in k], rtol=1e-12)


def test_the_criterion_refits_without_each_observation(noisy):
    made = smooth(noisy)
    k, v = noisy["key_position"].values[:, 0], noisy["value"].values
    for h, score in zip(made["bandwidth"].values, made["loo_score"].values, strict=True):
        left = [v[i] - average(k, v, k[i], h, without=i) for i in range(len(k))]
        assert_allclose(score, np.mean(np.square(left)), rtol=1e-10)


def test_the_bandwidth_with_the_smallest_criterion_is_selected(noisy):
    made = smooth(noisy)
    best = int(np.argmin(made["loo_score"].values))
    assert made["bandwidth_selected"] == made["bandwidth"][best]
    assert made["loo_score_selected"] == made["loo_score"][best]
    assert made["temperature_selected"] == made["bandwidth_selected"] ** 2


def test_bandwidths_are_geometric_and_stiffen_the_fit(noisy):
    made = smooth(noisy)
    steps = made["bandwidth"].values[1:] / made["bandwidth"].values[:-1]
    assert_allclose(steps, (GRID["high"] / GRID["low"]) ** (1 / 6), rtol=1e-12)
    dof = made["effective_dof"].values
    assert (np.diff(dof) < 0).all()
    assert 1 < dof[-1] < dof[0] < 30


def test_weights_make_the_fit_and_sum_to_one(noisy):
    made = smooth(noisy)
    weights = made["nw_weights"].values
    assert_allclose(weights @ noisy["value"].values, made["fit"], rtol=1e-14)
    assert_allclose(made["weight_sum_defect"], abs(weights.sum(axis=1) - 1), atol=1e-16)
    assert (made["weight_sum_defect"] < 1e-15).all()


def test_the_band_is_symmetric_and_widens_with_its_level(noisy):
    narrow, wide = (smooth(noisy, level=level) for level in (0.5, 0.95))
    assert_allclose((wide["upper"] + wide["lower"]) / 2, wide["fit"], rtol=1e-12)
    ratio = (wide["upper"] - wide["lower"]) / (narrow["upper"] - narrow["lower"])
    # The quantiles of a normal distribution: Φ⁻¹(0.975) / Φ⁻¹(0.75).
    assert_allclose(ratio, 1.959963984540054 / 0.6744897501960817, rtol=1e-12)


# The same smoother by several routes.


def test_two_routes_are_the_textbook_and_the_plain_product_is_not(noisy):
    fits = smooth(noisy)["fit_by_route"]
    assert fits["route"].values.tolist() == ROUTES
    textbook = fits.sel(route="Nadaraya-Watson")
    for route in ROUTES[1:3]:
        assert_allclose(fits.sel(route=route), textbook, rtol=0, atol=1e-13)
    assert abs(fits.sel(route="dot product") - textbook).max() > 0.1


def test_similarities_keep_a_share_of_their_sum(noisy):
    made = smooth(noisy)
    k = noisy["key_position"].values[:, 0]
    k, h = k - k.mean(), float(made["bandwidth_selected"])
    share = made["normaliser_share"]
    assert_allclose(share.sel(similarity="exponential"), 1, rtol=1e-15)
    for query in range(30):
        product = [k[query] * key / h**2 for key in k]
        direct = abs(sum(product)) / sum(map(abs, product))
        assert_allclose(share.sel(similarity="inner product")[query], direct, atol=1e-14)


def test_a_shift_of_all_positions_changes_nothing(noisy):
    """Not even the dot product, since positions count from their mean."""
    moved = noisy.assign(key_position=noisy["key_position"] - 1900)
    one, other = smooth(noisy), smooth(moved)
    for name in ("fit", "loo_score", "fit_by_route"):
        assert_allclose(one[name], other[name], rtol=1e-9)


# Axes inside.


def test_levels_inside_are_a_dimension(noisy):
    both = smooth(noisy, inside={"level": [0.5, 0.95]})
    for level in (0.5, 0.95):
        alone = smooth(noisy, level=level)
        xr.testing.assert_identical(both.sel(level=level, drop=True), alone)


def test_the_input_is_handed_on(noisy):
    made = smooth(noisy)
    assert np.array_equal(made["value"], noisy["value"])
    assert np.array_equal(made["key_position"], noisy["key_position"])
    assert np.array_equal(made["query"], noisy["key"])


# Refusals.


@pytest.mark.parametrize("edge", ["an end", "the other end"])
def test_a_minimum_at_an_end_of_the_grid_is_refused(edge, noisy):
    ends = {"low": 1e-3, "high": 2e-2} if edge == "an end" else {"low": 30.0, "high": 400.0}
    with pytest.raises(Refusal, match=r"the lowest score lies at bandwidth .*, an end of the grid"):
        smooth(noisy, bandwidths={**ends, "count": 5})


def test_a_grid_that_does_not_ascend_is_refused(noisy):
    with pytest.raises(Refusal, match="bandwidths: low 9 is not below high 9"):
        smooth(noisy, bandwidths={"low": 9.0, "high": 9.0, "count": 5})
