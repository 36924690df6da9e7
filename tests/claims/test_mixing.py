"""Verdicts on mixing, and mistakes that must turn each of them."""

from __future__ import annotations

import numpy as np
import pytest

MIXING = "mixing"
PLACE = {"beta": 2.0, "kernel": "softmax", "replicate": 1, "layer": 7}


@pytest.mark.parametrize("claim", ["R05", "R10"])
def test_right_experiments_give_the_verdict_of_the_theory(claim, judged, experiments):
    said = judged(claim, experiments)
    assert said["verdict"] == "holds"
    assert said["numbers"]["violations"]["value"] == 0


# R05: Sinkhorn attention.


def test_softmax_in_the_place_of_sinkhorn_refutes(judged, experiments):
    runs = experiments[MIXING]
    wrong = runs.sel(kernel=["softmax", "softmax"]).assign_coords(kernel=["sinkhorn", "softmax"])
    said = judged("R05", {MIXING: wrong})
    assert said["verdict"] == "refuted"
    assert said["numbers"]["violations"]["value"] > 0


@pytest.mark.parametrize(
    ("name", "value", "distance"), [("hc_gain", 1 + 1e-9, 1e-9), ("column_sum_defect", 2e-9, 2e-9)]
)
def test_each_half_of_the_statement_is_judged(name, value, distance, judged, experiments):
    runs = experiments[MIXING].copy(deep=True)
    runs[name].loc[{"beta": 1.0, "kernel": "sinkhorn", "replicate": 3}] = value
    said = judged("R05", {MIXING: runs})
    assert said["verdict"] == "refuted"
    assert said["as_written"] == pytest.approx(distance)
    assert said["witness"] == f"mixing: {name} at beta 1.0, replicate 3"


def test_the_share_of_draws_that_softmax_enlarges_is_told(judged, experiments):
    gain = experiments[MIXING]["hc_gain"].sel(kernel="softmax").values
    told = judged("R05", experiments)["numbers"]["softmax_enlarges"]["value"]
    assert told == (gain > 1).mean() > 0


# R10: both bounds on reversible mixing.


@pytest.mark.parametrize("bound", ["log10_mixing_lower", "log10_mixing_upper"])
def test_a_distance_beyond_either_bound_refutes(bound, judged, experiments):
    runs = experiments[MIXING].copy(deep=True)
    beyond = 1e-9 if bound.endswith("upper") else -1e-9
    runs["log10_mixing_distance"].loc[PLACE] = runs[bound].loc[PLACE] + beyond
    said = judged("R10", {MIXING: runs})
    assert said["verdict"] == "refuted"
    assert said["numbers"]["violations"]["value"] == 1
    assert said["witness"] == (
        "mixing: log10_mixing_distance at beta 2.0, kernel softmax, replicate 1, layer 7"
    )


def test_the_upper_bound_without_its_factor_is_violated_by_every_draw(judged, experiments):
    """A bound that somebody might write instead; the paper quotes the share."""
    runs = experiments[MIXING]
    tightened = runs.assign(log10_mixing_upper=runs["log10_mixing_lower"])
    said = judged("R10", {MIXING: tightened})
    assert said["verdict"] == "refuted"
    assert judged("R10", experiments)["numbers"]["without_pi"]["value"] == 1


def test_twice_the_lower_bound_is_violated(judged, experiments):
    runs = experiments[MIXING]
    tightened = runs.assign(log10_mixing_lower=runs["log10_mixing_lower"] + np.log10(2))
    assert judged("R10", {MIXING: tightened})["verdict"] == "refuted"
    assert judged("R10", experiments)["numbers"]["twice_lower"]["value"] > 0


@pytest.mark.parametrize("factor", [0.99, 1.01])
def test_an_eigenvalue_off_by_one_per_cent_refutes_in_the_end(factor, judged, experiments, rerun):
    """A bound has slack, so that a wrong rate shows only after many layers."""
    runs = rerun(MIXING, attention={"depth": 400})[MIXING]
    off = runs["layer"] * np.log10(factor)
    wrong = {name: runs[name] + off for name in ("log10_mixing_lower", "log10_mixing_upper")}
    assert judged("R10", {MIXING: runs})["verdict"] == "holds"
    assert judged("R10", {MIXING: runs.assign(wrong)})["verdict"] == "refuted"


def test_the_slacks_are_the_least_over_all_layers_and_replicates(judged, experiments):
    runs, numbers = experiments[MIXING], judged("R10", experiments)["numbers"]
    distance = runs["log10_mixing_distance"].values
    for side, bound in [("slack_lower", "lower"), ("slack_upper", "upper")]:
        slack = abs(distance - runs[f"log10_mixing_{bound}"].values).min()
        assert numbers[side]["value"] == pytest.approx(slack, rel=1e-12)
        assert slack > 0
    assert numbers["irreversible"]["value"] < 1e-14
