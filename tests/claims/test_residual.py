"""Verdicts on residual layers and the sign of W_V, and mistakes that must turn each of them."""

from __future__ import annotations

import numpy as np
import pytest

from lowpass.claims.residual import RATE, deep, outgrown, rate_off

SWEEP, VALUES, FLOW = "residual", "residual-values", "flow-values"


@pytest.mark.parametrize("claim", ["B10", "B11", "B17"])
def test_right_experiments_give_the_verdict_of_the_theory(claim, judged, experiments):
    found = judged(claim, experiments)
    assert found["verdict"] == "conditional"
    assert found["repaired_holds"]
    assert found["as_written"] > 0.1


def number(found, name: str) -> float:
    return found["numbers"][name]["value"]


# B10: modes.


def test_a_skip_that_passes_values_by_is_no_skip_through_them(judged, experiments):
    """Another operator: the layer whose W_V is a little larger."""
    runs = experiments[VALUES]
    other = runs.assign(operator_defect=runs["operator_defect"] + 1e-11)
    assert judged("B10", {VALUES: other})["repaired_holds"] is False


def test_the_note_is_right_for_the_identity_alone(judged, experiments):
    runs = experiments[VALUES]
    found = judged("B10", experiments)
    assert found["under_condition"] < 1e-14
    others = runs["written_defect"].where(
        (runs["values"] != "identity") | (runs["value_scale"] != 1)
    )
    assert number(found, "least") == float(others.min()) > 1e-2
    assert {"random", "turning", "least"} == set(found["numbers"])
    spoilt = runs.assign(written_defect=runs["written_defect"] + 1e-11)
    assert judged("B10", {VALUES: spoilt})["verdict"] == "refuted"


# B11: rates.


@pytest.mark.parametrize("name", [SWEEP, VALUES])
def test_a_rate_that_is_off_by_little_breaks_the_repair(name, judged, experiments):
    runs = experiments[name]
    other = runs.assign(tapered_rate=runs["tapered_rate"] * (1 - 2e-6))
    found = judged("B11", {**experiments, name: other})
    assert found["repaired_holds"] is False
    assert found["repaired_distance"] == pytest.approx(2e-6, rel=1e-2)


def test_the_rates_of_another_temperature_break_the_repair(judged, experiments, rerun):
    changed = rerun(SWEEP, attention={"beta": 1.01})[SWEEP]
    runs = experiments[SWEEP].assign(predicted_rate=changed["predicted_rate"])
    assert judged("B11", {**experiments, SWEEP: runs})["repaired_holds"] is False


def test_a_pole_elsewhere_breaks_the_repair(judged, experiments):
    runs = experiments[SWEEP].copy(deep=True)
    runs["tapered_rate"].loc[{"value_scale": -1.0, "replicate": 2}] = 1e6
    found = judged("B11", {**experiments, SWEEP: runs})
    assert found["repaired_distance"] == 1
    assert number(found, "infinite") == number(judged("B11", experiments), "infinite") - 1


def test_a_run_on_the_wrong_side_is_counted(judged, experiments):
    """An edge above μ = -1.5, where these layers sharpen, as some do further below."""
    runs = experiments[SWEEP]
    other = runs.assign(sharpening_edge=0 * runs["sharpening_edge"] - 1.2)
    found = judged("B11", {**experiments, SWEEP: other})
    below = runs["tapered_rate"].sel(value_scale=[-4.0, -1.5])
    assert number(found, "misplaced") == (below > 1).sum() == found["repaired_distance"] > 0


def test_one_positive_scale_that_sharpens_refutes(judged, experiments):
    runs = experiments[SWEEP].copy(deep=True)
    runs["tapered_rate"].loc[{"value_scale": 0.5, "replicate": 1}] = 1.01
    runs["eigenvalue_real"].loc[{"value_scale": 0.5, "replicate": 1, "mode": 1}] = 0.3
    found = judged("B11", {**experiments, SWEEP: runs})
    assert found["verdict"] == "refuted"
    assert number(found, "positive_violations") == 1


def test_a_skip_that_does_not_slow_a_positive_mode_refutes(judged, experiments):
    runs = experiments[SWEEP]
    slower = runs.assign(
        slem=0 * runs["slem"] + 0.999, eigenvalue_real=abs(runs["eigenvalue_real"])
    )
    found = judged("B11", {**experiments, SWEEP: slower})
    assert found["verdict"] == "refuted"
    assert number(found, "tightened") == 0


def test_a_tightened_bound_is_violated(judged, experiments):
    found = judged("B11", experiments)
    assert number(found, "positive_violations") == 0 < number(found, "slack")
    assert 0 < number(found, "tightened") <= number(found, "positive_runs") == 8
    share = number(found, "tightened") / number(found, "positive_runs")
    assert share + number(found, "faster_share") == 1


def test_what_clearly_sharpens_has_an_even_hc_dc_ratio(judged, experiments):
    assert number(judged("B11", experiments), "wang_off_one") < 1e-8
    runs = experiments[SWEEP]
    shown = runs.assign(hc_dc_rate=runs["tapered_rate"].where(runs["tapered_rate"] < 50, 50.0))
    assert number(judged("B11", {**experiments, SWEEP: shown}), "wang_off_one") > 1


def test_shallow_runs_say_nothing_of_rates(experiments):
    runs = experiments[SWEEP]
    assert 0.5 < deep(runs).mean() <= 1
    spoilt = runs.assign(
        tapered_rate=3 * runs["tapered_rate"], predicted_rate_error=runs["slem"] * 0 + RATE
    )
    assert rate_off(spoilt).max() == 0


def test_what_is_outgrown_has_a_finite_distance(experiments):
    growth = experiments[SWEEP]["tapered_rate"].isel(replicate=0)
    distance = outgrown(growth)
    assert float(distance.sel(value_scale=-1.0)) == 1
    assert (distance.where(growth <= 1, 0.0) == 0).all()


# B17: flows.


def test_flows_do_as_the_least_real_part_foretells(judged, experiments):
    found = judged("B17", experiments)
    assert number(found, "wrong") == 0
    assert 0 < number(found, "damping_share") < 1
    assert number(found, "damped_most") < 1 < number(found, "grown_least")


def test_values_of_the_other_sign_turn_every_verdict(judged, experiments):
    runs = experiments[FLOW]
    turned = runs.assign(least_real_value=-runs["least_real_value"])
    found = judged("B17", {**experiments, FLOW: turned})
    assert found["verdict"] == "refuted"
    assert not found["repaired_holds"]


def test_the_fastest_mode_on_a_circle_grows_without_bound(judged, experiments):
    """Its gain is almost nothing, so that a unit of time multiplies it by exp(2β)."""
    found = judged("B17", experiments)
    for beta in experiments["circle"]["beta"].values:
        decades = number(found, f"backward_beta_{beta:g}")
        assert decades == pytest.approx(2 * beta / np.log(10), rel=1e-3)
