"""The whole workflow on the cluster: the bytes of a local run, and every job once."""

from __future__ import annotations

from collections import Counter

from ..workflow.project import jobs_in
from .slurm import ACCOUNT, NODES, PARTITION

# Drawn, judged and typeset where the run is.
AT_HOME = ("figure", "judge", "typeset", "publish")


def test_a_run_on_the_cluster_gives_the_bytes_of_a_local_run(slurm, project, local):
    run = project.submit()
    run.succeed(minutes=20)
    assert project.bytes_of() == local.bytes_of()
    assert slurm.queue() == []
    jobs = run.jobs()
    assert {(job.account, job.partition, job.state) for job in jobs} == {
        (ACCOUNT, PARTITION, "COMPLETED")
    }
    assert {job.node for job in jobs} == {*NODES}
    # One Slurm job for each job of Snakemake's that leaves home, and none twice.
    sent = {rule: n for rule, n in jobs_in(run.said).items() if rule not in AT_HOME}
    assert rules_of(jobs) == sent
    assert len({job.what for job in jobs}) == len(jobs)
    assert project.trace("results/paper.pdf").returncode == 0


def rules_of(jobs) -> Counter[str]:
    """Count the jobs of each rule, which their comments name."""
    return Counter(job.what.removeprefix("rule_").partition("_wildcards_")[0] for job in jobs)
