"""A register that is complete, and leaves verdicts to measurements."""

import re
from dataclasses import FrozenInstanceError, asdict
from pathlib import Path

import pytest

from lowpass.claims.register import REGISTER, Statement

BIBLIOGRAPHY = Path(__file__).parents[2] / "workflow/paper/references.bib"
VERDICTS = r"\b(holds?|refuted|conditional(ly)?|asymptotic(ally)?|verdict|not examined|false)\b"
IDS = [
    *(f"A{i:02}" for i in range(1, 14)),
    *(f"B{i:02}" for i in range(1, 7)),
    "B06b",
    *(f"B{i:02}" for i in range(7, 21)),
    *(f"N{i:02}" for i in range(1, 11)),
    *(f"K{i:02}" for i in range(1, 12)),
    *(f"R{i:02}" for i in range(1, 13)),
]


@pytest.fixture(params=list(REGISTER))
def statement(request):
    return REGISTER[request.param]


@pytest.fixture(scope="module")
def keys():
    return set(re.findall(r"^@\w+\{(\w+),$", BIBLIOGRAPHY.read_text(), re.MULTILINE))


def test_every_statement_is_one_sentence(statement):
    assert statement.says.endswith(".")
    assert not re.search(r"\.\s", statement.says)


def test_what_is_written_is_plain_text(statement):
    """It is set by Typst, HTML and a terminal alike."""
    for text in asdict(statement).values():
        assert text == " ".join(text.split())
        assert not re.search(r"[#$*@~`\\{}<>]", re.sub(r" [<>] ", " ", text))
        # The one use of an underscore: projections by name.
        assert "_" not in re.sub(r"W_(QK|[QKV])", "", text)


def test_no_result_is_written_down(statement):
    """Results come from measurements; a decimal or a power of ten would be one."""
    for text in asdict(statement).values():
        assert not re.search(r"\d\.\d|\d[eE][-−+]?\d|\d\s*%|10[⁻⁰¹²³⁴-⁹]", text)


def test_no_verdict_is_written_down(statement):
    for text in asdict(statement).values():
        assert not re.search(VERDICTS, text)


def test_every_source_is_a_note_or_in_the_bibliography(statement, keys):
    for place in statement.source.split("; "):
        first, _, detail = place.partition(", ")
        note = re.fullmatch(r"note 1 \([12]\)|note 2|this paper", first)
        assert note or first in keys
        assert detail in ("", "tacitly", "theorem 1")


def test_a_repair_belongs_to_a_statement_that_is_not_ours_or_has_a_condition(statement):
    if statement.repaired:
        assert statement.condition or statement.source != "this paper"
        assert statement.repaired.endswith(".")
        assert statement.repaired != statement.says


def test_the_register_is_complete_and_in_order():
    assert list(REGISTER) == IDS


def test_no_two_entries_say_the_same():
    assert len({REGISTER[name].says for name in REGISTER}) == len(IDS)


def test_a_statement_cannot_be_changed():
    with pytest.raises(FrozenInstanceError, match="says"):
        REGISTER["A01"].says = "nothing"
    assert Statement("one", "One.", "this paper").condition == ""


def test_the_bibliography_has_each_key_once(keys):
    entries = re.findall(r"^@", BIBLIOGRAPHY.read_text(), re.MULTILINE)
    assert len(entries) == len(keys)


def test_what_the_code_cites_is_in_the_bibliography(keys):
    source = BIBLIOGRAPHY.parents[2] / "src"
    cited = {
        key
        for path in source.rglob("*.py")
        for key in re.findall(r"\.\. \[\d+\] ([a-z]+\d{4})", path.read_text(encoding="utf-8"))
    }
    assert len(cited) > 5
    assert cited <= set(keys)
