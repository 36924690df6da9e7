"""What cannot be sent, said in one line before anything is."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from .runs import PROFILE, Run
from .slurm import ACCOUNT, PARTITION

TARGET = "identities"


def refused(run: Run) -> str:
    """Give the one line that a run says, which sends nothing and writes nothing."""
    run.end(minutes=3)
    assert run.process.returncode == 1
    (line,) = run.told
    assert "Traceback" not in run.said
    assert "SLURM run ID" not in run.said
    return line.removeprefix("lowpass: ")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            f"  slurm_account: {ACCOUNT}\n",
            "",
            "no account is given, so no job can be sent; add below default-resources the line "
            "'  slurm_account: root' (there is root, test).",
        ),
        (
            f"  slurm_partition: {PARTITION}\n",
            "",
            "no partition is given, so no job can be sent; add below default-resources the line "
            "'  slurm_partition: main' (there is main).",
        ),
        (
            f"slurm_account: {ACCOUNT}",
            "slurm_account: nobody",
            "Slurm lists no account 'nobody' for root; correct the line '  slurm_account: nobody' "
            "(there is root, test).",
        ),
        (
            f"slurm_partition: {PARTITION}",
            "slurm_partition: fast",
            "Slurm lists no partition 'fast' for root; correct the line '  slurm_partition: fast' "
            "(there is main).",
        ),
    ],
)
def test_a_profile_that_is_not_filled_in_is_refused(project, old, new, message):
    project.edit(PROFILE, old, new)
    assert refused(project.submit(TARGET)) == f"{PROFILE}: {message}"
    assert project.products() == []


def test_a_machine_without_slurm_is_refused(project, tmp_path):
    for program in ("sh", "bash", "which"):
        (tmp_path / "bin").mkdir(exist_ok=True)
        (tmp_path / "bin" / program).symlink_to(shutil.which(program))
    path = os.pathsep.join([str(Path(sys.executable).parent), str(tmp_path / "bin")])
    assert refused(project.submit(TARGET, env={"PATH": path})) == (
        f"{PROFILE}: there is no sbatch on PATH, so no job can be sent to Slurm; start the run on "
        f"a machine that has it, or here without --profile (without PROFILE=)."
    )
    assert project.products() == []


def test_what_no_node_can_give_is_said_in_the_words_of_slurm(slurm, project):
    run = project.submit(TARGET, "--set-resources", "generate:mem_mb=9000000")
    run.end(minutes=3)
    assert run.process.returncode == 1
    assert "Memory specification can not be satisfied" in run.said
    assert any("Memory specification can not be satisfied" in line for line in run.told)
    assert project.products() == []
    assert slurm.queue() == []
