"""Configuration or code edited while jobs wait in the queue: never a false record."""

from __future__ import annotations

import json
import re

from .runs import ClusterProject, Run
from .slurm import NODES, Slurm

CONFIGURATION = (
    r"config/paper\.yaml: it was edited after this job was planned \(sha256 [0-9a-f]{12} was "
    r"planned, [0-9a-f]{12} is there\), so the job was not run\. Run again\."
)
CODE = (
    r"the code of stage 'attention' is [0-9a-f]{16} and not [0-9a-f]{16} as planned; it was "
    r"edited while the workflow ran\. Run again\."
)
# Other code of the same meaning, so that it can run.
SOFTMAX = (
    "weight / weight.sum(axis=-1, keepdims=True)",
    "weight / weight.sum(keepdims=True, axis=-1)",
)


def held(slurm: Slurm, project: ClusterProject) -> Run:
    """Start a run, and return when its first job waits in the queue."""
    for node in NODES:
        slurm.node(node, state="drain", reason="test")
    # Whoever refuses once does so again.
    run = project.submit("circle", "--retries", "0")
    run.until(lambda: slurm.queue("-t", "pending"), "a job in the queue")
    return run


def refused(slurm: Slurm, run: Run, reason: str) -> None:
    """Let the jobs of a run go, and check that all refuse."""
    for node in NODES:
        slurm.node(node, state="resume")
    run.end()
    assert run.process.returncode == 1
    (line,) = [line for line in run.told if ": it refused: " in line]
    assert re.search(reason.removesuffix(r"\."), line), line
    assert {job.state for job in run.jobs()} == {"FAILED"}


def whole(project: ClusterProject) -> None:
    """Run again, and check that all there is comes of the present configuration and code."""
    project.submit("circle").succeed()
    project.left_whole()
    (path,) = project.products("experiment")
    told = project.trace(str(path.relative_to(project.root)), "--json")
    assert told.returncode == 0
    (answer,) = json.loads(told.stdout)
    assert {each["status"] for each in answer["products"].values()} == {"ok"}


def test_jobs_refuse_a_configuration_and_a_kernel_that_were_edited_meanwhile(slurm, project):
    project.keep("circle")
    run = held(slurm, project)
    project.configure(circle={"attention": {"beta": [1, 2]}})
    refused(slurm, run, CONFIGURATION)
    assert project.products() == []
    whole(project)
    # The tokens are there; what waits now is the attention.
    project.unmake(*project.products("attention", "nc"))
    run = held(slurm, project)
    project.edit("src/lowpass/kernels.py", *SOFTMAX)
    refused(slurm, run, CODE)
    assert project.products("attention") == []
    whole(project)
