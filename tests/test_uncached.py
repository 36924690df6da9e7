"""Code runs as its source stands, also where an edit left size and time as they were."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "lowpass"
NUMBER = "import lowpass.domains; print(lowpass.domains.Index.__metadata__[0].ge)"
FRESH = "from lowpass.uncached import import_from_source; import_from_source(); "


@pytest.fixture
def root(tmp_path) -> Path:
    """Copy the package, without compiled files."""
    unwanted = shutil.ignore_patterns("__pycache__")
    shutil.copytree(SOURCE, tmp_path / "lowpass", ignore=unwanted)
    return tmp_path


def python(root: Path, *arguments: str, compiling: bool = True) -> subprocess.CompletedProcess[str]:
    """Run Python on the copy."""
    set_here = {"PYTHONPATH": str(root), "PYTHONDONTWRITEBYTECODE": "" if compiling else "1"}
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=root,
        env={**os.environ, **set_here},
        capture_output=True,
        text=True,
        check=False,
    )


def edit_unseen(path: Path, old: str, new: str) -> None:
    """Edit a file without changing its size or its time."""
    before = path.stat()
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1
    assert len(old) == len(new)
    path.write_text(text.replace(old, new), encoding="utf-8")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


@pytest.mark.parametrize(("way", "number"), [(NUMBER, "0"), (FRESH + NUMBER, "7")])
def test_python_trusts_a_compiled_file_and_this_package_does_not(way, number, root):
    """The first case is the trap: were it to close, the second would show nothing."""
    python(root, "-m", "compileall", "-q", "lowpass")
    edit_unseen(
        root / "lowpass/domains.py", "Index = Annotated[int, Ge(0)", "Index = Annotated[int, Ge(7)"
    )
    assert python(root, "-c", way).stdout.strip() == number


def test_the_command_line_runs_its_source(root):
    python(root, "-m", "compileall", "-q", "lowpass")
    edit_unseen(root / "lowpass/trace.py", "give a path, or", "GIVE a path, or")
    assert "GIVE a path, or" in python(root, "-m", "lowpass", "trace", "x").stderr


def test_nothing_is_compiled_beside_the_source(root):
    assert python(root, "-c", FRESH + NUMBER, compiling=False).stdout.strip() == "0"
    assert list(root.rglob("*.pyc")) == []
    python(root, "-c", FRESH + NUMBER)
    compiled = {path.name.partition(".")[0] for path in root.rglob("*.pyc")}
    assert compiled == {"__init__", "uncached"}


def test_modules_of_others_are_imported_as_ever(root):
    way = f"{FRESH}import yaml; print(yaml.__spec__.loader.__class__.__name__)"
    assert python(root, "-c", way).stdout.strip() == "SourceFileLoader"
