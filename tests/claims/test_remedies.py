"""Verdicts on remedies, and mistakes that must turn each of them."""

from __future__ import annotations

import numpy as np
import pytest

from lowpass.claims.remedies import DIED_OUT, deep

ALL, POWERS, NEUTRENO = "remedies", "powers", "neutreno"


@pytest.mark.parametrize(
    ("claim", "said"),
    [
        ("R01", "holds"),
        ("R02", "holds"),
        ("R03", "holds"),
        ("R04", "conditional"),
        ("R06", "holds"),
        ("R12", "conditional"),
    ],
)
def test_right_experiments_give_the_verdict_of_the_theory(claim, said, judged, experiments):
    found = judged(claim, experiments)
    assert found["verdict"] == said
    assert found.get("repaired_holds") in (None, True)


def with_growth(experiments, remedy, factor):
    """Let one remedy grow faster than it did."""
    runs = experiments[ALL].copy(deep=True)
    for name in ("transient_growth", "transient_rate"):
        runs[name].loc[{"remedy": remedy}] *= factor
    return {**experiments, ALL: runs}


@pytest.mark.parametrize(
    ("claim", "remedy"),
    [
        ("R01", "attnscale"),
        ("R02", "featscale"),
        ("R02", "attnscale"),
        ("R03", "gfsa"),
        ("R06", "residual"),
        ("R06", "attinv"),
        ("R06", "highpass"),
    ],
)
def test_a_growth_that_is_off_by_little_refutes(claim, remedy, judged, experiments):
    said = judged(claim, with_growth(experiments, remedy, 1 + 1e-10))
    assert said["verdict"] == "refuted"
    assert said["as_written"] == pytest.approx(1e-10, rel=1e-3)
    assert said["witness"].startswith("remedies: transient_")


@pytest.mark.parametrize("claim", ["R01", "R02", "R03", "R06"])
def test_runs_that_saw_another_attention_refute(claim, judged, experiments):
    runs = experiments[ALL]
    other = runs.assign(attention_spread=runs["attention_spread"] + 1e-9)
    assert judged(claim, {**experiments, ALL: other})["verdict"] == "refuted"
    assert judged(claim, experiments)["numbers"]["attention_spread"]["value"] == 0


@pytest.mark.parametrize("claim", ["R01", "R03", "R06"])
def test_shallow_runs_judge_nothing(claim, judged, experiments):
    """A growth that is far off does not count where a second mode is still there."""
    spoilt = with_growth(experiments, slice(None), 3.0)
    runs = spoilt[ALL]
    slow = runs.assign(second_gain_share=0 * runs["second_gain_share"] + 0.999)
    said = judged(claim, {**experiments, ALL: slow})
    assert said["numbers"]["deep_share"]["value"] == said["as_written"] == 0


def test_depth_suffices_where_the_second_mode_has_died_out_by_half_of_it(experiments):
    runs = experiments[ALL]
    assert ((runs["second_gain_share"] ** 200 < DIED_OUT) == deep(runs)).all()
    assert 0 < deep(runs).mean() < 1


def test_the_eigenvalue_of_another_temperature_refutes(judged, experiments, rerun):
    changed = rerun(ALL, attention={"beta": 1.01})[ALL]
    runs = experiments[ALL].assign(slem=changed["slem"])
    assert judged("R01", {**experiments, ALL: runs})["verdict"] == "refuted"


# R03: the bound.


def test_an_error_above_the_bound_refutes(judged, experiments):
    powers = experiments[POWERS].copy(deep=True)
    powers["power_error"].loc[{"beta": 4.0, "mask": "none", "replicate": 2, "order": 5}] = 8.5
    said = judged("R03", {**experiments, POWERS: powers})
    assert said["verdict"] == "refuted"
    assert said["numbers"]["violations"]["value"] == 1
    assert said["witness"] == "powers: power_error at beta 4.0, mask none, replicate 2, order 5"


def test_a_bound_less_by_one_is_violated(judged, experiments):
    numbers = judged("R03", experiments)["numbers"]
    assert numbers["violations"]["value"] == numbers["cycle"]["value"] == 0
    # All of the cycles at least: two temperatures, four replicates, six powers.
    assert numbers["tightened"]["value"] >= 2 * 4 * 6
    assert numbers["dense"]["value"] < 1


# R04: NeuTRENO.


def test_draws_settle_or_leave_as_foretold(judged, experiments):
    said = judged("R04", experiments)
    numbers = said["numbers"]
    assert numbers["wrong"]["value"] == 0
    assert 0 < numbers["clear_share"]["value"] <= 1
    stability = experiments[NEUTRENO]["predicted_stability"].sel(strength=0.6)
    assert numbers["leaves_0.6"]["value"] == (stability > 1).mean()
    assert 0 < (stability > 1).mean() < 1


@pytest.mark.parametrize("side", [1, -1])
def test_a_draw_that_does_otherwise_is_told(side, judged, experiments):
    """Eigenvalues inverted: what should settle leaves, and what should leave settles."""
    runs = experiments[NEUTRENO].copy(deep=True)
    factor = runs["predicted_stability"]
    place = int(np.argmax(side * factor.sel(strength=0.6).values))
    runs["predicted_stability"].loc[{"strength": 0.6, "replicate": place}] = 0.5 if side > 0 else 2
    said = judged("R04", {NEUTRENO: runs})
    assert said["numbers"]["wrong"]["value"] == 1
    assert not said["repaired_holds"]


def test_the_factor_of_another_strength_foretells_otherwise(judged, experiments, rerun):
    other = rerun(NEUTRENO, attention={"strength": [0.3, 0.9]})[NEUTRENO]
    moved = other["predicted_stability"].assign_coords(strength=[0.2, 0.6])
    runs = experiments[NEUTRENO].assign(predicted_stability=moved)
    assert judged("R04", {NEUTRENO: runs})["numbers"]["wrong"]["value"] > 0


def test_no_draw_that_is_deep_enough_leaves_the_claim_unexamined(judged, experiments, rerun):
    shallow = rerun(NEUTRENO, attention={"depth": 8, "record": [0, 4, 8]})
    assert judged("R04", shallow)["verdict"] == "not examined"


# R12: the mean hides what sharpens.


def test_a_ratio_that_grew_with_the_transient_would_hold(judged, experiments):
    runs = experiments[ALL]
    wished = runs.assign(hc_dc_rate=runs["predicted_rate"])
    assert judged("R12", {ALL: wished})["verdict"] == "holds"


def test_another_mode_is_not_where_the_ratio_ends(judged, experiments):
    runs = experiments[ALL]
    other = runs.assign(log10_mode_ratio=runs["log10_mode_ratio"] + 1e-6)
    assert judged("R12", {ALL: other})["repaired_holds"] is False


def test_the_rate_of_what_sharpens_is_one(judged, experiments):
    numbers = judged("R12", experiments)["numbers"]
    assert numbers["sharpens_share"]["value"] > 0
    assert numbers["lowest"]["value"] == pytest.approx(1, abs=1e-9)
    assert numbers["highest"]["value"] == pytest.approx(1, abs=1e-9)


def test_where_nothing_sharpens_no_rate_is_quoted(judged, experiments):
    falling = experiments[ALL].sel(strength=[0.0])
    said = judged("R12", {ALL: falling})
    assert said["verdict"] == "holds"
    assert said["numbers"] == {"sharpens_share": {"value": 0, "low": 0, "high": 0}}
