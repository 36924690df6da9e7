"""The command that writes down what a configuration may say."""

from __future__ import annotations

from pathlib import Path

import pytest

from lowpass import __main__ as command_line
from lowpass.commands import describe

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", [describe.SCHEMA, describe.PAGE])
def test_what_a_configuration_may_say_is_written_down_as_the_code_has_it(name):
    """It was written by another process, so nothing depends on the order of a set."""
    written = (ROOT / name).read_text(encoding="utf-8")
    assert written == describe.documents()[name], f"{name} is not current; type: make describe"


def test_the_command_writes_what_is_missing_or_old_and_nothing_else(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr("lowpass.project.ROOT", tmp_path)
    assert command_line.main(["describe"]) == 0
    assert capsys.readouterr().out == f"{describe.SCHEMA}: written\n{describe.PAGE}: written\n"
    for name, text in describe.documents().items():
        assert (tmp_path / name).read_text(encoding="utf-8") == text
    (tmp_path / describe.PAGE).write_text("old")
    kept = (tmp_path / describe.SCHEMA).stat()
    assert command_line.main(["describe"]) == 0
    assert capsys.readouterr().out == f"{describe.SCHEMA}: is current\n{describe.PAGE}: written\n"
    assert (tmp_path / describe.SCHEMA).stat() == kept
    assert sorted(path.name for path in tmp_path.rglob("*.*")) == [
        "README.md",
        "config.schema.json",
    ]
