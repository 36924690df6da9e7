"""Verdicts on stacks that repeat no bare matrix, and mistakes that must turn each of them."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from lowpass import spectra

RECOMPUTED, DONG = "recomputed", "dong-bound"
MAKES, CAUSAL = "architecture", "causal"


@pytest.mark.parametrize(
    ("claim", "said"),
    [("A13", "refuted"), ("R07", "holds"), ("B18", "conditional"), ("B20", "refuted")],
)
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


# B18: layer norm decides what becomes of the ratio, and keeps a consensus.


def test_without_layer_norm_it_could_be_ignored(judged, experiments):
    runs = experiments[MAKES].copy(deep=True)
    bare = runs["log10_hc_dc_ratio"].sel(norm="none")
    for norm in ("pre", "post"):
        runs["log10_hc_dc_ratio"].loc[{"norm": norm}] = bare
    assert judged("B18", {MAKES: runs})["verdict"] == "holds"


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_a_consensus_that_layer_norm_broke_would_refute(norm, judged, experiments):
    runs = experiments[MAKES].copy(deep=True)
    last = int(runs["layer"][-1])
    place = {"norm": norm, "skip": 0, "value_scale": 1.0, "replicate": 1, "layer": last}
    assert runs["log10_hc_dc_ratio"].sel(place) < -100
    runs["log10_hc_dc_ratio"].loc[place] = -3.0
    assert judged("B18", {MAKES: runs})["verdict"] == "refuted"


def test_without_a_consensus_nothing_is_said(judged, rerun):
    """At sharp logits every token attends to itself, and layer norm keeps it so."""
    sharp = rerun(MAKES, attention={"beta": 40.0, "depth": 2})
    assert judged("B18", sharp)["verdict"] == "not examined"


def test_layer_norm_after_a_skip_halves_the_ratio_and_doubles_it_backwards(judged, experiments):
    """Near consensus HC is kept, and DC multiplied by 1 + μ and brought back."""
    numbers = judged("B18", experiments)["numbers"]
    assert numbers["post_rate"]["value"] == pytest.approx(0.5, abs=0.01)
    assert numbers["least_rise_decades"]["value"] > 0.5


# B20: a causal mask leaves the first token.


def unmasked(rerun, kernel: str):
    """Run one kernel without a mask, in the place of equal weights with one."""
    changes = {"mask": "none", "kernel": [kernel], "weights": "symmetric"}
    return rerun(CAUSAL, attention=changes)[CAUSAL].assign_coords(kernel=["uniform"])


def test_a_mask_that_hides_nothing_leaves_no_first_token(judged, rerun, experiments):
    said = judged("B20", {**experiments, CAUSAL: unmasked(rerun, "softmax")})
    assert said["verdict"] == "refuted"
    assert not said["repaired_holds"]


def test_doubly_stochastic_attention_would_keep_the_mean(judged, experiments, rerun):
    said = judged("B20", {**experiments, CAUSAL: unmasked(rerun, "sinkhorn")})
    assert said["verdict"] == "holds"
    assert not said["repaired_holds"]


def test_runs_too_shallow_for_a_limit_are_not_judged(judged, experiments, rerun):
    shallow = rerun(CAUSAL, attention={"depth": 3, "record": [3]})
    assert judged("B20", {**experiments, **shallow})["verdict"] == "not examined"


def test_a_first_token_of_zero_keeps_the_ratio_of_the_second_mode(judged, experiments):
    """With equal weights that mode is i - 1: its deviation over its mean is known."""
    kept = judged("B20", experiments)["numbers"]["uniform_kept"]["value"]
    n = 9
    assert_allclose(kept, np.sqrt((n + 1) / (3 * (n - 1))), rtol=1e-12)


def test_the_spectrum_under_a_causal_mask_is_the_diagonal(laboratory):
    section = {
        "data": {"generator": "gaussian", "n_tokens": 12, "d_model": 3},
        "attention": {"mask": "causal", "kernel": "uniform", "beta": 1.0, "depth": 1},
        "spectra": ["eigenvalue_real"],
        "replicates": 1,
    }
    found = laboratory.run(section)["eigenvalue_real"].values[0]
    assert_allclose(found, 1 / np.arange(1, 13), rtol=1e-13)


def test_a_window_forgets_the_sooner_the_wider_it_is(experiments):
    even = experiments["window"]["slem"].sel(kernel="uniform").max("replicate").values
    assert (np.diff(even) < 0).all()
    assert even[0] > 0.9
    assert even[-1] < 1e-12
