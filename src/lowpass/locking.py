"""Whether a run may begin in a folder, said in one line where it may not.

Snakemake locks the files of a run and knows nothing of who holds a lock, so one that a killed
run left looks like that of a run in progress. A run of ours also holds one file locked as
long as it lives, of which the operating system lets go however the run ends. A lock of
Snakemake's is a person's to remove, never ours.
"""

from __future__ import annotations

import errno
import fcntl
import os
import shlex
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

from lowpass.registry import Refusal
from lowpass.writing import refusal_of

NOTES = Path(".snakemake")
HOLDER = "lowpass-run"
FREE, RUNNING, KILLED, UNCLEAR = "free", "running", "killed", "unclear"
# Snakemake keeps notes on every file; without room for some it ends in a traceback.
ROOM = 1 << 20


class Turn:
    """Stand for a run that may begin, and look at the files of each of its jobs.

    Parameters
    ----------
    workflow : snakemake.workflow.Workflow
    root : Path
        Folder of the project.
    """

    def __init__(self, workflow: Any, root: Path) -> None:
        self._workflow = workflow
        self._root = root
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
                raise Refusal(f"{path}: {self._holder.told(self._unlock())}")
        for path in outputs:
            folder = os.path.dirname(path)
            if folder not in self._faults:
                self._faults[folder] = unwritable(folder)
            fault = self._faults[folder]
            if fault and not os.path.lexists(path):
                raise refusal_of(fault)

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
            self._alone = alone(self._file)
            self.made = locked_in(notes / "locks", "output")
            self.read = locked_in(notes / "locks", "input")
            find_room(self._file)
            if not self.made | self.read:
                os.truncate(self._file, 0)
                os.pwrite(self._file, f"{self._host} {os.getpid()}".encode(), 0)

    def told(self, unlock: str) -> str:
        """Say what became of the run that left a lock, and what to do."""
        host, number = self._before if len(self._before) == 2 else ("?", "?")
        who = f"process {number} on {host}"
        if self._alone is False:
            return (
                f"another run is at work on it ({who}), so nothing was started. Wait for its "
                f"end, or stop it with Ctrl-C where it runs."
            )
        if self._alone and host == self._host:
            return (
                f"a run that was killed left it locked ({who}, which is gone), so nothing was "
                f"started. Type '{unlock}', and run again: what was finished is kept."
            )
        return (
            f"a run left it locked ({who}), and whether that run is over cannot be seen from "
            f"here, so nothing was started. If it is, type '{unlock}', and run again."
        )


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
