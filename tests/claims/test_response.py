"""Verdicts on the bridge between the notes, and mistakes that must turn each of them."""

from __future__ import annotations

import numpy as np
import pytest

from lowpass import chebyshev
from lowpass.studies import response as study

BRIDGE = "bridge"
VERDICTS = {
    "K02": "holds",
    "K03": "asymptotic",
    "K04": "conditional",
    "K05": "refuted",
    "K07": "conditional",
    "N08": "conditional",
}


@pytest.mark.parametrize(("claim", "said"), VERDICTS.items())
def test_the_ring_gives_each_statement_its_verdict(claim, said, judged, experiments):
    found = judged(claim, experiments)
    assert found["verdict"] == said
    assert found.get("repaired_holds") in (None, True)


RIGHT = study.smoother_matrix
FLOW = chebyshev.exponential


def widened(query, key, bandwidth, **how):
    """Smooth with a bandwidth that is one per cent too large."""
    return RIGHT(query, key, 1.01 * bandwidth, **how)


def unwrapped(query, key, bandwidth, *, period, **how):
    """Forget that the keys lie on a circle."""
    return RIGHT(query, key, bandwidth, **how)


def unnormalised(query, key, bandwidth, **how):
    """Leave a thousandth of each row behind."""
    return 0.999 * RIGHT(query, key, bandwidth, **how)


def boxed(query, key, bandwidth, *, kernel="gaussian", **how):
    """Take a boxcar for the triangle."""
    return RIGHT(query, key, bandwidth, kernel={"triangle": "boxcar"}.get(kernel, kernel), **how)


def hurried(laplacian, x, times, bounds):
    """Let heat flow for two per cent too long."""
    return FLOW(laplacian, x, 1.02 * times, bounds)


MISTAKES = {
    "a bandwidth off by one per cent": (
        (study, "smoother_matrix", widened),
        {"K02": "refuted", "K04": "refuted", "N08": "refuted"},
    ),
    "a circle cut open": (
        (study, "smoother_matrix", unwrapped),
        {"K02": "refuted", "N08": "refuted"},
    ),
    "rows that do not sum to one": (
        (study, "smoother_matrix", unnormalised),
        {"K02": "refuted", "K04": "refuted", "N08": "refuted"},
    ),
    "a boxcar for a triangle": ((study, "smoother_matrix", boxed), {"K07": "refuted"}),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_turns_the_verdict(mistake, judged, rerun, monkeypatch):
    spoil, said = MISTAKES[mistake]
    monkeypatch.setattr(*spoil)
    spoilt = rerun(BRIDGE, data={"n_keys": 60})
    for claim, verdict in said.items():
        assert judged(claim, spoilt)["verdict"] == verdict, claim


def test_heat_for_two_per_cent_too_long_is_not_the_smoother(judged, rerun, monkeypatch):
    monkeypatch.setattr(chebyshev, "exponential", hurried)
    spoilt = rerun(BRIDGE)
    assert judged("K03", spoilt)["verdict"] == "refuted"
    assert judged("K02", spoilt)["verdict"] == "holds"


def test_a_kernel_without_lobes_is_not_the_repaired_statement(judged, experiments):
    runs = experiments[BRIDGE]
    tricube = runs["smoothing_kernel"] == "tricube"
    smooth = runs["lowest_gain"].sel(smoothing_kernel="gaussian", drop=True)
    found = judged(
        "K07", {BRIDGE: runs.assign(lowest_gain=runs["lowest_gain"].where(~tricube, smooth))}
    )
    assert (found["verdict"], found["repaired_holds"]) == ("conditional", False)


@pytest.mark.parametrize(
    ("name", "factor"), [("heat_limit", 1.02), ("heat_row_limit", 0.98), ("heat_limit", 0.5)]
)
def test_a_constant_off_by_two_per_cent_refutes(name, factor, judged, experiments):
    runs = experiments[BRIDGE]
    wrong = runs.assign({name: factor * runs[name]})
    assert judged("K03", {BRIDGE: wrong})["verdict"] == "refuted"


def test_a_bound_that_is_too_low_refutes(judged, experiments):
    runs = experiments[BRIDGE]
    lower = runs.assign(grid_bound=0.99 * runs["grid_bound"])
    assert judged("K02", {BRIDGE: lower})["verdict"] == "refuted"


def test_without_the_images_the_transfer_function_is_that_of_a_line(judged, experiments):
    runs = experiments[BRIDGE]
    line = runs["kernel_symbol"].sel(smoothing_kernel="gaussian", drop=True)
    assert judged("K02", {BRIDGE: runs.assign(ring_symbol=line)})["verdict"] == "refuted"


def test_a_step_that_followed_the_smoother_would_be_a_layer(judged, experiments):
    runs = experiments[BRIDGE]
    gain = runs["smoother_gain"].sel(smoothing_kernel="gaussian", drop=True)
    found = judged("K05", {BRIDGE: runs.assign(step_gain=gain)})
    assert (found["verdict"], found["repaired_holds"]) == ("holds", False)


def test_a_step_that_followed_it_at_one_bandwidth_would_be_one_there(judged, experiments):
    runs = experiments[BRIDGE]
    gain = runs["smoother_gain"].sel(smoothing_kernel="gaussian", drop=True)
    first = runs["bandwidth"] == runs["bandwidth"][0]
    mixed = runs["step_gain"].where(~first, gain)
    assert judged("K05", {BRIDGE: runs.assign(step_gain=mixed)})["verdict"] == "conditional"


@pytest.mark.parametrize("name", ["neighbour_symbol", "step_gain"])
def test_each_part_of_the_repair_counts(name, judged, experiments):
    runs = experiments[BRIDGE]
    found = judged("K05", {BRIDGE: runs.assign({name: runs[name] + 1e-6})})
    assert (found["verdict"], found["repaired_holds"]) == ("refuted", False)


def test_smoothers_that_turn_waves_into_others_are_no_filters(judged, experiments):
    runs = experiments[BRIDGE]
    mixed = runs.assign(filter_defect=runs["filter_defect"] + 1e-6)
    assert judged("N08", {BRIDGE: mixed})["verdict"] == "refuted"


def test_witnesses_name_where_it_is_worst(judged, experiments):
    assert judged("K05", experiments)["witness"] == "bridge: step_gain at h/D 16"
    found = judged("K07", experiments)["witness"]
    assert found.startswith("bridge: lowest_gain at smoothing_kernel boxcar, bandwidth ")


def test_numbers_for_the_paper_are_those_that_are_stored(judged, experiments):
    runs = experiments[BRIDGE]
    numbers = judged("K03", experiments)["numbers"]
    wide = runs.isel(bandwidth=-1)
    scale = float(wide["relative_bandwidth"]) ** 2
    assert numbers["heat_limit_constant"]["value"] == pytest.approx(2 / (3 * np.exp(2)))
    assert numbers["heat_row_distance_constant"]["value"] == scale * wide["heat_row_distance"]
    half = judged("N08", experiments)["numbers"]
    assert half["half_power"]["value"] == pytest.approx(half["half_power_predicted"]["value"])
