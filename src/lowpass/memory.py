"""What Snakemake remembers of the files it made.

It owns the reading of its notes in the folder ``.snakemake`` beside the results: from which
inputs, with which parameters and by which command a file was made, and which files a run
left unfinished. It changes nothing there.
"""

from __future__ import annotations

import ast
import json
import os
from base64 import urlsafe_b64decode
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

FOLDER = ".snakemake"
# Records of older forms hold no parameters that can be relied on.
FORMAT = 6


@dataclass(frozen=True)
class Remembered:
    """Hold how one file was made.

    Parameters
    ----------
    params : frozenset of str
        Every parameter of the rule, as Python writes it; they have no names.
    inputs : tuple of str
        Paths, in alphabetical order.
    checksums : mapping of str to str
        Of the inputs, by path.
    command : str
        The shell command of the rule, with its blanks not filled in.
    """

    params: frozenset[str]
    inputs: tuple[str, ...]
    checksums: Mapping[str, str]
    command: str | None

    @cached_property
    def recipe(self) -> dict[str, Any] | None:
        """The parameter that is a recipe; none where there is none."""
        asked = (as_recipe(text) for text in self.params)
        return next((recipe for recipe in asked if recipe is not None), None)

    @cached_property
    def code(self) -> str | None:
        """The parameter that is a fingerprint; none where there is none."""
        others = [text for text in self.params if as_recipe(text) is None]
        return ast.literal_eval(others[0]) if len(others) == 1 else None


def as_recipe(param: str) -> dict[str, Any] | None:
    """Read a remembered parameter as a recipe; none where it is something else."""
    try:
        recipe = json.loads(ast.literal_eval(param))
    except (ValueError, SyntaxError, TypeError):
        return None
    return recipe if isinstance(recipe, dict) and "stage" in recipe else None


class Memory:
    """Look up what Snakemake noted in one folder.

    Parameters
    ----------
    base : Path
        The folder that Snakemake ran in.
    """

    def __init__(self, base: Path) -> None:
        self._folder = base / FOLDER
        self._known: dict[str, Remembered | None] = {}

    @cached_property
    def _notes(self) -> dict[str, Path]:
        return notes_in(self._folder / "metadata")

    @cached_property
    def unfinished(self) -> frozenset[str]:
        """Files whose jobs began and did not end, be they running or interrupted."""
        return frozenset(notes_in(self._folder / "incomplete"))

    @property
    def paths(self) -> frozenset[str]:
        """Files that a run made, whether or not they are still there."""
        return frozenset(self._notes)

    def of(self, path: str) -> Remembered | None:
        """Recall how a file was made; none where that is not known."""
        if path not in self._known:
            note = self._notes.get(path)
            self._known[path] = recalled(note) if note else None
        return self._known[path]


def notes_in(folder: Path) -> dict[str, Path]:
    """Map the files that notes are about to the notes, whose names encode them.

    A long name is divided between folders that begin with ``@``.
    """
    found = {}
    for place, _, names in os.walk(folder):
        inner = Path(place).relative_to(folder).parts
        for name in names:
            code = "".join(part.removeprefix("@") for part in (*inner, name))
            try:
                found[urlsafe_b64decode(code).decode()] = Path(place, name)
            except ValueError:
                continue  # A file that Snakemake puts there for its own ends.
    return found


def recalled(note: Path) -> Remembered | None:
    """Read a note; none where a run is just writing it."""
    try:
        said = json.loads(note.read_text(encoding="utf-8"))
        if said["record_format_version"] < FORMAT:
            return None
        return Remembered(
            frozenset(said["params"]),
            tuple(said["input"]),
            said["input_checksums"] or {},
            said["code"],
        )
    except (OSError, ValueError, LookupError, TypeError):
        return None
