"""What a job costs through Slurm, beside one of a local run, where jobs have next to no work."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ..cluster.runs import FILLED, ClusterProject
from ..cluster.slurm import Slurm, missing
from ..workflow.project import jobs_in
from .measuring import Row, Samples

PROFILES = ("slurm", "cluster-generic")
# Points of a sweep, each of which is a trajectory and its spectra.
POINTS, MORE = 10, 40
PATIENCE = 30  # Minutes.


def rows(*, long: bool) -> Iterator[Row]:
    """Run one sweep on this machine and through each profile; no row where there is no Slurm."""
    if lack := missing():
        print(f"no Slurm: {lack}", file=sys.stderr)
        return
    n_points = MORE if long else POINTS
    with TemporaryDirectory() as folder:
        slurm = Slurm(Path(folder) / "slurm")
        try:
            slurm.start()
            here, n_jobs = per_job(Path(folder) / "local", slurm, n_points, None)
            for profile in PROFILES:
                there, _ = per_job(Path(folder) / profile, slurm, n_points, profile)
                case = f"{n_jobs} jobs, two nodes of 2 CPUs on this machine"
                ours, theirs = Samples((there,)), Samples((here,))
                what = f"a job by {profile}"
                yield Row(what, case, "s", ours, theirs, "a local run", clock="wall")
        finally:
            slurm.stop()


def sweep(n_points: int) -> dict[str, Any]:
    """Describe points whose jobs do little but start."""
    return {
        "why": "What is a point?",
        "data": {"generator": "gaussian", "n_tokens": 8, "d_model": 4},
        "attention": {"beta": [round(0.1 * (1 + i), 1) for i in range(n_points)], "depth": 4},
        "spectra": ["slem"],
        "replicates": 1,
    }


def per_job(root: Path, slurm: Slurm, n_points: int, profile: str | None) -> tuple[float, int]:
    """Run the sweep; give seconds of the clock for each job, and how many jobs there were."""
    project = ClusterProject.of(root, slurm)
    for old, new in FILLED.items():
        project.edit("profiles/cluster-generic/config.yaml", old, new)
    project.configure(sweep=sweep(n_points))
    project.keep("sweep")
    began = time.perf_counter()
    run = project.submit("sweep", *([] if profile else ["--cores", "2"]), profile=profile)
    run.succeed(PATIENCE)
    n_jobs = sum(jobs_in(run.said).values())
    return (time.perf_counter() - began) / n_jobs, n_jobs
