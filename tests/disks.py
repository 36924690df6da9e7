"""Disks of a test's own: small, full or read-only, and gone when the test is over.

A disk is mounted where no other process sees it, so nothing stays behind and nobody is
disturbed. Where a machine allows no mounts, the test says so and is skipped.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

PATIENCE = 60  # Seconds for a command that mounts something.
# As root, and as one who may be root in a namespace of their own.
ROOMS = {
    ("unshare", "--mount"): ("--mount",),
    ("unshare", "--map-root-user", "--mount"): ("--mount", "--user", "--preserve-credentials"),
}
MOUNT = 'mount -t tmpfs -o size="$2" none "$1" && echo mounted && exec cat'


class Disk:
    """Hold a mounted disk.

    Parameters
    ----------
    place : Path
        Where commands that run inside find it.
    number : int
        The process in whose namespace it is mounted.
    options : tuple of str
        What ``nsenter`` needs to get there.
    """

    def __init__(self, place: Path, number: int, options: tuple[str, ...]) -> None:
        self.place = place
        self._root = f"/proc/{number}/root"
        # The same disk as this process sees it.
        self.path = self.seen(place)
        self._enter = ("nsenter", f"--target={number}", *options)

    def seen(self, folder: Path) -> Path:
        """Give the path of a folder by which this process sees it with the disk mounted."""
        return Path(f"{self._root}{folder}")

    def inside(self, folder: Path) -> tuple[str, ...]:
        """Give the words that, before a command, run it in a folder where the disk is seen."""
        return (*self._enter, "env", f"--chdir={folder}")

    def remount(self, options: str) -> None:
        """Make the disk larger (``size=2m``), read-only (``ro``) or writable (``rw``)."""
        command = [*self._enter, "mount", "-o", f"remount,{options}", str(self.place)]
        subprocess.run(command, check=True, timeout=PATIENCE, capture_output=True)

    @property
    def free(self) -> int:
        """Count the bytes that are left."""
        return shutil.disk_usage(self.path).free

    def fill(self, left: int = 0) -> Path:
        """Take all the room but a little, in a file of its own."""
        with open(self.path / "filling", "wb") as file:
            file.write(bytes(self.free - left))
        return self.path / "filling"


@contextmanager
def disk(place: Path, size: str) -> Iterator[Disk]:
    """Mount a disk of a size, such as ``"300k"``, on a folder, or skip the test."""
    place.mkdir(parents=True, exist_ok=True)
    said = ["no program is called unshare"]
    for start, options in ROOMS.items() if shutil.which("unshare") else ():
        with subprocess.Popen(
            [*start, "sh", "-c", MOUNT, "sh", str(place), size],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        ) as holder:
            assert holder.stdin is not None
            assert holder.stdout is not None
            line = holder.stdout.readline().strip()
            try:
                if line == "mounted":
                    yield Disk(place, holder.pid, options)
                    return
                said.append(line)
            finally:
                # The disk goes with the last process that sees it.
                holder.stdin.close()
    pytest.skip(f"no disk can be mounted here: {said[-1]}")


def obeying() -> tuple[str, ...]:
    """Give the words before a command that make root obey the rights of files, or skip."""
    if os.getuid():
        return ()
    if not shutil.which("setpriv"):
        pytest.skip("root obeys no rights here: no program is called setpriv")
    return ("setpriv", "--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-all")
