"""Commands of Slurm's names that say what a test wants, on a PATH of their own."""

from __future__ import annotations

from pathlib import Path


def install(folder: Path, **commands: str) -> None:
    """Write commands as shell scripts; an underscore-free name is the command's own."""
    for name, script in commands.items():
        path = folder / name
        path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        path.chmod(0o755)
