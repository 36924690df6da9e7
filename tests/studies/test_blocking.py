"""A window of neighbours left out, against loops that leave them out."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr
from numpy.testing import assert_allclose, assert_array_equal

from lowpass.domains import Bandwidths
from lowpass.registry import Refusal
from lowpass.stages.data import labelled
from lowpass.studies.blocking import blocking

GRID = Bandwidths(low=0.3, high=60, count=11)


@pytest.fixture
def observed(rng) -> xr.Dataset:
    key = np.arange(120.0)
    wave = np.sin(2 * np.pi * key / 24)
    value = np.square(key / 30 - 2) + wave + 0.4 * rng.standard_normal(120)
    return labelled({"key_position": key[:, None], "value": value})


def looped(k: np.ndarray, v: np.ndarray, h: float, window: float) -> float:
    total = 0.0
    for at, seen in zip(k, v, strict=True):
        far = abs(k - at) > window
        w = np.exp(-((k[far] - at) ** 2) / (2 * h * h))
        total += (seen - w @ v[far] / w.sum()) ** 2
    return total / len(k)


@pytest.mark.parametrize("window", [0.0, 12.0])
def test_the_criterion_is_the_mean_of_refits_without_the_window(observed, window):
    made = blocking(observed, iter, bandwidths=GRID, window=window)
    k, v = observed["key_position"].values[:, 0], observed["value"].values
    expected = [looped(k, v, h, window) for h in made["bandwidth"].values if h > 0.9]
    assert_allclose(made["blocked_score"].values[-len(expected) :], expected, rtol=1e-9)
    assert made["blocked_score_selected"] == made["blocked_score"].min()


def test_a_wider_window_takes_the_season_for_noise(observed):
    alone = blocking(observed, iter, bandwidths=GRID)
    around = blocking(observed, iter, bandwidths=GRID, window=12.0)
    assert around["bandwidth_selected"] > 3 * alone["bandwidth_selected"]
    assert around["residual_correlation"] > 0.5 > alone["residual_correlation"]


def test_thinned_keys_are_those_that_were_taken(observed):
    made = blocking(observed, iter, bandwidths=GRID, window=12.0, thin=2)
    assert_array_equal(made["key_position"][:, 0], np.arange(0.0, 120.0, 2))
    assert_array_equal(made["key"], made["query"])


def test_a_grid_without_its_minimum_is_refused(observed):
    with pytest.raises(Refusal, match=r"an end of the grid .* Widen the grid"):
        blocking(observed, iter, bandwidths=Bandwidths(low=15, high=20, count=3))
