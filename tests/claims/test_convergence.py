"""What it takes for a rate to be another one, and for attention to be an estimator."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

from lowpass.studies import convergence

NAME = "convergence"
VERDICTS = {"K09": "asymptotic", "N07": "conditional"}


def verdicts(judged, found) -> dict[str, str]:
    """Judge both claims."""
    return {claim: judged(claim, found)["verdict"] for claim in VERDICTS}


def test_each_statement_has_its_verdict(judged, experiments):
    assert verdicts(judged, experiments) == VERDICTS


def test_rates_are_those_of_theory_in_the_limit(judged, experiments):
    numbers = judged("K09", experiments)["numbers"]
    for name, rate in {"ring": -0.8, "constants": -0.75, "lines": -0.8}.items():
        assert numbers[f"limit_{name}"]["value"] == pytest.approx(rate, abs=6e-3)
        assert -numbers[f"variance_share_{name}"]["value"] == pytest.approx(
            numbers[f"slope_{name}"]["value"], abs=2e-3
        )
    assert numbers["end_constants_gaussian_theory"]["value"] == pytest.approx(np.sqrt(2 / np.pi))


def test_attention_is_good_for_few_keys_and_stops(judged, experiments):
    found = judged("N07", experiments)
    assert found["repaired_holds"]
    numbers = {name: each["value"] for name, each in found["numbers"].items()}
    assert numbers["least_keys"] == 135
    assert numbers["least_excess"] < 0.01
    assert numbers["times"] > 10
    assert abs(numbers["slope_fixed"]) < 0.05
    assert numbers["bias_share"] > 0.95


@pytest.mark.parametrize("fitted", [0, 1])
def test_lines_that_are_averages_and_averages_that_are_lines_refute(fitted, judged, experiments):
    """One kind of fit for both: K09 says what tells them apart."""
    runs = experiments[NAME]
    both = xr.concat([runs.sel(degree=fitted, drop=True)] * 2, "degree")
    spoilt = both.assign_coords(degree=[0, 1])
    assert judged("K09", {NAME: spoilt})["verdict"] == "refuted"


@pytest.mark.parametrize("factor", [0.97, 1.03])
def test_a_constant_off_by_three_per_cent_refutes(factor, judged, experiments):
    runs = experiments[NAME]
    spoilt = runs.assign(end_constant=factor * runs["end_constant"])
    assert judged("K09", {NAME: spoilt})["verdict"] == "refuted"


def test_another_power_of_the_variance_refutes(judged, experiments):
    """As if values at neighbouring keys had errors in common."""
    runs = experiments[NAME]
    more = runs["variance_share"] * (runs["kept_keys"] ** 0.05 - 1)
    spoilt = runs.assign(mise=runs["mise"] * (1 + more))
    assert judged("K09", {NAME: spoilt})["verdict"] == "refuted"


@pytest.mark.parametrize(("factor", "verdict"), [(1, "conditional"), (1 + 1e-6, "refuted")])
def test_a_temperature_off_by_one_per_million_is_another_formula(
    factor, verdict, judged, rerun, monkeypatch
):
    softmax = convergence.softmax
    monkeypatch.setattr(convergence, "softmax", lambda scores: softmax(factor * scores))
    enough = {"thin": [1, 3], "degree": [0], "ends": ["open"]}
    found = judged("N07", rerun(NAME, smoothing=enough, data={"n_keys": 10935}))
    assert (found["verdict"], found["repaired_holds"]) == (verdict, factor == 1)


def test_attention_that_sharpens_with_the_keys_would_be_an_estimator(judged, experiments):
    """Then nothing is left to refute the statement as it is written."""
    runs = experiments[NAME]
    sharpened = runs.assign(mise_fixed=runs["mise"])
    found = judged("N07", {NAME: sharpened})
    assert found["verdict"] == "holds"
    assert not found["repaired_holds"]
