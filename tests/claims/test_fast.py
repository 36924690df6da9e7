"""Verdicts on fast attention, and mistakes that must turn each of them."""

from __future__ import annotations

import numpy as np
import pytest

from lowpass.smoothing import feature_errors
from lowpass.studies import random_features as drawing

FEATURES, RACE = "random-features", "fast-attention"
RIGHT = feature_errors.positive_error


@pytest.mark.parametrize("claim", ["N10", "K10"])
def test_fast_attention_gets_the_verdict_of_the_theory(claim, judged, experiments):
    """Positive features err as foretold if independent; fast attention must be exact."""
    assert judged(claim, experiments)["verdict"] == "conditional"


def test_what_is_true_instead_of_k10_holds(judged, experiments):
    assert judged("K10", experiments)["repaired_holds"]


WRONG_LAWS = {
    "half the exponent": lambda square, count: RIGHT(square / 2, count),
    "one term too many": lambda square, count: RIGHT(square, count + 1),
    "the root of the count": lambda square, count: RIGHT(square, count) * np.sqrt(count),
    "no square of the similarity": lambda square, count: RIGHT(square, count) * np.exp(-square),
}


@pytest.mark.parametrize("mistake", WRONG_LAWS)
def test_another_law_of_features_is_refuted(mistake, judged, experiments, monkeypatch):
    monkeypatch.setattr(feature_errors, "positive_error", WRONG_LAWS[mistake])
    drawn = experiments[FEATURES].copy(deep=True)
    places = (drawn[name].values for name in ("random_feature", "squared_norm", "n_terms"))
    drawn["feature_error_predicted"][:] = drawing.laws(*places)
    assert judged("N10", {FEATURES: drawn})["verdict"] == "refuted"


WRONG_FEATURES = {
    "directions of twice the length": (
        "independent_directions",
        lambda rng, count, width: 2 * rng.standard_normal((count, width)),
    ),
    "features without their size": (
        "log_positive_features",
        lambda x, directions: x @ directions.T - np.log(len(directions)) / 2,
    ),
}


@pytest.mark.parametrize("mistake", WRONG_FEATURES)
def test_other_features_are_refuted(mistake, judged, rerun, monkeypatch):
    monkeypatch.setattr(drawing, *WRONG_FEATURES[mistake])
    assert judged("N10", rerun(FEATURES))["verdict"] == "refuted"


def test_features_that_are_all_independent_need_no_condition(judged, rerun, monkeypatch):
    """Were orthogonal directions like others, the law would hold as written."""
    monkeypatch.setattr(drawing, "orthogonal_directions", drawing.independent_directions)
    assert judged("N10", rerun(FEATURES))["verdict"] == "holds"


def test_pairs_that_draws_cannot_tell_are_not_asked(judged, experiments):
    drawn = experiments[FEATURES].copy(deep=True)
    drawn["feature_error"].loc[{"squared_norm": 1.0, "random_feature": "independent"}] *= 3
    assert judged("N10", {FEATURES: drawn})["verdict"] == "refuted"
    drawn["feature_error_scatter"].loc[{"squared_norm": 1.0}] = 9.0
    assert judged("N10", {FEATURES: drawn})["verdict"] != "refuted"


def test_tiles_that_err_refute(judged, experiments):
    raced = experiments[RACE].copy(deep=True)
    raced["tile_error"].loc[{"n_keys": 400, "n_features": 16, "replicate": 3}] = 0.03
    assert judged("K10", {RACE: raced})["verdict"] == "refuted"


@pytest.mark.parametrize(
    ("name", "spoilt"), [("log10_series_error", -1.0), ("log10_series_operations", 6.5)]
)
def test_a_grid_that_errs_or_costs_as_much_is_no_help(name, spoilt, judged, experiments):
    raced = experiments[RACE].copy(deep=True)
    raced[name].loc[{"n_keys": 400, "n_features": 1}] = spoilt
    assert not judged("K10", {RACE: raced})["repaired_holds"]


def test_features_that_win_would_not_need_a_condition(judged, experiments):
    """Divide their errors by a thousand: fast attention speeds up, and the repair fails."""
    raced = experiments[RACE].copy(deep=True)
    raced["log10_relative_error"] -= 3
    said = judged("K10", {RACE: raced})
    assert said["verdict"] == "holds"
    assert not said["repaired_holds"]


def test_rivals_that_are_worse_than_the_mean_do_not_count(judged, experiments):
    """An error above one is no merit of the features that beat it."""
    raced = experiments[RACE].copy(deep=True)
    raced["log10_rival_error"][:] = 2.0
    raced["log10_relative_error"][:] = 1.0
    assert judged("K10", {RACE: raced})["as_written"] == pytest.approx(9.0)


def test_witnesses_name_a_place(judged, experiments):
    assert judged("N10", experiments)["witness"].startswith(
        "random-features: feature_error of orthogonal directions at squared norm "
    )
    assert judged("K10", experiments)["witness"].endswith(" of keys of 1 feature")


def test_numbers_are_medians_with_intervals(judged, experiments):
    raced = experiments[RACE].isel(n_keys=-1, n_terms=-1, n_features=-1).sel(value_noise=0)
    error = 10 ** raced["log10_relative_error"].sel(approximation="landmarks")
    said = judged("K10", experiments)["numbers"]["landmarks"]
    assert said["value"] == pytest.approx(float(error.median()))
    assert said["low"] <= said["value"] <= said["high"]
    assert judged("K10", experiments)["numbers"]["noisy_win"]["value"] >= 0
    slope = judged("N10", experiments)["numbers"]["slope"]
    assert slope["low"] <= -1 <= slope["high"]
