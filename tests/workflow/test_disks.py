"""Disks that are full or can only be read: one line, nothing half-written, and on from there."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from lowpass.usage import read

from ..disks import Disk, disk, obeying
from .project import NOTHING, Project, jobs_in, succeeded, told

LARGE = 300_000  # A figure in four forms or a deep trajectory needs more, most products less.


@pytest.fixture
def small(finished: Project, tmp_path: Path) -> Iterator[Disk]:
    """Copy the finished run with its results on a disk of their own."""
    project = finished.copy(tmp_path / "project")
    shutil.rmtree(project.root / "results")
    with disk(project.root / "results", "30m") as results:
        shutil.copytree(finished.root / "results", results.path, dirs_exist_ok=True)
        yield results


def project_on(results: Disk) -> Project:
    """Give the project whose results lie on a disk."""
    root = results.place.parent
    return Project(results.seen(root), results.inside(root))


def test_a_full_disk_ends_a_run_in_lines_and_room_lets_it_go_on(finished, small):
    project, whole = project_on(small), finished.bytes_of()
    deep = project.products("attention", "nc")[1:3]
    gone = project.unmake(*deep, *project.root.glob("results/figures/nile~*"))
    filling = small.fill(left=LARGE)
    finished_run = project.snakemake("dc-limit", "nile", "--keep-going")
    assert finished_run.returncode == 1
    full = r"lowpass: (results/\S+): the disk is full \(No space left on device\)\. Free some space"
    named = {match[1] for match in re.finditer(full, finished_run.stderr)}
    assert {Path(name).parent.name for name in named} == {"attention", "figures"}
    # One line is all that a job says: how it failed, or what it used.
    logs = [path.read_text(encoding="utf-8") for path in project.root.glob("logs/*/*.log")]
    refused = sorted(log for log in logs if log and not read(log))
    assert refused == sorted(f"{line}\n" for line in told(finished_run.stderr))
    assert all(log.count("\n") <= 1 for log in logs)
    assert len(named) == 3
    filling.unlink()
    assert project.bytes_of() == {name: whole[name] for name in whole if name not in gone}
    project.run("dc-limit", "nile")
    made = project.bytes_of()
    assert made == {name: whole[name] for name in made}
    assert named < {*made}
    assert project.plan("dc-limit", "nile") == NOTHING


def test_results_that_can_only_be_read_are_refused_before_anything_starts(finished, small):
    project, whole = project_on(small), finished.bytes_of()
    (figure,) = project.root.glob("results/figures/nile~*.png")
    small.remount("ro")
    assert jobs_in(succeeded(project.snakemake())) == NOTHING
    small.remount("rw")
    gone = project.unmake(figure)
    small.remount("ro")
    refused = project.snakemake("nile", "--quiet", "all")
    assert refused.returncode == 1
    assert told(refused.stderr) == [
        "lowpass: results/figures: the disk can only be read (Read-only file system). "
        "Make it writable, and run again."
    ]
    assert project.bytes_of() == {name: whole[name] for name in whole if name not in gone}
    small.remount("rw")
    assert project.run("nile") == {"figure": 1, "nile": 1}
    made = {name for name in gone if name.startswith("results/figures/nile~")}
    assert project.bytes_of() == {n: whole[n] for n in whole if n not in gone or n in made}


def test_results_that_this_user_may_not_change_are_refused_before_anything_starts(project):
    (figure,) = project.root.glob("results/figures/nile~*.png")
    figure.unlink()
    figure.parent.chmod(0o555)
    try:
        refused = Project(project.root, obeying()).snakemake("nile", "--quiet", "all")
    finally:
        figure.parent.chmod(0o755)
    assert refused.returncode == 1
    assert told(refused.stderr) == [
        "lowpass: results/figures: this user may not do that (Permission denied). "
        "Change the rights of the file or its folder, and run again."
    ]


@pytest.mark.parametrize("options", ["ro", "size=64k"])
def test_without_room_for_notes_nothing_is_started(options, project):
    with disk(project.root / ".snakemake", "2m") as notes:
        root = project.root
        notes.remount(options)
        refused = Project(notes.seen(root), notes.inside(root)).snakemake("--quiet", "all")
    assert refused.returncode == 1
    # An empty folder of notes is told first: nothing there remembers what was made.
    *_, line = told(refused.stderr)
    assert re.match(
        r"lowpass: \.snakemake: the disk can only be read"
        if options == "ro"
        else r"lowpass: \.snakemake/lowpass-run: the disk is full",
        line,
    )
