"""Files that bear their names only when all that belongs in them is on disk.

It owns the way to a name: a file beside it that nobody else writes, on disk before it is
renamed; what a killed job left there; and the one line that is said where a disk refuses.
"""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from lowpass.registry import Refusal

PART = ".part"
# What a disk must still take for its refusal to lie elsewhere; HDF5 writes smaller blocks.
PROBE = 1 << 20
# Why, and what to do, by the number that the operating system gives.
KNOWN = {
    errno.ENOSPC: ("the disk is full", "Free some space"),
    errno.EDQUOT: ("this user's share of the disk is full", "Free some space"),
    errno.EFBIG: ("a file may not grow that large here", "Raise the limit (ulimit -f)"),
    errno.EROFS: ("the disk can only be read", "Make it writable"),
    errno.EACCES: ("this user may not do that", "Change the rights of the file or its folder"),
    errno.EPERM: ("this user may not do that", "Change the rights of the file or its folder"),
    errno.ENOENT: ("it is not there", "Put it back"),
    errno.ENAMETOOLONG: ("its path is too long", "Move the project to a shorter path"),
}


@contextmanager
def whole(paths: Iterable[Path], confirm: Callable[[], object] = bool) -> Iterator[list[Path]]:
    """Lend files to write to, which get their names when all of them are on disk.

    Parameters
    ----------
    paths : iterable of Path
        The final names; their folders are made.
    confirm : callable
        Called when everything is on disk; what it raises keeps all files from their names.

    Yields
    ------
    list of Path
        Empty files beside the final names. Two jobs that make the same product write to two
        files, so that neither can give a name to what the other has not finished.

    Raises
    ------
    Refusal
        When the disk is full, can only be read, or refuses for another reason.
    """
    parts = {path: path.with_name(f"{path.name}.{secrets.token_hex(4)}{PART}") for path in paths}
    try:
        for path, part in parts.items():
            with refusing(path, part):
                begin(path, part)
        yield [*parts.values()]
        for path, part in parts.items():
            with refusing(path, part):
                settle(part)
        confirm()
        for path, part in parts.items():
            with refusing(path, part):
                os.replace(part, path)
        for folder in {path.parent for path in parts}:
            settle_names(folder)
    finally:
        for part in parts.values():
            discard(part)


def put(contents: Mapping[Path, bytes], confirm: Callable[[], object] = bool) -> None:
    """Write files, none of which gets its name before all are on disk."""
    with whole(contents, confirm) as parts:
        for part, (path, content) in zip(parts, contents.items(), strict=True):
            with refusing(path, part):
                part.write_bytes(content)


@contextmanager
def refusing(path: Path, part: Path) -> Iterator[None]:
    """Say in one line what kept a file from being written, and under which name."""
    try:
        yield
    except (OSError, RuntimeError) as fault:
        # Of a full disk netCDF says no more than "HDF error", or "Permission denied".
        cause = asked_again(part) or fault
        if not isinstance(cause, OSError):
            raise
        if cause.errno == errno.ENOENT:
            raise Refusal(
                f"{path}: its unfinished file was taken away, which a second run of the same job "
                f"does. Wait until no other run makes it, and run again."
            ) from None
        raise refusal_of(cause, path) from None


def asked_again(part: Path) -> OSError | None:
    """Write a little more to an unfinished file, to learn why the disk refused it."""
    try:
        with open(part, "rb+") as handle:
            handle.seek(0, os.SEEK_END)
            handle.write(bytes(PROBE))
            handle.flush()
            os.fsync(handle.fileno())
    except OSError as fault:
        return None if fault.errno == errno.ENOENT else fault
    return None


def refusal_of(fault: OSError, path: Path | str | None = None) -> Refusal:
    """Phrase what the operating system refused; a path that is given is the one to name."""
    said = fault.strerror or str(fault)
    why, advice = KNOWN.get(fault.errno or 0, ("it cannot be used", "Correct that"))
    file = path or fault.filename
    return Refusal(f"{f'{file}: ' if file else ''}{why} ({said}). {advice}, and run again.")


def refuse_two_steps(folder: Path) -> None:
    """Refuse a folder where a file cannot take the name of another in one step.

    Parameters
    ----------
    folder : Path
        It may have to be made itself; where this user may not write, nothing is refused.

    Raises
    ------
    Refusal
        When its file system copies, or does not rename at all.
    """
    place = folder
    while not place.exists():
        place = place.parent
    if not os.access(place, os.W_OK | os.X_OK):
        return
    old, new = (place / f".lowpass-{secrets.token_hex(4)}{PART}" for _ in range(2))
    try:
        if why := two_steps(old, new):
            raise Refusal(
                f"{folder}: its file system does not give a file the name of another in one step "
                f"({why}), so a job that is killed could leave half a file under a final name. "
                f"Move the folder to a disk that does, such as a local one or NFS, and put a link "
                f"in its place."
            )
    finally:
        discard(old)
        discard(new)


def two_steps(old: Path, new: Path) -> str:
    """Rename a file over another, and say what was wrong with that; nothing where all is well."""
    old.write_text("old")
    new.write_text("new")
    with open(old) as reader:
        try:
            os.replace(new, old)
        except OSError as fault:
            return fault.strerror or str(fault)
        # Who has the old file open keeps it.
        kept, there = reader.read(), old.read_text()
    return "" if (kept, there, new.exists()) == ("old", "new", False) else "it copies instead"


def begin(path: Path, part: Path) -> None:
    """Create an empty file, and clear away what killed jobs left of the same product."""
    path.parent.mkdir(parents=True, exist_ok=True)
    for name in os.listdir(path.parent):
        if name.startswith(f"{path.name}.") and name.endswith(PART):
            (path.parent / name).unlink(missing_ok=True)
    part.touch(exist_ok=False)


def settle(part: Path) -> None:
    """Return when a file is on disk."""
    with open(part, "rb+") as handle:
        os.fsync(handle.fileno())


def settle_names(folder: Path) -> None:
    """Return when the names in a folder are on disk.

    So a manifest outlives a power cut only with the files that it lists. Where a folder
    cannot be waited for, the cut may take a name, and what lacks its name is made again.
    """
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def discard(part: Path) -> None:
    """Remove an unfinished file, if it is there."""
    with suppress(OSError):
        # netCDF may hold a file open that it failed to close; empty, it takes no room.
        os.truncate(part, 0)
    with suppress(OSError):
        part.unlink()
