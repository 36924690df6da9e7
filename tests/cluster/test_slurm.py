"""The cluster itself: two nodes that run jobs, limit them and refuse them as users' clusters do."""

from __future__ import annotations

import subprocess

import pytest

from .slurm import ACCOUNT, NODES, SCRIPT, within

HUNGRY = "x = bytearray(400_000_000); import time; time.sleep(30)"


def sent(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command as a job, and wait for its end."""
    return subprocess.run(
        ["srun", "--time=1", *arguments], capture_output=True, text=True, timeout=120
    )


@pytest.mark.parametrize("node", NODES)
def test_a_node_runs_jobs(slurm, node):
    done = sent(f"--account={ACCOUNT}", "--mem=50", f"--nodelist={node}", "printenv")
    assert done.returncode == 0, done.stderr
    assert f"SLURM_CLUSTER_NAME={slurm.name}" in done.stdout.splitlines()
    assert f"SLURM_JOB_NODELIST={node}" in done.stdout.splitlines()


def test_a_job_that_takes_more_memory_than_it_asked_for_is_killed(slurm):
    done = sent(f"--account={ACCOUNT}", "--mem=100", "--job-name=hungry", "python3", "-c", HUNGRY)
    assert done.returncode != 0
    (job,) = slurm.ended("hungry")
    assert job.state != "COMPLETED"


def test_a_node_whose_power_is_cut_loses_its_jobs(slurm):
    wrapped = ["--wrap", "sleep 300", "--no-requeue", "--output=/dev/null"]
    slurm.ask("sbatch", f"--account={ACCOUNT}", "--mem=50", "-J", "lost", "-w", "n1", *wrapped)
    within(60, lambda: slurm.at_work("n1"))
    (number,) = slurm.cut("n1")
    (job,) = slurm.ended("lost")
    assert (job.number, job.node, job.state) == (number, "n1", "NODE_FAIL")


def test_an_account_that_nobody_has_is_refused(slurm):
    done = sent("--account=nobody", "true")
    assert done.returncode != 0
    assert "Invalid account" in done.stderr


def test_a_machine_has_one_cluster_at_a_time(slurm):
    second = subprocess.run([SCRIPT, "start"], capture_output=True, text=True, timeout=60)
    assert second.returncode == 1
    assert second.stderr == (
        f"slurm_cluster: a cluster runs in {slurm.root} already, and a machine has one at a time; "
        f"end it: {SCRIPT} stop\n"
    )
