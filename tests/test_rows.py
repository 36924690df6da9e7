"""Rows in any order are observations, and one that lacks a number is left out only if asked."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from lowpass.plan.axes import swept_lists
from lowpass.registry import Refusal
from lowpass.rows import table
from lowpass.spec.data import parse
from lowpass.tables import parse_table, series

RESOURCES = Path(__file__).parents[1] / "workflow" / "resources"
PENGUINS, CO2 = RESOURCES / "penguins.csv", RESOURCES / "co2.csv"
TEXT = b"a,b,v\n3,1,10\n1,2,20\n3,1,30\n2,nan,40\n"


def rows(text: bytes = TEXT, **asked) -> dict[str, np.ndarray]:
    return table(text, path="a.csv", **{"keys": ["a"], "value": "v", **asked})


def test_rows_keep_their_order_and_their_ties():
    made = rows()
    assert np.array_equal(made["key_position"], [[3.0], [1.0], [3.0], [2.0]])
    assert np.array_equal(made["value"], [10.0, 20.0, 30.0, 40.0])
    assert made["rows_left_out"] == 0


def test_columns_are_features_in_the_order_asked_for():
    made = rows(keys=["b", "a"], missing="drop")
    assert np.array_equal(made["key_position"], [[1.0, 3.0], [2.0, 1.0], [1.0, 3.0]])
    assert np.array_equal(made["value"], [10.0, 20.0, 30.0])


def test_rows_left_out_are_counted():
    assert rows(keys=["a", "b"], missing="drop")["rows_left_out"] == 1
    # A column that is not asked for may lack what it will.
    assert rows(missing="drop")["rows_left_out"] == 0


def test_a_list_of_keys_is_no_sweep():
    asked = {"generator": "table", "path": "a.csv", "keys": ["b", "a"], "value": ["v", "w"]}
    assert [name for _, name, _ in swept_lists({"data": asked}, "here")] == ["value"]
    assert parse({**asked, "value": "v"}, "here").model_dump()["keys"] == ["b", "a"]


def test_the_stored_penguins_have_ties_and_two_rows_without_measurements():
    one = table(
        PENGUINS.read_bytes(),
        path="p",
        keys=["flipper_length"],
        value="body_mass",
        missing="drop",
    )
    flipper = one["key_position"][:, 0]
    assert (one["value"].size, int(one["rows_left_out"])) == (342, 2)
    assert np.array_equal(flipper, np.round(flipper))
    assert np.unique(flipper).size == 55
    # Means published with the package, rounded as there.
    bills = parse_table(PENGUINS.read_text("utf-8"), "p")
    assert f"{np.nanmean(bills['bill_length']):.2f}" == "43.92"
    assert f"{np.nanmean(bills['bill_depth']):.2f}" == "17.15"
    assert f"{np.mean(flipper):.1f}" == "200.9"
    assert f"{np.mean(one['value']):.0f}" == "4202"


def test_the_stored_weeks_are_those_of_statsmodels_without_the_missing_ones():
    from statsmodels.datasets import co2

    theirs = co2.load_pandas().data.dropna()
    made = parse_table(CO2.read_text("utf-8"), "c")
    day = made["day"].astype(int)
    assert [f"{each}" for each in day] == [*theirs.index.strftime("%Y%m%d")]
    assert np.array_equal(made["co2"], theirs["co2"])
    start = np.array([np.datetime64(f"{each // 10000}-01-01") for each in day])
    end = np.array([np.datetime64(f"{each // 10000 + 1}-01-01") for each in day])
    share = (theirs.index.values - start) / (end - start)
    assert np.allclose(made["year"], day // 10000 + share, atol=5.1e-5, rtol=0)
    series(CO2.read_bytes(), path="c", key="year", value="co2")


@pytest.mark.parametrize("name", ["co2.csv", "nile.csv", "penguins.csv"])
def test_a_stored_table_says_its_source_units_and_licence(name):
    head = [line for line in (RESOURCES / name).read_text("utf-8").splitlines() if line[0] == "#"]
    told = " ".join(line.removeprefix("# ") for line in head)
    assert "Source: " in told
    assert "Licence: " in told
    (names,) = csv.reader([(RESOURCES / name).read_text("utf-8").splitlines()[len(head)]])
    assert all(column in told for column in names)
    assert f"`{name}`" in (RESOURCES / "README.md").read_text("utf-8")


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (
            {"keys": ["a", "b"]},
            r"^a\.csv: column 'b' holds nan in data row 4; .* or write 'missing: drop'\.$",
        ),
        ({"keys": ["a", "c"]}, r"^a\.csv: no column is called 'c'.* Known: a, b, v\.$"),
        ({"keys": ["a", "a"]}, r"^a\.csv: column 'a' is asked for 2 times; .* Name it once\.$"),
        ({"value": "a"}, r"^a\.csv: column 'a' is asked for 2 times; "),
    ],
)
def test_rows_that_cannot_be_smoothed_are_refused(asked, message):
    with pytest.raises(Refusal, match=message):
        rows(**asked)


def test_an_infinite_number_is_refused_even_where_missing_ones_may_be():
    with pytest.raises(Refusal, match=r"^a\.csv: column 'a' holds inf in data row 2; "):
        rows(b"a,v\n1,2\ninf,3\n2,3\n4,nan\n", missing="drop")


def test_fewer_than_three_whole_rows_are_refused():
    with pytest.raises(Refusal, match=r"^a\.csv: 2 of 3 rows have a number in all of a, v; .* 3"):
        rows(b"a,v\n1,2\n3,3\n2,nan\n", missing="drop")
