"""What thinner layers tend to, and mistakes that must turn the verdicts."""

from __future__ import annotations

import numpy as np
import pytest

from lowpass.integrators import INTEGRATORS, euler
from lowpass.remedies import polynomial

PLACE = {"layers": "frozen", "replicate": 1}


@pytest.mark.parametrize(
    ("claim", "verdict"), [("B12", "conditional"), ("B13", "conditional"), ("B14", "asymptotic")]
)
def test_right_experiments_give_the_verdict_of_the_theory(claim, verdict, judged, experiments):
    """False as written, true under the condition or towards it, and repaired."""
    found = judged(claim, experiments)
    assert found["verdict"] == verdict
    assert found["repaired_holds"] is True
    assert found["margin_decades"] > 0.2


# B12: which equation.


def test_layers_stay_away_from_the_equation_of_the_note(judged, experiments):
    said = judged("B12", experiments)
    assert said["numbers"]["nearest"]["value"] > 0.5
    assert abs(said["numbers"]["order"]["value"]) < 0.01
    assert said["numbers"]["recomputed_ratio_apart"]["value"] > 1e-6
    assert said["witness"].startswith("euler: note_flow_error at layers ")


def test_a_note_that_kept_its_reaction_term_would_hold_for_other_layers(
    judged, experiments, remeasured, monkeypatch
):
    """With A for A - I in the equation that is compared with, the condition breaks."""
    monkeypatch.setattr("lowpass.measures.steps.laplacian", lambda strength: polynomial(0.0, 1.0))
    spoilt = {**experiments, **remeasured("euler-step", lambda run: run)}
    assert judged("B12", spoilt)["under_condition"] > 1e-3


@pytest.mark.parametrize("strength", [0.99, 1.01])
def test_a_remedy_off_by_one_per_cent_breaks_the_condition(strength, judged, experiments):
    runs = experiments["euler-step"]
    other = experiments["euler-step"].copy(deep=True)
    off = abs(strength - 1) * runs["note_flow_error"].sel(strength=0)
    other["note_flow_error"].loc[{"strength": 1.0}] += off
    assert judged("B12", {**experiments, "euler-step": other})["verdict"] == "refuted"


def test_a_step_in_place_of_the_limit_breaks_the_condition_and_the_repair(
    judged, experiments, rerun, monkeypatch
):
    facts = INTEGRATORS.facts("dop853")
    monkeypatch.setitem(INTEGRATORS._things, "dop853", euler)
    assert INTEGRATORS.facts("dop853") is facts
    found = judged("B12", {**experiments, **rerun("euler-step")})
    assert found["verdict"] == "refuted"
    assert found["repaired_holds"] is False


def test_ratios_that_part_break_the_condition(judged, experiments):
    runs = experiments["euler-step"].copy(deep=True)
    place = {**PLACE, "integrator": "dop853", "values": "identity", "strength": 0.0}
    runs["log10_hc_dc_ratio"].loc[place] += 1e-8
    assert judged("B12", {**experiments, "euler-step": runs})["verdict"] == "refuted"


def test_both_parts_of_the_condition_are_relative(judged, experiments):
    """A decade is nine times the smaller number."""
    runs = experiments["euler-step"].copy(deep=True)
    place = {**PLACE, "integrator": "dop853", "values": "identity"}
    for strength, decades in ((0.0, 3.0), (1.0, 2.0)):
        runs["log10_hc_dc_ratio"].loc[{**place, "strength": strength}] = decades
    found = judged("B12", {**experiments, "euler-step": runs})
    assert found["under_condition"] == pytest.approx(9, rel=1e-14)
    assert found["numbers"]["ratio_apart"]["value"] == found["under_condition"]
    assert found["numbers"]["remedied_distance"]["value"] < 1e-12


# B13: orders.


def test_orders_are_one_two_and_one(judged, experiments):
    numbers = judged("B13", experiments)["numbers"]
    for name, order in (("quotient_order", 1), ("local_order", 2), ("global_order", 1)):
        assert numbers[name]["value"] == pytest.approx(order, abs=0.05)


