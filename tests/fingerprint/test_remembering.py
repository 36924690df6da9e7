"""What one process found of the code, another believes only of the very same sources."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

import lowpass.fingerprint
from lowpass.fingerprint import Code
from lowpass.fingerprint.closure import Search
from lowpass.plan import Plan
from lowpass.plan.code import code_of
from lowpass.plan.complete import complete
from lowpass.plan.roots import names_of, roots_of
from lowpass.registry import Refusal

from .harness import write_package

ROOT = ["lowpass.s:main"]
TEXT = """
    @REG
    @KERNELS.add('a')
    def a():
        return 1
    @KERNELS.add('b')
    def b():
        return 2
    def main(n):
        return KERNELS[n]
    """
SECTION = {
    "why": "To see one.",
    "replicates": 2,
    "data": {"generator": "gaussian", "n_tokens": 8, "d_model": 2},
    "attention": {"beta": 1, "depth": 2},
    "spectra": ["log10_hc_dc_ratio"],
}


@pytest.fixture
def package(tmp_path):
    return write_package(tmp_path / "package", TEXT).root


@pytest.fixture
def memory(tmp_path):
    return tmp_path / "memory"


@pytest.fixture
def analyses(monkeypatch):
    """Count how often sources are analysed, none of them known from an earlier test."""
    counted, analyse = [], Search.__init__
    monkeypatch.setattr(
        Search, "__init__", lambda self, index: (counted.append(1), analyse(self, index))[1]
    )
    lowpass.fingerprint._analysed.cache_clear()
    return counted


def closures(root: Path, memory: Path | None) -> list:
    """Find two closures as a new process does, which has nothing analysed yet."""
    lowpass.fingerprint._analysed.cache_clear()
    code = Code.read(root, memory=memory)
    return [code.closure(ROOT, {name, "unknown"}) for name in "ab"]


def edit(root: Path, old: str, new: str) -> None:
    text = (root / "lowpass/s.py").read_text()
    assert text.count(old) == 1
    (root / "lowpass/s.py").write_text(text.replace(old, new))


def test_what_is_remembered_is_what_would_be_found(package, memory):
    found = closures(package, None)
    assert closures(package, memory) == closures(package, memory) == found
    assert found[0] != found[1]


def test_the_same_sources_are_analysed_once(package, memory, analyses):
    for _ in range(3):
        closures(package, memory)
    assert len(analyses) == 1
    closures(package, None)
    assert len(analyses) == 2


@pytest.mark.parametrize(
    ("old", "new"), [("return 1", "return 3"), ("    return 2", "    # Why.\n    return 2")]
)
def test_of_edited_sources_nothing_is_remembered(package, memory, analyses, old, new):
    before = closures(package, memory)
    edit(package, old, new)
    after = closures(package, memory)
    assert len(analyses) == 2
    assert after == closures(package, None)
    assert (after == before) is ("# Why." in new)


def test_a_file_that_is_new_or_moved_is_an_edit(package, memory, analyses):
    closures(package, memory)
    (package / "lowpass/t.py").write_text("x = 1\n")
    closures(package, memory)
    (package / "lowpass/t.py").rename(package / "lowpass/u.py")
    closures(package, memory)
    assert len(analyses) == 3


def test_another_python_finds_anew(package, memory, analyses, monkeypatch):
    closures(package, memory)
    monkeypatch.setattr(sys, "version", "3.99.0 (main)")
    closures(package, memory)
    assert len(analyses) == 2


def test_only_the_last_state_of_the_sources_is_kept(package, memory):
    closures(package, memory)
    (first,) = memory.iterdir()
    edit(package, "return 1", "return 3")
    closures(package, memory)
    (second,) = memory.iterdir()
    assert first != second


@pytest.mark.parametrize("damage", [b"", b"\xff", b'0\n{"answer": []}', None])
def test_a_damaged_answer_is_found_anew(package, memory, damage):
    found = closures(package, memory)
    kept = {path: path.read_bytes() for path in memory.rglob("*.json")}
    assert len(kept) == 3
    for path, content in kept.items():
        path.write_bytes(content.replace(b"lowpass", b"LOWPASS") if damage is None else damage)
    assert closures(package, memory) == found
    assert {path: path.read_bytes() for path in memory.rglob("*.json")} == kept


def test_a_folder_that_cannot_be_written_changes_nothing(package, memory):
    memory.write_text("a file is in the way")
    assert closures(package, memory) == closures(package, None)


def test_a_refusal_is_not_remembered(package, memory):
    edit(package, "return 1", "return eval('1')")
    for _ in range(2):
        with pytest.raises(Refusal, match="eval"):
            closures(package, memory)


def test_sources_that_are_no_python_are_refused_at_once(package, memory):
    (package / "lowpass/s.py").write_text("def main(:\n")
    for folder in (memory, None):
        with pytest.raises(Refusal, match="correct the syntax"):
            Code.read(package, memory=folder)


def test_the_project_remembers_its_own_code(tmp_path):
    shutil.copytree(Path(lowpass.fingerprint.__file__).parents[2], tmp_path / "src")
    fresh = Code.read(tmp_path / "src")
    code_of(tmp_path)
    for point in Plan(0, {"one": SECTION}, "here", tmp_path):
        roots, names = (
            roots_of(point.recipe).definitions,
            set(names_of(point.stage, complete(point.recipe))),
        )
        first, again = (code_of(tmp_path).closure(roots, names) for _ in range(2))
        assert first == again == fresh.closure(roots, names)
