"""A copy of this project that runs on the cluster, and its runs in progress.

Nobody waits for a run longer than promised: whoever gives up says how run and cluster are.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from ..workflow.environment import environment
from ..workflow.project import CONFIG, Project, told, write_config
from .slurm import ACCOUNT, PARTITION, Job, Slurm, tail, within

PROFILE = "profiles/slurm/config.yaml"
# What a person fills in.
FILLED = {
    "#  slurm_account: NAME": f"  slurm_account: {ACCOUNT}",
    "#  slurm_partition: NAME": f"  slurm_partition: {PARTITION}",
}
# Two nodes with one user answer at once; else the profile is what users get. A look that finds no
# job done puts the next one off by ten seconds more, and a job takes seven.
SPEEDY = {
    "latency-wait: 60": "latency-wait: 10",
    "slurm-init-seconds-before-status-checks: 20": "slurm-init-seconds-before-status-checks: 8",
}


class Run:
    """Hold a run of Snakemake in progress.

    Parameters
    ----------
    process : subprocess.Popen
    output : Path
        The file it writes to.
    slurm : Slurm
    """

    def __init__(self, process: subprocess.Popen[str], output: Path, slurm: Slurm) -> None:
        self.process = process
        self.output = output
        self.slurm = slurm

    @property
    def said(self) -> str:
        """All that was printed so far."""
        return self.output.read_text(encoding="utf-8", errors="replace")

    @property
    def told(self) -> list[str]:
        """The lines of it that are ours."""
        return told(self.said)

    @property
    def name(self) -> str:
        """What Slurm calls every job of the run."""
        (name,) = re.findall(r"^SLURM run ID: (\S+)$", self.said, re.MULTILINE)
        return name

    def jobs(self) -> list[Job]:
        """List what accounting knows of its jobs, which have ended if the run has."""
        ask = self.slurm.jobs if self.process.poll() is None else self.slurm.ended
        return ask(self.name)

    def until(self, happens: Callable[[], object], what: str, minutes: float = 5) -> None:
        """Wait for something that must come before the run ends."""
        deadline = time.monotonic() + 60 * minutes
        while not happens():
            if self.process.poll() is not None:
                raise AssertionError(f"ended before {what}\n{tail(self.said)}")
            if time.monotonic() > deadline:
                raise AssertionError(f"{what}: not in {minutes} min\n{self.story()}")
            time.sleep(0.3)

    def end(self, minutes: float = 15) -> str:
        """Wait for the end, and give all that was printed."""
        try:
            self.process.wait(60 * minutes)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"no end in {minutes} min\n{self.story()}") from None
        return self.said

    def succeed(self, minutes: float = 15) -> None:
        """Wait for the end, which must be a good one."""
        said = self.end(minutes)
        assert self.process.returncode == 0, said[-5000:]

    def kill(self) -> None:
        """Kill Snakemake, and nothing else."""
        self.process.kill()
        self.process.wait()

    def story(self) -> str:
        """Tell how far it has come, and how the cluster is."""
        return f"{self.slurm.story()}\nthe run:\n{tail(self.said, 80)}"


class ClusterProject(Project):
    """Hold a project's folder, and what a person types there to run it on a cluster."""

    slurm: Slurm
    runs: list[Run]

    @classmethod
    def of(cls, root: Path, slurm: Slurm) -> ClusterProject:
        """Copy the project, with the experiments of the smoke run and its profile filled in."""
        root.mkdir(parents=True, exist_ok=True)
        project = cls.checkout(root)
        shutil.copy(root / "config/smoke.yaml", root / CONFIG)
        project.slurm, project.runs = slurm, []
        for old, new in {**FILLED, **SPEEDY}.items():
            project.edit(PROFILE, old, new)
        return project

    def keep(self, *experiments: str) -> None:
        """Drop all other experiments from the configuration."""
        config = self.config
        config["experiments"] = {name: config["experiments"][name] for name in experiments}
        write_config(self.root / CONFIG, config)

    def experiments(self, *names: str) -> list[str]:
        """List the files of experiments that are there."""
        found = (path.relative_to(self.root) for path in self.products("experiment"))
        return [str(path) for path in found if path.name.partition("~")[0] in names]

    def submit(
        self, *arguments: str, profile: str | None = "slurm", env: Mapping[str, str] | None = None
    ) -> Run:
        """Start a run with a profile, or without one on this machine; return meanwhile."""
        words = [*arguments, *(["--profile", f"profiles/{profile}"] if profile else [])]
        output = self.root.parent / f"{self.root.name}-{len(self.runs)}.out"
        with open(output, "w", encoding="utf-8") as file:
            process = subprocess.Popen(
                [sys.executable, "-m", "snakemake", *words],
                cwd=self.root,
                env=environment(env or {}),
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
                text=True,
                start_new_session=True,
            )
        self.runs.append(Run(process, output, self.slurm))
        return self.runs[-1]

    def left_whole(self) -> None:
        """Check that nothing runs on, and that what bears the name of a result is all of it."""
        assert self.slurm.queue() == []
        within(60, lambda: not self.slurm.processes())
        # What a job that was killed had begun has another name.
        named = [path for path in self.products() if path.suffix != ".part"]
        traced = self.trace(*(str(path.relative_to(self.root)) for path in named))
        assert traced.returncode == 0, traced.stdout

    def close(self) -> None:
        """End what a test that failed left in progress."""
        for run in self.runs:
            if run.process.poll() is None:
                run.kill()
