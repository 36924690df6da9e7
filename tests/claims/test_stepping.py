"""Short steps and long ones."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

from lowpass import taylor
from lowpass.claims.stepping import fault
from lowpass.heat_equation import HeatEquation

ORDERS, STABILITY = "heat-orders", "stability"


def test_the_kernel_is_linear_to_first_order(judged, experiments):
    found = judged("B08", experiments)
    assert found["verdict"] == "holds"
    assert found["numbers"]["slope"]["value"] == pytest.approx(2, abs=1e-2)
    assert found["numbers"]["constant"]["value"] == pytest.approx(1, abs=1e-2)
    assert found["numbers"]["worst_error"]["value"] > 1


def test_another_coefficient_leaves_an_error_of_first_order(judged, rerun, monkeypatch):
    """I - 0.99 τL."""
    right = taylor.action
    monkeypatch.setattr(
        taylor, "action", lambda slope, x, time, order: right(slope, x, 0.99 * time, order)
    )
    found = judged("B08", rerun(ORDERS))
    assert found["verdict"] == "refuted"
    assert found["numbers"]["slope"]["value"] == pytest.approx(1, abs=0.1)


def test_a_step_is_a_low_pass_while_it_is_short(judged, experiments):
    """At τλ = 2.4, the longest, the gain is -1.4."""
    found = judged("B09", experiments)
    assert found["verdict"] == "conditional"
    assert found["as_written"] == pytest.approx(1.4)
    assert found["repaired_distance"] < 1e-13
    assert found["numbers"]["longest_gain"]["value"] == pytest.approx(-1.4)
    assert found["witness"].startswith(f"{STABILITY}: wave_gain at diffusion_time 0.6")


def test_longer_steps_than_are_said_refute_the_condition(judged, experiments):
    """With times that are a tenth longer, one step that counted as short turns waves over."""
    runs = experiments[STABILITY]
    longer = runs.assign(wave_gain=1 + 1.1 * (runs["wave_gain"] - 1))
    assert judged("B09", {STABILITY: longer})["verdict"] == "refuted"
    assert judged("B09", {STABILITY: longer})["repaired_distance"] > 1e-2


@pytest.mark.parametrize(
    ("gain", "wanted"),
    [([1, 0.5, 0], 0), ([1, 0.5, -0.25], 0.25), ([1, 0.2, 0.5], 0.3), ([1, -1.5], 1.5)],
)
def test_a_low_pass_falls_from_one_to_zero(gain, wanted):
    made = xr.DataArray(np.array(gain, dtype=float), {"frequency": range(len(gain))}, "frequency")
    assert float(fault(made)) == pytest.approx(wanted)


def test_steps_grow_where_they_should(judged, experiments):
    found = judged("B16", experiments)
    assert found["verdict"] == "holds"
    numbers = {name: number["value"] for name, number in found["numbers"].items()}
    assert numbers["real_threshold"] == 0.5
    assert numbers["oblique_threshold"] == 0.25
    assert numbers["turning_stable"] == 0
    assert numbers["turning_growth"] == pytest.approx(np.hypot(1, 0.4), rel=1e-3)


def test_a_disc_of_another_size_refutes(judged, rerun, monkeypatch):
    """Eigenvalues of the map of values that are a hundredth too large."""
    right = HeatEquation.rates.func
    monkeypatch.setattr(HeatEquation, "rates", property(lambda self: 1.01 * right(self)))
    assert judged("B16", rerun(STABILITY))["verdict"] == "refuted"


def test_one_run_on_the_wrong_side_refutes(judged, experiments):
    runs = experiments[STABILITY].copy(deep=True)
    runs["stable"][0, 0, 0] = 1 - runs["stable"][0, 0, 0]
    found = judged("B16", {STABILITY: runs})
    assert found["verdict"] == "refuted"
    assert found["numbers"]["misjudged"]["value"] == 1
