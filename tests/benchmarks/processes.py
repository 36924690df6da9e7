"""Run this project and its alternatives as processes, as the workflow runs them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from ..workflow.project import environment
from .settings import SETTINGS


def python(arguments: Sequence[str], folder: Path, **settings: str) -> str:
    """Run Python in a folder with the settings of a job, and return what it printed.

    Raises
    ------
    RuntimeError
        When it fails, with the end of what it said.
    """
    finished = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**environment({}), **SETTINGS, **settings},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    if finished.returncode:
        raise RuntimeError((finished.stdout + finished.stderr)[-2000:])
    return finished.stdout + finished.stderr
