"""Verdicts on the steps to a heat kernel, and mistakes that must turn each of them."""

from __future__ import annotations

import numpy as np
import pytest

HEAT = "heat-kernel"
VERDICTS = {
    "B01": "refuted",
    "B02": "holds",
    "B03": "refuted",
    "B04": "conditional",
    "B05": "refuted",
    "B06": "refuted",
    "B06b": "refuted",
    "B07": "holds",
}


def changed(experiments, **values) -> dict:
    """Change variables of the runs: a number everywhere, or what a function makes of them."""
    runs = experiments[HEAT].copy(deep=True)
    for name, value in values.items():
        runs[name] = value(runs) if callable(value) else runs[name] * 0 + value
    return {**experiments, HEAT: runs}


@pytest.mark.parametrize("claim", VERDICTS)
def test_right_experiments_give_the_verdict_of_the_theory(claim, judged, experiments):
    said = judged(claim, experiments)
    assert said["verdict"] == VERDICTS[claim]
    assert said.get("repaired_holds", True)


# B01: symmetrised logits.


def test_logits_that_are_symmetric_already_may_be_symmetrised(judged, experiments):
    runs = experiments[HEAT]
    same = runs.sel(weights=["symmetric", "tied", "symmetric"])
    same = {**experiments, HEAT: same.assign_coords(weights=runs["weights"].values)}
    assert judged("B01", same)["verdict"] == "holds"
    said = judged("B01", changed(experiments, symmetrised_error=1e-3))
    assert said["repaired_holds"] is False


def test_the_counterexample_is_uniform_and_its_symmetric_part_is_not(judged, experiments):
    numbers = judged("B01", experiments)["numbers"]
    assert numbers["shifted_uniform"]["value"] == 0
    assert numbers["shifted_symmetrised"]["low"] > 0.01


# B02 and B03: exponentials and modes.


def test_an_exponential_that_is_off_refutes(judged, experiments):
    off = changed(experiments, spectral_exponential_defect=2e-10)
    assert judged("B02", off)["verdict"] == "refuted"


def test_softmax_takes_another_exponential(judged, experiments):
    taken = changed(experiments, spectral_exponential_defect=lambda runs: runs["elementwise_gap"])
    assert judged("B02", taken)["verdict"] == "refuted"


def test_shared_modes_would_hold(judged, experiments):
    shared = changed(experiments, spectral_kernel_gap=lambda runs: runs["own_modes_defect"])
    assert judged("B03", shared)["verdict"] == "holds"
    spoilt = changed(experiments, own_modes_defect=lambda runs: runs["spectral_kernel_gap"])
    assert judged("B03", spoilt)["repaired_holds"] is False


# B04 and B05: signs and sums.


def test_damping_needs_weights_that_are_not_negative(judged, experiments):
    unshifted = changed(experiments, shifted_lowest=lambda runs: runs["lowest_share"])
    said = judged("B04", unshifted)
    assert said["verdict"] == "refuted"
    assert said["numbers"]["violations"]["value"] > 0
    assert judged("B04", changed(experiments, lowest_share=0))["verdict"] == "holds"


def test_the_share_of_indefinite_draws_has_an_interval_of_its_own(judged, experiments):
    found = judged("B04", experiments)["numbers"]["indefinite_untied"]
    direct = experiments[HEAT]["lowest_share"].sel(weights="untied").isel(beta=-1) < 0
    assert found["value"] == direct.mean()
    assert 0 < found["low"] < found["high"] <= 1


def test_rows_that_did_not_sum_to_one_would_have_to_be_normalised(judged, experiments):
    uneven = judged("B05", changed(experiments, heat_row_defect=1e-3))
    assert uneven["verdict"] == "holds"
    assert uneven["repaired_holds"] is False
    negative = judged("B05", changed(experiments, shifted_min_entry=-1e-9))
    assert negative["repaired_holds"] is False


# B06 and B06b: distances and gauges.


def test_the_kindest_run_decides(judged, experiments):
    runs = experiments[HEAT]["heat_error"].copy(deep=True)
    runs.loc[{"weights": "tied", "beta": 2.0, "replicate": 1}] = 0.09
    said = judged("B06", {**experiments, HEAT: experiments[HEAT].assign(heat_error=runs)})
    assert said["verdict"] == "holds"
    assert said["witness"] == "heat-kernel: heat_error at beta 2.0, weights tied, replicate 1"


def test_a_heat_kernel_a_tenth_as_far_as_uniform_would_be_an_approximation(judged, experiments):
    assert judged("B06", changed(experiments, heat_error=0.09))["verdict"] == "holds"


