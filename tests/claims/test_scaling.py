"""What it takes for a long sequence to be told from its limit."""

from __future__ import annotations

import numpy as np
import pytest

from lowpass import scaling

GAUSSIAN, INDEPENDENT = "scaling", "independent-logits"
CLAIMS = {"R08": GAUSSIAN, "R09": INDEPENDENT}


def as_it_is(run):
    return run


@pytest.mark.parametrize("claim", CLAIMS)
def test_long_sequences_have_the_modulus_of_their_limit(claim, judged, experiments):
    assert judged(claim, experiments)["verdict"] == "conditional"


@pytest.mark.parametrize("factor", [0.9, 1.1])
def test_a_temperature_off_by_ten_per_cent_refutes(factor, judged, remeasured, monkeypatch):
    right = scaling.gaussian_modulus
    monkeypatch.setattr(scaling, "gaussian_modulus", lambda q, k, b: right(q, k, factor * b))
    assert judged("R08", remeasured(GAUSSIAN, as_it_is))["verdict"] == "refuted"


def test_projections_that_are_not_combined_refute(judged, remeasured, monkeypatch):
    right = scaling.gaussian_modulus
    monkeypatch.setattr(scaling, "gaussian_modulus", lambda q, k, b: right(q, q, b))
    assert judged("R08", remeasured(GAUSSIAN, as_it_is))["verdict"] == "refuted"


@pytest.mark.parametrize("factor", [0.8, 1.2])
def test_logits_off_by_a_fifth_refute(factor, judged, remeasured, monkeypatch):
    right = scaling.independent_modulus
    monkeypatch.setattr(scaling, "independent_modulus", lambda beta, n: right(factor * beta, n))
    assert judged("R09", remeasured(INDEPENDENT, as_it_is))["verdict"] == "refuted"


@pytest.mark.parametrize("claim", CLAIMS)
def test_j_for_a_refutes(claim, judged, remeasured):
    spoilt = remeasured(CLAIMS[claim], lambda run: run.assign(slem=1e-16 * run["slem"]))
    assert judged(claim, spoilt)["verdict"] == "refuted"


@pytest.mark.parametrize("claim", CLAIMS)
def test_short_sequences_alone_refute(claim, judged, experiments):
    """Nothing is judged under a condition that no point fulfils."""
    runs = experiments[CLAIMS[claim]].copy(deep=True)
    name = {"R08": "slem_over_gaussian", "R09": "slem_over_independent"}[claim]
    runs[name][:] = 2.0
    found = judged(claim, {CLAIMS[claim]: runs.assign_coords(beta=runs["beta"] + 9)})
    assert found["verdict"] == "refuted"
    assert found["under_condition"] is None


def test_the_mean_over_draws_counts_and_the_witness_is_where_it_is_worst(judged, experiments):
    runs = experiments[GAUSSIAN].copy(deep=True)
    ratio = runs["slem_over_gaussian"]
    ratio[:] = 1.0
    place = {"n_tokens": 1, "d_model": 0, "beta": 0, "replicate": 2}
    ratio[place] = 1.0 + 0.04 * runs.sizes["replicate"]
    found = judged("R08", {GAUSSIAN: runs})
    assert found["under_condition"] == pytest.approx(0.04, rel=1e-9)
    assert found["verdict"] == "holds"
    assert found["witness"] == "scaling: slem_over_gaussian at beta 0.1, d_model 4, n_tokens 512"


def test_means_and_ranges_of_the_longest_sequences_are_quoted(judged, experiments):
    found = judged("R08", experiments)["numbers"]["ratio_beta_0.1_d_4"]
    ratio = experiments[GAUSSIAN]["slem_over_gaussian"].sel(beta=0.1, d_model=4, n_tokens=512)
    assert found["value"] == pytest.approx(float(ratio.mean()), rel=1e-14)
    assert (found["low"], found["high"]) == (float(ratio.min()), float(ratio.max()))
    assert np.isfinite(found["value"])
