"""What changed in an experiment, in words, and which of its points that makes new."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lowpass.explaining.sections import changes
from lowpass.explaining.words import exchanged, listed, told
from lowpass.plan import Plan
from lowpass.rules import ancestry

from ..configurations import ROOT

TOKENS: dict[str, Any] = {
    "data": {"generator": "gaussian", "n_tokens": 8, "d_model": 4},
    "attention": {"beta": [1, 3], "depth": 4, "arithmetic": ["split", "float64"]},
    "inside": ["arithmetic"],
    "spectra": ["slem", "min_attention"],
    "replicates": 20,
}
CASES: dict[str, Any] = {
    "data": {"d_model": 4},
    "attention": {"weights": "symmetric", "beta": 1, "depth": 3},
    "zip": {
        "case": {
            "label": ["one", "two", "three"],
            "data.generator": ["gaussian", "gaussian", "two_levels"],
            "data.n_tokens": [8, 6, 8],
            "attention.kernel": ["softmax", "sinkhorn", "softmax"],
        }
    },
    "spectra": ["slem"],
    "replicates": 2,
}
WITHIN: dict[str, Any] = {
    "data": {"generator": "gaussian", "n_tokens": 8, "d_model": 4},
    "attention": {"depth": 3},
    "zip": {
        "case": {
            "label": ["one", "two", "three"],
            "attention.beta": [1, 2, 3],
            "attention.kernel": ["softmax", "sinkhorn", "softmax"],
        }
    },
    "inside": ["case"],
    "spectra": ["slem"],
    "replicates": 2,
}
NILE: dict[str, Any] = {
    "data": {
        "generator": "series",
        "path": "workflow/resources/nile.csv",
        "key": "year",
        "value": "flow",
    },
    "smoothing": {"study": "selection", "bandwidths": {"low": 0.5, "high": 50, "count": 9}},
}


def put(section: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """Replace one entry of nested mappings; None takes it out."""
    name, _, rest = path.partition("/")
    if rest:
        return {**section, name: put(section[name], rest, value)}
    changed = {**section, name: value}
    return changed if value is not None else {key: changed[key] for key in section if key != name}


def cases(column: str, values: list[Any]) -> tuple[str, list[Any]]:
    return f"zip/case/{column}", values


# Edits of a section, and what is said of them.
EDITS: dict[str, tuple[dict[str, Any], list[tuple[str, Any]], list[str]]] = {
    "a value more": (TOKENS, [("attention/beta", [1, 3, 10])], ["beta 10 is new in mine"]),
    "values more": (TOKENS, [("attention/beta", [9, 1, 3, 5])], ["beta 5, 9 are new in mine"]),
    "a value less": (TOKENS, [("attention/beta", [3])], ["beta 1 was taken out of mine"]),
    "a value alone": (TOKENS, [("attention/beta", 3)], ["beta 1 was taken out of mine"]),
    "other values": (TOKENS, [("attention/beta", [1, 4])], ["beta 4 instead of 3 in mine"]),
    "another alone": (TOKENS, [("attention/beta", 4)], ["beta 4 instead of 1, 3 in mine"]),
    "a scalar": (TOKENS, [("attention/depth", 5)], ["depth 5 instead of 4 in mine"]),
    "a scalar swept": (TOKENS, [("data/d_model", [4, 6])], ["d_model 6 is new in mine"]),
    "a parameter given": (
        TOKENS,
        [("attention/weights", "symmetric")],
        ["weights symmetric instead of untied in mine"],
    ),
    "a parameter left out": (
        CASES,
        [("attention/weights", None)],
        ["weights untied instead of symmetric in mine"],
    ),
    "a list that is one value": (
        TOKENS,
        [("attention/record", [0, 2])],
        ["record [0,2] instead of geometric in mine"],
    ),
    "an inner value more": (
        TOKENS,
        [("attention/arithmetic", ["split", "float64", "float32"])],
        ["arithmetic float32 is new in mine"],
    ),
    "an inner value less": (
        TOKENS,
        [("attention/arithmetic", ["split"])],
        ["arithmetic float64 was taken out of mine"],
    ),
    "outside": (TOKENS, [("inside", [])], ["arithmetic is swept from job to job in mine"]),
    "inside": (
        TOKENS,
        [("inside", ["arithmetic", "beta"])],
        ["beta is swept within one job in mine"],
    ),
    "a measure": (
        TOKENS,
        [("spectra", ["slem"])],
        ["measure min_attention was taken out of mine"],
    ),
    "another measure": (
        TOKENS,
        [("spectra", ["slem", "hc_dc_rate"])],
        ["measure hc_dc_rate instead of min_attention in mine"],
    ),
    "a block more": (TOKENS, [("replicates", 21)], ["21 replicates instead of 20 in mine"]),
    "a block less": (TOKENS, [("replicates", 10)], ["10 replicates instead of 20 in mine"]),
    "replicates within a block": (
        TOKENS,
        [("replicates", 15)],
        ["15 replicates instead of 20 in mine"],
    ),
    "two at once": (
        TOKENS,
        [("attention/beta", [1, 3, 10]), ("replicates", 30)],
        ["beta 10 is new in mine", "30 replicates instead of 20 in mine"],
    ),
    "another generator": (
        TOKENS,
        [("data/generator", "two_levels")],
        ["generator two_levels instead of gaussian in mine"],
    ),
    "a case more": (
        CASES,
        [
            cases("label", ["one", "two", "three", "four"]),
            cases("data.generator", ["gaussian", "gaussian", "two_levels", "two_levels"]),
            cases("data.n_tokens", [8, 6, 8, 4]),
            cases("attention.kernel", ["softmax", "sinkhorn", "softmax", "softmax"]),
        ],
        ["case four is new in mine"],
    ),
    "a case less": (
        CASES,
        [
            cases("label", ["one", "two"]),
            cases("data.generator", ["gaussian", "gaussian"]),
            cases("data.n_tokens", [8, 6]),
            cases("attention.kernel", ["softmax", "sinkhorn"]),
        ],
        ["case three was taken out of mine"],
    ),
    "another value in a case": (
        CASES,
        [cases("data.n_tokens", [8, 6, 10])],
        ["n_tokens 10 instead of 8 for case three of mine"],
    ),
    "one parameter less in the cases": (
        CASES,
        [("zip/case/attention.kernel", None)],
        ["case varies other parameters in mine"],
    ),
    "a case more of one job": (
        WITHIN,
        [
            cases("label", ["one", "two", "three", "four"]),
            cases("attention.beta", [1, 2, 3, 4]),
            cases("attention.kernel", ["softmax", "sinkhorn", "softmax", "softmax"]),
        ],
        ["case four is new in mine"],
    ),
    "a case less of one job": (
        WITHIN,
        [
            cases("label", ["one", "three"]),
            cases("attention.beta", [1, 3]),
            cases("attention.kernel", ["softmax", "softmax"]),
        ],
        ["case two was taken out of mine"],
    ),
    "another value in a case of one job": (
        WITHIN,
        [cases("attention.beta", [1, 2, 9])],
        ["beta 9 instead of 3 for case three of mine"],
    ),
    "cases apart": (WITHIN, [("inside", [])], ["case is swept from job to job in mine"]),
    "a nested parameter": (
        NILE,
        [("smoothing/bandwidths/count", 11)],
        ["bandwidths.count 11 instead of 9 in mine"],
    ),
    "nothing": (TOKENS, [], []),
}


def plan(section: dict[str, Any], root: Path = ROOT) -> Plan:
    return Plan(7, {"mine": section}, "test", root)


def compared(edit: str, *, backwards: bool = False):
    """Plan a section before and after an edit, and compare the two."""
    section, entries, _ = EDITS[edit]
    after = section
    for path, value in entries:
        after = put(after, path, value)
    old, new = map(plan, (after, section) if backwards else (section, after))
    sections = [each.experiments["mine"].recipe["params"]["section"] for each in (old, new)]
    return old, new, changes(*sections, "mine", new.cells["mine"][0][0].specs)


@pytest.mark.parametrize("edit", EDITS)
def test_a_change_is_said_in_the_words_of_the_configuration(edit):
    assert [change.text for change in compared(edit)[2]] == EDITS[edit][2]


# Of these some cases are what they were, which the change alone does not tell.
COARSE = {"one parameter less in the cases"}


@pytest.mark.parametrize("backwards", [False, True], ids=["there", "back"])
@pytest.mark.parametrize("edit", sorted({*EDITS} - COARSE))
def test_a_change_concerns_exactly_the_products_that_have_another_key(edit, backwards):
    old, new, found = compared(edit, backwards=backwards)
    before = {point.key for point in old}
    for cell, block, end in new.cells["mine"]:
        for point in ancestry(end):
            stages = {each.stage for each in ancestry(point)}
            concerned = any(change.concerns(cell.place, block, stages) for change in found)
            assert concerned == (point.key not in before), (point.name, cell.place)


@pytest.mark.parametrize("edit", sorted({*EDITS} - {"nothing"}))
def test_every_change_makes_another_experiment(edit):
    old, new, found = compared(edit)
    assert found
    assert old.experiments["mine"].key != new.experiments["mine"].key


def test_another_action_on_the_same_data_is_new():
    table = {**NILE, "data": {**NILE["data"]}}
    old, new = ({"data": {}, "attention": {}}, {"data": {}, "smoothing": {}})
    specs = plan(table).cells["mine"][0][0].specs
    texts = [change.text for change in changes(old, new, "mine", specs)]
    assert texts == ["attention was taken out of mine", "smoothing is new in mine"]


# Words.


@pytest.mark.parametrize(
    ("value", "text"),
    [(10.0, "10"), (0.1, "0.1"), (1e-30, "1e-30"), (1e300, "1e+300"), (3, "3"), (None, "none")],
)
def test_a_number_is_written_as_a_person_would(value, text):
    assert told(value) == text


def test_a_truth_value_and_a_text_are_written_as_in_a_configuration():
    assert [told(True), told("two blocks"), told([1, 2.5])] == ["true", "two blocks", "[1,2.5]"]


def test_long_lists_are_counted():
    assert listed([1, 2, 3, 4]) == "1, 2, 3, 4"
    assert listed([1, 2, 3, 4, 5, 6]) == "1, 2, 3, 4 and 2 more"
    assert exchanged("beta", range(9), [], "mine") == "beta 0, 1, 2, 3 and 5 more are new in mine"
