"""Every measure as a variable of its own name, in the form its card promises."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

from lowpass.labels import VARIABLES
from lowpass.measures import MEASURES
from lowpass.registry import Refusal
from lowpass.stages.spectra import spectra

SECTION = {
    "data": {"generator": "gaussian", "n_tokens": 6, "d_model": 3},
    "attention": {"beta": [0.5, 2.0], "arithmetic": ["float64", "split"], "depth": 12},
    "inside": ["beta", "arithmetic"],
    "spectra": sorted(MEASURES),
    "replicates": 10,
}


@pytest.fixture(scope="module")
def trajectory(shared_laboratory):
    return shared_laboratory.first("attention", SECTION)


def taken(names, trajectory) -> xr.Dataset:
    return spectra({"params": {"measures": list(names)}}, trajectory)


@pytest.mark.parametrize("name", MEASURES)
def test_a_measure_has_the_dimensions_of_its_card(name, trajectory):
    made = taken([name], trajectory)
    assert list(made) == [name]
    assert made[name].dims == ("arithmetic", "beta", *VARIABLES[name].dims)
    assert {*made.coords} == {*made[name].dims}
    assert made[name].dtype == float


@pytest.mark.parametrize("name", MEASURES)
def test_a_measure_of_a_run_does_not_depend_on_its_neighbours(name, trajectory):
    together = taken([name], trajectory).isel(replicate=slice(3, 5)).sel(beta=2.0)
    alone = taken([name], trajectory.isel(replicate=slice(3, 5)).sel(beta=2.0, drop=True))
    xr.testing.assert_identical(together.drop_vars("beta"), alone)


@pytest.mark.parametrize("name", MEASURES)
def test_a_measure_leaves_the_trajectory_alone(name, trajectory):
    before = trajectory.copy(deep=True)
    taken([name], trajectory)
    xr.testing.assert_identical(trajectory, before)


def test_measures_do_not_depend_on_each_other(trajectory):
    everything = taken(sorted(MEASURES), trajectory)
    for name in MEASURES:
        xr.testing.assert_identical(everything[name], taken([name], trajectory)[name])


def test_nothing_is_measured_that_is_not_a_number(trajectory):
    for name, values in taken(sorted(MEASURES), trajectory).items():
        assert not np.isnan(values).any(), name


@pytest.mark.parametrize(
    ("measures", "message"),
    [
        (["slme"], "no measure is called 'slme'; did you mean 'slem'?"),
        ([], r"recipe.*measures: \[\] is "),
    ],
)
def test_what_is_no_measure_is_refused(measures, message, trajectory):
    with pytest.raises(Refusal, match=message):
        taken(measures, trajectory)
