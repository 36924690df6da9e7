"""Verdicts on stacks that repeat no bare matrix, and mistakes that must turn each of them."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from lowpass import spectra

RECOMPUTED, DONG = "recomputed", "dong-bound"


@pytest.mark.parametrize(("claim", "said"), [("A13", "refuted"), ("R07", "holds")])
def test_right_experiments_give_the_verdict_of_the_theory(claim, said, judged, experiments):
    assert judged(claim, experiments)["verdict"] == said


# A13: a stack that computes its attention anew collapses cubically.


def test_a_recomputed_stack_has_the_repaired_order(judged, experiments):
    said = judged("A13", experiments)
    assert said["repaired_holds"]
    assert said["as_written"] == pytest.approx(2, abs=0.01)
    assert said["numbers"]["frozen_order"]["value"] == pytest.approx(1, abs=0.15)


def test_a_stack_that_repeats_one_matrix_would_make_the_claim_hold(judged, experiments):
    """Where |λ₂| is real and alone the repeated matrix is geometric to many digits."""
    runs = experiments[RECOMPUTED].copy(deep=True)
    layer = runs["layer"].values.astype(float)
    runs["log10_hc_dc_ratio"].loc[{"layers": "recomputed"}] = -0.7 * layer
    order = spectra.fitted_order(runs["log10_hc_dc_ratio"].values, len(layer) // 2)
    said = judged("A13", {RECOMPUTED: runs.assign(collapse_order=runs["slem"].copy(data=order))})
    assert said["verdict"] == "holds"
    assert not said["repaired_holds"]


def test_a_quadratic_collapse_would_not_be_the_repaired_statement(judged, experiments):
    runs = experiments[RECOMPUTED].copy(deep=True)
    runs["collapse_order"].loc[{"layers": "recomputed"}] = 2.0
    said = judged("A13", {RECOMPUTED: runs})
    assert said["verdict"] == "refuted"
    assert not said["repaired_holds"]


def test_one_array_shows_no_cubic_collapse(judged, experiments):
    runs = experiments[RECOMPUTED]
    layer = slice(None, 6)
    order = spectra.fitted_order(runs["log10_hc_dc_ratio"].isel(layer=layer).values, 3)
    plain = runs.assign(collapse_order=runs["slem"].copy(data=order)).sel(arithmetic=["float64"])
    stopped = plain["collapse_order"].sel(layers="recomputed").values
    assert not (abs(stopped - 3) < 0.01).any()


# R07: the bound of Dong et al.


def test_a_bound_with_a_tenth_of_its_constant_is_broken_by_two_tokens(judged, experiments):
    numbers = judged("R07", experiments)["numbers"]
    assert numbers["tightened_violated_two_tokens"]["value"] > 0
    assert numbers["violations"]["value"] == 0


def test_two_tokens_leave_a_factor_of_eight(judged, experiments):
    """Tokens at ±v have r = √2 v and become ±b v³: the bound is 4 b r³, eight times as much."""
    numbers = judged("R07", experiments)["numbers"]
    assert_allclose(numbers["worst_slack_two_tokens"]["value"], np.log10(8), atol=1e-3)
    assert numbers["worst_slack_two_tokens"]["value"] >= np.log10(8) - 1e-12


@pytest.mark.parametrize("layer", [1, 4])
def test_one_residual_above_its_bound_refutes(layer, judged, experiments):
    runs = experiments[DONG].copy(deep=True)
    place = {"case": "many tokens", "replicate": 1}
    bound = float(runs["log10_dong_bound"].sel({**place, "layer": layer}))
    runs["log10_composite_norm"].loc[{**place, "recorded_layer": layer}] = bound + 0.01
    said = judged("R07", {DONG: runs})
    assert said["verdict"] == "refuted"
    assert said["as_written"] == pytest.approx(0.01)
    assert said["witness"].endswith(f"case many tokens, replicate 1, layer {layer}")


def test_a_bound_that_forgets_the_values_is_broken(judged, rerun, experiments):
    """Values three times as large make residuals outgrow a bound of the old ones."""
    section = {"value_scale": 30.0}
    larger = rerun(DONG, attention=section)[DONG]
    said = judged("R07", {DONG: larger})
    assert said["verdict"] == "holds"
    forgetful = larger.assign(log10_dong_bound=experiments[DONG]["log10_dong_bound"])
    assert judged("R07", {DONG: forgetful})["verdict"] == "refuted"


def test_a_stack_with_a_skip_connection_breaks_the_bound(judged, rerun):
    said = judged("R07", rerun(DONG, attention={"skip": 1.0}))
    assert said["verdict"] == "refuted"
