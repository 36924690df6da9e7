"""Which results no configuration plans any more.

It owns the judgement that a file is not needed, and takes it only of files that are
named as this workflow names its own. It deletes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from lowpass.fingerprint.inventory import FOLDER
from lowpass.locking import NOTES, RUNNING, UNCLEAR, locked_in, state_of
from lowpass.memory import Memory
from lowpass.plan import Plan
from lowpass.provenance import record_in
from lowpass.registry import Refusal
from lowpass.rules import PUBLISHED, Rules
from lowpass.whole import whole_plan
from lowpass.writing import PART

KEYED = re.compile(r"(results|logs)/\w+/[^/]+~([0-9a-f]{12})\.[.\w]+")
INVENTORY = re.compile(rf"results/{FOLDER}/([0-9a-f]{{16}})\.json")


def plans(root: Path, more: Sequence[str] = ()) -> dict[str, Plan]:
    """Plan every configuration of a project by its name.

    Parameters
    ----------
    root : Path
        Folder of the project; its configurations are ``config/*.yaml``.
    more : sequence of str
        Paths of others.

    Raises
    ------
    Refusal
        When there is none, or one cannot be planned: what it asks for would seem unplanned.
    """
    paths = {f"config/{path.name}": path for path in sorted((root / "config").glob("*.yaml"))}
    paths |= {name: Path(name) for name in more}
    if not paths:
        raise Refusal(
            "config/: no configuration lies there, so every result would seem unplanned; name "
            "one by --configfile."
        )
    found = {}
    for name, path in paths.items():
        try:
            found[name] = whole_plan(path, name, root)
        except Refusal as refusal:
            raise Refusal(f"{refusal} Until then gc cannot tell what it plans.") from None
    return found


def unplanned(planned: Iterable[Plan], root: Path) -> list[Path]:
    """List the files below the current folder that no plan needs, in alphabetical order.

    Parameters
    ----------
    planned : iterable of Plan
        Of all configurations.
    root : Path
        Folder of the project.

    Returns
    -------
    list of Path
        Products, their logs, inventories of code that no product states, and half-written
        files. While a run is in progress none of its files is among them.
    """
    needed = {path for plan in planned for path in files_of(plan, root)}
    memory = Memory(Path())
    in_progress = state_of(NOTES) in (RUNNING, UNCLEAR)
    kinds = ("input", "output") if in_progress else ()
    locked = {path for kind in kinds for path in locked_in(NOTES / "locks", kind)}
    running = {found[2] for path in locked if (found := KEYED.fullmatch(path))}
    stated = codes(needed, memory)
    return [
        path
        for path in there()
        if is_garbage(path.as_posix(), needed, stated, running)
        and not (in_progress and is_in_the_making(path))
    ]


def is_garbage(path: str, needed: set[str], stated: set[str], running: set[str]) -> bool:
    """Say of a file whether it is ours, and neither planned, nor stated, nor of a run."""
    if path.endswith(PART):
        return True
    if inventory := INVENTORY.fullmatch(path):
        return inventory[1] not in stated
    keyed = KEYED.fullmatch(path)
    return keyed is not None and path not in needed and keyed[2] not in running


def is_in_the_making(path: Path) -> bool:
    """Say whether a job could be writing a file, or about to state it."""
    return path.suffix == PART or path.parent.name == FOLDER


def there() -> list[Path]:
    """List the files of the workflow, those that are half-written too."""
    found = [path for folder in ("results", "logs") for path in Path(folder).rglob("*")]
    return sorted(path for path in found if path.is_file() and is_ours(path.as_posix()))


def is_ours(path: str) -> bool:
    """Say whether a file is named as the workflow names its own."""
    whole = re.sub(r"(\.[0-9a-f]{8})?\.part$", "", path)
    return whole in PUBLISHED or bool(KEYED.fullmatch(whole) or INVENTORY.fullmatch(whole))


def files_of(plan: Plan, root: Path) -> Iterator[str]:
    """List every file that a plan needs: products, fixed names and logs."""
    for point in plan:
        yield from point.paths
        yield from (f"logs/{point.stage}/{point.name}{end}" for end in (".log", ".jsonl"))
    yield from Rules(plan, root).published()


def codes(paths: Iterable[str], memory: Memory) -> set[str]:
    """Collect the fingerprints that products state, as far as they are there."""
    found = set()
    for path in paths:
        if path.startswith("results/") and Path(path).exists():
            note = memory.of(path)
            found.add(note.code if note and note.code else stated_in(Path(path)))
    return found


def stated_in(path: Path) -> str:
    """Read the fingerprint that a product states; nothing where it states none."""
    try:
        return record_in(path)[0].get("code", "")
    except Refusal:
        return ""


def sized(count: int) -> str:
    """Write a number of bytes as a person reads it.

    Examples
    --------
    >>> sized(999), sized(1000), sized(123_456_789)
    ('999 B', '1.0 kB', '123.5 MB')
    """
    size, units = float(count), ["B", "kB", "MB", "GB", "TB"]
    while size >= 999.95 and len(units) > 1:
        size, units = size / 1000, units[1:]
    return f"{size:.0f} B" if units[0] == "B" else f"{size:.1f} {units[0]}"


def as_text(paths: Sequence[Path], names: Iterable[str]) -> str:
    """List files with their sizes, and say what they come to and how to delete them."""
    listed = ", ".join(names)
    if not paths:
        return f"every product here is planned by {listed}"
    sizes = [path.stat().st_size for path in paths]
    lines = [f"{sized(size):>9}  {path}" for size, path in zip(sizes, paths, strict=True)]
    count = f"{len(paths)} file{'s' if len(paths) > 1 else ''}"
    return "\n".join(
        [
            *lines,
            f"{count}, {sized(sum(sizes))}, planned by none of {listed}; nothing was deleted.",
            "To delete them: python -m lowpass gc --paths | xargs rm",
        ]
    )
