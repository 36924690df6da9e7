"""A table is what numpy.savetxt writes; what could be read in two ways is refused."""

from __future__ import annotations

import io

import numpy as np
import pytest

from lowpass.formats.table import read_csv
from lowpass.formats.wanted import Wanted
from lowpass.registry import Refusal

TABLE = Wanted("a.csv", "a.csv: tokens", ("token", "feature"))


@pytest.mark.parametrize("shape", [(1, 1), (1, 4), (4, 1), (5, 3)])
@pytest.mark.parametrize("header", ["", "made by hand\nin metres"])
def test_a_table_that_numpy_wrote_is_read_bit_by_bit(shape, header, rng):
    array = rng.standard_normal(shape)
    stream = io.StringIO()
    np.savetxt(stream, array, delimiter=",", header=header)
    assert np.array_equal(read_csv(stream.getvalue().encode(), TABLE), array)


@pytest.mark.parametrize(
    "text",
    [
        "1,2\n3,4",
        "1,2\r\n3,4\r\n\r\n",
        " 1 ,2\n3, 4.0 \n",
        "\ufeff1,2\n3,4\n",
        "# c\na,b\n1,2\n3,4\n\n\n",
        '"a","b"\n1e0,+2\n3,40e-1\n',
    ],
)
def test_lines_may_end_and_be_headed_as_one_likes(text):
    assert np.array_equal(read_csv(text.encode(), TABLE), [[1, 2], [3, 4]])


def test_infinite_and_missing_numbers_are_told_as_such():
    got = read_csv(b"-inf,nan\n1,inf\n", TABLE)
    assert np.array_equal(got, [[-np.inf, np.nan], [1, np.inf]], equal_nan=True)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"there is no line of numbers; .* numpy\.savetxt"),
        ("a,b\n", r"there is no line of numbers"),
        ("1,2\n3\n", r"line 2 has 1 cells, and the first has 2; .* Add or remove commas"),
        ("a,b\n1,2\n3,4,5\n", r"line 3 has 3 cells, and the first has 2; "),
        ("1,2\n\n3,4\n", r"line 2 has 1 cells, .* or the blank line\."),
        ("1\n\n3\n", r"line 2 holds '', which is no number"),
        ("1,2\n3,\n", r"line 2 holds '', which is no number"),
        ("a,2\n3,4\n", r"line 1 holds 'a', which is no number"),
        ("1,2\n3,x1\n", r"line 2 holds 'x1', which is no number; a cell is one"),
        ("1_0,2\n", r"line 1 holds '1_0', which is no number"),
        ("1,2\n# late\n", r"line 2 has 1 cells"),
        ("1.0 2.0\n3.0 4.0\n", r"line 2 holds '3\.0 4\.0', which is no number; .* delimiter=','\)"),
        ("1;2\n3;4\n", r"line 2 holds '3;4', which is no number"),
        (",0,1\n0,1,2\n", r"line 1 holds '', which is no number"),
        ("0,1,2\n1.5,2,3\n", r"line 1 reads 0, 1, \.\.\. 2, as pandas names columns that have no"),
    ],
)
def test_what_is_no_table_of_numbers_is_refused_by_line(text, message):
    with pytest.raises(Refusal, match=rf"^a\.csv: {message}"):
        read_csv(text.encode(), TABLE)


def test_what_is_no_text_is_refused():
    with pytest.raises(Refusal, match=r"tokens cannot be read \(byte 2 is no UTF-8\); "):
        read_csv("1,é\n".encode("latin-1"), TABLE)


def test_a_table_has_no_name():
    with pytest.raises(Refusal, match=r"a \.csv file holds one array, which has none\. Leave out"):
        read_csv(b"1,2\n", Wanted("a.csv", "a.csv: tokens 'h'", TABLE.dims, "h"))


def test_a_table_has_two_axes():
    with pytest.raises(Refusal, match=r"has the shape \(2, 2\), and dims names 3 axes: a, b, c; "):
        read_csv(b"1,2\n3,4\n", Wanted("a.csv", "a.csv: tokens", ("a", "b", "c")))
