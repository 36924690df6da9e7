"""The environment of a shell in which nobody has prepared anything."""

from __future__ import annotations

import os
from collections.abc import Mapping

# What make or a person may have set, and a run must not rely on.
SET = (
    "PYTHONPATH",
    "PYTHONDONTWRITEBYTECODE",
    "SNAKEMAKE_PROFILE",
    "OPENBLAS_NUM_THREADS",
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
)


def environment(env: Mapping[str, str]) -> dict[str, str]:
    """Give the environment of a shell in which nobody has prepared anything."""
    return {name: value for name, value in os.environ.items() if name not in SET} | dict(env)
