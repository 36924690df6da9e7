"""Inequalities of one layer, and wrong bounds that must turn their verdicts."""

from __future__ import annotations

import numpy as np
import pytest

from lowpass.claims.contraction import CHAIN, LADDER

BOUNDS = "bounds"
PLACE = {"beta": 1.0, "n_tokens": 8, "replicate": 2}


def changed(experiments, **factors):
    """Multiply stored numbers, as a wrong formula would."""
    runs = experiments[BOUNDS]
    return {
        **experiments,
        BOUNDS: runs.assign({name: by * runs[name] for name, by in factors.items()}),
    }


@pytest.mark.parametrize("claim", ["A06", "A08"])
def test_right_experiments_give_the_verdict_of_the_theory(claim, judged, experiments):
    said = judged(claim, experiments)
    assert said["verdict"] == "holds"
    assert said["numbers"]["violations"]["value"] == 0
    assert said.get("repaired_holds") in (None, True)


# A06: the chain.


@pytest.mark.parametrize(("below", "above"), CHAIN)
def test_each_link_of_the_chain_is_held_against_its_bound(below, above, judged, experiments):
    runs = experiments[BOUNDS].copy(deep=True)
    runs[below].loc[PLACE] = runs[above].loc[PLACE] + 1e-9
    said = judged("A06", {**experiments, BOUNDS: runs})
    assert said["verdict"] == "refuted"
    assert said["numbers"]["violations"]["value"] >= 1


def test_the_witness_is_the_worst_link(judged, experiments):
    runs = experiments[BOUNDS].copy(deep=True)
    runs["slem"].loc[PLACE] = 2.0
    witness = judged("A06", {**experiments, BOUNDS: runs})["witness"]
    assert witness == "bounds: slem against dobrushin at beta 1.0, n_tokens 8, replicate 2"


@pytest.mark.parametrize("link", CHAIN)
def test_half_of_any_bound_of_the_chain_is_violated(link, judged, experiments):
    """The mutation that the paper quotes: each link is tight enough to tell."""
    _, above = link
    assert judged("A06", changed(experiments, **{above: 0.5}))["verdict"] == "refuted"
    assert judged("A06", experiments)["numbers"]["tightened_share"]["value"] > 0


def test_what_is_quoted_as_reached_is_a_share_of_each_bound(judged, experiments):
    numbers, runs = judged("A06", experiments)["numbers"], experiments[BOUNDS]
    sharp = runs.sel(beta=3.0)
    for below, above in CHAIN:
        largest = float((sharp[below] / sharp[above]).max())
        assert largest <= numbers[f"reached_{below}"]["value"] <= 1
    assert numbers["runs"]["value"] == 3 * 2 * 4


# A08: the quoted bound, and the better ones.


def test_a_tenth_of_the_quoted_bound_is_violated(judged, experiments):
    assert judged("A08", changed(experiments, wang_bound=0.1))["verdict"] == "refuted"
    assert judged("A08", experiments)["numbers"]["tightened_share"]["value"] > 0


@pytest.mark.parametrize(("below", "above"), LADDER)
def test_each_rung_of_the_repaired_ladder_counts(below, above, judged, experiments):
    runs = experiments[BOUNDS].copy(deep=True)
    runs[above].loc[PLACE] = runs[below].loc[PLACE] - 1e-9
    assert judged("A08", {**experiments, BOUNDS: runs})["repaired_holds"] is False


def test_a_bound_that_shows_contraction_would_contradict_the_repair(judged, experiments):
    runs = experiments[BOUNDS].copy(deep=True)
    runs["wang_bound"].loc[{"beta": 0.0}] = 1 - 1e-9
    said = judged("A08", {**experiments, BOUNDS: runs})
    assert (said["verdict"], said["repaired_holds"]) == ("holds", False)


def test_equal_logits_leave_nothing_and_are_bounded_by_one(experiments, judged):
    equal = experiments[BOUNDS].sel(beta=0.0)
    for name in ("hc_layer_gain", "hc_gain", "ca_gain"):
        assert float(equal[name].max()) < 1e-15
    assert (equal["wang_bound"] == 1).all()
    assert judged("A08", experiments)["numbers"]["least_bound"]["value"] == 1


def test_the_slack_is_the_distance_in_decades(judged, experiments):
    runs, numbers = experiments[BOUNDS], judged("A08", experiments)["numbers"]
    left = runs.sel(beta=[1.0, 3.0])
    slack = np.log10(left["wang_bound"] / left["hc_layer_gain"])
    assert numbers["least_slack"]["value"] == pytest.approx(float(slack.min()), rel=1e-12)
    assert numbers["largest_slack"]["value"] == pytest.approx(float(slack.max()), rel=1e-12)


def test_the_bound_is_multiplied_with_the_norm_of_the_values(judged, experiments):
    """Without it the gain of scaled values is above the bound of a gentle layer."""
    values = experiments["values"]
    large = values.assign(hc_layer_gain=50 * values["hc_layer_gain"])
    said = judged("A08", {**experiments, "values": large})
    assert said["verdict"] == "refuted"
    assert said["witness"].startswith("values: hc_layer_gain against wang_bound at case")
    fair = large.assign(value_norm=50 * values["value_norm"])
    assert judged("A08", {**experiments, "values": fair})["verdict"] == "holds"
