"""One dataset for an experiment, however its points were spread over files."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import xarray as xr

from lowpass.plan.complete import complete
from lowpass.project import ROOT
from lowpass.registry import Refusal
from lowpass.stages.experiment import Part, experiment, place_of
from lowpass.whole import whole_plan

BETAS = [0.5, 1.0, 3.0]
ARITHMETIC = ["float32", "float64", "split"]
LEVELS = [0.5, 0.9, 0.95]


def attending(**changes) -> dict:
    """Compose an experiment of little attention."""
    return {
        "data": {"generator": "gaussian", "n_tokens": 6, "d_model": 3},
        "attention": {"beta": BETAS, "arithmetic": ARITHMETIC, "depth": 8},
        "spectra": ["slem", "log10_hc_dc_ratio", "log10_rounding_floor"],
        "replicates": 12,
        **changes,
    }


def smoothing(**changes) -> dict:
    """Compose an experiment that smooths the Nile."""
    return {
        "data": {
            "generator": "series",
            "path": "workflow/resources/nile.csv",
            "key": "year",
            "value": "flow",
        },
        "smoothing": {
            "study": "selection",
            "bandwidths": {"low": 0.5, "high": 50.0, "count": 9},
            "level": LEVELS,
        },
        **changes,
    }


# Where a point is computed.


@pytest.mark.parametrize(
    "inside", [["beta"], ["arithmetic"], ["beta", "arithmetic"], ["arithmetic", "beta"]]
)
def test_an_axis_moved_inside_gives_the_identical_dataset(inside, shared_laboratory):
    outside = shared_laboratory.run(attending())
    xr.testing.assert_identical(shared_laboratory.run(attending(inside=inside)), outside)
    assert outside["log10_hc_dc_ratio"].dims == ("arithmetic", "beta", "replicate", "layer")


def test_an_axis_moved_inside_makes_fewer_files_of_its_stages_alone(shared_laboratory):
    counts = [
        {
            stage: sum(p.stage == stage for p in shared_laboratory.plan(attending(inside=inside)))
            for stage in ("data", "attention", "spectra", "experiment")
        }
        for inside in ([], ["beta"], ["beta", "arithmetic"])
    ]
    assert counts == [
        {"data": 2, "attention": 2 * n, "spectra": 2 * n, "experiment": 1} for n in (9, 3, 1)
    ]


def test_an_axis_of_smoothing_moved_inside_gives_the_identical_dataset(shared_laboratory):
    outside = shared_laboratory.run(smoothing())
    xr.testing.assert_identical(shared_laboratory.run(smoothing(inside=["level"])), outside)
    assert outside["upper"].dims == ("level", "query")


def test_the_order_of_a_sweep_does_not_matter(shared_laboratory):
    reversed_axes = {"beta": BETAS[::-1], "arithmetic": ARITHMETIC[::-1], "depth": 8}
    for inside in ([], ["beta"]):
        turned = shared_laboratory.run(attending(attention=reversed_axes, inside=inside))
        xr.testing.assert_identical(turned, shared_laboratory.run(attending()))


def test_each_cell_is_the_point_of_its_labels(shared_laboratory):
    whole = shared_laboratory.run(attending())
    for beta, arithmetic in itertools.product(BETAS, ARITHMETIC):
        params = {"beta": beta, "arithmetic": arithmetic, "depth": 8}
        alone = shared_laboratory.run(attending(attention=params))
        xr.testing.assert_identical(whole.sel(beta=beta, arithmetic=arithmetic, drop=True), alone)


def test_tokens_are_swept_as_well(shared_laboratory):
    data = {"generator": "gaussian", "n_tokens": [4, 6], "d_model": 3}
    whole = shared_laboratory.run(attending(data=data))
    assert whole["slem"].dims == ("arithmetic", "beta", "n_tokens", "replicate")
    chosen = whole.sel(n_tokens=6, drop=True)
    xr.testing.assert_identical(chosen, shared_laboratory.run(attending()))


def test_a_swept_coordinate_names_its_parameter(shared_laboratory):
    whole = shared_laboratory.run(attending(inside=["beta"]))
    assert whole["beta"].attrs["parameter"] == "attention.beta"
    assert whole["arithmetic"].attrs["parameter"] == "attention.arithmetic"


# Lists that advance together.

CASES = {
    "label": ["sharp", "blunt", "masked"],
    "attention.beta": [3.0, 0.5, 1.0],
    "attention.mask": ["none", "none", "block"],
    "data.n_tokens": [6, 4, 8],
}


def zipped(columns: dict) -> dict:
    return {
        **attending(attention={"depth": 8}, zip={"case": columns}),
        "data": {"generator": "gaussian", "d_model": 3},
    }


def test_lists_that_advance_together_are_one_dimension(shared_laboratory):
    whole = shared_laboratory.run(zipped(CASES))
    assert whole["slem"].dims == ("case", "replicate")
    assert whole["case"].values.tolist() == ["blunt", "masked", "sharp"]
    for i, label in enumerate(CASES["label"]):
        row = whole.sel(case=label)
        for path, values in CASES.items():
            if path != "label":
                assert row[path.split(".")[1]] == values[i]
        params = {"beta": CASES["attention.beta"][i], "mask": CASES["attention.mask"][i]}
        data = {"generator": "gaussian", "n_tokens": CASES["data.n_tokens"][i], "d_model": 3}
        alone = shared_laboratory.run(attending(attention={**params, "depth": 8}, data=data))
        assert np.array_equal(row["log10_hc_dc_ratio"], alone["log10_hc_dc_ratio"])


def test_the_order_of_cases_does_not_matter(shared_laboratory):
    turned = {path: values[::-1] for path, values in reversed(CASES.items())}
    whole, other = (shared_laboratory.run(zipped(columns)) for columns in (CASES, turned))
    xr.testing.assert_identical(other, whole)


INNER = {path: values for path, values in CASES.items() if path.startswith(("label", "attention"))}


def attending_in_cases(**changes) -> dict:
    """Compose an experiment whose cases differ in attention alone."""
    swept = {"arithmetic": ARITHMETIC[1:], "depth": 8}
    return attending(attention=swept, zip={"case": INNER}, **changes)


@pytest.mark.parametrize("inside", [["case"], ["arithmetic", "case"]])
def test_cases_moved_inside_give_the_identical_dataset(inside, shared_laboratory):
    outside = shared_laboratory.run(attending_in_cases())
    within = shared_laboratory.run(attending_in_cases(inside=inside))
    xr.testing.assert_identical(within, outside)
    assert within["slem"].dims == ("arithmetic", "case", "replicate")
    assert within["mask"].attrs["parameter"] == "attention.mask"


def test_cases_moved_inside_make_one_file_of_their_stages(shared_laboratory):
    counts = [
        sum(p.stage == "attention" for p in shared_laboratory.plan(attending_in_cases(inside=each)))
        for each in ([], ["case"], ["case", "arithmetic"])
    ]
    assert counts == [2 * 6, 2 * 2, 2]


# Replicates.


def block(number: int, size: int = 10) -> xr.Dataset:
    replicate = np.arange(size) + size * number
    return xr.Dataset({"slem": ("replicate", replicate / 100)}, {"replicate": replicate})


def gathered(parts, replicates=None) -> xr.Dataset:
    section = {"replicates": replicates} if replicates else {}
    return experiment({"params": {"section": section}}, parts)


@pytest.mark.parametrize("replicates", [1, 10, 11, 30])
def test_the_first_replicates_are_selected(replicates):
    parts = [Part({}, number, block(number)) for number in (2, 0, 1)]
    made = gathered(parts, replicates)
    assert made["replicate"].values.tolist() == list(range(replicates))
    assert np.array_equal(made["slem"], np.arange(replicates) / 100)


def test_parts_may_come_in_any_order():
    parts = [
        Part({"beta": beta}, number, block(number) * beta) for beta in BETAS for number in range(2)
    ]
    forms = [gathered(order, 20) for order in (parts, parts[::-1], parts[1::2] + parts[::2])]
    for other in forms[1:]:
        xr.testing.assert_identical(other, forms[0])


TEMPERED = {
    "label": ["warm", "cold"],
    "attention.beta": [1, 3],
    "attention.mask": ["none", "block"],
}


def test_a_place_is_read_off_the_parameters_of_a_point():
    section = {"data": {"n_tokens": [4, 8]}, "attention": {"depth": 8}, "zip": {"case": TEMPERED}}
    history = {"data.n_tokens": 8, "attention.beta": 3.0, "attention.mask": "block"}
    assert place_of(section, history) == {"n_tokens": 8, "case": "cold"}


def test_an_axis_inside_is_no_place_of_a_file():
    section = {"attention": {"beta": [1.0, 3.0], "arithmetic": ["split"]}, "inside": ["arithmetic"]}
    assert place_of(section, {"attention.beta": 1.0}) == {"beta": 1.0}
    cases = {"attention": {"depth": 8}, "zip": {"case": TEMPERED}, "inside": ["case"]}
    assert place_of(cases, {"attention.depth": 8}) == {}


def history(point) -> dict:
    """Collect the parameters of a point and of all it is made from, as their records would."""
    own = {f"{point.stage}.{name}": value for name, value in complete(point.recipe).items()}
    return own | {name: v for parent in point.parents for name, v in history(parent).items()}


@pytest.mark.parametrize("config", ["config/paper.yaml", "config/smoke.yaml"])
def test_records_place_a_point_where_the_plan_asked_for_it(config):
    plan = whole_plan(ROOT / config, config, ROOT)
    for name, cells in plan.cells.items():
        section = plan.experiments[name].recipe["params"]["section"]
        for cell, _, point in cells:
            assert place_of(section, history(point)) == cell.place


# Refusals.


def test_a_point_that_is_no_case_is_refused():
    history = {"attention.beta": 1.0, "attention.mask": "block"}
    with pytest.raises(Refusal, match=r"no case of 'case' has the parameters .*'block'"):
        place_of({"zip": {"case": TEMPERED}}, history)


def test_a_missing_point_is_not_filled_in():
    parts = [Part({"beta": 1.0, "n": 1}, 0, block(0)), Part({"beta": 3.0, "n": 2}, 0, block(0))]
    with pytest.raises(Refusal, match="has 4 places and results for 2 of them"):
        gathered(parts, 10)


def test_points_with_other_labels_are_not_laid_side_by_side():
    """Two series of equal length and different years would share an axis that is wrong."""
    years = [1871, 1872, 1873]
    parts = [
        Part({"path": path}, 0, xr.Dataset({"fit": ("query", np.ones(3))}, {"query": query}))
        for path, query in [("a.csv", years), ("b.csv", [year + 50 for year in years])]
    ]
    with pytest.raises(Refusal, match="'query' differs between the points of this experiment"):
        gathered(parts)


def test_points_of_different_depth_are_not_one_dataset():
    parts = [
        Part({"depth": depth}, 0, xr.Dataset({"fit": ("layer", x)}, {"layer": x}))
        for depth, x in [(4, np.arange(5.0)), (8, np.arange(9.0))]
    ]
    with pytest.raises(Refusal, match=r"'layer' differs .* \(5 places and 9\), so one dataset"):
        gathered(parts)


@pytest.mark.parametrize("several", ["swept", "zipped"])
def test_depths_beside_a_measure_of_layers_are_refused_before_anything_runs(several, laboratory):
    if several == "swept":
        trial = attending(attention={"beta": 1.0, "depth": [8, 4]})
    else:
        cases = {"label": ["shallow", "deep"], "attention.depth": [4, 8]}
        trial = attending(attention={"beta": 1.0}, zip={"case": cases})
    with pytest.raises(Refusal, match=r"depth: 4 and 8 layers do not fit into one 'log10_hc_dc_r"):
        laboratory.run(trial)
    assert not list(laboratory.folder.glob("results/*"))


def test_depths_may_be_swept_beside_measures_without_layers(laboratory):
    trial = attending(attention={"beta": 1.0, "depth": [4, 8]}, spectra=["transient_rate"])
    assert laboratory.run(trial)["depth"].values.tolist() == [4, 8]
