"""What grows or stays, and mistakes that must turn the verdicts."""

from __future__ import annotations

import math

import numpy as np
import pytest

PLACE = {"case": "random", "replicate": 1}


@pytest.mark.parametrize(
    ("claim", "said"), [("A07", "refuted"), ("A09", "conditional"), ("A12", "conditional")]
)
def test_right_experiments_give_the_verdict_of_the_theory(claim, said, judged, experiments):
    found = judged(claim, experiments)
    assert found["verdict"] == said
    assert found["repaired_holds"] is True


# A07: one layer.


def test_the_counterexample_is_the_sharpest_pair_of_hubs(judged, experiments):
    said = judged("A07", experiments)
    n = 8
    assert said["as_written"] == pytest.approx(math.sqrt(n / 2) - 1, rel=1e-9)
    assert said["witness"].startswith("hubs: hc_gain at beta 40.0, case hubs")
    assert said["numbers"]["reached"]["value"] == pytest.approx(1, rel=1e-9)


def test_gentle_attention_enlarges_nothing(judged, experiments):
    gentle = {"hubs": experiments["hubs"].sel(beta=[0.5])}
    said = judged("A07", gentle)
    assert said["verdict"] == "holds"
    assert said["numbers"]["share_above_one"]["value"] == 0


@pytest.mark.parametrize(
    ("name", "beyond"), [("hc_layer_gain", "hc_gain"), ("oscillation_gain", None)]
)
def test_each_part_of_the_repair_counts(name, beyond, judged, experiments):
    runs = experiments["hubs"].copy(deep=True)
    place = {**PLACE, "beta": 0.5}
    runs[name].loc[place] = (runs[beyond].loc[place] if beyond else 1) + 1e-9
    assert judged("A07", {"hubs": runs})["repaired_holds"] is False


# A09: products.


def test_waning_layers_keep_the_finite_product(judged, experiments):
    """The loop says again what a q-Pochhammer symbol is."""
    depth = int(experiments["waning"]["layer"].max())
    product = 1.0
    for number in range(2, depth + 2):
        product *= 1 - 2.0**-number
    said = judged("A09", experiments)
    assert said["numbers"]["kept"]["value"] == pytest.approx(product, rel=1e-13)
    assert said["numbers"]["kept_for_ever"]["value"] < product
    assert said["witness"].endswith(f"layer {depth}")


def test_waning_one_layer_sooner_is_another_product(judged, experiments, rerun, monkeypatch):
    monkeypatch.setattr(
        "lowpass.stages.dynamics.waning_share", lambda layer: 2.0 ** -np.asarray(layer, float)
    )
    wrong = rerun("waning")
    assert judged("A09", {**experiments, **wrong})["repaired_holds"] is False


def test_a_smaller_bound_on_oscillations_is_exceeded(judged, experiments):
    waning = experiments["waning"]
    tighter = waning.assign(log10_oscillation_bound=1.001 * waning["log10_oscillation_bound"])
    assert judged("A09", {**experiments, "waning": tighter})["repaired_holds"] is False


def test_bounded_layers_that_keep_something_would_refute(judged, experiments):
    kept = experiments["products"].copy(deep=True)
    kept["log10_hc_dc_ratio"][..., -1] = -3.0
    assert judged("A09", {**experiments, "products": kept})["verdict"] == "refuted"


# A12: values.


def test_values_that_do_not_outweigh_the_eigenvalue_let_hc_vanish(judged, experiments, rerun):
    case = {
        "label": ["scaled", "random"],
        "attention.values": ["identity", "identity"],
        "attention.value_scale": [0.8, 0.9],
        "attention.value_unit": ["inverse_slem", "one"],
    }
    dying = rerun("values", zip={"case": case})
    assert judged("A12", {**experiments, **dying})["verdict"] == "holds"


@pytest.mark.parametrize("name", ["slem", "transient_rate"])
def test_a_rate_off_by_one_per_cent_is_no_condition(name, judged, experiments):
    runs = experiments["values"]
    off = {"values": runs.assign({name: 1.01 * runs[name]})}
    said = judged("A12", {**experiments, **off})
    assert (said["verdict"], said["repaired_holds"]) == ("refuted", False)


@pytest.mark.parametrize("name", ["value_radius", "hc_rate"])
def test_the_rate_of_hc_itself_is_judged_in_the_repair(name, judged, experiments):
    runs = experiments["values"]
    off = {"values": runs.assign({name: 1.01 * runs[name]})}
    said = judged("A12", {**experiments, **off})
    assert (said["verdict"], said["repaired_holds"]) == ("conditional", False)


def test_the_largest_singular_value_is_not_the_rate(judged, experiments):
    runs = experiments["values"]
    wrong = {"values": runs.assign(value_radius=runs["value_norm"])}
    assert judged("A12", {**experiments, **wrong})["repaired_holds"] is False
