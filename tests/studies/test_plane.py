"""Two features, of which one is noise or both are one."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr
from numpy.testing import assert_allclose

from lowpass.domains import Bandwidths
from lowpass.registry import Refusal
from lowpass.smoothing.estimators import nadaraya_watson
from lowpass.stages.data import labelled
from lowpass.studies.plane import plane

GRID = Bandwidths(low=0.05, high=20, count=7)


@pytest.fixture(scope="module")
def observed() -> xr.Dataset:
    rng = np.random.default_rng(3)
    key = rng.standard_normal((60, 2)) * [3.0, 1.0]
    value = np.sin(2 * key[:, 1]) + 0.3 * key[:, 0] + 0.2 * rng.standard_normal(60)
    return labelled({"key_position": key, "value": value, "rows_left_out": np.array(2)})


@pytest.fixture(scope="module")
def made(observed) -> xr.Dataset:
    return plane(observed, iter, bandwidths=GRID, raster=9)


def test_scores_are_those_of_leaving_each_one_out(made, observed):
    k, v = observed["key_position"].values, observed["value"].values
    for name in made["scaling"].values:
        h = made["scaled_bandwidth"].sel(scaling=name).values
        away = [
            v[i]
            - nadaraya_watson(k[i : i + 1] / h, np.delete(k, i, 0) / h, np.delete(v, i), 1.0)[0]
            for i in range(60)
        ]
        assert_allclose(made["scaled_score"].sel(scaling=name), np.mean(np.square(away)), rtol=1e-9)


def test_bandwidths_are_tied_as_they_say(made, observed):
    one, spread, own = made["scaled_bandwidth"].values
    assert one[0] == one[1]
    assert_allclose(spread[0] / spread[1], np.divide(*observed["key_position"].values.std(axis=0)))
    assert own[0] > 2 * own[1]


def test_freedom_costs_nothing(made):
    one, spread, own = made["scaled_score"].values
    assert own <= min(one, spread)
    assert_allclose(made["one_bandwidth_excess"], one / own - 1)


def test_the_raster_is_the_fit_and_how_far_birds_are(made, observed):
    k, v = observed["key_position"].values, observed["value"].values
    h = made["scaled_bandwidth"].values[-1]
    query = np.array([[made["abscissa"].values[4], made["ordinate"].values[2]]])
    place = made.isel(abscissa=4, ordinate=2)
    assert_allclose(place["plane_fit"], nadaraya_watson(query / h, k / h, v, 1.0)[0], rtol=1e-10)
    assert_allclose(place["plane_reach"], np.sqrt(np.square((query - k) / h).sum(axis=1)).min())
    assert made["abscissa"].min() < k[:, 0].min() < k[:, 0].max() < made["abscissa"].max()


def test_rows_left_out_stay_told(made):
    assert made["rows_left_out"] == 2


def test_another_number_of_features_is_refused(observed):
    with pytest.raises(Refusal, match=r"^the keys have 1 features; a plane has two\."):
        plane(observed.isel(feature=[0]), iter, bandwidths=GRID)


def test_a_bracket_without_a_minimum_is_refused(observed):
    with pytest.raises(Refusal, match=r"^a bandwidth lies at the low end of 15 … 20; .* Widen"):
        plane(observed, iter, bandwidths=Bandwidths(low=15, high=20, count=3))