def test_the_spread_of_orders_is_that_of_neighbouring_steps(judged, experiments):
    """Of a sweep of three it has two orders, and the one between the longer steps may be off."""
    runs = experiments["euler-step"]
    step = runs["step"].values
    longer = runs.isel(step=[0, 1, 1]).assign_coords(step=[*step, 2 * step[-1]])
    quotient = longer["quotient_error"].copy(deep=True)
    quotient[{"step": 2}] *= 2**1.5
    spoilt = {**experiments, "euler-step": longer.assign(quotient_error=quotient)}
    numbers = judged("B13", spoilt)["numbers"]
    assert numbers["quotient_order_most"]["value"] == pytest.approx(1.5, rel=1e-12)
    assert numbers["quotient_order_least"]["value"] == pytest.approx(1, abs=0.05)
    assert numbers["quotient_order"] == judged("B13", experiments)["numbers"]["quotient_order"]


def test_what_layers_add_is_their_own_right_hand_side(judged, experiments):
    """What is left is the rounding of a difference, divided by a step."""
    step = float(experiments["euler-step"]["step"].min())
    assert 0 < judged("B13", experiments)["numbers"]["own_quotient"]["value"] < 1e-14 / step


def test_quotients_of_second_order_would_hold(judged, experiments):
    runs = experiments["euler-step"]
    squared = runs.assign(quotient_error=runs["quotient_error"] * runs["step"])
    found = judged("B13", {**experiments, "euler-step": squared})
    assert found["verdict"] == "holds"
    assert found["repaired_holds"] is False


@pytest.mark.parametrize(
    ("name", "measure", "axis"),
    [("euler-step", "flow_error", "step"), ("euler", "flow_error", "sublayers")],
)
def test_another_order_of_a_step_or_of_all_steps_breaks_the_repair(
    name, measure, axis, judged, experiments
):
    runs = experiments[name]
    power = 0.1 if axis == "step" else -0.1
    spoilt = runs.assign({measure: runs[measure] * runs[axis] ** power})
    found = judged("B13", {**experiments, name: spoilt})
    assert found["repaired_holds"] is False
    assert (found["verdict"] == "refuted") == (name == "euler-step")


# B14: from tokens to space.


def test_the_distance_from_heat_depends_on_tokens_and_not_on_steps(judged, experiments):
    numbers = judged("B14", experiments)["numbers"]
    assert numbers["few_tokens"]["value"] > 0.1
    assert numbers["few_tokens_changed"]["value"] < 0.01
    assert numbers["heat_order"]["value"] == pytest.approx(-1, abs=0.03)
    assert numbers["few_order"]["value"] > 0.1
    assert numbers["many_tokens"]["value"] < 0.01
    assert numbers["circle_order"]["value"] == pytest.approx(-1, abs=0.2)
    shrunk = np.sqrt(0.5) / np.exp(-0.25)
    assert numbers["recomputed_heat"]["value"] == pytest.approx(1 - shrunk, abs=0.02)
    assert numbers["recomputed_circle"]["value"] < 0.02


@pytest.mark.parametrize("factor", [0.8, 1.2])
def test_another_temperature_of_heat_is_not_met(factor, judged, remeasured):
    """Were the matched time not 1/(2β), the distance would not tend to zero."""

    def cooled(run):
        return run.assign(inverse_temperature=factor * run["inverse_temperature"])

    spoilt = remeasured("to-continuum", cooled)["to-continuum"]
    right = spoilt.assign(matched_time=spoilt["matched_time"] * factor)
    assert judged("B14", {"to-continuum": right})["verdict"] == "refuted"


def test_thick_layers_do_not_meet_the_ordinary_equation(judged, experiments):
    thick = experiments["to-continuum"].isel(sublayers=[0, 0])
    assert judged("B14", {"to-continuum": thick})["repaired_holds"] is False


def test_without_the_matched_time_nothing_is_said(judged, experiments):
    short = experiments["to-continuum"].isel(recorded_layer=slice(2))
    assert judged("B14", {"to-continuum": short})["verdict"] == "not examined"
