"""Code runs as its source stands, also where an edit left size and time as they were."""

from __future__ import annotations

import hashlib
import marshal
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from lowpass.loading import LENGTH

SOURCE = Path(__file__).parents[1] / "src" / "lowpass"
NUMBER = "import lowpass.domains; print(lowpass.domains.Index.__metadata__[0].ge)"
FRESH = "from lowpass.loading import import_from_source; import_from_source(); "


@pytest.fixture
def root(tmp_path) -> Path:
    """Copy the package, without compiled files."""
    unwanted = shutil.ignore_patterns("__pycache__")
    shutil.copytree(SOURCE, tmp_path / "lowpass", ignore=unwanted)
    return tmp_path


def python(
    root: Path, *arguments: str, compiling: bool = True, source: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run Python on the copy."""
    set_here = {
        "PYTHONPATH": str(source or root),
        "PYTHONDONTWRITEBYTECODE": "" if compiling else "1",
    }
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
    assert compiled == {"__init__", "loading"}


def test_modules_of_others_are_imported_as_ever(root):
    way = f"{FRESH}import yaml; print(yaml.__spec__.loader.__class__.__name__)"
    assert python(root, "-c", way).stdout.strip() == "SourceFileLoader"


# Compiled by this package, from the very text.


@pytest.fixture
def project(root) -> Path:
    """Place the package in a project, which keeps what was compiled."""
    (root / "src").mkdir()
    (root / "lowpass").rename(root / "src/lowpass")
    (root / "Snakefile").touch()
    return root


def compiled(project: Path) -> dict[str, bytes]:
    """Read what is kept."""
    folder = project / ".snakemake/lowpass-compiled"
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def number(project: Path) -> str:
    """Give the number, imported by this package's own way."""
    done = python(project, "-c", FRESH + NUMBER, source=project / "src")
    assert done.stderr == ""
    return done.stdout.strip()


def test_what_was_compiled_is_used_again(project):
    assert number(project) == "0"
    first = compiled(project)
    assert "lowpass.domains.bin" in first
    # What is kept is what runs, which shows where it is not what would be compiled.
    path = project / ".snakemake/lowpass-compiled/lowpass.domains.bin"
    held = path.read_bytes()
    other = marshal.dumps(compile("import os; os._exit(3)", "here", "exec"))
    path.write_bytes(held[:LENGTH] + hashlib.sha256(other).digest() + other)
    assert python(project, "-c", FRESH + NUMBER, source=project / "src").returncode == 3


def test_an_edit_of_the_same_size_and_time_is_run(project):
    number(project)
    path = project / "src/lowpass/domains.py"
    edit_unseen(path, "Index = Annotated[int, Ge(0)", "Index = Annotated[int, Ge(7)")
    assert number(project) == "7"
    edit_unseen(path, "Index = Annotated[int, Ge(7)", "Index = Annotated[int, Ge(0)")
    assert number(project) == "0"


@pytest.mark.parametrize("damage", ["emptied", "cut", "changed"])
def test_what_was_damaged_is_compiled_anew(damage, project):
    assert number(project) == "0"
    path = project / ".snakemake/lowpass-compiled/lowpass.domains.bin"
    whole = path.read_bytes()
    damaged = {"emptied": b"", "cut": whole[:-1], "changed": whole[:-1] + b"~"}[damage]
    path.write_bytes(damaged)
    assert number(project) == "0"
    assert path.read_bytes() == whole


def test_what_another_place_compiled_is_not_believed(project, tmp_path):
    number(project)
    moved = shutil.copytree(project, tmp_path / "moved", ignore=shutil.ignore_patterns("moved"))
    way = f"{FRESH}from lowpass.registry import did_you_mean as f; print(f.__code__.co_filename)"
    said = python(moved, "-c", way, source=moved / "src").stdout.strip()
    assert said == str(moved / "src/lowpass/registry.py")


def test_a_folder_in_the_way_changes_nothing(project):
    (project / ".snakemake").write_text("a file")
    assert number(project) == "0"


def test_outside_a_project_nothing_is_kept(root):
    assert python(root, "-c", FRESH + NUMBER).stdout.strip() == "0"
    assert not (root.parent / ".snakemake").exists()
