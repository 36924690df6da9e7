"""The file of expected results: read as it was written, or refused in one line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lowpass.registry import Refusal
from lowpass.verify import expected

CONTENT = {name: {} for name in expected.FIELDS if name not in ("schema", "values")}
CONTENT["values"] = "été"
CONTENT["numbers"] = {"slem": {"everywhere": {"middle": 0.5, "highest": "inf"}}}


@pytest.fixture
def file(tmp_path) -> Path:
    """Write what is expected of a product, in a folder that is new."""
    path = tmp_path / "expected" / "paper" / "dc-limit.json"
    expected.write({path: CONTENT})
    return path


def test_what_is_written_is_read(file):
    content = expected.read(file, "here")
    assert {name: content[name] for name in CONTENT} == CONTENT
    assert content["schema"] == expected.SCHEMA


def test_nothing_half_written_is_left(file):
    with pytest.raises(TypeError):
        expected.write({file: CONTENT, file.with_name("other.json"): {"numbers": object()}})
    assert [path.name for path in file.parent.iterdir()] == ["dc-limit.json"]
    assert expected.read(file, "here")["numbers"] == CONTENT["numbers"]


def test_every_number_has_a_line_and_names_ascend(file):
    text = file.read_text(encoding="utf-8")
    assert '    "highest": "inf",\n    "middle": 0.5\n' in text
    assert text.endswith("}\n")
    assert list(json.loads(text)) == sorted(json.loads(text))


def test_writing_again_gives_the_same_bytes(file):
    before = file.read_bytes()
    expected.write({file: dict(reversed(CONTENT.items()))})
    assert file.read_bytes() == before


def test_a_file_lies_beside_its_configuration():
    assert expected.folder_of(Path("a/b/mine.yaml")) == Path("a/b/expected/mine")


def test_strays_are_what_nobody_planned(file):
    assert expected.strays(file.parent, ["dc-limit"]) == []
    assert expected.strays(file.parent, ["nile"]) == [file]
    assert expected.strays(file.parent / "none", ["nile"]) == []


# Refusals.


def refusal(file: Path) -> str:
    with pytest.raises(Refusal) as caught:
        expected.read(file, "here.json")
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_file_that_is_not_there_is_refused(tmp_path):
    assert refusal(tmp_path / "none.json") == (
        "nothing is expected, since there is no here.json; "
        "take over the results that are there with --accept."
    )


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "7", "{}", '{"schema": 1}', '{"schema": 1, "seal": 3}']
)
def test_a_damaged_file_is_refused(text, file):
    file.write_text(text)
    assert refusal(file).startswith("here.json: holds no expected results (")


def test_a_file_that_is_no_text_is_refused(file):
    file.write_bytes(b"\xff\xfe")
    assert "so it was damaged; restore it, or take over" in refusal(file)


@pytest.mark.parametrize(("old", "new"), [("0.5", "0.6"), ('"code"', '"cord"'), ("{}", "{ }")])
def test_a_file_that_was_edited_is_refused(old, new, file):
    file.write_text(file.read_text(encoding="utf-8").replace(old, new, 1), encoding="utf-8")
    assert refusal(file) == (
        "here.json: was edited by hand, so it proves nothing; restore it, or "
        "take over the results that are there with --accept."
    )


def test_a_file_of_another_schema_is_refused(file, monkeypatch):
    monkeypatch.setattr(expected, "SCHEMA", 2)
    expected.write({file: CONTENT})
    monkeypatch.undo()
    assert refusal(file) == (
        "here.json: has the schema 2, and this code knows 1; use the code that it belongs to, "
        "or take over the results that are there with --accept."
    )


def test_a_sealed_file_that_lacks_something_is_refused(file):
    lacking = {name: value for name, value in CONTENT.items() if name != "numbers"}
    expected.write({file: lacking})
    assert "was edited by hand" in refusal(file)
