"""Numbers beside expected ones: a difference is named with both values and its tolerance."""

from __future__ import annotations

import json
import math

import pytest

from lowpass.rounding import RELATIVE, RESIDUE, Fitted, Logarithm, Remainder, Rounding
from lowpass.verify.comparing import Difference, differences, held, number
from lowpass.verify.numbers import EVERYWHERE, Place

KINDS = {
    "slem": Rounding(),
    "row_sum_defect": Remainder(),
    "log10_ratio": Logarithm(floored=True),
    "rate": Fitted(),
}
PLACE = "arithmetic split, beta 3"


def account(name: str) -> Rounding:
    return KINDS.get(name, Rounding())


def one(name: str, value, floor: float = -math.inf, statistic: str = "middle"):
    """Hold one number of a variable at one place."""
    return {name: {PLACE: Place({statistic: value}, floor)}}


def compared(name: str, old, new, floor: float = -math.inf, statistic: str = "middle"):
    """Compare one number with what was written down of another."""
    wanted = json.loads(json.dumps(held(one(name, old, statistic=statistic))))
    return differences(wanted, one(name, new, floor, statistic), account)


# What is written down.


@pytest.mark.parametrize("value", [1 / 3, -2e-300, 7, 0.0, math.inf, -math.inf, "holds"])
def test_what_is_written_down_is_read_as_near_as_it_has_digits(value):
    text = json.dumps(held(one("slem", value)), allow_nan=False)
    read = number(json.loads(text)["slem"][PLACE]["middle"])
    assert read == (pytest.approx(value, rel=1e-11) if isinstance(value, float) else value)


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("value", [1 / 3, -2e-300, 0.0, -1e-17, math.inf, -math.inf])
def test_a_number_agrees_with_what_was_written_down_of_it(name, value):
    assert compared(name, value, value) == []


# Each kind, just inside and just outside.


@pytest.mark.parametrize(
    ("name", "value", "step"),
    [
        ("slem", 0.5, 0.5 * RELATIVE + 0.5 * RESIDUE),
        ("slem", -4e5, 4e5 * (RELATIVE + RESIDUE)),
        ("row_sum_defect", 2e-16, RESIDUE),
        ("log10_ratio", 0.25, RELATIVE),
        ("log10_ratio", -276.0, 276 * RELATIVE),
        ("rate", 0.5, 0.5 * RELATIVE + 0.5 * RESIDUE),
    ],
)
def test_a_number_differs_just_beyond_its_tolerance(name, value, step):
    assert compared(name, value, value + 0.999 * step) == []
    (found,) = compared(name, value, value + 1.001 * step)
    assert (found.variable, found.place, found.statistic) == (name, PLACE, "middle")
    assert found.expected == value
    assert found.found == value + 1.001 * step
    assert found.tolerance == pytest.approx(step, rel=1e-6)


@pytest.mark.parametrize(("new", "is_noise"), [(-math.inf, True), (-30.0, True), (-4.9, False)])
def test_a_ratio_at_the_floor_is_compared_with_nothing_but_the_floor(new, is_noise):
    assert (compared("log10_ratio", -7.2, new, floor=-8.2) == []) == is_noise


def test_a_rate_that_was_fitted_to_noise_is_compared_loosely():
    assert compared("rate", 0.99, 1.05, floor=-8.2) == []
    assert len(compared("rate", 0.99, 1.2, floor=-8.2)) == 1
    assert len(compared("rate", 0.99, 1.05)) == 1


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("pair", [(math.inf, 1.0), (1.0, -math.inf), (math.inf, -math.inf)])
def test_an_infinite_number_differs_from_every_other(name, pair):
    assert len(compared(name, *pair)) == 1


@pytest.mark.parametrize("name", KINDS)
def test_no_number_agrees_with_nan(name):
    assert len(compared(name, 1.0, math.nan)) == 1


def test_a_pattern_feels_the_values_it_is_made_of():
    wanted = {"fit": {PLACE: {"highest": 900.0, "lowest": -900.0, "pattern": 1e-3}}}

    def found(pattern: float):
        told = {"highest": 900.0, "lowest": -900.0, "pattern": pattern}
        return differences(wanted, {"fit": {PLACE: Place(told)}}, account)

    assert found(1e-3 + 8.9e-6) == []
    (other,) = found(1e-3 + 9.1e-6)
    assert other.statistic == "pattern"


# What stands on one side only, and words.


def test_a_word_differs_from_any_other():
    (found,) = compared("A05", "holds", "refuted", statistic="verdict")
    assert found.told == f"A05 at {PLACE}: verdict is refuted and not holds"
    assert len(compared("A05", "holds", 1.0)) == 1


def test_what_is_missing_and_what_is_new_are_named_once():
    wanted = {
        "gone": {PLACE: {"lowest": 1.0, "highest": 2.0}},
        "slem": {"beta 1": {"value": 1.0}, "beta 2": {"value": 1.0, "pattern": 1.0}},
    }
    found = {
        "slem": {"beta 2": Place({"value": 1.0, "middle": 1.0}), "beta 3": Place({"value": 1.0})},
        "new": {PLACE: Place({"lowest": 1.0})},
    }
    assert [each.told for each in differences(wanted, found, account)] == [
        "gone is missing",
        "new was not expected",
        "slem at beta 1 is missing",
        "slem at beta 2: pattern is missing",
        "slem at beta 2: middle was not expected",
        "slem at beta 3 was not expected",
    ]


def test_a_changed_verdict_is_named_first():
    wanted = {
        "A01": {EVERYWHERE: {"as_written": 1.0}},
        "A02": {EVERYWHERE: {"as_written": 1.0, "verdict": "holds"}},
    }
    found = {
        "A01": {EVERYWHERE: Place({"as_written": 2.0})},
        "A02": {EVERYWHERE: Place({"as_written": 2.0, "verdict": "refuted"})},
    }
    told = [each.told for each in differences(wanted, found, account)]
    assert told[0] == "A02: verdict is refuted and not holds"
    assert len(told) == 3


# What is said.


def test_a_difference_is_told_with_both_values_and_its_tolerance():
    each = Difference("slem", PLACE, "middle", 0.5, 0.625, 5e-9)
    assert each.told == (
        "slem at arithmetic split, beta 3: middle is 0.625 and not 0.5, which may differ by 5.0e-09"
    )
    assert each.change == "slem at arithmetic split, beta 3: middle: 0.5 -> 0.625"


def test_a_change_from_or_to_nothing_is_told():
    assert Difference("slem", EVERYWHERE, "", "there", None).change == "slem: there -> nothing"
    assert Difference("A05", EVERYWHERE, "verdict", None, "holds").change == (
        "A05: verdict: nothing -> holds"
    )
