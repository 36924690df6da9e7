"""Which jobs of a folder are in the queue, and how they are cancelled."""

from __future__ import annotations

import shlex

import pytest

from lowpass.remote.queue import Queued, cancelling, left, queued
from lowpass.remote.slurm import Silent


def rows(*lines: str) -> str:
    """Let squeue print lines, where it is asked for this user's jobs alone."""
    return f'[ "$1" = --me ] && printf "%s\\n" {shlex.join(lines)}'


def test_only_jobs_of_the_folder_count_however_it_is_called(here, slurm):
    (here / "a|b").mkdir()
    (here.parent / "link").symlink_to(here / "a|b")
    slurm(
        squeue=rows(
            f"1|lowpass_x|RUNNING|{here / 'a|b'}",
            f"2|lowpass_x|PENDING|{here.parent / 'link'}",
            f"3|lowpass_y|RUNNING|{here}",
        )
    )
    assert queued(here / "a|b") == [
        Queued("1", "lowpass_x", "RUNNING"),
        Queued("2", "lowpass_x", "PENDING"),
    ]


def test_an_empty_queue_holds_nothing(here, slurm):
    slurm(squeue="exit 0")
    assert queued(here) == []


def test_that_slurm_does_not_answer_is_not_taken_for_an_empty_queue(here, slurm):
    slurm(squeue="echo no controller >&2; exit 1")
    with pytest.raises(Silent, match="no controller"):
        queued(here)


def test_jobs_that_end_are_waited_for(here, slurm):
    asked = here / "asked"
    ending = rows(f"1|lowpass_x|COMPLETING|{here}")
    slurm(squeue=f"[ -e {asked} ] || {{ : > {asked}; {ending}; }}; exit 0")
    assert left(here, 60) == []
    assert asked.exists()


def test_jobs_that_wait_or_run_are_not_waited_for(here, slurm):
    slurm(squeue=rows(f"1|lowpass_x|COMPLETING|{here}", f"2|lowpass_x|PENDING|{here}"))
    assert len(left(here, 1e9)) == 2


def test_jobs_that_never_end_are_given_up(here, slurm):
    slurm(squeue=rows(f"1|lowpass_x|COMPLETING|{here}"))
    assert len(left(here, 0)) == 1


def test_a_run_is_cancelled_by_its_name():
    jobs = [Queued("1", "lowpass_b", "RUNNING"), Queued("2", "lowpass_b", "PENDING")]
    assert cancelling(jobs) == "scancel --name lowpass_b"
    jobs.append(Queued("3", "a name", "RUNNING"))
    assert cancelling(jobs) == "scancel --name 'a name'; scancel --name lowpass_b"
