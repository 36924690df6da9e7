"""Who holds a folder: seen while they live and no longer, and said with what to type."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from lowpass.locking import (
    FREE,
    HOLDER,
    KILLED,
    ROOM,
    RUNNING,
    UNCLEAR,
    Turn,
    alone,
    find_room,
    refuse_unwritable,
    state_of,
)
from lowpass.registry import Refusal
from lowpass.remote.handing import FOLDER as SENT

from .disks import disk, obeying

ROOT = Path(__file__).parents[1]
MADE, READ = "results/paper/paper~0123456789ab.pdf", "results/data/x~0123456789ab.nc"
PATIENCE = 60  # Seconds for a program of a second.
HERE = socket.gethostname()
# Another run, as far as it can be seen: it looks at its files, and goes on until it is ended.
OTHER = """
import sys
from tests.test_locking import turn
turn(sys.argv[1]).look([], ["results/theirs.nc"])
print("holds", flush=True)
sys.stdin.read()
"""


def turn(folder: Path | str = ".", **changes) -> Turn:
    """Stand for a run of Snakemake in a folder, about to lock its files."""
    run = {
        "execution_settings": SimpleNamespace(lock=True),
        "subprocess_exec": False,
        "remote_exec": False,
        "dryrun": False,
        "persistence": SimpleNamespace(path=Path(folder) / ".snakemake"),
        "overwrite_configfiles": [],
    }
    return Turn(SimpleNamespace(**run | changes), Path(folder))


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """Work in a folder where Snakemake has worked before."""
    (tmp_path / ".snakemake" / "locks").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def lock(folder: Path, kind: str = "output", holder: str | None = None) -> None:
    """Leave what a run leaves that is killed."""
    (folder / f".snakemake/locks/0.{kind}.lock").write_text(f"results/other.nc\n{MADE}\n{READ}\n")
    if holder is not None:
        (folder / ".snakemake" / HOLDER).write_text(holder)


@pytest.fixture
def other(folder):
    """Start another run, and end it with the test."""
    with subprocess.Popen(
        [sys.executable, "-c", OTHER, str(folder)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as run:
        assert run.stdout is not None
        assert run.stdout.readline() == "holds\n"
        yield run
        run.kill()


# Locks.


def test_where_nothing_is_locked_a_run_may_begin_and_leaves_its_name(folder):
    turn(folder).look([READ], [MADE])
    assert (folder / ".snakemake" / HOLDER).read_text() == f"{HERE} {os.getpid()}"


def test_the_lock_of_a_run_that_lives_is_respected(folder, other):
    lock(folder)
    message = (
        rf"{re.escape(MADE)}: another run is at work on it \(process {other.pid} on "
        rf"{re.escape(HERE)}\), so nothing was started\. Wait for its end, or stop it with Ctrl-C"
    )
    with pytest.raises(Refusal, match=message):
        turn(folder).look([READ], [MADE])


def test_the_lock_of_a_run_that_was_killed_is_told_with_what_to_type(folder, other):
    lock(folder)
    other.kill()
    other.wait(PATIENCE)
    message = (
        rf"{re.escape(MADE)}: a run that was killed left it locked \(process {other.pid} on "
        rf"{re.escape(HERE)}, which is gone\), so nothing was started\. Type "
        r"'\.venv/bin/snakemake --unlock', and run again: what was finished is kept\."
    )
    with pytest.raises(Refusal, match=message):
        turn(folder).look([READ], [MADE])
    # Whoever is refused does not take the place of the one that was killed.
    assert (folder / ".snakemake" / HOLDER).read_text() == f"{HERE} {other.pid}"


def test_several_runs_may_live_as_long_as_their_files_differ(folder, other):
    lock(folder)
    turn(folder).look([], ["results/mine.nc"])
    other.kill()
    other.wait(PATIENCE)
    mine = os.open(folder / ".snakemake" / HOLDER, os.O_RDWR)
    try:
        assert alone(mine) in (True, False)
    finally:
        os.close(mine)


@pytest.mark.parametrize("holder", ["elsewhere 12", "", None])
def test_a_lock_of_which_nothing_is_known_here_is_left_to_the_person(holder, folder):
    lock(folder, holder=holder)
    who = "process 12 on elsewhere" if holder else r"process \? on \?"
    message = (
        rf"{re.escape(MADE)}: a run left it locked \({who}\), and whether that run is over cannot "
        r"be seen from here, so nothing was started\. If it is, type '.*--unlock', and run again\."
    )
    with pytest.raises(Refusal, match=message):
        turn(folder).look([READ], [MADE])
    assert (folder / ".snakemake/locks/0.output.lock").exists()


def test_a_file_that_another_run_only_reads_may_be_read(folder):
    lock(folder, kind="input", holder=f"{HERE} 1")
    turn(folder).look([READ], ["results/mine.nc"])


def test_a_run_that_was_killed_while_it_locked_its_files_is_noticed(folder):
    lock(folder, kind="input", holder=f"{HERE} 1")
    with pytest.raises(Refusal, match=f"^{re.escape(MADE)}: a run that was killed left it locked"):
        turn(folder).look([READ], [MADE])


def test_a_file_that_another_run_makes_may_not_be_read(folder):
    lock(folder, holder=f"{HERE} 1")
    with pytest.raises(Refusal, match=f"^{re.escape(READ)}: "):
        turn(folder).look([READ], ["results/mine.nc"])


@pytest.mark.parametrize(
    "question",
    [
        {"dryrun": True},
        {"execution_settings": None},
        {"execution_settings": SimpleNamespace(lock=False)},
        {"subprocess_exec": True},
        {"remote_exec": True},
    ],
    ids=["dry run", "unlock or a report", "nolock", "job in a process", "job on a cluster"],
)
def test_who_locks_nothing_is_not_kept_from_looking(question, folder):
    lock(folder, holder=f"{HERE} 1")
    turn(folder, **question).look([READ], [MADE])


def test_the_command_is_that_for_the_folder_and_the_configuration_of_the_run(folder, monkeypatch):
    lock(folder, holder=f"{HERE} 1")
    (folder / "a smoke").mkdir()
    monkeypatch.chdir(folder / "a smoke")
    files = [folder / "config" / "smoke.yaml"]
    with pytest.raises(Refusal) as refused:
        turn(folder, overwrite_configfiles=files).look([], [MADE])
    (command,) = re.findall("[Tt]ype '(.*)', and run", str(refused.value))
    assert command == (
        ".venv/bin/snakemake --directory 'a smoke' --configfile config/smoke.yaml --unlock"
    )


# Jobs on other machines.

# What squeue says of two jobs of one run, for the folder that it is asked in.
JOBS = 'printf "%s\\n" "1|lowpass_x|RUNNING|$PWD" "2|lowpass_x|PENDING|$PWD"'


def sent(folder: Path, monkeypatch: pytest.MonkeyPatch, squeue: str) -> None:
    """Leave what a run leaves that sent jobs, and let squeue be the only command."""
    (folder / SENT).mkdir()
    (folder / SENT / "0.json").touch()
    (folder / "bin").mkdir()
    (folder / "bin/squeue").write_text(f"#!/bin/sh\n{squeue}\n")
    (folder / "bin/squeue").chmod(0o755)
    monkeypatch.setenv("PATH", str(folder / "bin"))


def test_jobs_that_a_killed_run_left_are_told_with_all_there_is_to_type(folder, monkeypatch):
    lock(folder, holder=f"{HERE} 1")
    sent(folder, monkeypatch, JOBS)
    with pytest.raises(Refusal) as refused:
        turn(folder).look([READ], [MADE])
    assert str(refused.value) == (
        f"{MADE}: a run that was killed left it locked (process 1 on {HERE}, which is gone), so "
        "nothing was started. 2 of its jobs are still in Slurm's queue. Type 'scancel --name "
        "lowpass_x', then '.venv/bin/snakemake --unlock', and run again: what was finished is kept."
    )


def test_after_the_lock_is_gone_jobs_still_keep_a_run_from_beginning(folder, monkeypatch):
    sent(folder, monkeypatch, JOBS)
    with pytest.raises(Refusal) as refused:
        turn(folder).look([READ], [MADE])
    assert str(refused.value) == (
        "results: a run that is over left jobs, which may make the same files, so nothing was "
        "started. 2 of its jobs are still in Slurm's queue. Type 'scancel --name lowpass_x', and "
        "run again; or wait for their end."
    )


def test_jobs_of_a_run_that_lives_keep_nobody_from_beginning(folder, other, monkeypatch):
    sent(folder, monkeypatch, JOBS)
    turn(folder).look([], ["results/mine.nc"])


def test_that_slurm_does_not_answer_is_told(folder, monkeypatch):
    sent(folder, monkeypatch, "echo Unable to contact slurm controller >&2; exit 1")
    with pytest.raises(Refusal) as refused:
        turn(folder).look([READ], [MADE])
    assert str(refused.value) == (
        f"{SENT}: jobs of an earlier run may still be in Slurm's queue, which does not answer "
        "(Unable to contact slurm controller), so nothing was started. Run again when it does; if "
        f"none can be there, delete {SENT}."
    )


@pytest.mark.parametrize("question", [{"dryrun": True}, {"remote_exec": True}])
def test_a_question_and_a_job_ask_slurm_nothing(question, folder, monkeypatch):
    sent(folder, monkeypatch, JOBS)
    turn(folder, **question).look([READ], [MADE])


def test_a_folder_that_never_sent_a_job_asks_slurm_nothing(folder, monkeypatch):
    sent(folder, monkeypatch, JOBS)
    (folder / SENT / "0.json").unlink()
    turn(folder).look([READ], [MADE])


def test_a_run_is_prepared_once_and_knows_whether_it_is_alone(folder, other):
    told = []
    made = Turn(turn(folder)._workflow, folder, lambda **alone: told.append(alone))
    made.look([], ["results/mine.nc"])
    made.look([], ["results/mine too.nc"])
    assert told == [{"alone": False}]


# Room and rights.


def test_the_room_that_is_looked_for_is_given_back(folder):
    path = folder / "some"
    path.write_text("before")
    file = os.open(path, os.O_RDWR)
    find_room(file)
    os.close(file)
    assert path.read_text() == "before"


def test_a_disk_with_no_room_for_notes_is_refused_and_keeps_the_holders_name(folder):
    with disk(folder / "full", "2m") as small:
        (small.path / ".snakemake" / "locks").mkdir(parents=True)
        turn(small.path).look([], [MADE])
        said = (small.path / ".snakemake" / HOLDER).read_text()
        small.fill(left=ROOM // 2)
        with pytest.raises(Refusal, match=rf"\.snakemake/{HOLDER}: the disk is full \(No space le"):
            turn(small.path).look([], [MADE])
        assert (small.path / ".snakemake" / HOLDER).read_text() == said


def test_results_on_a_disk_that_can_only_be_read_keep_a_run_from_beginning(folder, monkeypatch):
    with disk(folder / "results", "64k") as small:
        monkeypatch.chdir(small.path.parent)
        (small.path / "data").mkdir()
        (small.path / "data" / Path(READ).name).touch()
        small.remount("ro")
        turn(folder).look([], [READ])  # It is there, so perhaps nothing is to be done.
        with pytest.raises(Refusal, match=r"^results: the disk can only be read \(Read-only file"):
            turn(folder).look([READ], [MADE])


RIGHTS = """
import sys
from tests.test_locking import turn
from lowpass.registry import Refusal
from lowpass.locking import refuse_unwritable
try:
    refuse_unwritable()
    turn().look([], [sys.argv[1]])
