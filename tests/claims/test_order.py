"""What it takes for a frequency to mean something."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

from lowpass import fourier
from lowpass.claims.order import rise

CIRCLE, NEIGHBOURS, TOKENS = "order-circle", "order-neighbours", "order-tokens"


def test_high_frequencies_may_pass(judged, experiments):
    found = judged("A10", experiments)
    assert found["verdict"] == "refuted"
    assert found["witness"] == f"{NEIGHBOURS}: input_mode_gain at replicate 0"


def test_the_rise_of_neighbours_is_known_in_closed_form(judged, experiments):
    """2(1 - e^-β)/(2 + (n-2)e^-β) |cos 2πk/n|: all of it at Nyquist, nothing at n/4."""
    small = np.exp(-9.0)
    wanted = 2 * (1 - small) / (2 + 10 * small)
    assert judged("A10", experiments)["as_written"] == pytest.approx(wanted, rel=1e-12)


def test_attention_that_looks_at_itself_and_its_neighbours_is_in_order(judged, experiments):
    """On the circle no gain rises, and with it in the neighbours' place the claim would hold."""
    circle = experiments[CIRCLE].sel(case=["in order"])
    found = judged("A10", {**experiments, NEIGHBOURS: circle.isel(case=0)})
    assert found["verdict"] == "holds"
    assert found["as_written"] < 1e-15


def test_another_numbering_moves_no_eigenvalue(judged, experiments):
    assert judged("A10", experiments)["repaired_distance"] < 1e-14


def test_other_tokens_would_move_them(judged, experiments, rerun):
    other = rerun(CIRCLE, attention={"beta": 2.1})[CIRCLE]
    mixed = xr.concat(
        [experiments[CIRCLE].sel(case=["in order"]), other.sel(case=["renumbered"])], "case"
    )
    assert judged("A10", {**experiments, CIRCLE: mixed})["repaired_distance"] > 1e-3


def test_a_circulant_matrix_is_diagonal(judged, experiments):
    found = judged("A11", experiments)
    assert found["verdict"] == "holds"
    assert 0 < found["as_written"] < 1e-14


def test_one_entry_out_of_place_refutes(judged, experiments, remeasured):
    def spoil(run: xr.Dataset) -> xr.Dataset:
        a = run["attention"].copy(deep=True)
        a[:, 0, 0] += 1e-9
        return run.assign(attention=a)

    assert judged("A11", {**experiments, **remeasured(CIRCLE, spoil)})["verdict"] == "refuted"


def test_another_transform_refutes(judged, experiments, rerun, monkeypatch):
    """A cosine transform does not diagonalise what wraps around."""
    from scipy.fft import dctn

    def share(a: np.ndarray) -> np.ndarray:
        power = dctn(a, axes=(-2, -1), norm="ortho") ** 2
        on = np.trace(power, axis1=-2, axis2=-1)
        return 1 - on / power.sum(axis=(-2, -1))

    monkeypatch.setattr(fourier, "offdiagonal_energy", share)
    assert judged("A11", {**experiments, **rerun(CIRCLE)})["verdict"] == "refuted"


@pytest.mark.parametrize(
    ("gain", "wanted"), [([1, 0.9, 0.5, 0.2], 0), ([1, 0.4, 0.9, 0.3], 0.5), ([0, 0.5, 0.4], 0)]
)
def test_a_rise_counts_from_one_period_on(gain, wanted):
    made = xr.DataArray(np.array(gain, dtype=float), {"frequency": range(len(gain))}, "frequency")
    assert float(rise(made)) == pytest.approx(wanted)
