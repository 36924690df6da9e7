"""Verdicts on the identities of attention and smoothing, and mistakes that must turn each."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

from lowpass.pairs import pairs
from lowpass.smoothing import converters, estimators, joint, nearness, similarity
from lowpass.stages.data import labelled
from lowpass.studies.identities import identities

from .conftest import SECTIONS

NAME = "identities"
SAID = {
    "N01": "holds",
    "N02": "conditional",
    "N03": "conditional",
    "N04": "conditional",
    "N05": "conditional",
    "N06": "holds",
    "N09": "holds",
    "B19": "conditional",
    "K01": "holds",
}


@pytest.fixture(scope="module")
def experiments(shared_laboratory) -> dict[str, xr.Dataset]:
    """Run the two experiments that these judges look at."""
    return {name: shared_laboratory.run(SECTIONS[name]) for name in (NAME, "nile")}


def asked_anew() -> dict[str, xr.Dataset]:
    """Ask the study of six draws as it is now; the stages around it are not what is tested."""
    made = []
    for seed in range(6):
        drawn = pairs(np.random.default_rng(seed), n_queries=12, n_keys=20, n_features=4)
        made.append(identities(labelled(drawn), iter, np.random.default_rng(100 + seed)))
    return {NAME: xr.concat(made, "replicate").assign_coords(replicate=np.arange(6))}


@pytest.mark.parametrize("claim", SAID)
def test_identities_give_the_verdict_of_the_theory(claim, judged, experiments):
    assert judged(claim, experiments)["verdict"] == SAID[claim]


attend, weighted = estimators.dot_product_attention, converters.weighted_smoother
plain, products = converters.plain_smoother, converters.dot_products
mean, weights_of = joint.conditional_mean, similarity.weights_of
disorder, equal_norms = nearness.disorder, nearness.equal_norms


def uniform(q, k, v, t):
    """Put J in the place of attention."""
    return np.full((len(q), len(k)), 1 / len(k)) @ v


def with_places(q, k, v, t):
    """Let a key count by its number too."""
    return attend(np.c_[q, np.ones(len(q))], np.c_[k, -0.01 * np.arange(len(k))], v, t)


def unlifted(q, k, t):
    return plain(q, k, t)._replace(key=np.c_[k, np.zeros(len(k))])


def half_of_it(q, k, h, log_weight=None):
    """Hold back keys by half of what they should be."""
    made = products(q, k, h)
    return made._replace(key=np.c_[made.key[:, :-1], made.key[:, -1] / 2])


def most_likely(q, k, v, h, *, value_bandwidth, log_weight=None):
    """Take the mode of the outputs in the place of their mean."""
    outputs = joint.grid(v, value_bandwidth)
    density = joint.joint_density(q, k, v, outputs, h, value_bandwidth, log_weight)
    return outputs[density.argmax(axis=1)]


WRONG = {
    "a temperature off by one per cent": (
        estimators, "dot_product_attention", lambda q, k, v, t: attend(q, k, v, 1.01 * t),
        {"N01": "refuted", "N04": "refuted", "N09": "refuted", "K01": "refuted", "N06": "holds"},
    ),
    "J for A": (
        estimators, "dot_product_attention", uniform,
        {"N01": "refuted", "N04": "refuted", "N09": "refuted", "K01": "refuted"},
    ),
    "weights that count the keys": (
        estimators, "dot_product_attention", with_places, {"N06": "refuted"}
    ),
    "weights that do not sum to one": (
        similarity, "weights_of", lambda each: (1 + 1e-12) * weights_of(each), {"N02": "refuted"}
    ),
    "weights without their signs": (
        similarity, "weights_of", lambda each: weights_of(abs(each)), {"N03": "holds"}
    ),
    "a hull of half the values": (
        similarity, "outside_share",
        lambda w, v: float((abs(w @ v - np.median(v)) > 0.02 * np.ptp(v)).mean()),
        {"N03": "refuted"},
    ),
    "no key weights": (
        converters, "weighted_smoother",
        lambda q, k, t: weighted(q, k, t)._replace(log_weight=np.zeros(len(k))),
        {"K01": "refuted", "N04": "conditional"},
    ),
    "key weights of the other sign": (
        converters, "weighted_smoother",
        lambda q, k, t: weighted(q, k, t)._replace(log_weight=-weighted(q, k, t).log_weight),
        {"K01": "refuted"},
    ),
    "a bandwidth that is the temperature": (
        converters, "weighted_smoother",
        lambda q, k, t: weighted(q, k, t)._replace(bandwidth=t), {"K01": "refuted"},
    ),
    "keys that are not lifted": (converters, "plain_smoother", unlifted, {"K01": "refuted"}),
    "keys held back by half": (converters, "dot_products", half_of_it, {"K01": "refuted"}),
    "a temperature that is the bandwidth": (
        converters, "dot_products",
        lambda q, k, h: products(q, k, h)._replace(temperature=np.max(h)), {"K01": "refuted"},
    ),
    "an asymmetry of the sum": (
        similarity, "asymmetry", lambda each: float(abs(each + each.T).max()), {"N05": "refuted"}
    ),
    "eigenvalues of the other end": (
        similarity, "negative_eigenvalue",
        lambda each: float(np.linalg.eigvalsh(each + each.T)[-1]), {"N05": "refuted"},
    ),
    "the mode of a density": (joint, "conditional_mean", most_likely, {"N09": "refuted"}),
    "a density one per cent too wide": (
        joint, "conditional_mean",
        lambda q, k, v, h, **more: mean(q, k, v, 1.01 * h, **more), {"N09": "refuted"},
    ),
    "a density of unweighted keys": (
        joint, "conditional_mean",
        lambda q, k, v, h, value_bandwidth, log_weight=None: mean(
            q, k, v, h, value_bandwidth=value_bandwidth
        ),
        {"N09": "refuted"},
    ),
    "norms that differ by ten per cent": (
        nearness, "equal_norms",
        lambda k: equal_norms(k) * np.linspace(0.95, 1.05, len(k))[:, None],
        {"B19": "refuted", "N04": "refuted"},
    ),
    "an order of moduli": (
        nearness, "disorder", lambda logit, distance: disorder(abs(logit), distance),
        {"B19": "refuted"},
    ),
    "distance without logits": (
        nearness, "disorder", lambda logit, distance: disorder(-distance, distance),
        {"B19": "holds"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("mistake", WRONG)
def test_a_mistake_turns_the_verdict(mistake, judged, experiments, monkeypatch):
    module, name, wrong, said = WRONG[mistake]
    monkeypatch.setattr(module, name, wrong)
    spoilt = {**experiments, **asked_anew()}
    for claim, verdict in said.items():
        assert judged(claim, spoilt)["verdict"] == verdict, claim


def test_without_key_weights_the_repair_fails_too(judged, monkeypatch):
    name, wrong = WRONG["no key weights"][1:3]
    monkeypatch.setattr(converters, name, wrong)
    said = judged("N04", asked_anew())
    assert said["repaired_distance"] == said["as_written"] > 1e-3


# Where the condition is met, no condition is needed.


def with_label(runs: xr.Dataset, variable: str, dim: str, to: str, of: str) -> xr.Dataset:
    """Let one case be like another."""
    changed = runs[variable].copy(deep=True)
    changed.loc[{dim: to}] = runs[variable].sel({dim: of})
    return runs.assign({variable: changed})


@pytest.mark.parametrize(
    ("claim", "change"),
    [
        ("N03", ("outside_share", "similarity", "inner product", "inner product, positive")),
        ("N04", ("route_error", "route", "no key weights", "keys of equal norm")),
        ("B19", ("disorder", "key_set", "as drawn", "of equal norm")),
    ],
)
def test_what_meets_the_condition_needs_none(claim, change, judged, experiments):
    runs = with_label(experiments[NAME], *change)
    assert judged(claim, {NAME: runs})["verdict"] == "holds"


def test_a_similarity_of_one_map_needs_no_condition(judged, experiments):
    runs = experiments[NAME]
    for variable in ("asymmetry", "negative_eigenvalue"):
        runs = with_label(runs, variable, "form", "two maps", "one map")
    assert judged("N05", {NAME: runs})["verdict"] == "holds"


def test_a_form_may_be_symmetric_without_being_a_kernel(experiments):
    runs = experiments[NAME].sel(form="two maps, symmetric part")
    assert runs["asymmetry"].max() < 1e-14
    assert runs["negative_eigenvalue"].min() > 1e-3


def test_a_mask_tells_keys_apart(judged, experiments):
    masked = judged("N06", experiments)["numbers"]["masked"]
    assert masked["low"] > 1e-3


def test_moving_all_keys_moves_no_weight(judged, experiments):
    said = judged("B19", experiments)
    assert said["repaired_distance"] < 1e-13
    assert said["numbers"]["moved_smoother"]["low"] > 1e-3


# Witnesses and numbers.

PLACES = {
    "N01": ("route_error", {"route": "exponential similarity"}),
    "N03": ("outside_share", {"similarity": "inner product"}),
    "N04": ("route_error", {"route": "no key weights"}),
    "N05": ("asymmetry", {"form": "two maps"}),
    "N06": ("order_defect", {"reordering": "the queries"}),
    "N09": ("route_error", {"route": "weighted joint density"}),
    "B19": ("disorder", {"key_set": "as drawn"}),
    "K01": ("route_error", {"route": "smoother of many bandwidths"}),
}


@pytest.mark.parametrize("claim", PLACES)
def test_a_witness_names_the_worst_replicate(claim, judged, experiments):
    variable, where = PLACES[claim]
    runs = experiments[NAME].copy(deep=True)
    runs[variable].loc[{**where, "replicate": 4}] += 50.0
    said = judged(claim, {**experiments, NAME: runs})
    assert "replicate 4" in said["witness"]
    assert said["as_written"] >= 50


def test_the_witness_of_a_lost_sum_is_where_least_is_left(judged, experiments):
    runs = experiments[NAME].copy(deep=True)
    runs["centred_normaliser_share"][:] = 0.5
    runs["centred_normaliser_share"].loc[{"replicate": 2, "query": 7}] = 0.0
    assert judged("N02", {NAME: runs})["witness"].endswith(" at replicate 2, query 7")


def test_the_chosen_bandwidth_is_handed_to_the_paper(judged, experiments):
    said, nile = judged("N01", experiments), experiments["nile"]
    for name in ("bandwidth_selected", "temperature_selected", "loo_score_selected"):
        value = float(nile[name])
        assert said["numbers"][name] == {"value": value, "low": value, "high": value}
    assert said["numbers"]["nile_difference"]["value"] < 1e-13


@pytest.mark.parametrize("wrong", ["distance_attention", "nadaraya_watson"])
def test_a_slip_on_the_record_refutes_as_well(wrong, judged, rerun, experiments, monkeypatch):
    right = getattr(estimators, wrong)
    monkeypatch.setattr(estimators, wrong, lambda *given: right(*given[:-1], 1.01 * given[-1]))
    assert judged("N01", {**experiments, **rerun("nile")})["verdict"] == "refuted"
