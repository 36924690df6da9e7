"""Named numbers: few, told apart where a person would, and moved by no exchange of ranks."""

from __future__ import annotations

import math

import numpy as np
import pytest
import xarray as xr

from lowpass.rounding import FLOOR
from lowpass.verify.numbers import (
    EVERYWHERE,
    MOST_PLACES,
    ends_and_middle,
    label_of,
    of_claims,
    of_dataset,
    statistics,
)


def swept(name: str, values) -> xr.DataArray:
    """Label a swept dimension as an experiment does."""
    return xr.DataArray(values, dims=name, attrs={"parameter": f"attention.{name}"})


@pytest.fixture
def dataset(rng) -> xr.Dataset:
    """Sweep two parameters over replicates and layers; one arithmetic has a floor."""
    shape = ("arithmetic", "beta", "replicate")
    floor = np.broadcast_to(np.array([-16.0, -math.inf])[:, None, None], (2, 3, 5))
    return xr.Dataset(
        {
            "ratio": ((*shape, "layer"), rng.normal(size=(2, 3, 5, 7))),
            "rate": (shape, rng.normal(size=(2, 3, 5))),
            "fit": (("route", "query"), rng.normal(size=(2, 9))),
            "best": 3.0,
            FLOOR: (shape, floor),
        },
        {
            "arithmetic": swept("arithmetic", ["float64", "split"]),
            "beta": swept("beta", [0.5, 1.0, 10.0]),
            "layer": np.arange(7),
            "replicate": np.arange(5),
            "route": ["short", "long, and winding"],
        },
    )


# Laws.


def test_exchanging_replicates_changes_no_number(dataset, rng):
    shuffled = dataset.isel(replicate=rng.permutation(5))
    assert of_dataset(shuffled) == of_dataset(dataset)


@pytest.mark.parametrize("step", [1e-3, 1e-1, 10.0])
def test_a_number_moves_by_no_more_than_the_value_that_moves_most(dataset, step, rng):
    moved = dataset.drop_vars(FLOOR)
    moved = moved + xr.zeros_like(moved).map(lambda v: v + rng.uniform(-step, step, v.shape))
    before, after = of_dataset(dataset.drop_vars(FLOOR)), of_dataset(moved)
    for name in dataset.drop_vars(FLOOR).data_vars:
        for place, each in before[name].items():
            for statistic, value in each.statistics.items():
                assert abs(after[name][place].statistics[statistic] - value) <= step


def test_every_variable_has_numbers(dataset):
    assert set(of_dataset(dataset)) == {"dimensions", *dataset.data_vars}


# Places.


def test_swept_and_named_places_are_told_apart_and_layers_at_three(dataset):
    numbers = of_dataset(dataset)
    arithmetics, betas = ("float64", "split"), ("0.5", "1", "10")
    cells = [f"arithmetic {a}, beta {b}" for a in arithmetics for b in betas]
    assert list(numbers["rate"]) == cells
    assert list(numbers["ratio"]) == [f"{c}, layer {t}" for c in cells for t in (0, 3, 6)]
    assert list(numbers["fit"]) == ["route short", "route long, and winding"]
    assert list(numbers["best"]) == [EVERYWHERE]


def test_numbers_are_those_of_their_place(dataset):
    found = of_dataset(dataset)["ratio"]["arithmetic split, beta 10, layer 3"].statistics
    values = sorted(dataset["ratio"].sel(arithmetic="split", beta=10, layer=3).values)
    assert found == {"lowest": values[0], "middle": values[2], "highest": values[-1]}
    assert of_dataset(dataset)["best"][EVERYWHERE].statistics == {"value": 3.0}


def test_a_place_knows_the_floor_of_its_arithmetic(dataset):
    numbers = of_dataset(dataset)
    for name in ("ratio", "rate"):
        for place, each in numbers[name].items():
            assert each.floor == (-16.0 if "float64" in place else -math.inf)
    # A variable that does not tell arithmetics apart may come from any of them.
    assert {each.floor for each in numbers["fit"].values()} == {-16.0}


def test_an_experiment_without_a_floor_has_none(dataset):
    numbers = of_dataset(dataset.drop_vars(FLOOR))
    assert {each.floor for places in numbers.values() for each in places.values()} == {-math.inf}


