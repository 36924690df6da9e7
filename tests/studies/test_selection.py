"""Observations smoothed with loops: criteria, what they select, a fit and its band."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr
from numpy.testing import assert_allclose

from lowpass.registry import Refusal
from lowpass.smoothing.bands import degrees_of_freedom
from lowpass.smoothing.criteria import curves
from lowpass.smoothing.estimators import smoother_matrix
from lowpass.stages.smoothing import smoothing

GRID = {"low": 1.0, "high": 40.0, "count": 7}
WIDE = {"low": 4.0, "high": 110.0, "count": 7}
ALL = ["loo", "gcv", "aicc", "kfold", "blocked"]


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


def test_the_lowest_point_of_the_criterion_is_selected_between_bandwidths_of_the_grid(noisy):
    made = smooth(noisy)
    assert made["loo_score_selected"] <= made["loo_score"].min()
    near = made["bandwidth"].values[np.argmin(made["loo_score"].values)]
    assert abs(np.log(made["bandwidth_selected"] / near)) <= np.log(40) / 6
    assert made["temperature_selected"] == made["bandwidth_selected"] ** 2


@pytest.mark.parametrize("criterion", ALL)
def test_every_criterion_can_select(criterion, noisy):
    made = smooth(noisy, criterion=criterion, window=2.0, folds=7)
    assert made["bandwidth_criterion"].values.tolist() == ALL
    found = made.sel(bandwidth_criterion=criterion)
    assert found["bandwidth_by_criterion"] == made["bandwidth_selected"]
    curve = "aicc_error" if criterion == "aicc" else f"{criterion}_score"
    assert found["error_by_criterion"] <= made[curve].min()
    assert found["at_end_by_criterion"] == 0
    assert found["valleys_by_criterion"] >= 1


def test_criteria_are_those_of_the_smoother_asked_for(noisy):
    options = {"neighbours": 2, "folds": 3}
    made = smooth(noisy, kernel="tricube", degree=1, bandwidths=WIDE, **options)
    direct = curves(
        noisy["key_position"].values,
        noisy["value"].values,
        made["bandwidth"].values,
        ALL,
        options=options,
        kernel="tricube",
        degree=1,
    )
    for name, curve in direct.items():
        assert_allclose(made[f"{name}_score"], curve, rtol=1e-9)
    assert "fit_by_route" not in made


def test_without_a_block_there_is_no_such_criterion(noisy):
    made = smooth(noisy)
    assert made["bandwidth_criterion"].values.tolist() == ALL[:-1]
    assert "blocked_score" not in made


def test_bandwidths_are_geometric_and_stiffen_the_fit(noisy):
    made = smooth(noisy)
    steps = made["bandwidth"].values[1:] / made["bandwidth"].values[:-1]
    assert_allclose(steps, (GRID["high"] / GRID["low"]) ** (1 / 6), rtol=1e-12)
    for name in ("effective_dof", "variance_dof", "error_dof"):
        dof = made[name].values
        assert (np.diff(dof) < 0).all()
        assert 1 < dof[-1] < dof[0] < 30


def test_degrees_of_freedom_are_traces(noisy):
    made = smooth(noisy)
    k = noisy["key_position"].values
    for place, h in enumerate(made["bandwidth"].values):
        traces = degrees_of_freedom(smoother_matrix(k, k, h))
        found = [made[name][place] for name in ("effective_dof", "variance_dof", "error_dof")]
        assert_allclose(found, traces, rtol=1e-12)


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


# The same smoother by other routes, and elsewhere.


def test_attention_is_the_textbook_average(noisy):
    fits = smooth(noisy)["fit_by_route"]
    assert fits["route"].values.tolist() == ["Nadaraya-Watson", "softmax of distances"]
    assert_allclose(fits[1], fits[0], rtol=0, atol=1e-13)


def test_a_circle_of_observations_has_no_ends(noisy):
    """Observations that are turned around the circle are the same observations."""
    turned = noisy.assign(key_position=(noisy["key_position"] + 17) % 60)
    one, other = (smooth(data.assign(period=60.0)) for data in (noisy, turned))
    assert_allclose(one["loo_score"], other["loo_score"], rtol=1e-9)
    assert_allclose(one["fit"], other["fit"], rtol=1e-9)


# Leaving one out in three ways.


def test_probes_compare_leaving_one_out_with_as_many_fits(noisy):
    """At the narrowest probe no point sees another, at the widest all see many."""
    made = smooth(noisy, probes={"low": 1e-3, "high": 10.0, "count": 3})
    assert_allclose(made["probe_bandwidth"], [1e-3, 0.1, 10.0])
    assert made["own_weight"][0] == 1
    assert made["shortcut_lost"].values.tolist()[::2] == [1, 0]
    assert made["left_out_error"].max() < 1e-14
    assert made["shortcut_error"][2] < 1e-14
    assert made["trace_error"].values.tolist()[0] == 1
    assert made["trace_error"][2] < 1e-13
    assert "own_weight" not in smooth(noisy)


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


def test_a_criterion_without_its_block_is_refused(noisy):
    with pytest.raises(Refusal, match=r"^the criterion 'blocked' has no block to leave out; .*"):
        smooth(noisy, criterion="blocked")


@pytest.mark.parametrize(
    "params", [{"kernel": "gausian"}, {"degree": 2}, {"criterion": "cv"}, {"neighbours": 0}]
)
def test_an_unknown_choice_is_refused(params, noisy):
    with pytest.raises(Refusal, match=next(iter(params))):
        smooth(noisy, **params)


def test_a_grid_that_does_not_ascend_is_refused(noisy):
    with pytest.raises(Refusal, match="bandwidths: low 9 is not below high 9"):
        smooth(noisy, bandwidths={"low": 9.0, "high": 9.0, "count": 5})
