"""The settings of a job, for this process too: nothing here may import numpy."""

from __future__ import annotations

import os
from pathlib import Path

# What the Snakefile and the Makefile set for every job.
SETTINGS = {
    "PYTHONPATH": str(Path(__file__).parents[2] / "src"),
    "PYTHONDONTWRITEBYTECODE": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
}


def settle() -> None:
    """Give this process the settings of a job; numpy reads them when it is imported."""
    os.environ.update(SETTINGS)
