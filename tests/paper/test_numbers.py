"""Numbers in print: read back, they are the number that was meant."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from lowpass.paper.numbers import antilog, exact, interval, parameter, rounded

SPELT = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹−", "-0123456789-")
POWER = re.compile(r"(−?[\d.]*)×?10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)")


def meant(text: str) -> float:
    """Read a printed number as a person does."""
    if found := POWER.fullmatch(text):
        mantissa, power = (part.translate(SPELT) for part in found.groups())
        return float(f"{mantissa + '1' if mantissa in ('', '-') else mantissa}e{power}")
    return float(text.translate(SPELT))


@pytest.fixture
def wide(rng) -> list[float]:
    """Draw numbers of either sign over sixty decades."""
    return [float(x) for x in rng.choice([-1, 1], 400) * 10 ** rng.uniform(-30, 30, 400)]


@pytest.mark.parametrize("digits", [1, 2, 3, 5])
def test_a_rounded_number_is_off_by_half_of_its_last_digit_at_most(digits, wide):
    for value in wide:
        unit = 10.0 ** (math.floor(math.log10(abs(value))) - digits + 1)
        assert abs(meant(rounded(value, digits)) - value) <= unit * (0.5 + 1e-9)


def test_a_rounded_number_shows_its_significant_digits_and_no_others(wide):
    for value in wide:
        digits = rounded(value, 3).partition("×")[0].translate(SPELT).strip("-")
        assert len(digits.replace(".", "").lstrip("0")) == 3


def test_an_exact_number_gives_back_what_was_chosen(wide):
    for value in [*wide, 1e-13, 5e-3, 0.95, 50.0, 100000.0, 0.5293, 123456789.0]:
        assert meant(exact(value)) == value


@pytest.mark.parametrize("digits", [1, 2, 4])
def test_an_antilog_is_the_rounded_number_where_floats_reach(digits, wide):
    for value in map(abs, wide):
        assert antilog(math.log10(value), digits) == rounded(value, digits)


def test_an_antilog_goes_beyond_floats():
    """The power is the floor of the logarithm, the mantissa ten to the rest: 10^0.5 = 3.16."""
    assert antilog(-1234.5) == "3.2×10⁻¹²³⁵"


def test_a_mantissa_that_rounds_up_to_ten_raises_the_power():
    assert antilog(-400 - 1e-6) == "1.0×10⁻⁴⁰⁰"
    assert rounded(9.996e-9) == "1.00×10⁻⁸"
    assert rounded(999.6) == "1.00×10³"


@pytest.mark.parametrize(
    ("value", "text"), [(0.0, "0"), (math.inf, "∞"), (-math.inf, "−∞"), (-0.25, "−0.250")]
)
def test_signs_zero_and_infinity_are_written_out(value, text):
    assert rounded(value) == text


def test_nothing_is_left_of_a_component_that_is_zero():
    assert (antilog(-math.inf), antilog(math.inf)) == ("0", "∞")


def test_an_interval_stands_only_where_something_was_drawn():
    assert interval("2", "1", "3") == "2 [1, 3]"
    assert interval("2", "2", "2") == "2"
    assert interval("2", "2", "3") == "2 [2, 3]"


def test_a_parameter_of_any_kind_is_one_line():
    chosen = {"low": 0.5, "count": 81, "names": ["a", "b"], "on": False}
    assert parameter(chosen) == "low 0.5, count 81, names a, b, on no"
    assert parameter(np.float64(3.0).item()) == "3"
