"""The page beside the configurations names everything, and its example runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from lowpass.describing.docstrings import summary
from lowpass.describing.page import EXAMPLE, as_text
from lowpass.describing.parameters import CHOSEN, chosen, stages
from lowpass.kernels import KERNELS, SCORES
from lowpass.labels import VARIABLES
from lowpass.masks import MASKS
from lowpass.measures import MEASURES
from lowpass.plan import Plan
from lowpass.plan.sweep import STAGES
from lowpass.spec.config import Config, Section
from lowpass.starts import STARTS
from lowpass.weights import WEIGHTS

ROOT = Path(__file__).parents[2]
TEXT = as_text()
LINES = TEXT.splitlines()


def section(title: str) -> str:
    """Give the text below one heading, up to the next of its rank or above."""
    rank = len(title.partition(" ")[0])
    end = rf"(?=^#{{1,{rank}}} |\Z)"
    found = re.search(rf"^{re.escape(title)}\n(.*?){end}", TEXT, flags=re.M | re.S)
    assert found, title
    return found[1]


def rows(text: str) -> dict[str, list[str]]:
    """Read the tables of a text: the cells of each row by the name in its first."""
    lines = [re.split(r"(?<!\\)\|", line)[1:-1] for line in text.splitlines() if line[:1] == "|"]
    cells = [[cell.strip() for cell in line] for line in lines]
    return {first.strip("`"): rest for first, *rest in cells if first.startswith("`")}


# Laws.


def test_every_row_of_a_table_has_as_many_cells_as_its_head():
    tables = re.findall(r"(?:^\|.*\n)+", TEXT, flags=re.M)
    assert len(tables) > len(STAGES)
    for table in tables:
        assert len({len(re.split(r"(?<!\\)\|", line)) for line in table.splitlines()}) == 1, table


def test_every_row_has_a_meaning():
    assert [name for name, cells in rows(TEXT).items() if not cells[-1]] == []


@pytest.mark.parametrize("model", [Config, Section])
def test_every_part_of_a_file_has_a_row(model):
    told = rows(section("## The file") + section("## An experiment"))
    assert set(model.model_fields) <= set(told)


@pytest.mark.parametrize(
    ("stage", "name"), [(stage, name) for stage in CHOSEN for name in CHOSEN[stage].entries]
)
def test_every_parameter_of_a_generator_or_a_study_has_a_row(stage, name):
    text = section(f"### `{name}`")
    assert summary(CHOSEN[stage].entries[name]) in " ".join(text.split())
    assert {*chosen(stage)[name].fields} == {row for row in rows(text) if "." not in row}


@pytest.mark.parametrize("stage", [name for name in stages() if name != "spectra"])
def test_every_parameter_of_a_stage_has_a_row(stage):
    told = rows(section(f"## `{stage}`"))
    read = stages()[stage]
    assert {*read.fields} == {name for name in told if "." not in name}
    needed = {name for name, cells in told.items() if cells[1] == "*needed*" and "." not in name}
    assert needed == {*read.required}


@pytest.mark.parametrize(
    ("stage", "registry"),
    [("attention", each) for each in (KERNELS, SCORES, MASKS, WEIGHTS, STARTS)],
    ids=lambda each: getattr(each, "kind", each),
)
def test_every_entry_of_a_registry_has_a_line(stage, registry):
    text = section(f"## `{stage}`")
    for name in registry:
        assert f"\n- `{name}`: {summary(registry[name])}\n" in text


@pytest.mark.parametrize("measure", MEASURES)
def test_every_measure_has_its_name_and_what_it_is_for(measure):
    card = VARIABLES[measure]
    cells = rows(section("## `spectra`"))[measure]
    said = [cell.replace(r"\|", "|") for cell in cells[1:]]
    assert said == [card.long_name, ", ".join(card.dims), summary(MEASURES[measure])]
    assert cells[0].strip("$").replace(r"\vert{}", "|").replace(r"\Vert{}", r"\|") == card.symbol


def test_every_link_leads_somewhere():
    headings = [line.lstrip("# ") for line in LINES if line.startswith("#")]
    anchors = {re.sub(r"[^\w -]", "", each).lower().replace(" ", "-") for each in headings}
    links = re.findall(r"\]\(#([^)]+)\)", TEXT)
    assert links
    assert set(links) <= anchors


# What is particular.


def test_what_is_said_of_a_few_parameters():
    told = rows(section("## `attention`"))
    assert told["beta"][:1] == ["number ≥ 0"]
    assert told["depth"][:2] == ["whole number ≥ 1", "*needed*"]
    assert told["record"][:2] == ["`all`, `geometric` or list of whole numbers ≥ 0", "`geometric`"]
    assert told["arithmetic"][:2] == ["`split`, `float64` or `float32`", "`split`"]
    asked = rows(section("### `selection`"))
    assert asked["level"][:2] == ["number > 0 and < 1", "`0.95`"]
    assert asked["bandwidths.count"][:1] == ["whole number ≥ 3"]
    assert rows(section("### `two_levels`"))["contrast"][:2] == ["number > 0", "`0.5`"]
    assert "\nCannot be swept: `record`.\n" in section("## `attention`")
    assert "\nCannot stand under `inside`: `depth`.\n" in section("## `attention`")


def test_the_example_can_be_planned_and_shows_every_way_to_sweep():
    config = yaml.safe_load(EXAMPLE)
    assert EXAMPLE in TEXT
    plan = Plan(config["seed"], config["experiments"], "example", ROOT)
    assert set(plan.experiments) == set(config["experiments"])
    sections = config["experiments"].values()
    assert any("inside" in each for each in sections)
    assert any("zip" in each for each in sections)


def test_a_line_of_prose_fits_on_a_screen():
    prose = [line for line in LINES if line[:1] not in ("|", "-", " ")]
    assert max(map(len, prose)) <= 100
