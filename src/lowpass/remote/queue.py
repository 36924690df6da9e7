"""What waits or runs in Slurm for one folder."""

from __future__ import annotations

import os
import shlex
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from lowpass.remote.slurm import ask

# Job number, name, state and folder, which may hold any character.
FORM = "%i|%j|%T|%Z"
# A job that was cancelled; its processes have a moment left.
ENDING = "COMPLETING"


class Queued(NamedTuple):
    """Hold one job: its number, the name that its run gave it, and its state."""

    number: str
    name: str
    state: str


def queued(folder: Path) -> list[Queued]:
    """List the jobs of a folder that wait, run or end.

    Parameters
    ----------
    folder : Path
        Where their run was started.

    Raises
    ------
    Silent
        When Slurm does not answer.
    """
    rows = [line.split("|", 3) for line in ask(["squeue", "--me", "--noheader", "--format", FORM])]
    here = os.path.realpath(folder)
    return [Queued(*row[:3]) for row in rows if os.path.realpath(row[3]) == here]


def left(folder: Path, wait: float) -> list[Queued]:
    """List the jobs of a folder, waiting some seconds for those that end anyway."""
    until = time.monotonic() + wait
    while True:
        jobs = queued(folder)
        if not jobs or any(job.state != ENDING for job in jobs) or time.monotonic() > until:
            return jobs
        time.sleep(1)


def cancelling(jobs: Sequence[Queued]) -> str:
    """Give the command that cancels jobs; all that one run sent have one name."""
    names = sorted({job.name for job in jobs})
    return "; ".join(f"scancel --name {shlex.quote(name)}" for name in names)
