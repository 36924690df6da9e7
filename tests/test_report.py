"""What the report's pages are told: where figures stand, their labels, and text as HTML."""

from __future__ import annotations

import html
import logging
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import lowpass.figures.gallery  # noqa: F401  (registers the figures)
from lowpass.claims.register import REGISTER
from lowpass.figures.names import FIGURES
from lowpass.figures.palette import NIGHT, PAPER
from lowpass.figures.typesetting import SUBSCRIPTS, SUPERSCRIPTS
from lowpass.plan import Plan
from lowpass.report import FORGOTTEN, LISTED, Forgetting, as_html, labels, section, sections_of
from lowpass.whole import whole_plan

from .configurations import ROOT

TAG = re.compile(r"</?su[bp]>")
SHEET = (ROOT / "workflow/report/report.css").read_text(encoding="utf-8")


@pytest.fixture(scope="module", params=["config/paper.yaml", "config/smoke.yaml"])
def plan(request) -> Plan:
    return whole_plan(ROOT / request.param, request.param, ROOT)


def figures(plan: Plan) -> list:
    return [point for point in plan if point.stage == "figures"]


# Where a figure stands.


def test_every_figure_is_labelled_by_a_name_of_its_own(plan):
    named = [labels(figure, plan.experiments)["figure"] for figure in figures(plan)]
    assert len(set(named)) == len(named) > 0


def test_figures_of_a_section_differ_in_their_names_only(plan):
    """A second label with two values would turn two figures into one with a switch."""
    beside: dict[str, dict[str, str]] = {}
    for figure in figures(plan):
        told = labels(figure, plan.experiments)
        del told["figure"]
        assert beside.setdefault(section(figure), told) == told


def test_labels_are_the_swept_parameters_of_the_experiment(plan):
    by_name = {figure.slug: figure for figure in figures(plan)}
    told = {name: labels(by_name[name], plan.experiments) for name in by_name}
    assert set(told["decay"]) == {"figure", "beta", "arithmetic"}
    assert told["decay"]["arithmetic"] == "float32, float64, split"
    assert told["counterexamples"]["case"] == "no mean, second mode, two blocks, two-cycle"
    assert told["verdicts"] == {"figure": "verdicts"}


def test_a_long_sweep_is_told_by_its_ends():
    sections = {
        "dc-limit": {
            "data": {"generator": "gaussian", "n_tokens": 4, "d_model": 2},
            "attention": {"beta": [i / 4 for i in range(1, LISTED + 2)], "depth": 2},
            "spectra": ["slem"],
            "replicates": 1,
        }
    }
    plan = Plan(7, sections, "here", ROOT)
    figure = plan.add("figures", "decay", {"figure": "decay"}, (plan.experiments["dc-limit"],))
    assert labels(figure, plan.experiments)["beta"] == "0.25 … 2.25 (9 values)"


def test_sections_begin_with_those_of_no_experiment_and_lose_no_figure():
    told = [{"name": name, "section": name[0]} for name in ("b1", "c1", "a1", "b2")]
    experiments = {name: {"why": f"{name.upper()}."} for name in "abd"}
    found = sections_of({"figures": told, "experiments": experiments})
    assert [each["name"] for each in found] == ["c", "a", "b", "d"]
    assert [each["why"] for each in found] == ["", "A.", "B.", "D."]
    assert [f["name"] for each in found for f in each["figures"]] == ["c1", "a1", "b1", "b2"]


# Text.


@given(st.text())
def test_no_text_can_open_a_tag_of_its_own(text):
    assert not set("<>\"'") & set(TAG.sub("", as_html(text)))


@given(st.text(alphabet=st.characters(exclude_characters=SUPERSCRIPTS + SUBSCRIPTS + "_^")))
def test_a_browser_shows_plain_text_as_it_is(text):
    assert html.unescape(as_html(text)) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("|λ₂|ᵗ", "|λ<sub>2</sub>|<sup>t</sup>"),
        ("10⁻¹³", "10<sup>−13</sup>"),
        ("Pᵢⱼ < 1", "P<sub>ij</sub> &lt; 1"),
        ("‖W_V‖ and log10_ratio", "‖W<sub>V</sub>‖ and log10_ratio"),
        ("n^(−2/(d + 4))", "n<sup>−2/(d + 4)</sup>"),
    ],
)
def test_scripts_are_raised_and_lowered(text, shown):
    assert as_html(text) == shown


def test_every_text_of_plain_data_is_turned_and_all_else_is_kept():
    data = {"a": ["<", {"b": "&"}], "c": None, "d": 1.5, "e": True}
    assert as_html(data) == {"a": ["&lt;", {"b": "&amp;"}], "c": None, "d": 1.5, "e": True}


def test_nothing_that_is_registered_keeps_a_script_that_fonts_may_lack():
    texts = [facts["caption"] for facts in map(FIGURES.facts, FIGURES)]
    texts += [text for claim in REGISTER for text in vars(REGISTER[claim]).values()]
    for text in texts:
        assert not set(as_html(text)) & set(SUPERSCRIPTS + SUBSCRIPTS + "^")


# The look.


@pytest.mark.parametrize(("palette", "block"), [(PAPER, 0), (NIGHT, 1)])
def test_colours_are_those_of_the_figures(palette, block):
    roots = re.findall(r":root \{(.*?)\}", SHEET, flags=re.S)
    assert len(roots) == 2
    stated = dict(re.findall(r"--(\w+): (#\w+);", roots[block]))
    assert stated == {name: getattr(palette, name) for name in stated}
    assert set(stated) == {"ground", "ink", "quiet", "faint", "holds", "fails"}


def test_beside_its_variables_the_style_names_no_colour_but_the_ground_of_a_figure():
    rules = re.sub(r":root \{.*?\}", "", SHEET, flags=re.S)
    assert set(re.findall(r"#[0-9A-Fa-f]{3,8}\b(?=[^{}]*\})", rules)) == {PAPER.ground}


# What Snakemake forgot.


def test_what_snakemake_forgot_is_said_once(caplog):
    logger = logging.getLogger("a logger of this test")
    logger.addFilter(Forgetting())
    for name in ("one", "two"):
        logger.warning(f"{FORGOTTEN} {name}. Maybe it was deleted.")
        logger.warning("Another warning about %s.", name)
    said = [record.getMessage() for record in caplog.records]
    assert said[1:] == ["Another warning about one.", "Another warning about two."]
    assert re.fullmatch(r"lowpass: \.snakemake/ no longer knows when .* run again\.", said[0])


def test_snakemake_still_says_what_is_replaced():
    import snakemake.report

    assert f'"{FORGOTTEN} {{}}.' in Path(snakemake.report.__file__).read_text(encoding="utf-8")
