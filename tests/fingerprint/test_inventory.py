"""Inventories of code: named after their content, and two of them say what changed."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from lowpass.fingerprint.inventory import (
    NAMED,
    Inventory,
    changes_since,
    differences,
    folder_beside,
    in_words,
    keep,
    kept,
)

BEFORE = Inventory(
    {"lowpass.a:f": "1" * 64, "lowpass.a:g": "2" * 64, "lowpass.b:C.enter('x')": "3" * 64},
    {"numpy": "2.0", "scipy": "1.0"},
    "3.11",
)
PARTS = {
    "a definition": (
        {"definitions": {**BEFORE.definitions, "lowpass.a:f": "4" * 64}},
        ["lowpass.a.f changed"],
    ),
    "one that came": (
        {"definitions": {**BEFORE.definitions, "lowpass.a:h": "4" * 64}},
        ["lowpass.a.h is new"],
    ),
    "one that went": (
        {"definitions": {"lowpass.a:f": "1" * 64, "lowpass.a:g": "2" * 64}},
        ["lowpass.b.C.enter('x') is gone"],
    ),
    "one that moved": (
        {"definitions": {**BEFORE.definitions, "lowpass.a:f": "4" * 64, "lowpass.b:f": "1" * 64}},
        ["lowpass.a.f changed", "lowpass.b.f is new"],
    ),
    "a library": (
        {"distributions": {"numpy": "99.0", "scipy": "1.0"}},
        ["numpy 99.0 instead of 2.0"],
    ),
    "one more library": (
        {"distributions": {**BEFORE.distributions, "typst": "0.1"}},
        ["typst 0.1 instead of none"],
    ),
    "Python": ({"python": "3.12"}, ["Python 3.12 instead of 3.11"]),
}


@pytest.mark.parametrize("part", PARTS)
def test_what_changed_is_another_inventory_and_is_named(part, tmp_path):
    changes, phrases = PARTS[part]
    now = replace(BEFORE, **changes)
    assert now.fingerprint != BEFORE.fingerprint
    assert list(differences(BEFORE, now)) == phrases
    keep(BEFORE, tmp_path)
    assert changes_since(BEFORE.fingerprint, now, tmp_path) == ", ".join(phrases)


def test_an_inventory_is_the_same_in_whatever_order_it_was_filled():
    other = replace(
        BEFORE,
        definitions=dict(reversed(BEFORE.definitions.items())),
        distributions=dict(reversed(BEFORE.distributions.items())),
    )
    assert other.text == BEFORE.text
    assert list(differences(BEFORE, other)) == []


def test_an_inventory_is_read_as_it_was_kept(tmp_path):
    keep(BEFORE, tmp_path)
    assert kept(BEFORE.fingerprint, tmp_path) == BEFORE
    assert [path.name for path in tmp_path.iterdir()] == [f"{BEFORE.fingerprint}.json"]


def test_jobs_may_keep_one_inventory_at_once(tmp_path):
    folder = tmp_path / "code"
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: keep(replace(BEFORE), folder), range(64)))
    assert [path.name for path in folder.iterdir()] == [f"{BEFORE.fingerprint}.json"]
    assert kept(BEFORE.fingerprint, folder) == BEFORE


@pytest.mark.parametrize("text", [None, "", "[]", "{", '{"python": "3.11"}', "7", "other"])
def test_an_inventory_that_is_gone_or_edited_is_not_on_record(text, tmp_path):
    path = tmp_path / f"{BEFORE.fingerprint}.json"
    if text == "other":
        text = json.dumps({**json.loads(BEFORE.text), "python": "3.12"})
    if text is not None:
        path.write_text(text, encoding="utf-8")
    assert kept(BEFORE.fingerprint, tmp_path) is None
    now = replace(BEFORE, python="3.13")
    assert changes_since(BEFORE.fingerprint, now, tmp_path) == (
        "the code changed (what it was is not on record)"
    )


def test_more_changes_than_can_be_read_are_counted():
    phrases = [f"lowpass.a.f{i} changed" for i in range(NAMED + 2)]
    assert in_words(phrases).startswith("lowpass.a.f0 changed, ")
    assert in_words(phrases).endswith(f"f{NAMED - 1} changed, and 2 more")
    assert in_words(phrases[:NAMED]).endswith(f"f{NAMED - 1} changed")


def test_inventories_lie_beside_the_stages(tmp_path):
    results = tmp_path / "results"
    assert folder_beside(results / "data" / "x.nc") == results / "code"
    assert folder_beside(tmp_path / "again" / "x.nc") is None
