"""Laws of the generators, the closed forms they are made for, and the table's refusals."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Annotated, get_origin, get_type_hints

import numpy as np
import pytest
from numpy.testing import assert_allclose
from statsmodels.datasets import nile

from lowpass.data import GENERATORS, parse_table
from lowpass.registry import Refusal

TOKENS = [name for name in GENERATORS if GENERATORS.facts(name)["kind"] == "tokens"]
NILE = Path(__file__).parents[1] / "workflow" / "resources" / "nile.csv"
SIZES = {"n_tokens": 8, "d_model": 3}


def drawn(name: str, seed: int = 0) -> np.ndarray:
    """Draw small tokens from any generator, with its own defaults."""
    asked = inspect.signature(GENERATORS[name]).parameters
    sizes = {size: value for size, value in SIZES.items() if size in asked}
    return GENERATORS[name](np.random.default_rng(seed), **sizes)


@pytest.mark.parametrize("name", TOKENS)
def test_tokens_are_rows_of_finite_floats(name):
    x = drawn(name)
    assert x.ndim == 2
    assert len(x) == SIZES["n_tokens"]
    assert x.dtype == np.float64
    assert np.isfinite(x).all()


@pytest.mark.parametrize("name", TOKENS)
def test_tokens_follow_from_their_generator_alone(name):
    assert np.array_equal(drawn(name), drawn(name))


@pytest.mark.parametrize("name", GENERATORS)
def test_every_parameter_of_a_generator_states_its_domain(name):
    """A configuration is validated by these annotations, so a bare ``float`` would let all pass."""
    hints = get_type_hints(GENERATORS[name], include_extras=True)
    for parameter in inspect.signature(GENERATORS[name]).parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY:
            hint = hints[parameter.name]
            assert hint is str or get_origin(hint) is Annotated


@pytest.mark.parametrize("name", GENERATORS)
def test_a_generator_gives_tokens_or_observations(name):
    assert GENERATORS.facts(name)["kind"] in {"tokens", "observations"}


def test_gaussian_tokens_have_standard_moments(rng):
    """Of 40,000 draws the mean is within 5/√N of 0 and the variance within 5√(2/N) of 1."""
    x = GENERATORS["gaussian"](rng, n_tokens=400, d_model=100)
    assert abs(x.mean()) < 5 / 200
    assert abs(x.var() - 1) < 5 * np.sqrt(2) / 200


@pytest.mark.parametrize("contrast", [0.125, 0.5, 3.0])
@pytest.mark.parametrize("n_tokens", [2, 6, 64])
def test_two_levels_have_their_contrast_as_ratio_of_hc_to_dc(contrast, n_tokens, rng):
    x = GENERATORS["two_levels"](rng, n_tokens=n_tokens, d_model=5, contrast=contrast)
    mean = x.mean(axis=0)
    dc = np.sqrt(n_tokens) * np.linalg.norm(mean)
    assert_allclose(np.linalg.norm(x - mean) / dc, contrast, rtol=1e-14)


@pytest.mark.parametrize("n_tokens", [1, 5, 96])
def test_a_ring_is_made_of_equal_steps_on_the_unit_circle(n_tokens, rng):
    x = GENERATORS["ring"](rng, n_tokens=n_tokens)
    turn = np.exp(2j * np.pi / n_tokens)
    place = x[:, 0] + 1j * x[:, 1]
    assert_allclose(place, turn ** np.arange(n_tokens), atol=1e-13)


def test_a_series_is_two_columns_of_a_table():
    table = {"flow": np.array([3.0, 1.0, 2.0]), "year": np.array([1.0, 2.0, 4.0])}
    key_position, value = GENERATORS["series"](table, path="a.csv", key="year", value="flow")
    assert np.array_equal(key_position, [[1.0], [2.0], [4.0]])
    assert np.array_equal(value, [3.0, 1.0, 2.0])


def test_a_table_is_read_as_numpy_reads_it():
    text = "# made by hand\n# in metres\na, b,c\n1,2.5,-3e-4\n\n4 ,nan,inf\n"
    table = parse_table(text, "a.csv")
    assert list(table) == ["a", "b", "c"]
    assert np.array_equal(list(table.values()), [[1, 4], [2.5, np.nan], [-3e-4, np.inf]], True)


def test_a_byte_order_mark_is_no_part_of_the_first_name():
    assert list(parse_table("\ufeffa,b\n1,2\n", "a.csv")) == ["a", "b"]


def test_the_stored_nile_is_the_one_of_statsmodels():
    table = parse_table(NILE.read_text(encoding="utf-8"), NILE.name)
    key_position, value = GENERATORS["series"](table, path=NILE.name, key="year", value="flow")
    theirs = nile.load_pandas().data
    assert np.array_equal(key_position[:, 0], theirs["year"])
    assert np.array_equal(value, theirs["volume"])


def test_an_odd_number_of_tokens_has_no_two_halves(rng):
    with pytest.raises(Refusal, match=r"two_levels got n_tokens = 7; .* Use 8\."):
        GENERATORS["two_levels"](rng, n_tokens=7, d_model=2)


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
    table = {"year": np.array(year, float), "flow": np.array(flow, float)}
    with pytest.raises(Refusal, match=message):
        GENERATORS["series"](table, path="a.csv", key="year", value="flow")


def test_a_missing_column_is_refused_with_the_nearest_one():
    table = {"year": np.arange(3.0), "flow": np.arange(3.0)}
    with pytest.raises(
        Refusal,
        match=r"^a\.csv: no column is called 'flows'; did you mean 'flow'\? Known: year, flow\.$",
    ):
        GENERATORS["series"](table, path="a.csv", key="year", value="flows")
