"""What it takes for one differential equation to be told from another."""

from __future__ import annotations

import pytest

from lowpass import continuum

RING = "continuum"
VERDICTS = {"B15": "conditional", "K06": "asymptotic"}


@pytest.mark.parametrize(("claim", "verdict"), VERDICTS.items())
def test_each_statement_has_its_verdict(claim, verdict, judged, experiments):
    assert judged(claim, experiments)["verdict"] == verdict


def test_each_kernel_has_its_own_drift(judged, experiments):
    found = judged("B15", experiments)
    assert found["repaired_holds"]
    for kernel, drift in {"softmax": 2, "sinkhorn": 1, "density_corrected": 0}.items():
        assert found["numbers"][f"drift_{kernel}"]["value"] == pytest.approx(drift, abs=1e-3)


def test_errors_fall_with_the_square_of_the_bandwidth_and_those_of_others_stay(judged, experiments):
    numbers = judged("K06", experiments)["numbers"]
    for kernel in ("softmax", "sinkhorn", "density_corrected"):
        assert numbers[f"slope_{kernel}"]["value"] == pytest.approx(2, abs=0.05)
        assert numbers[f"error_{kernel}"]["value"] < 6e-3
        assert numbers[f"other_{kernel}"]["value"] > 0.25


@pytest.mark.parametrize("factor", [0.99, 1.01])
def test_a_temperature_off_by_one_per_cent_refutes(factor, judged, remeasured):
    """The time of a layer is then off by as much, and nothing tends to anything."""
    spoilt = remeasured(
        RING, lambda run: run.assign(inverse_temperature=factor * run["inverse_temperature"])
    )
    assert {claim: judged(claim, spoilt)["verdict"] for claim in VERDICTS} == dict.fromkeys(
        VERDICTS, "refuted"
    )
    assert not judged("B15", spoilt)["repaired_holds"]


def test_a_density_off_by_one_per_cent_refutes_what_depends_on_it(judged, remeasured):
    spoilt = remeasured(
        RING,
        lambda run: run.assign_coords(log_density_slope=1.01 * run["log_density_slope"]),
    )
    assert not judged("B15", spoilt)["repaired_holds"]


def test_an_average_of_all_tokens_refutes(judged, remeasured):
    """J for A: what it generates is no operator's."""

    def to_the_mean(run):
        after = run["recorded_layer"] == 1
        return run.assign(hc=run["hc"].where(~after, 0.0))

    spoilt = remeasured(RING, to_the_mean)
    assert {judged(claim, spoilt)["verdict"] for claim in VERDICTS} == {"refuted"}


def test_a_drift_to_the_wrong_side_refutes(judged, remeasured, monkeypatch):
    right = continuum.limit_generator
    monkeypatch.setattr(
        continuum, "limit_generator", lambda x, slope, drift: right(x, -slope, drift)
    )
    spoilt = remeasured(RING, lambda run: run)
    assert judged("K06", spoilt)["verdict"] == "refuted"
    assert judged("B15", spoilt)["numbers"]["drift_softmax"]["value"] == pytest.approx(-2, abs=0.01)


def test_the_witness_names_the_kernel_and_the_temperature(judged, experiments):
    runs = experiments[RING].copy(deep=True)
    place = {"beta": 100.0, "kernel": "density_corrected", "modulation": 0.5, "drift": 0.0}
    runs["generator_error"].loc[place] = 0.2
    found = judged("K06", {RING: runs})
    assert found["as_written"] == 0.2
    assert found["witness"] == "continuum: generator_error at kernel density_corrected, beta 100"
