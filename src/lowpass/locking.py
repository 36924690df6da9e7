"""Whether a run may begin in a folder, said in one line where it may not.

Snakemake locks the files of a run and knows nothing of who holds a lock, so one that a killed
run left looks like that of a run in progress. A run of ours also holds one file locked as
long as it lives, of which the operating system lets go however the run ends. Its jobs on other
machines outlive it: while any is there, nobody else may make what they make. A lock of
Snakemake's, like a job in a queue, is a person's to remove, never ours.
"""

from __future__ import annotations

import errno
import fcntl
import os
import shlex
import shutil
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

from lowpass.registry import Refusal
from lowpass.remote import queue
from lowpass.remote.handing import FOLDER as SENT
from lowpass.remote.queue import Queued
from lowpass.remote.slurm import Silent
from lowpass.writing import refusal_of, refuse_two_steps

NOTES = Path(".snakemake")
HOLDER = "lowpass-run"
FREE, RUNNING, KILLED, UNCLEAR = "free", "running", "killed", "unclear"
# Snakemake keeps notes on every file; without room for some it ends in a traceback.
ROOM = 1 << 20
# Seconds that cancelled jobs are waited for; Slurm gives them half of it by default.
GRACE = 60


class Turn:
    """Stand for a run that may begin, and look at the files of each of its jobs.

    Parameters
    ----------
    workflow : snakemake.workflow.Workflow
    root : Path
        Folder of the project.
    prepare : callable
        Called once when the run may begin, with whether no other is at work in the folder; it
        refuses what keeps this one from sending its jobs.
    """

    def __init__(
        self, workflow: Any, root: Path, prepare: Callable[..., object] = lambda **alone: None
    ) -> None:
        self._workflow = workflow
        self._root = root
        self._prepare = prepare
        self._prepared = False
        self._faults: dict[str, OSError | None] = {}

    def look(self, inputs: Sequence[str], outputs: Sequence[str]) -> None:
        """Refuse a job whose files another run makes, or that has nowhere to write to.

        Raises
        ------
        Refusal
            For the first file that is locked, or is missing from a folder nobody may change.
        """
        if not self._begins():
            return
        for path in (*outputs, *inputs):
            # A run reads what it makes: killed while it locked its files, it may have come no
            # further than those that it reads.
            missing = path in outputs and not os.path.lexists(path)
            if path in self._holder.made or (missing and path in self._holder.read):
                raise Refusal(f"{path}: {self._holder.told(self._unlock(), still_queued())}")
        for path in outputs:
            folder = os.path.dirname(path)
            if folder not in self._faults:
                self._faults[folder] = unwritable(folder)
            fault = self._faults[folder]
            if fault and not os.path.lexists(path):
                raise refusal_of(fault)
        self._begin()

    def _begin(self) -> None:
        """Begin, once: nobody else's jobs are there, and this run's can be sent."""
        if self._prepared:
            return
        alone = self._holder.alone is not False
        if alone and (jobs := still_queued(GRACE)):
            raise Refusal(
                f"results: a run that is over left jobs, which may make the same files, so nothing "
                f"was started. {numbered(jobs)} still in Slurm's queue. Type "
                f"'{queue.cancelling(jobs)}', and run again; or wait for their end."
            )
        refuse_two_steps(Path("results"))
        self._prepare(alone=alone)
        self._prepared = True

    def _begins(self) -> bool:
        """Tell a run that will write from a question, a dry run and a job of another run."""
        run, settings = self._workflow, self._workflow.execution_settings
        within = run.subprocess_exec or run.remote_exec
        return settings is not None and settings.lock and not (within or run.dryrun)

    @cached_property
    def _holder(self) -> Holder:
        return Holder(Path(self._workflow.persistence.path))

    def _unlock(self) -> str:
        """Give the command that removes the locks of the folder this run is in."""
        here = os.path.relpath(Path.cwd(), self._root)
        words = [".venv/bin/snakemake", *(["--directory", here] if here != "." else [])]
        for file in self._workflow.overwrite_configfiles or []:
            words += ["--configfile", os.path.relpath(file, self._root)]
        return shlex.join([*words, "--unlock"])


