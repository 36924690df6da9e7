"""Cards: every name that may go into a file says what it means, alike everywhere."""

from __future__ import annotations

import dataclasses
import re

import pytest

from lowpass.labels import DIMENSIONS, VARIABLES, Card
from lowpass.measures import MEASURES

# Names of files and of ways to compute, and the two ends of a band, which has its fit's symbol.
SILENT = set(
    "parent parent_path parent_key parent_digest route bandwidth_criterion lower upper "
    "row column patch_row patch_column pixel_row pixel_column".split()
)
CARDS = {**DIMENSIONS, **VARIABLES}


# Laws.


@pytest.mark.parametrize("name", CARDS)
def test_a_card_says_a_noun_phrase_in_lower_case_and_a_unit_of_a_usable_name(name):
    assert re.fullmatch(r"[a-z][a-z0-9_]*", name)
    assert CARDS[name].units
    phrase = CARDS[name].long_name
    assert phrase
    assert phrase[0].islower()
    assert phrase == phrase.strip().rstrip(".")
    assert "\n" not in phrase


@pytest.mark.parametrize("name", sorted(set(CARDS) - SILENT))
def test_a_quantity_has_a_symbol_whose_brackets_match(name):
    symbol = CARDS[name].symbol
    assert symbol
    assert "$" not in symbol
    assert symbol.count("{") == symbol.count("}")
    assert symbol.count("(") == symbol.count(")")


@pytest.mark.parametrize("name", sorted(SILENT))
def test_what_is_silent_has_no_symbol(name):
    assert CARDS[name].symbol == ""


@pytest.mark.parametrize("name", DIMENSIONS)
def test_a_dimension_has_no_dimensions_and_is_finite(name):
    assert DIMENSIONS[name].dims == ()
    assert DIMENSIONS[name].infinite == ""


@pytest.mark.parametrize("name", VARIABLES)
def test_the_dimensions_of_a_variable_have_cards_and_replicates_come_first_and_layers_next(name):
    assert set(VARIABLES[name].dims) <= set(DIMENSIONS)
    assert len(set(VARIABLES[name].dims)) == len(VARIABLES[name].dims)
    order = ["replicate", "layer", "recorded_layer"]
    first = [dim for dim in VARIABLES[name].dims if dim in order]
    assert first == sorted(first, key=order.index)
    assert list(VARIABLES[name].dims[: len(first)]) == first


@pytest.mark.parametrize("name", VARIABLES)
def test_infinity_is_allowed_for_a_reason_only(name):
    reason = VARIABLES[name].infinite
    assert reason == reason.strip().rstrip(".")
    assert reason == "" or " " in reason


@pytest.mark.parametrize("measure", MEASURES)
def test_every_measure_has_the_card_of_its_variable(measure):
    assert VARIABLES[measure].dims[0] == "replicate"


def test_no_name_is_both_a_dimension_and_a_variable():
    assert set(DIMENSIONS).isdisjoint(VARIABLES)


def test_no_two_variables_are_called_alike():
    phrases = [VARIABLES[name].long_name for name in VARIABLES]
    assert sorted(phrases) == sorted(set(phrases))


# What is particular.


def test_a_card_is_dimensionless_and_finite_unless_it_says_otherwise():
    card = Card("x", "thing")
    assert (card.units, card.dims, card.infinite) == ("1", (), "")


def test_a_card_cannot_change():
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'units'"):
        Card("x", "thing").units = "m"
