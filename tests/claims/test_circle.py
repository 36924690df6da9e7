"""What it takes for the spectrum of a circle to be told from another."""

from __future__ import annotations

import numpy as np
import pytest
from mpmath import besseli

from lowpass import ring

CIRCLE = "circle"


def test_the_spectrum_of_a_circle_is_that_of_bessel(judged, experiments):
    assert judged("R11", experiments)["verdict"] == "holds"


@pytest.mark.parametrize("factor", [0.99, 1.01])
def test_a_temperature_off_by_one_per_cent_refutes(factor, judged, rerun, monkeypatch):
    right = ring.bessel_gain
    monkeypatch.setattr(ring, "bessel_gain", lambda k, beta: right(k, factor * beta))
    assert judged("R11", rerun(CIRCLE))["verdict"] == "refuted"


def test_the_gain_of_heat_in_its_place_refutes(judged, rerun, monkeypatch):
    monkeypatch.setattr(ring, "bessel_gain", ring.gaussian_gain)
    assert judged("R11", rerun(CIRCLE))["verdict"] == "refuted"


def test_j_for_a_refutes(judged, remeasured):
    spoilt = remeasured(
        CIRCLE, lambda run: run.assign(attention=0 * run["attention"] + 1 / run.sizes["token"])
    )
    assert judged("R11", spoilt)["verdict"] == "refuted"


def test_another_score_refutes(judged, rerun):
    """The dot product is divided by the root of two features, which is another temperature."""
    assert judged("R11", rerun(CIRCLE, attention={"score": "dot"}))["verdict"] == "refuted"


def test_the_witness_names_the_worst_frequency(judged, experiments):
    runs = experiments[CIRCLE].copy(deep=True)
    runs["input_mode_gain"][1, 0, 2] += 1e-3
    found = judged("R11", {CIRCLE: runs})
    assert found["as_written"] == pytest.approx(1e-3, rel=1e-9)
    assert found["witness"] == "circle: input_mode_gain at beta 3.0, replicate 0, frequency 2"


def test_frequencies_that_alias_do_not_count(judged, experiments):
    runs = experiments[CIRCLE].copy(deep=True)
    runs["input_mode_gain"][..., -1] += 1
    assert judged("R11", {CIRCLE: runs})["verdict"] == "holds"


def test_the_distance_from_heat_is_quoted_for_each_temperature(judged, experiments):
    numbers = judged("R11", experiments)["numbers"]
    for beta in (1.0, 3.0):
        gains = [float(besseli(k, beta) / besseli(0, beta)) for k in range(7)]
        heat = np.exp(-(np.arange(7.0) ** 2) / (2 * beta))
        wanted = np.abs(np.array(gains) - heat).max()
        assert numbers[f"heat_distance_beta_{beta:g}"]["value"] == pytest.approx(wanted, rel=1e-12)


def test_the_slope_tends_to_minus_one(judged, rerun):
    """Near k = √β the two differ by a function of k²/β, divided by β."""
    wide = {"data": {"n_tokens": 96}, "attention": {"beta": [40.0, 80.0]}}
    found = judged("R11", rerun(CIRCLE, **wide))
    assert found["numbers"]["heat_slope"]["value"] == pytest.approx(-1, abs=0.02)
