"""Medians for print: the right layer, the right place, the right units."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

from lowpass.paper.numbers import rounded
from lowpass.paper.summary import summary


@pytest.fixture
def trial(rng) -> xr.Dataset:
    """Give an experiment over two values of β, nine replicates and five layers."""
    decay = -np.arange(5.0) * rng.uniform(50, 100, (2, 9, 1))
    dataset = xr.Dataset(
        {
            "log10_hc_dc_ratio": (("beta", "replicate", "layer"), decay),
            "slem": (("beta", "replicate"), rng.uniform(size=(2, 9))),
            "loo_score_selected": 17189.96,
            "fit": ("query", np.zeros(4)),
        },
        {"beta": [0.5, 1.0], "replicate": range(9), "layer": [0, 1, 2, 3, 9], "query": range(4)},
    )
    dataset["beta"].attrs["parameter"] = "attention.beta"
    dataset["log10_hc_dc_ratio"].attrs["long_name"] = "decimal logarithm of the HC/DC ratio"
    return dataset


def row(dataset: xr.Dataset, measure: str, **at: str) -> dict:
    """Find one row of a summary."""
    (found,) = [r for r in summary(dataset) if r["measure"] == measure and r["at"] == at]
    return found


def test_a_number_is_the_median_over_replicates(trial):
    """Nine values: the second and the eighth bound the median with 96 % (binomial)."""
    values = np.sort(trial["slem"].sel(beta=1.0).values)
    wanted = f"{rounded(values[4])} [{rounded(values[1])}, {rounded(values[7])}]"
    assert row(trial, "slem", beta="1")["last"] == wanted


def test_a_logarithm_is_printed_as_the_number_at_its_first_and_last_layer(trial):
    found = row(trial, "hc_dc_ratio", beta="0.5")
    power = np.floor(np.median(trial["log10_hc_dc_ratio"].isel(beta=0, layer=-1)))
    assert (found["first"], found["layer"]) == ("1.0", "9")
    spelt = str(int(power)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    assert f"×10{spelt} [" in found["last"]
    assert found["long_name"] == "HC/DC ratio"


def test_what_was_not_drawn_has_no_interval(trial):
    assert row(trial, "loo_score_selected")["last"] == "1.72×10⁴"


def test_fields_are_left_to_figures(trial):
    assert "fit" not in {r["measure"] for r in summary(trial)}


def test_every_place_of_the_sweep_has_its_row(trial):
    assert [r["at"] for r in summary(trial) if r["measure"] == "slem"] == [
        {"beta": "0.5"},
        {"beta": "1"},
    ]
