"""What a fingerprint stands for: a hash of every definition, and the versions beside them.

A fingerprint says that code changed; two inventories say where. An inventory lies beside
the results under the fingerprint it hashes to, so it can be checked, and it can be deleted.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path

from lowpass.writing import PART, discard, refusing, settle

RESULTS, FOLDER = "results", "code"
KEPT = f"{RESULTS}/{FOLDER}"
# More definitions than this are counted instead of named.
NAMED = 4


@dataclass(frozen=True)
class Inventory:
    """Hold the code behind one fingerprint.

    Parameters
    ----------
    definitions : mapping of str to str
        The hash of each, by its place, such as ``lowpass.kernels:softmax``.
    distributions : mapping of str to str
        The versions of the packages that compute.
    python : str
        Its minor version.
    """

    definitions: Mapping[str, str]
    distributions: Mapping[str, str]
    python: str

    @cached_property
    def text(self) -> str:
        """The one JSON text that stands for it, a line for each definition."""
        return json.dumps(asdict(self), sort_keys=True, indent=0) + "\n"

    @cached_property
    def fingerprint(self) -> str:
        """Sixteen hexadecimal digits of the digest of the text."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:16]


def folder_beside(product: Path) -> Path | None:
    """Name the folder of inventories of a product; none where it lies in no ``results``."""
    results = Path(product).parent.parent
    return results / FOLDER if results.name == RESULTS else None


def keep(inventory: Inventory, folder: Path) -> None:
    """Write an inventory under its fingerprint, unless it is there.

    Several jobs may do so at once, since all of them write the same.
    """
    path = folder / f"{inventory.fingerprint}.json"
    if path.exists():
        return
    part = path.with_name(f"{path.name}.{secrets.token_hex(4)}{PART}")
    try:
        with refusing(path, part):
            folder.mkdir(parents=True, exist_ok=True)
            part.write_text(inventory.text, encoding="utf-8")
            settle(part)
            part.replace(path)
    finally:
        discard(part)


def kept(fingerprint: str, folder: Path) -> Inventory | None:
    """Read the inventory of a fingerprint; none where it is gone or was edited."""
    try:
        text = (folder / f"{fingerprint}.json").read_text(encoding="utf-8")
        inventory = Inventory(**json.loads(text))
        return inventory if inventory.fingerprint == fingerprint else None
    except (OSError, ValueError, TypeError):
        return None


def differences(before: Inventory, now: Inventory) -> Iterator[str]:
    """Say what differs between two inventories, a phrase each; what changed comes first."""
    old, new = before.definitions, now.definitions
    for phrase, names in {
        "changed": [name for name in new if name in old and old[name] != new[name]],
        "is new": [name for name in new if name not in old],
        "is gone": [name for name in old if name not in new],
    }.items():
        yield from (f"{name.replace(':', '.')} {phrase}" for name in sorted(names))
    versions = {**before.distributions, "Python": before.python}
    for name, version in {**now.distributions, "Python": now.python}.items():
        if versions.get(name) != version:
            yield f"{name} {version} instead of {versions.get(name, 'none')}"


def changes_since(fingerprint: str, now: Inventory, folder: Path | str) -> str:
    """Say in one sentence what changed since a fingerprint, as far as that is on record."""
    before = kept(fingerprint, Path(folder))
    if before is None:
        return "the code changed (what it was is not on record)"
    return in_words(list(differences(before, now)))


def in_words(phrases: list[str]) -> str:
    """Join phrases, the first of them in full and the others as a number.

    Examples
    --------
    >>> in_words(["a.f changed", "a.g changed"])
    'a.f changed, a.g changed'
    >>> in_words([f"a.f{i} changed" for i in range(9)])
    'a.f0 changed, a.f1 changed, a.f2 changed, a.f3 changed, and 5 more'
    """
    more = len(phrases) - NAMED
    return ", ".join(phrases[:NAMED]) + (f", and {more} more" if more > 0 else "")
