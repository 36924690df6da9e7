"""Axes within one job: their combinations in order, and stacks that are labelled."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

from lowpass.registry import Refusal
from lowpass.spec.inside import combinations, swept_along
from lowpass.stages.inside import beside, stack, stack_arrays

AXES = {"arithmetic": ["float64", "split"], "beta": [1.0, 2.0, 3.0]}


def test_the_last_axis_runs_fastest():
    listed = combinations({"depth": 4, "inside": AXES})
    assert [(each["arithmetic"], each["beta"]) for each in listed] == [
        ("float64", 1.0),
        ("float64", 2.0),
        ("float64", 3.0),
        ("split", 1.0),
        ("split", 2.0),
        ("split", 3.0),
    ]
    assert all(each["depth"] == 4 and "inside" not in each for each in listed)


CASES = {"label": ["far", "near"], "beta": [1.0, 9.0], "mask": ["none", "window"]}


def test_columns_advance_together():
    axes = {"arithmetic": ["float64", "split"], "case": CASES}
    listed = combinations({"depth": 4, "inside": axes})
    assert [(each["arithmetic"], each["beta"], each["mask"]) for each in listed] == [
        ("float64", 1.0, "none"),
        ("float64", 9.0, "window"),
        ("split", 1.0, "none"),
        ("split", 9.0, "window"),
    ]
    assert all("case" not in each and "label" not in each for each in listed)


def test_columns_are_stacked_along_their_labels():
    datasets = [xr.Dataset({"slem": number}) for number in (0.5, 0.25)]
    stacked = stack("attention", datasets, {"case": CASES})
    assert stacked["slem"].sel(case="near") == 0.25
    assert stacked["case"].attrs == {"parameter": "zip.case"}


def test_what_axes_set_is_known_by_parameter():
    axes = {"arithmetic": ["split"], "case": CASES}
    assert swept_along(axes) == {
        "arithmetic": ["split"],
        "beta": [1.0, 9.0],
        "mask": ["none", "window"],
    }


def test_without_axes_there_is_one_combination():
    assert combinations({"depth": 4}) == [{"depth": 4}]


def test_arrays_lie_where_their_combination_stands(rng):
    arrays = list(rng.random((6, 4, 5)))
    stacked = stack_arrays(arrays, AXES)
    assert stacked.shape == (2, 3, 4, 5)
    for number, array in enumerate(arrays):
        assert np.array_equal(stacked[divmod(number, 3)], array)


def test_a_stack_is_labelled_by_its_parameters(rng):
    datasets = [
        xr.Dataset({"slem": ("replicate", rng.random(2))}, {"replicate": [4, 5]}) for _ in range(6)
    ]
    stacked = stack("attention", datasets, AXES)
    assert stacked["slem"].dims == ("arithmetic", "beta", "replicate")
    assert stacked["beta"].attrs == {"parameter": "attention.beta"}
    chosen = stacked.sel(arithmetic="split", beta=2.0, drop=True)
    xr.testing.assert_identical(chosen, datasets[4])


def test_a_single_dataset_is_left_alone():
    only = xr.Dataset({"slem": 0.5})
    assert stack("attention", [only], {}) is only


def test_what_only_some_runs_have_is_no_part_of_the_stack():
    datasets = [xr.Dataset({"slem": 0.5, "kept": 1.0}), xr.Dataset({"slem": 0.25})]
    stacked = stack("attention", datasets, {"layers": ["frozen", "recomputed"]})
    assert set(stacked) == {"slem"}
    rows = [{name: ((), value.values) for name, value in each.items()} for each in datasets]
    assert set(beside(rows, {"layers": ["frozen", "recomputed"]})) == {"slem"}


def test_arrays_of_different_shape_do_not_fit():
    with pytest.raises(Refusal, match=r"changes the shape of .* \(\(2,\) and \(3,\)\), so it"):
        stack_arrays([np.zeros(2), np.zeros(3)], {"n_tokens": [2, 3]})


def test_datasets_with_other_labels_do_not_fit():
    datasets = [
        xr.Dataset({"slem": ("replicate", [0.5])}, {"replicate": [number]}) for number in (0, 1)
    ]
    with pytest.raises(Refusal, match="inside: beta changes 'replicate', so it cannot be"):
        stack("attention", datasets, {"beta": [1.0, 2.0]})
