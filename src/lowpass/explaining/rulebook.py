"""The shell commands of the workflow's rules, read from their files."""

from __future__ import annotations

import ast
import re
from pathlib import Path

BLOCK = re.compile(r"^rule (\w+):\n((?:[ \t].*\n|\n)+)", re.MULTILINE)
SHELL = re.compile(r"^ +shell:\s*\n((?: +[\"'].*\n?)+)", re.MULTILINE)
FOLDER = re.compile(r"[\"']results/(\w+)/|plan\.(publish)ed\(\)")


def commands(root: Path) -> dict[str, tuple[str, str]]:
    """Map the stage of every rule to the rule's name and its command.

    Parameters
    ----------
    root : Path
        Folder of the project.

    Returns
    -------
    dict
        A rule that is written in another manner is left out.
    """
    found = {}
    for path in sorted((root / "workflow/rules").glob("*.smk")):
        for name, block in BLOCK.findall(path.read_text(encoding="utf-8") + "\n"):
            shell, folder = SHELL.search(block), FOLDER.search(block)
            if shell and folder:
                stage = folder[1] or folder[2]
                found[stage] = name, ast.literal_eval(f"({shell[1]})")
    return found