class Holder:
    """Hold the file that says who runs in a folder, and hold it locked until this run ends.

    Parameters
    ----------
    notes : Path
        The folder ``.snakemake``.
    """

    def __init__(self, notes: Path) -> None:
        self._host, path = socket.gethostname(), notes / HOLDER
        with refused(Path(os.path.relpath(path))):
            # Never closed: the end of this process lets go of it.
            self._file = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
            self._before = os.read(self._file, 999).decode(errors="replace").split()
            self.alone = alone(self._file)
            self.made = locked_in(notes / "locks", "output")
            self.read = locked_in(notes / "locks", "input")
            find_room(self._file)
            if not self.made | self.read:
                os.truncate(self._file, 0)
                os.pwrite(self._file, f"{self._host} {os.getpid()}".encode(), 0)

    def told(self, unlock: str, jobs: Sequence[Queued] = ()) -> str:
        """Say what became of the run that left a lock, and what to do."""
        host, number = self._before if len(self._before) == 2 else ("?", "?")
        who = f"process {number} on {host}"
        if self.alone is False:
            return (
                f"another run is at work on it ({who}), so nothing was started. Wait for its "
                f"end, or stop it with Ctrl-C where it runs."
            )
        still, todo = "", f"type '{unlock}', and run again"
        if jobs:
            still = f"{numbered(jobs)} still in Slurm's queue. "
            todo = f"type '{queue.cancelling(jobs)}', then '{unlock}', and run again"
        if self.alone and host == self._host:
            return (
                f"a run that was killed left it locked ({who}, which is gone), so nothing was "
                f"started. {still}{todo[0].upper()}{todo[1:]}: what was finished is kept."
            )
        return (
            f"a run left it locked ({who}), and whether that run is over cannot be seen from "
            f"here, so nothing was started. {still}If it is, {todo}."
        )


def still_queued(wait: float = 0) -> list[Queued]:
    """List the jobs that runs in this folder sent, and that may still write.

    Parameters
    ----------
    wait : float
        Seconds for those that are ending anyway.

    Raises
    ------
    Refusal
        When some were sent, and Slurm does not tell what became of them.
    """
    # The plans of a run lie there until a later one begins.
    if not (any(SENT.glob("*.json")) and shutil.which("squeue")):
        return []
    try:
        return queue.left(Path(), wait)
    except Silent as why:
        raise Refusal(
            f"{SENT}: jobs of an earlier run may still be in Slurm's queue, which does not answer "
            f"({why}), so nothing was started. Run again when it does; if none can be there, "
            f"delete {SENT}."
        ) from None


def numbered(jobs: Sequence[Queued]) -> str:
    """Count jobs.

    Examples
    --------
    >>> numbered([Queued("7", "lowpass_1", "RUNNING")])
    'One of its jobs is'
    """
    return "One of its jobs is" if len(jobs) == 1 else f"{len(jobs)} of its jobs are"


@contextmanager
def refused(path: Path) -> Iterator[None]:
    """Say in one line what the operating system refused."""
    try:
        yield
    except OSError as fault:
        raise refusal_of(fault, path) from None


def alone(file: int) -> bool | None:
    """Lock a file until this process ends, and tell whether nobody else does.

    Returns
    -------
    bool or None
        None where the file system keeps no locks.
    """
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        fcntl.flock(file, fcntl.LOCK_SH)
        return False
    except OSError:
        return None
    fcntl.flock(file, fcntl.LOCK_SH)
    return True


def locked_in(folder: Path, kind: str) -> frozenset[str]:
    """List the files that runs of Snakemake make (``output``) or read (``input``)."""
    texts = (path.read_text(encoding="utf-8") for path in folder.glob(f"*.{kind}.lock"))
    return frozenset(name for text in texts for name in text.splitlines())


def state_of(notes: Path) -> str:
    """Tell whether a run is at work in a folder, without taking its place.

    Parameters
    ----------
    notes : Path
        The folder ``.snakemake``.

    Returns
    -------
    str
        ``FREE``; ``RUNNING``; ``KILLED`` where a run that is gone left locks; or ``UNCLEAR``
        where it left them and may be at work on another machine.
    """
    try:
        if not locked_in(notes / "locks", "output"):
            return FREE
        file = os.open(notes / HOLDER, os.O_RDONLY)
    except OSError:
        return UNCLEAR
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        host = os.read(file, 999).decode(errors="replace").partition(" ")[0]
        return KILLED if host == socket.gethostname() else UNCLEAR
    except BlockingIOError:
        return RUNNING
    except OSError:
        return UNCLEAR
    finally:
        # Closing it lets go of it.
        os.close(file)


def find_room(file: int) -> None:
    """Make sure that a disk is not full, by taking a little room at the end of a file."""
    size = os.fstat(file).st_size
    end = size
    try:
        while end < size + ROOM:
            end += os.pwrite(file, bytes(size + ROOM - end), end)
    finally:
        os.truncate(file, size)


def unwritable(folder: str) -> OSError | None:
    """Say why no file can be made in a folder, which may have to be made itself."""
    place = Path(folder)
    while not place.exists():
        place = place.parent
    if os.access(place, os.W_OK | os.X_OK):
        return None
    number = errno.EROFS if os.statvfs(place).f_flag & os.ST_RDONLY else errno.EACCES
    return OSError(number, os.strerror(number), str(place))


def refuse_unwritable() -> None:
    """Refuse a folder where Snakemake cannot keep its notes, as it does even for a dry run."""
    fault = unwritable(str(NOTES))
    if fault:
        raise refusal_of(fault)
