"""What this machine is, without its name: no number means anything without it."""

from __future__ import annotations

import os
import platform
from importlib.metadata import version
from importlib.util import cache_from_source, find_spec
from pathlib import Path
from typing import Any

LIBRARIES = ("numpy", "scipy", "xarray", "netCDF4", "pydantic", "snakemake")


def facts() -> dict[str, Any]:
    """Describe processor, memory, libraries and how busy the machine is."""
    import numpy as np

    blas = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
    return {
        "cpu": cpu(),
        "cores": len(os.sched_getaffinity(0)),
        "memory_GB": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9, 1),
        "load": [round(load, 2) for load in os.getloadavg()],
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "python": platform.python_version(),
        "blas": f"{blas['name']} {blas['version']}",
        "compiled": is_compiled("matplotlib"),
        "threads": os.environ.get("OPENBLAS_NUM_THREADS", "all"),
        **{name: version(name) for name in LIBRARIES},
    }


def is_compiled(library: str) -> bool:
    """Say whether a library was compiled when it was installed, as make does; if not, imports drag.

    Examples
    --------
    >>> is_compiled("no_such_library")
    False
    """
    found = find_spec(library)
    return bool(found and found.origin and Path(cache_from_source(found.origin)).exists())


def cpu() -> str:
    """Name the processor."""
    listed = Path("/proc/cpuinfo")
    if listed.exists():
        for line in listed.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or "unknown"