def test_sizes_are_numbers_too(dataset):
    assert of_dataset(dataset)["dimensions"][EVERYWHERE].statistics["layer"] == 7


@pytest.mark.parametrize("lengths", [(4, 60), (60, 4), (30, 30), (7, 7)])
def test_of_many_places_whole_axes_are_taken_together(lengths, rng):
    plane = xr.Dataset(
        {"rate": (("alpha", "beta", "replicate"), rng.normal(size=(*lengths, 3)))},
        {name: swept(name, np.arange(lengths[i])) for i, name in enumerate(("alpha", "beta"))},
    )
    places = of_dataset(plane)["rate"]
    assert len(places) <= MOST_PLACES
    assert min(each.statistics["lowest"] for each in places.values()) == plane["rate"].min()
    assert len(places) == min(lengths)


# Statistics.


def test_a_pattern_notices_that_values_changed_places(rng):
    matrix = rng.normal(size=(6, 6))
    whole = xr.Dataset({"weights": (("query", "key"), matrix)})
    turned = xr.Dataset({"weights": (("query", "key"), matrix.T)})
    one, other = (of_dataset(each)["weights"][EVERYWHERE].statistics for each in (whole, turned))
    assert {**one, "pattern": 0} == {**other, "pattern": 0}
    assert one["pattern"] != pytest.approx(other["pattern"], abs=1e-6)


def test_a_pattern_is_a_mean_weighted_by_a_cosine(rng):
    values = rng.normal(size=20)
    wanted = sum(value * math.cos(i + 1) for i, value in enumerate(values)) / 20
    assert statistics(values, arranged=True)["pattern"] == pytest.approx(wanted, rel=1e-12)


def test_noise_and_infinity_have_no_pattern(dataset):
    places = of_dataset(dataset.drop_vars("ratio"))["fit"].values()
    assert all("pattern" not in each.statistics for each in places)
    assert "pattern" not in statistics(np.array([1.0, math.inf]), arranged=True)


def test_the_middle_is_a_value_even_between_infinities():
    told = statistics(np.array([math.inf, -math.inf, math.inf, 1.0]), arranged=False)
    assert told == {"lowest": -math.inf, "middle": 1.0, "highest": math.inf}


def test_texts_are_told_by_one_that_stands_for_all():
    one, other = (statistics(np.array(texts), arranged=True) for texts in (["a", "b"], ["b", "a"]))
    assert set(one) == {"text"}
    assert one != other


@pytest.mark.parametrize(
    ("length", "chosen"), [(1, [0]), (2, [0, 1]), (3, [0, 1, 2]), (9, [0, 4, 8])]
)
def test_the_ends_and_the_middle_are_chosen(length, chosen):
    assert ends_and_middle(length) == chosen


def test_two_labels_are_never_written_alike():
    values = [1.0, 1.0 + 1e-9, 1e-30, 3.0]
    variable = xr.DataArray(values, {"beta": values}, "beta")
    labels = [label_of(variable, "beta", i) for i in range(4)]
    assert labels == ["1", "1.000000001", "1e-30", "3"]
    assert label_of(variable.drop_vars("beta"), "beta", 2) == "2"


# Claims.


def test_a_claim_is_its_verdict_and_its_numbers():
    entry = {
        "says": "It falls.",
        "verdict": "holds",
        "as_written": 0.5,
        "trend": None,
        "tolerance": 1,
        "repaired_holds": True,
        "margin_decades": 0.3,
        "witness": "slem at beta 3",
        "numbers": {"slem_beta_1": {"value": 0.4, "low": 0.3, "high": 0.5}},
    }
    unexamined = {"says": "It rises.", "verdict": "not examined"}
    found = of_claims({"$record": {"key": "0"}, "A05": entry, "A06": unexamined})
    assert found["A05"][EVERYWHERE].statistics == {
        "verdict": "holds",
        "as_written": 0.5,
        "tolerance": 1.0,
        "repaired_holds": "True",
    }
    assert found["A05"]["slem_beta_1"].statistics == {"value": 0.4, "low": 0.3, "high": 0.5}
    assert found["A06"][EVERYWHERE].statistics == {"verdict": "not examined"}
    assert set(found) == {"A05", "A06"}
