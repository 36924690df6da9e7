"""Two ways that need no plugin: jobs sent by sbatch, and one Slurm job that holds a whole run."""

from __future__ import annotations

import sys

from .runs import FILLED
from .slurm import ACCOUNT, PARTITION, within

PROFILE = "profiles/cluster-generic/config.yaml"


def test_jobs_sent_by_a_command_give_the_bytes_of_a_local_run(slurm, project, local):
    for old, new in {**FILLED, "latency-wait: 60": "latency-wait: 10"}.items():
        project.edit(PROFILE, old, new)
    targets = local.experiments("circle", "identities")
    run = project.submit(*targets, profile="cluster-generic")
    run.succeed()
    made = project.bytes_of()
    assert {*targets} <= {*made}
    assert made == {name: local.bytes_of(name)[name] for name in made}
    assert slurm.queue() == []


def test_a_whole_run_within_one_slurm_job_gives_the_bytes_of_a_local_run(slurm, project, local):
    (target,) = local.experiments("circle")
    command = f"{sys.executable} -m snakemake {target} --cores 2 --resources mem_mb=1900"
    asked = (f"--account={ACCOUNT}", f"--partition={PARTITION}", "--cpus-per-task=2", "--mem=1900")
    where = (f"--chdir={project.root}", "--output=whole.log", "--job-name=whole")
    slurm.ask("sbatch", *asked, "--time=20", *where, "--wrap", command)
    within(600, lambda: not slurm.queue())
    (job,) = slurm.ended("whole")
    assert job.state == "COMPLETED", (project.root / "whole.log").read_text()
    made = project.bytes_of()
    assert target in made
    assert made == {name: local.bytes_of(name)[name] for name in made}
