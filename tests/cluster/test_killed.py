"""A run whose Snakemake is killed while its jobs run and wait, and what the next one says."""

from __future__ import annotations

import re
import shlex
import subprocess
from collections import defaultdict

from ..workflow.project import succeeded
from .runs import ClusterProject
from .slurm import NODES, Job

LEFT = (
    r"lowpass: results/\S+: a run that was killed left it locked \(process \d+ on \S+, which is "
    r"gone\), so nothing was started\. (?:\d+ of its jobs are|One of its jobs is) still in Slurm's "
    r"queue\. Type "
    r"'(scancel --name lowpass_\S+)', then '(\.venv/bin/snakemake .*--unlock)', and run again: "
    r"what was finished is kept\."
)


def obey(project: ClusterProject, command: str) -> None:
    """Type what a message says."""
    program, *arguments = shlex.split(command)
    if program == ".venv/bin/snakemake":
        succeeded(project.python("-m", "snakemake", *arguments))
    else:
        subprocess.run([program, *arguments], check=True, timeout=60)


def test_a_killed_run_goes_on_as_its_message_says(slurm, project, local):
    (target,) = local.experiments("counterexamples")
    run = project.submit(target)
    run.until(lambda: project.products("attention", "nc"), "a trajectory")
    ask_meanwhile(project)
    # Nothing begins any more, so that some wait, maybe while others are at work.
    for node in NODES:
        slurm.node(node, state="drain", reason="test")
    run.until(lambda: slurm.queue("-t", "pending"), "a job in the queue")
    run.kill()
    again = project.submit(target)
    again.end(minutes=3)
    assert again.process.returncode == 1
    # Of what was finished when nobody looked any more Snakemake has no notes, which is told first.
    *_, line = again.told
    said = re.fullmatch(LEFT, line)
    assert said, again.told
    for command in said.groups():
        obey(project, command)
    for node in NODES:
        slurm.node(node, state="resume")
    last = project.submit(target)
    last.succeed()
    project.left_whole()
    made = project.bytes_of()
    assert made == {name: local.bytes_of(name)[name] for name in made}
    assert target in made
    alone_in_time([*run.jobs(), *last.jobs()])


def ask_meanwhile(project: ClusterProject) -> None:
    """Ask about a run in progress, which neither disturbs it nor waits for it."""
    first, *_ = project.products("data", "nc")
    told = project.trace(str(first.relative_to(project.root)))
    assert told.returncode == 0, told.stdout
    explained = project.python("-m", "lowpass", "explain")
    assert explained.returncode == 0, explained.stderr
    assert "counterexamples" in explained.stdout


def alone_in_time(jobs: list[Job]) -> None:
    """Check that no two jobs made the same product at one time."""
    times = defaultdict(list)
    for job in jobs:
        if job.start not in ("None", "Unknown"):
            times[job.what] += [(job.start, job.end)]
    for what, spans in times.items():
        spans.sort()
        ends = [end for _, end in spans[:-1]]
        starts = [start for start, _ in spans[1:]]
        assert all(end <= start for end, start in zip(ends, starts, strict=True)), what
