"""What texts quote: every name stands for something, and no result is written by hand."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

import lowpass.figures.gallery  # noqa: F401  (registers the figures)
from lowpass.claims.register import REGISTER
from lowpass.figures.names import FIGURES
from lowpass.paper.quoting import counts, fill, flattened, quotable, sources
from lowpass.registry import Refusal
from lowpass.whole import texts

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "workflow" / "paper"
TEMPLATE = {name: (FOLDER / name).read_text() for name in texts(ROOT) if name.endswith(".typ")}
SECTIONS = {name: text for name, text in TEMPLATE.items() if name.startswith("sections/")}
SECTION = r"^  \"?([\w-]+)\"?: \(\s*heading:"
KEYS = re.findall(r"^@\w+\{([^,]+),", (FOLDER / "references.bib").read_text(), re.MULTILINE)
CLAIM = {
    "verdict": "conditional",
    "as_written": 0.5000000000000002,
    "under_condition": 7.857e-16,
    "trend": None,
    "tolerance": 1e-9,
    "numbers": {"slem": {"value": 0.60634, "low": 0.55339, "high": 0.66206}},
}
NOT_EXAMINED = {"verdict": "not examined"}
# A result is a decimal, a power of ten below one, or a count of two digits and more.
RESULT = re.compile(r"\d\.\d|\d[eE][-−+]?\d|10⁻|10\^\(?[-−]|\b\d{2,}\b")
LENGTH = re.compile(r"\b\d+(?:\.\d+)?(?:pt|in|em|fr|%)")
# What is no result: units, the base of a logarithm, numberings, paper, and a length of a table.
DEFINED = ("$10^8 thin upright(m)^3$", "log_10", '"1.1"', '"A.1"', "let most = 24")


def results_by_hand(text: str) -> list[str]:
    """Find what looks like a result."""
    return [found[0] for found in RESULT.finditer(text)]


def words_of(template: str) -> str:
    """Leave comments, lengths, colours, definitions and strings of scripts out of a template."""
    for definition in DEFINED:
        template = template.replace(definition, "")
    template = re.sub(r"^\s*//.*|rgb\(.*?\)|@\w+|\"[^\"\s]*\"\.clusters\(\)", "", template,
                      flags=re.MULTILINE)  # fmt: skip
    return LENGTH.sub("", template)


def registered() -> Iterator[tuple[str, str]]:
    """List every text of the registries that the paper prints."""
    for claim in REGISTER:
        for name in ("says", "condition", "repaired"):
            yield f"{claim}.{name}", getattr(REGISTER[claim], name)
    for figure in FIGURES:
        yield figure, FIGURES.facts(figure)["caption"]


@pytest.mark.parametrize("claim", REGISTER)
def test_the_sources_of_a_statement_are_in_the_bibliography(claim):
    parts = sources(REGISTER[claim].source, KEYS)
    said = [f"{p['cite']}, {p['words']}".strip(", ") if "cite" in p else p["words"] for p in parts]
    assert "; ".join(said) == REGISTER[claim].source


@pytest.mark.parametrize(("name", "text"), list(registered()), ids=lambda value: str(value)[:12])
def test_no_registered_text_holds_a_result(name, text):
    # The years and exponents of a statement are what it says, and no result.
    spoken = re.sub(r"\b(?:19|20)\d\d\b", "", text)
    assert results_by_hand(spoken) == [], name


@pytest.mark.parametrize("name", sorted(TEMPLATE))
def test_the_template_holds_no_result(name):
    assert results_by_hand(words_of(TEMPLATE[name])) == []


@pytest.mark.parametrize(
    "smuggled",
    ["falls to 0.61", "off by 1e-16", "below 10⁻¹⁶", "below $10^(-16)$", "after 400 layers"],
)
def test_a_result_in_the_words_would_be_noticed(smuggled):
    template = TEMPLATE["paper.typ"]
    assert results_by_hand(words_of(template.replace("= Method", f"{smuggled}\n\n= Method")))


def test_every_statement_the_template_names_is_registered():
    named = set(re.findall(r"\"([A-Z]\d\d[a-z]?)(?:\.\w+)?\"", "".join(TEMPLATE.values())))
    assert {"A03", "A05", "N01"} <= named <= set(REGISTER)


def test_every_theme_has_its_place_in_the_paper():
    (listed,) = re.findall(r"^#let themes = \((.*?)\)$", TEMPLATE["paper.typ"], re.M | re.S)
    themes = re.findall(r"\"(\w+)\"", listed)
    assert sorted(f"sections/{theme}.typ" for theme in themes) == sorted(SECTIONS)


def test_every_section_is_of_one_experiment_of_the_paper():
    told = [name for text in SECTIONS.values() for name in re.findall(SECTION, text, re.M)]
    config = yaml.safe_load((ROOT / "config/paper.yaml").read_text(encoding="utf-8"))
    assert len(told) == len(set(told)) > 0
    assert set(told) <= set(config["experiments"])


def test_numbers_are_quoted_as_printed():
    known = quotable({"A05": CLAIM}, {"trial": {"attention": {"beta": [1.0, 3.0]}}})
    assert known["A05.slem"] == "0.606 [0.553, 0.662]"
    assert known["A05.under_condition"] == "7.9×10⁻¹⁶"
    assert known["A05.tolerance"] == "10⁻⁹"
    assert known["trial.attention.beta"] == "1, 3"
    assert "A05.trend" not in known


def test_verdicts_add_up_to_all_statements():
    found = counts({"A01": CLAIM, "A02": NOT_EXAMINED, "A03": {"verdict": "holds"}})
    assert (found["statements"], found["examined"], found["refuted"]) == (3, 2, 0)
    assert found["holds"] + found["conditional"] + found["not examined"] == 3


def test_the_parameters_of_a_section_have_paths():
    section = {"replicates": 2, "zip": {"case": {"label": ["a", "b"], "data.n_tokens": [2, 4]}}}
    assert dict(flattened(section)) == {
        "replicates": "2",
        "zip.case.label": "a, b",
        "zip.case.data.n_tokens": "2, 4",
    }


def test_a_quoted_number_stands_in_the_text():
    assert fill("|λ₂| is {A05.slem}.", {"A05.slem": "0.61"}, "here") == "|λ₂| is 0.61."


def test_a_quote_that_stands_for_nothing_is_refused():
    known = quotable({"A05": CLAIM}, {})
    with pytest.raises(
        Refusal, match=r"^figure 'decay': the text quotes \{A05\.slam\}.*did you mean 'A05\.slem'"
    ):
        fill("|λ₂| is {A05.slam}.", known, "figure 'decay'")


def test_a_source_outside_the_bibliography_is_refused():
    with pytest.raises(Refusal, match=r"no 'wang2002'; did you mean 'wang2022'.*references\.bib"):
        sources("note 1 (1); wang2002, theorem 1", KEYS)
