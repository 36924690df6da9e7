"""Verdicts on the kernel-smoothing view, and mistakes that must turn each of them."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

from lowpass.smoothing import bands, estimators
from lowpass.stages import smoothing as stage

NILE = "nile"


@pytest.mark.parametrize(
    ("claim", "said"), [("N01", "holds"), ("N02", "conditional"), ("N04", "conditional")]
)
def test_the_nile_gives_the_verdict_of_the_theory(claim, said, judged, experiments):
    assert judged(claim, experiments)["verdict"] == said


def uniform(query, key, temperature):
    """Put J in the place of attention."""
    return np.full((len(query), len(key)), 1 / len(key))


RIGHT = {name: getattr(estimators, name) for name in ("distance_attention", "nadaraya_watson")}
WRONG = {
    "a bandwidth off by one per cent": (
        "nadaraya_watson",
        lambda q, k, v, h: RIGHT["nadaraya_watson"](q, k, v, 1.01 * h),
        {"N01": "refuted", "N04": "refuted"},
    ),
    "a temperature off by one per cent": (
        "distance_attention",
        lambda q, k, t: RIGHT["distance_attention"](q, k, 1.01 * t),
        {"N01": "refuted", "N04": "conditional"},
    ),
    "J for A": ("distance_attention", uniform, {"N01": "refuted"}),
    "weights that are not normalised": (
        "distance_attention",
        lambda q, k, t: (1 + 1e-12) * RIGHT["distance_attention"](q, k, t),
        {"N01": "refuted", "N02": "refuted"},
    ),
    "no key weights": (
        "weighted_dot_product_attention",
        estimators.dot_product_attention,
        {"N01": "holds", "N04": "refuted"},
    ),
    "key weights of twice the size": (
        "weighted_dot_product_attention",
        lambda q, k, v, t: estimators.dot_product_attention(
            np.c_[q, np.ones(len(q))], np.c_[k, -np.square(k).sum(axis=1)], v, t
        ),
        {"N04": "refuted"},
    ),
    "a temperature that is no squared bandwidth": (
        "weighted_dot_product_attention",
        lambda q, k, v, t: RIGHT["nadaraya_watson"](q, k, v, t),
        {"N04": "refuted"},
    ),
}


@pytest.mark.parametrize("mistake", WRONG)
def test_a_mistake_turns_the_verdict(mistake, judged, rerun, monkeypatch):
    name, wrong, said = WRONG[mistake]
    # With J, the criterion is not looked at: one bandwidth is as good as another.
    monkeypatch.setattr(estimators, name, wrong)
    if mistake == "J for A":
        monkeypatch.setattr(bands, "pointwise_band", lambda a, v, fit, level: (fit, fit))
    spoilt = rerun(NILE)
    for claim, verdict in said.items():
        assert judged(claim, spoilt)["verdict"] == verdict, claim


def test_a_key_weight_turned_around_refutes(judged, rerun, monkeypatch):
    """Long keys are held back, not pushed; the mirrored sign is a different smoother."""

    def mirrored(query, key, value, temperature):
        score = query @ key.T + np.square(key).sum(axis=-1) / 2
        weight = np.exp((score - score.max(axis=1, keepdims=True)) / temperature)
        return weight @ value / weight.sum(axis=1)

    monkeypatch.setattr(estimators, "weighted_dot_product_attention", mirrored)
    assert judged("N04", rerun(NILE))["verdict"] == "refuted"


# Where the condition is met, no condition is needed.


def ring(rng) -> xr.Dataset:
    """Place forty keys evenly on a circle: their norms are equal and their mean is zero."""
    angle = 2 * np.pi * np.arange(40) / 40
    position = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    value = np.sin(2 * angle) + 0.3 * rng.standard_normal(40)
    return xr.Dataset(
        {"key_position": (("key", "feature"), position), "value": ("key", value)},
        {"key": np.arange(40), "feature": [0, 1]},
    )


def test_keys_of_equal_norm_need_no_key_weights(judged, rng):
    bandwidths = {"low": 0.02, "high": 3.0, "count": 15}
    made = stage.smoothing({"params": {"study": "selection", "bandwidths": bandwidths}}, ring(rng))
    assert judged("N04", {NILE: made})["verdict"] == "holds"


def test_similarities_of_one_sign_need_no_condition(judged, experiments):
    """Were the inner product positive too, nothing would cancel in any sum."""
    share = experiments[NILE]["normaliser_share"]
    positive = experiments[NILE].assign(normaliser_share=xr.ones_like(share))
    assert judged("N02", {NILE: positive})["verdict"] == "holds"


# Witnesses and numbers.


@pytest.mark.parametrize(
    ("claim", "route"), [("N01", "softmax of distances"), ("N04", "dot product")]
)
def test_a_witness_names_the_worst_query(claim, route, judged, experiments):
    nile = experiments[NILE].copy(deep=True)
    nile["fit_by_route"].loc[{"route": route, "query": 70}] += 1e6
    said = judged(claim, {NILE: nile})
    assert said["witness"].endswith(" at query 70")
    assert said["as_written"] > 100


def test_the_witness_of_a_lost_sum_is_that_of_the_inner_product(judged, experiments):
    nile = experiments[NILE].copy(deep=True)
    nile["normaliser_share"].loc[{"similarity": "inner product"}] = 0.5
    nile["normaliser_share"].loc[{"similarity": "inner product", "query": 31}] = 0.25
    said = judged("N02", {NILE: nile})
    assert said["witness"] == "nile: normaliser_share of the inner product at query 31"
    assert said["as_written"] == 0.75


def test_a_defect_is_told_in_units_of_the_data(judged, experiments):
    """Flows in other units: the distances stay."""
    nile = experiments[NILE]
    scaled = nile.assign(
        {name: 1000 * nile[name] for name in ("value", "fit_by_route", "fit", "lower", "upper")}
    )
    one, other = (judged("N04", {NILE: each}) for each in (nile, scaled))
    assert other["as_written"] == pytest.approx(one["as_written"], rel=1e-12)


def test_the_chosen_bandwidth_is_handed_to_the_paper(judged, experiments):
    numbers = judged("N01", experiments)["numbers"]
    nile = experiments[NILE]
    for name in ("bandwidth_selected", "temperature_selected", "loo_score_selected"):
        value = float(nile[name])
        assert numbers[name] == {"value": value, "low": value, "high": value}
