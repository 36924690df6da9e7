"""The canonical form of a section: what is the same is written the same, and plans the same."""

from __future__ import annotations

import json

import pytest

from lowpass.data import GENERATORS
from lowpass.domains import Count, Positive
from lowpass.plan import Plan, load
from lowpass.plan.section import canonical_section
from lowpass.plan.sweep import expand
from lowpass.records import canonical

from ..configurations import ROOT, keys

TOKENS = {"generator": "gaussian", "n_tokens": 8, "d_model": 4}
COMMON = {"spectra": ["slem", "min_attention"], "replicates": 12}
SECTIONS = {
    "scalar": {"data": TOKENS, "attention": {"beta": 1, "depth": 4}, **COMMON},
    "swept": {
        "data": {**TOKENS, "n_tokens": [16, 8]},
        "attention": {"beta": [3, 1, 0.1], "depth": 4},
        **COMMON,
    },
    "inside": {
        "data": {**TOKENS, "n_tokens": [16, 8]},
        "attention": {"beta": [3, 1], "arithmetic": ["split", "float32"], "depth": 4},
        "inside": ["beta", "arithmetic"],
        **COMMON,
    },
    "zipped": {
        "data": {"d_model": 4},
        "attention": {"beta": 1, "depth": 4},
        "zip": {
            "case": {
                "label": ["pair", "cloud"],
                "data.n_tokens": [2, 8],
                "data.generator": ["two_levels", "gaussian"],
                "attention.start": ["tokens", "no_stationary"],
            }
        },
        **COMMON,
    },
    "zipped inside": {
        "data": TOKENS,
        "attention": {"depth": 4, "mask": ["none", "block"]},
        "zip": {
            "case": {
                "label": ["sharp", "blunt"],
                "attention.kernel": ["softmax", "sinkhorn"],
                "attention.beta": [3, 1],
            }
        },
        "inside": ["mask", "case"],
        **COMMON,
    },
    "nothing but columns": {
        "data": {},
        "attention": {},
        "zip": {
            "size": {"label": ["s", "l"], "data.n_tokens": [2, 8], "data.d_model": [2, 4]},
            "kind": {"label": ["flat", "even"], "data.generator": ["gaussian", "two_levels"]},
            "run": {"label": ["b", "a"], "attention.beta": [1, 3], "attention.depth": [9, 8]},
        },
        **COMMON,
    },
    "a default of one generator": {
        "data": {"generator": "two_levels", "n_tokens": 8, "d_model": 4, "contrast": 0.5},
        "attention": {"beta": 1, "depth": 4, "record": [2, 4], "kernel": "softmax"},
        **COMMON,
    },
    "observations": {
        "data": {
            "generator": "series",
            "path": "workflow/resources/nile.csv",
            "key": "year",
            "value": "flow",
        },
        "smoothing": {
            "study": "selection",
            "bandwidths": {"low": 1, "high": 50, "count": 9},
            "level": [0.9, 0.5],
        },
        "inside": ["level"],
    },
}
FILES = ("paper", "smoke")


def canonical_of(section: dict) -> dict:
    """Write a section canonically, as it comes back from the text of a recipe."""
    text = canonical(canonical_section(section, expand(section, "here")))
    return json.loads(text)


def planned(section: dict) -> Plan:
    return Plan(7, {"one": section}, "here", ROOT)


def configured(file: str) -> dict[str, dict]:
    """Read the sections of one of the project's own configurations."""
    read = load(ROOT / f"config/{file}.yaml", file)
    return {name: section.model_dump() for name, section in read.experiments.items()}


ALL = {
    **SECTIONS,
    **{f"{file}: {name}": each for file in FILES for name, each in configured(file).items()},
}


# Laws.


@pytest.mark.parametrize("section", ALL.values(), ids=ALL)
def test_the_canonical_form_plans_the_same_points(section):
    """The experiment's job finds its points in this way."""
    assert keys(planned(canonical_of(section))) == keys(planned(section))


@pytest.mark.parametrize("section", ALL.values(), ids=ALL)
def test_the_canonical_form_has_the_same_places(section):
    def places(each: dict) -> list[str]:
        cells = planned(each).cells["one"]
        return sorted(canonical([cell.place, block, point.key]) for cell, block, point in cells)

    assert places(canonical_of(section)) == places(section)


@pytest.mark.parametrize("section", ALL.values(), ids=ALL)
def test_the_canonical_form_is_its_own(section):
    assert canonical_of(canonical_of(section)) == canonical_of(section)


def test_different_sections_have_different_forms():
    texts = {canonical(canonical_of(section)) for section in SECTIONS.values()}
    assert len(texts) == len(SECTIONS)


# What is particular.


def test_sweeps_ascend_as_validated_and_defaults_are_left_out():
    section = {
        **SECTIONS["swept"],
        "why": "Never mind.",
        "attention": {"beta": [3, 1], "depth": 4, "kernel": "softmax", "record": "geometric"},
    }
    assert canonical_of(section) == {
        "data": {"generator": "gaussian", "n_tokens": [8, 16], "d_model": 4},
        "attention": {"beta": [1.0, 3.0], "depth": 4},
        "spectra": ["min_attention", "slem"],
        "replicates": 12,
    }


def test_a_sweep_of_one_value_keeps_its_dimension():
    section = {**SECTIONS["scalar"], "attention": {"beta": [1], "depth": 4}}
    assert canonical_of(section)["attention"]["beta"] == [1.0]


def test_a_swept_default_stays():
    section = {**SECTIONS["scalar"], "attention": {"beta": 1, "depth": 4, "mask": ["none"]}}
    assert canonical_of(section)["attention"]["mask"] == ["none"]


def test_cases_stand_in_the_order_of_their_labels():
    assert canonical_of(SECTIONS["zipped"])["zip"]["case"] == {
        "label": ["cloud", "pair"],
        "data.generator": ["gaussian", "two_levels"],
        "data.n_tokens": [8, 2],
        "attention.start": ["no_stationary", "tokens"],
    }


def steep(rng, *, n_tokens: Count, d_model: Count, contrast: Positive = 0.9):
    """Stand for a generator whose default differs from that of ``two_levels``."""


def test_the_default_of_one_case_is_written_where_it_is_not_that_of_all(monkeypatch):
    monkeypatch.setitem(GENERATORS._things, "steep", steep)
    monkeypatch.setitem(GENERATORS._facts, "steep", {"kind": "tokens", "reads": False})
    for cases in (["two_levels", "steep"], ["steep", "two_levels"]):
        section = {
            **SECTIONS["scalar"],
            "data": {"n_tokens": 8, "d_model": 4, "contrast": 0.5},
            "zip": {"case": {"label": ["a", "b"], "data.generator": cases}},
        }
        assert canonical_of(section)["data"]["contrast"] == 0.5
        assert keys(planned(canonical_of(section))) == keys(planned(section))
