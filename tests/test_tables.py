"""A table is read as others read it, and refused by line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from statsmodels.datasets import nile

from lowpass.pictures import assembled
from lowpass.registry import Refusal
from lowpass.tables import parse_table, regular_series, series

NILE = Path(__file__).parents[1] / "workflow" / "resources" / "nile.csv"


def test_a_series_is_two_columns_of_a_table():
    made = series(b"flow,year\n3,1\n1,2\n2,4\n", path="a.csv", key="year", value="flow")
    assert np.array_equal(made["key_position"], [[1.0], [2.0], [4.0]])
    assert np.array_equal(made["value"], [3.0, 1.0, 2.0])


@pytest.mark.parametrize("patch", [1, 4, 20])
def test_a_regular_series_is_a_picture_one_pixel_high(patch):
    made = regular_series(NILE.read_bytes(), path="a", key="year", value="flow", patch=patch)
    x = made.pop("x")
    assert x.shape == (1, 100 // patch, patch)
    flow = series(NILE.read_bytes(), path="a", key="year", value="flow")["value"]
    assert np.array_equal(assembled(x, **made), flow[None, None])


def test_copies_are_replicates_of_one_series():
    asked = {"path": "a", "key": "year", "value": "flow"}
    x = regular_series(NILE.read_bytes(), **asked, copies=3)["x"]
    assert np.array_equal(x, np.repeat(x[:1], 3, axis=0))


def test_steps_in_decimals_are_equal():
    rows = "".join(f"{0.1 * i:.1f},{i}\n" for i in range(30))
    made = regular_series(f"t,v\n{rows}".encode(), path="a", key="t", value="v")
    assert made["x"].shape == (1, 30, 1)


def test_a_series_with_a_gap_is_not_regular():
    with pytest.raises(
        Refusal,
        match=r"^a\.csv: column 't' goes 2\.0 ahead in data row 4, and 1\.0 at first; .* gaps",
    ):
        regular_series(b"t,v\n1,3\n2,3\n3,3\n5,3\n", path="a.csv", key="t", value="v")


def test_windows_that_leave_a_rest_are_refused():
    with pytest.raises(Refusal, match=r"^a\.csv: 3 values are no whole number of windows of 2; "):
        regular_series(b"t,v\n1,3\n2,3\n3,3\n", path="a.csv", key="t", value="v", patch=2)


def test_a_table_is_read_as_numpy_reads_it():
    text = "# made by hand\n# in metres\na, b,c\n1,2.5,-3e-4\n\n4 ,nan,inf\n"
    table = parse_table(text, "a.csv")
    assert list(table) == ["a", "b", "c"]
    assert np.array_equal(list(table.values()), [[1, 4], [2.5, np.nan], [-3e-4, np.inf]], True)


def test_a_byte_order_mark_is_no_part_of_the_first_name():
    assert list(parse_table("\ufeffa,b\n1,2\n", "a.csv")) == ["a", "b"]


def test_the_stored_nile_is_the_one_of_statsmodels():
    made = series(NILE.read_bytes(), path=NILE.name, key="year", value="flow")
    theirs = nile.load_pandas().data
    assert np.array_equal(made["key_position"][:, 0], theirs["year"])
    assert np.array_equal(made["value"], theirs["volume"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"^a\.csv: there is no data line below a header; .* Give one line of column names"),
        ("# only a comment\n", r"there is no data line below a header"),
        ("a,b\n", r"there is no data line below a header"),
        ("a,b,a\n1,2,3\n", r"^a\.csv: line 1: two columns are called 'a'; .* Rename one\."),
        ("# c\na,b\n1,2\n3\n", r"^a\.csv: line 4: '3' has 1 cells and the header has 2; "),
        ("a,b\n1,2,3\n", r"^a\.csv: line 2: '1,2,3' has 3 cells and the header has 2; "),
        ("a,b\n1,2\n3,x1\n", r"^a\.csv: line 3: column 'b' holds 'x1'; it is not a number\."),
        ("a,b\n1,\n", r"^a\.csv: line 2: column 'b' holds ''; it is not a number\."),
        ("a,b\n1_000,2\n", r"^a\.csv: line 2: column 'a' holds '1_000'; it is not a number\."),
        ("a,b\n1,2\n# late\n", r"^a\.csv: line 3: '# late' has 1 cells and the header has 2; "),
    ],
)
def test_a_table_that_is_not_one_is_refused_by_line(text, message):
    with pytest.raises(Refusal, match=message):
        parse_table(text, "a.csv")


@pytest.mark.parametrize(
    ("year", "flow", "message"),
    [
        ([1, 2, 3], [1, np.nan, 2], r"^a\.csv: column 'flow' holds nan in data row 2; "),
        ([1, 2, np.inf], [1, 2, 3], r"^a\.csv: column 'year' holds inf in data row 3; "),
        ([1, 2], [1, 2], r"^a\.csv: there are 2 rows; .* Give at least 3 rows\."),
        ([1, 3, 2], [1, 2, 3], r"'year' goes from 3\.0 in data row 2 to 2\.0 in data row 3; "),
        ([1, 1, 2], [1, 2, 3], r"'year' goes from 1\.0 in data row 1 to 1\.0 .* merge duplicates"),
    ],
)
def test_observations_that_cannot_be_smoothed_are_refused(year, flow, message):
    rows = "".join(f"{at},{seen}\n" for at, seen in zip(year, flow, strict=True))
    with pytest.raises(Refusal, match=message):
        series(f"year,flow\n{rows}".encode(), path="a.csv", key="year", value="flow")


def test_a_missing_column_is_refused_with_the_nearest_one():
    with pytest.raises(
        Refusal,
        match=r"^a\.csv: no column is called 'flows'; did you mean 'flow'\? Known: year, flow\.$",
    ):
        series(b"year,flow\n1,2\n", path="a.csv", key="year", value="flows")


def test_a_table_in_another_encoding_is_refused_by_byte():
    content = "year,d\u00e9bit\n1,2\n".encode("latin-1")
    with pytest.raises(
        Refusal, match=r"^a\.csv: byte 6 is not UTF-8 text; save the table as UTF-8"
    ):
        series(content, path="a.csv", key="year", value="d")
