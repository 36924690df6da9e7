"""Two clean runs of real Snakemake that agree byte for byte, whoever ran them and where."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from .project import NOTHING, Finished, Project, jobs_in, succeeded

SNAKEMAKE = Path(sys.executable).parent / "snakemake"
# What of the environment belongs to the machine: which instructions its BLAS chooses.
MACHINE = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")
LONG = "a folder whose path is long, and has spaces and ümlauts in it/" * 2


def other(name: str, *options: str) -> str:
    """Choose a value that this test run does not have."""
    return next(option for option in options if option != os.environ.get(name))


def bare(project: Project, *arguments: str, **env: str) -> Finished:
    """Type the path of Snakemake after ``env -i``: there is no PATH, and little else."""
    machine = {name: os.environ[name] for name in MACHINE if name in os.environ}
    return subprocess.run(
        [SNAKEMAKE, *arguments],
        cwd=project.root,
        env={**machine, **env},
        umask=0o077,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
    )


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory) -> Project:
    """Run the workflow as somebody else would, on one core and in another place."""
    folder = tmp_path_factory.mktemp("elsewhere")
    project = Project.checkout(folder / LONG / "project")
    (folder / "home").mkdir()
    finished = bare(
        project,
        "--cores",
        "1",
        PYTHONHASHSEED=other("PYTHONHASHSEED", "1", "2"),
        TZ=other("TZ", "Pacific/Kiritimati", "America/Lima"),
        HOME=str(folder / "home"),
        LC_ALL=other("LC_ALL", "C", "C.UTF-8"),
    )
    succeeded(finished)
    return project


def test_two_clean_runs_give_the_same_files(finished, elsewhere):
    names = [sorted(each.bytes_of()) for each in (finished, elsewhere)]
    assert names[0] == names[1]
    suffixes = Counter(Path(name).suffix for name in names[0])
    assert {*suffixes} == {".nc", ".json", ".svg", ".png", ".pdf"}


@pytest.mark.parametrize("suffix", [".nc", ".json", ".svg", ".png", ".pdf"])
def test_two_clean_runs_give_the_same_bytes(suffix, finished, elsewhere):
    """Hash seed, time zone, home, umask, locale, cores and the length of the path differ."""
    one, two = (each.bytes_of() for each in (finished, elsewhere))
    assert [name for name in one if name.endswith(suffix) and one[name] != two[name]] == []


def test_without_an_environment_a_finished_run_has_nothing_to_do(finished):
    said = succeeded(bare(finished, "--dry-run"))
    assert jobs_in(said) == NOTHING


def test_nothing_half_written_is_left(finished, elsewhere):
    for project in (finished, elsewhere):
        assert [*project.root.rglob("*.part")] == []
        assert {*os.listdir(project.root)} == {
            *(".snakemake", "logs", "results"),
            *("Makefile", "Snakefile", "config", "profiles", "src", "workflow"),
        }


def test_no_product_tells_where_it_was_made(finished, elsewhere):
    for project in (finished, elsewhere):
        secrets = [str(project.root), socket.gethostname(), str(Path.home())]
        for name, content in project.bytes_of().items():
            for secret in filter(lambda each: len(each) > 5, secrets):
                assert secret.encode() not in content, f"{name} tells {secret}"
