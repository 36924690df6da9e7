"""Run this project and its alternatives as processes, as the workflow runs them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from ..workflow.project import ROOT, environment

# What the Snakefile and the Makefile set for every job.
SETTINGS = {
    "PYTHONPATH": str(ROOT / "src"),
    "PYTHONDONTWRITEBYTECODE": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
}


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


def settle() -> None:
    """Give this process the settings of a job; call it before numpy is imported."""
    os.environ.update(SETTINGS)