except Refusal as refusal:
    print(refusal)
"""


@pytest.mark.parametrize("place", [".", ".snakemake", "results"])
def test_a_folder_that_this_user_may_not_change_is_named(place, folder):
    (folder / "results").mkdir()
    if place == ".":
        (folder / ".snakemake" / "locks").rmdir()
        (folder / ".snakemake").rmdir()
    (folder / place).chmod(0o555)
    try:
        said = subprocess.run(
            [*obeying(), sys.executable, "-c", RIGHTS, MADE],
            env={**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"},
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
    finally:
        (folder / place).chmod(0o755)
    assert said.stderr == ""
    assert said.stdout == (
        f"{place}: this user may not do that (Permission denied). "
        f"Change the rights of the file or its folder, and run again.\n"
    )


def test_a_folder_that_can_be_written_is_not_refused(folder):
    refuse_unwritable()
    (folder / ".snakemake" / "locks").rmdir()
    (folder / ".snakemake").rmdir()
    refuse_unwritable()


# What others see of it.


def test_a_folder_without_locks_is_free(folder):
    assert state_of(folder / ".snakemake") == FREE
    assert state_of(folder / "elsewhere") == FREE
    assert [path.name for path in folder.iterdir()] == [".snakemake"]


def test_a_run_at_work_is_seen_and_so_is_its_end(folder, other):
    lock(folder)
    assert state_of(folder / ".snakemake") == RUNNING
    other.kill()
    other.wait(PATIENCE)
    assert state_of(folder / ".snakemake") == KILLED


def test_looking_takes_nobodys_place(folder):
    lock(folder, holder=f"{HERE} 1")
    assert state_of(folder / ".snakemake") == KILLED
    file = os.open(folder / ".snakemake" / HOLDER, os.O_RDWR)
    assert alone(file)
    os.close(file)


@pytest.mark.parametrize("holder", [None, "elsewhere 1", ""])
def test_locks_of_nobody_or_of_another_machine_are_unclear(holder, folder):
    lock(folder, holder=holder)
    assert state_of(folder / ".snakemake") == UNCLEAR
