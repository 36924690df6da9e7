"""Notes of Snakemake, read as Snakemake itself writes them."""

from __future__ import annotations

import pytest
from snakemake.persistence import RECORD_FORMAT_VERSION, MetadataRecord
from snakemake.persistence.file import FilePersistence

from lowpass.memory import Memory

RECIPE = {"stage": "data", "params": {"n_tokens": 8}}
TEXT = '{"params":{"n_tokens":8},"stage":"data"}'
CODE = "0123456789abcdef"
SHORT = "results/data/x~0123456789ab.nc"
# Its note's name does not fit into one name of a file.
LONG = f"results/data/{'ümlaut ' * 30}~0123456789ab.nc"


@pytest.fixture
def persistence(tmp_path) -> FilePersistence:
    """Let Snakemake keep notes in a folder."""
    return FilePersistence(path=tmp_path / ".snakemake")


def note(**changes) -> MetadataRecord:
    """Compose a note."""
    said = {
        "params": sorted([repr(CODE), repr(TEXT)]),
        "input": ["a", "b"],
        "input_checksums": {"a": "sha256:1"},
        "code": "python {input}",
        "record_format_version": RECORD_FORMAT_VERSION,
    }
    return MetadataRecord(**(said | changes))


@pytest.mark.parametrize("path", [SHORT, LONG])
def test_what_was_asked_is_recalled(path, persistence, tmp_path):
    persistence._write_record(path, note())
    memory = Memory(tmp_path)
    found = memory.of(path)
    assert memory.paths == {path}
    assert found is not None
    assert (found.recipe, found.code) == (RECIPE, CODE)
    assert found.params == {repr(CODE), repr(TEXT)}
    assert (found.inputs, found.checksums) == (("a", "b"), {"a": "sha256:1"})
    assert found.command == "python {input}"


@pytest.mark.parametrize("path", [SHORT, LONG])
def test_a_job_that_began_and_did_not_end_is_seen(path, persistence, tmp_path):
    persistence._mark_incomplete(path, None)
    assert Memory(tmp_path).unfinished == {path}
    persistence._unmark_incomplete(path)
    assert Memory(tmp_path).unfinished == set()


def test_a_job_without_code_or_recipe_has_none(persistence, tmp_path):
    persistence._write_record(SHORT, note(params=["3", repr("[1"), "'x'"]))
    found = Memory(tmp_path).of(SHORT)
    assert found is not None
    assert (found.recipe, found.code) == (None, None)


def test_nothing_is_known_where_snakemake_never_ran(tmp_path):
    memory = Memory(tmp_path)
    assert memory.of(SHORT) is None
    assert memory.paths == memory.unfinished == set()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("text", ["", "{", "[]", '{"params": []}', "null"])
def test_a_note_that_is_just_being_written_is_not_known(text, persistence, tmp_path):
    persistence._write_record(SHORT, note())
    (path,) = (tmp_path / ".snakemake/metadata").iterdir()
    path.write_text(text)
    assert Memory(tmp_path).of(SHORT) is None


def test_notes_of_an_older_form_hold_nothing_to_rely_on(persistence, tmp_path):
    persistence._write_record(SHORT, note(record_format_version=RECORD_FORMAT_VERSION - 1))
    assert Memory(tmp_path).of(SHORT) is None


def test_a_file_that_is_no_note_is_passed_over(persistence, tmp_path):
    persistence._write_record(SHORT, note())
    (tmp_path / ".snakemake/incomplete/migration_underway").touch()
    (tmp_path / ".snakemake/metadata/no note").touch()
    memory = Memory(tmp_path)
    assert (memory.paths, memory.unfinished) == ({SHORT}, set())
