"""A point: one job's product, named by what is asked of which parents."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from lowpass.records import canonical, key_of

SLUG_LENGTH = 60
SUFFIXES = {
    "claims": (".json",),
    "paper": (".pdf",),
    "figures": (".svg", ".png", ".pdf", ".night.svg"),
}


@dataclass(frozen=True, eq=False)
class Point:
    """Hold what is asked of one job.

    Parameters
    ----------
    stage : str
        The rule that makes it, and the folder it goes to.
    slug : str
        Readable part of the name.
    recipe : dict
        Stage, parameters that differ from their defaults, seed and block where they matter.
    parents : tuple of Point
        What it is made from.
    resource : str
        Path of a data file it reads, relative to the project; empty where there is none.
    """

    stage: str
    slug: str
    recipe: dict[str, Any]
    parents: tuple[Point, ...] = field(default=(), repr=False)
    resource: str = ""

    @cached_property
    def key(self) -> str:
        """First hexadecimal digits of the digest of recipe and parents' keys."""
        return key_of(self.recipe, [parent.key for parent in self.parents])

    @cached_property
    def name(self) -> str:
        """Slug and key."""
        return f"{self.slug}~{self.key}"

    @cached_property
    def text(self) -> str:
        """The recipe as canonical JSON."""
        return canonical(self.recipe)

    @property
    def paths(self) -> tuple[str, ...]:
        """Every file of the product, relative to the folder the workflow runs in."""
        suffixes = SUFFIXES.get(self.stage, (".nc",))
        return tuple(f"results/{self.stage}/{self.name}{suffix}" for suffix in suffixes)

    @property
    def path(self) -> str:
        """The first file of the product."""
        return self.paths[0]


def slug_of(first: str, params: dict[str, Any]) -> str:
    """Compose the readable part of a name from a word and the parameters that fit.

    Examples
    --------
    >>> slug_of("softmax", {"beta": 3.0, "depth": 400, "inside": {}})
    'softmax_beta-3_depth-400'
    """
    slug = re.sub(r"[^A-Za-z0-9.-]+", "-", first)
    for name, value in params.items():
        if isinstance(value, int | float | str) and value != first and name != "sha256":
            text = f"{value:g}" if isinstance(value, float) else str(value)
            word = "_" + re.sub(r"[^A-Za-z0-9.-]+", "-", f"{name}-{text}")
            if len(slug) + len(word) <= SLUG_LENGTH:
                slug += word
    return slug