def test_a_bound_that_is_broken_once_is_reported(judged, experiments):
    higher = changed(experiments, column_bound=lambda runs: runs["heat_error"] * 1.01)
    said = judged("B06", higher)
    assert said["repaired_holds"] is False
    assert said["numbers"]["violations"]["value"] == experiments[HEAT]["heat_error"].size
    assert said["numbers"]["slack"]["value"] < 0


def test_the_slack_is_the_least_of_all_runs(judged, experiments):
    runs = experiments[HEAT]
    direct = np.min(runs["heat_error"].values - runs["column_bound"].values)
    assert judged("B06", experiments)["numbers"]["slack"]["value"] == direct > 0


def test_how_little_time_is_best_is_told(judged, experiments):
    times = experiments[HEAT]["heat_best_time"].sel(weights="untied")
    numbers = judged("B06", experiments)["numbers"]
    assert numbers["no_time_untied"]["value"] == np.mean(times.values == 0)
    assert numbers["time_untied"]["value"] == np.median(times.sel(beta=2.0).values)


def test_a_kernel_that_no_shift_changed_would_be_a_function_of_attention(judged, experiments):
    assert judged("B06b", changed(experiments, gauge_error=0.5))["verdict"] == "holds"


def test_one_search_below_the_floor_is_reported(judged, experiments):
    runs = experiments[HEAT]
    below = runs["best_gauge_error"].copy(deep=True)
    below[0, 0, 0, 0] = float(runs["heat_floor"][0, 0, 0]) * 0.999
    said = judged("B06b", {**experiments, HEAT: runs.assign(best_gauge_error=below)})
    assert said["repaired_holds"] is False
    assert said["numbers"]["violations"]["value"] == 1


def test_a_damping_shift_that_leaves_uniform_out_of_reach_is_reported(judged, experiments):
    far = experiments[HEAT]["gauge_error"].copy(deep=True)
    far.loc[{"gauge": 2.0, "weights": "untied", "beta": 2.0, "replicate": 1}] = 1.001
    spoilt = {**experiments, HEAT: experiments[HEAT].assign(gauge_error=far)}
    assert judged("B06b", spoilt)["repaired_holds"] is False


def test_the_floor_with_a_tenth_more_is_broken(judged, experiments):
    assert judged("B06b", experiments)["numbers"]["higher_floor"]["value"] > 0


# B07: the walk.

WALK = "random-walk"
DEFECTS = ("walk_defect", "walk_balance_defect", "walk_spectrum_defect", "walk_energy_defect")


def test_independent_projections_in_the_place_of_symmetric_ones_refute(judged, experiments):
    runs = experiments[WALK]
    wrong = runs.sel(weights=["untied", "tied", "untied"])
    said = judged("B07", {WALK: wrong.assign_coords(weights=runs["weights"].values)})
    assert said["verdict"] == "refuted"
    assert said["as_written"] > 1e-3


@pytest.mark.parametrize("name", DEFECTS)
def test_each_part_of_the_walk_is_judged(name, judged, experiments):
    runs = experiments[WALK].copy(deep=True)
    runs[name].loc[{"weights": "tied", "beta": 2.0, "replicate": 2}] = 2e-12
    said = judged("B07", {WALK: runs})
    assert said["verdict"] == "refuted"
    assert said["witness"] == f"random-walk: {name} at beta 2.0, weights tied, replicate 2"


@pytest.mark.parametrize(
    ("kind", "value", "off"),
    [("tied", 1.001, 1e-3), ("tied", -1e-3, 1e-3), ("symmetric", 2.0, 1), ("symmetric", 2.001, 1)],
)
def test_each_interval_of_eigenvalues_is_judged(kind, value, off, judged, experiments):
    """A walk that swings for ever has a two among them, which is not within the interval."""
    runs = experiments[WALK].copy(deep=True)
    runs["walk_eigenvalue"].loc[{"weights": kind, "beta": 2.0, "replicate": 2, "mode": 7}] = value
    said = judged("B07", {WALK: runs})
    assert said["as_written"] == pytest.approx(off)
    assert said["verdict"] == "refuted"


def test_how_far_eigenvalues_of_attention_stay_above_minus_one_is_told(judged, experiments):
    symmetric = experiments[WALK]["walk_eigenvalue"].sel(weights=["symmetric", "tied"])
    numbers = judged("B07", experiments)["numbers"]
    assert numbers["above_minus_one"]["value"] == 2 - symmetric.values.max() > 0
