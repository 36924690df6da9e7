"""The fallback: jobs sent by sbatch itself, through the profile for any scheduler."""

from __future__ import annotations

from .runs import FILLED

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
