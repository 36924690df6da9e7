"""What was asked for earlier: the recipes of products that are there, or that a run made."""

from __future__ import annotations

import os
import re
from functools import cached_property
from pathlib import Path
from typing import Any

from lowpass.memory import Memory
from lowpass.registry import Refusal

NAME = re.compile(r"results/(\w+)/([^/]+)~([0-9a-f]{12})\.[.\w]+")


class Known:
    """Look up recipes by stage and by the readable part of a name.

    Parameters
    ----------
    memory : Memory
        Which knows most recipes; a product that Snakemake forgot tells its own.
    """

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    @cached_property
    def _paths(self) -> dict[tuple[str, str], dict[str, str]]:
        found: dict[tuple[str, str], dict[str, str]] = {}
        for path in sorted({*there(), *self._memory.paths}):
            if parts := NAME.fullmatch(path):
                stage, slug, key = parts.groups()
                found.setdefault((stage, slug), {}).setdefault(key, path)
        return found

    def is_empty(self) -> bool:
        """Say whether nothing was ever made here."""
        return not self._paths

    def recipes(self, stage: str, slug: str) -> list[dict[str, Any]]:
        """List the recipes of all products of a stage that are called so."""
        asked = (self.recipe(path) for path in self._paths.get((stage, slug), {}).values())
        return [recipe for recipe in asked if recipe is not None]

    def named(self, stage: str, slug: str) -> list[str]:
        """List the paths of such products."""
        return [*self._paths.get((stage, slug), {}).values()]

    def recipe(self, path: str) -> dict[str, Any] | None:
        """Give the recipe of a product; none where neither memory nor file tells it."""
        note = self._memory.of(path)
        if note is not None and note.recipe is not None:
            return note.recipe
        said = record(path)
        return said["recipe"] if said else None


def there() -> list[str]:
    """List the files in the folders of all stages."""
    return [path.as_posix() for path in Path("results").glob("*/*~*") if path.suffix != ".part"]


def record(path: str) -> dict[str, Any] | None:
    """Read what a product says of itself; none where it is not there, or says nothing."""
    # Loading what reads netCDF takes longer than most answers, which do without.
    from lowpass.provenance import record_in

    if not os.path.exists(path):
        return None
    try:
        return record_in(Path(path))[0]
    except Refusal:
        return None


def is_edited(path: str) -> bool:
    """Say whether a product differs from its own record."""
    from lowpass.provenance import parent_of

    try:
        parent_of(path)
    except Refusal:
        return True
    return False
