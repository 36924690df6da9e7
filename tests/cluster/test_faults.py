"""What goes wrong on a cluster: the run ends, with all else done and nothing half done.

Several faults share a run, since what takes long is waiting.
"""

from __future__ import annotations

import re
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from ..workflow.project import NOTHING, outputs_in
from .runs import Run
from .slurm import NODES, Job

# An error of one kernel, which one of the points uses.
RAISE = ("plan = np.empty(scores.shape)", 'raise ValueError("made to fail")')
# A million small steps, where Slurm counts in whole minutes.
SLOW = {
    "why": "It takes longer than it may.",
    "data": {"generator": "ring", "n_tokens": 96},
    "diffusion": {"graph": "ring", "diffusion_time": 0.1, "depth": 10**6, "record": [0]},
    "spectra": ["slem"],
    "replicates": 1,
}
SINKHORN = "sinkhorn_weights-symmetric_start-no-stationary_beta-1"
FLOW = f"ring_diffusion-time-0.1_depth-{10**6}"
# Megabytes that no job can do with, and how one gets enough at its second attempt.
TOO_FEW = 60
ENOUGH_LATER = f"{TOO_FEW} * 20 ** (attempt - 1)"
ASKED = f"{TOO_FEW} if wildcards.name.startswith('identities') else {ENOUGH_LATER}"
# What a run says of each of the products whose jobs fail.
WHY = {
    SINKHORN: r"an error of the program: ValueError: made to fail \(2 times\)\. What was finished",
    "identities": rf"out of memory, with {TOO_FEW}M on n\d \(2 times\)\. Give it more, and run "
    r"again: --set-resources smoothing:mem_mb=MEGABYTES\.$",
    FLOW: r"out of time, after 00:01:00 on n\d \(2 times\)\. Give it more, and run again: "
    r"--set-resources diffusion:runtime=MINUTES\.$",
}
# The states of jobs, attempt by attempt, where they are not completed at once.
STATES = {
    SINKHORN: ["FAILED"] * 2,
    "identities": ["FAILED"] * 2,
    "selection_neighbours-1": ["FAILED", "COMPLETED"],
    FLOW: ["TIMEOUT"] * 2,
}
# What fails, and what is made of it.
MISSING = {
    "data": set(),
    "attention": {SINKHORN},
    "diffusion": {FLOW},
    "smoothing": {"identities"},
    "spectra": {SINKHORN, FLOW},
    "experiment": {"counterexamples", "identities", "slow"},
}


def beginning(path: str) -> str:
    """Give the name of a product without its key."""
    return Path(path).name.partition("~")[0]


def causes(run: Run) -> dict[str, str]:
    """Give what a run says at its end of each product that is not there."""
    said = [line.removeprefix("lowpass: ").split(": ", 1) for line in run.told]
    return {beginning(product): why for product, why in said}


def states(run: Run) -> dict[str, list[str]]:
    """Give the states of the jobs of each product whose first one failed."""
    return {
        beginning(what.partition("_wildcards_")[2]): ends
        for what, ends in ends_of(run.jobs()).items()
        if ends != ["COMPLETED"]
    }


def ends_of(jobs: Sequence[Job]) -> dict[str, list[str]]:
    """Give the states of the jobs of each product, attempt by attempt."""
    found = defaultdict(list)
    for job in jobs:
        found[job.what] += [job.state]
    return found


def test_jobs_that_fail_say_why_and_leave_the_rest_to_be_done(slurm, project):
    """A script error, too little memory once, too little memory for ever, too little time."""
    project.edit("src/lowpass/kernels.py", *RAISE)
    project.keep("counterexamples", "identities", "nile")
    project.configure(slow=SLOW)
    run = project.submit(
        "--retries", "1", "--set-resources", f"smoothing:mem_mb={ASKED}", "diffusion:runtime=1"
    )
    run.end()
    assert run.process.returncode == 1
    project.left_whole()
    told = causes(run)
    assert told.keys() == WHY.keys()
    for product, why in WHY.items():
        assert re.match(why, told[product]), told[product]
    assert states(run) == STATES
    # All is there that does not come of these.
    dry = project.dry()
    for stage, names in MISSING.items():
        assert {beginning(path) for path in outputs_in(dry, stage)} == names


def test_a_run_outlives_nodes_and_daemons(slurm, project, local):
    """A drained node, a lost node, and the controller and the database away for a while."""
    experiments = local.experiments("counterexamples", "identities")
    slurm.node("n1", state="drain", reason="test")
    run = project.submit(*experiments)
    run.until(lambda: project.products("data", "nc"), "a job on the other node")
    assert slurm.running_on("n1") == []
    slurm.node("n1", state="resume")
    run.until(lambda: slurm.at_work("n1"), "a job on the node that is back")
    lost = slurm.cut("n1")
    run.until(lambda: slurm.state_of("n1").startswith("down"), "a node down")
    slurm.stop_one("slurmctld")
    time.sleep(20)
    slurm.start_one("slurmctld")
    run.until(lambda: slurm.running_on("n2"), "a job after the controller was away")
    slurm.stop_one("slurmdbd")
    time.sleep(25)
    slurm.start_one("slurmdbd")
    run.succeed()
    project.left_whole()
    assert project.plan(*experiments) == NOTHING
    made = project.bytes_of()
    assert made == {name: local.bytes_of(name)[name] for name in made}
    jobs = run.jobs()
    assert {job.node for job in jobs} == {*NODES}
    assert {(job.node, job.state) for job in jobs if job.number in lost} == {("n1", "NODE_FAIL")}
    assert run.said.count("its node failed on n1") >= len(lost)
    # Jobs that begin while the controller is away fail as well; each product is made once.
    for product, ends in ends_of(jobs).items():
        assert ends.count("COMPLETED") == 1, product
        assert ends[-1] == "COMPLETED", product
