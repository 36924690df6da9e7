"""Which code answers a recipe."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lowpass.fingerprint import Code, Inventory
from lowpass.fingerprint.remembering import FOLDER
from lowpass.plan.complete import complete
from lowpass.plan.roots import names_of, roots_of


def code_of(root: Path) -> Code:
    """Read the code of a project, of which every process remembers what another found.

    Parameters
    ----------
    root : Path
        The folder of the project.
    """
    return Code.read(root / "src", memory=root / FOLDER)


def inventory_of(
    code: Code, recipe: Mapping[str, Any], *, installed: Mapping[str, str] | None = None
) -> Inventory:
    """List the code that answers a recipe; its fingerprint is that of the recipe.

    Parameters
    ----------
    code : Code
        The sources as they lie on the disk.
    recipe : mapping
        With ``stage`` and ``params``.
    installed : mapping, optional
        Versions to count in place of those installed here, to compare code alone.

    Raises
    ------
    Refusal
        When the specification does not know the recipe, or its code cannot be read.
    """
    roots = roots_of(recipe)
    names = names_of(recipe["stage"], complete(recipe))
    return code.inventory(roots.definitions, names, roots.distributions, installed=installed)
