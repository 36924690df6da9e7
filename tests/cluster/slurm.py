"""A real Slurm of two nodes on this machine: how it is started, asked, broken and mended."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import shutil
import subprocess
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import NamedTuple

import psutil

SCRIPT = Path(__file__).parent / "slurm_cluster.sh"
NODES = ("n1", "n2")
DAEMONS = ("munged", "mariadbd", "slurmdbd", "slurmctld", *(f"slurmd-{node}" for node in NODES))
ACCOUNT, PARTITION = "test", "main"
# Seconds until a command of Slurm hangs, one of whose daemons may be away.
PATIENCE = 120
# Seconds that a job which is cancelled may take to end.
ENDING = 15
COLUMNS = "JobIDRaw,JobName,Account,Partition,NodeList,State,Start,End,ReqMem,Timelimit,Comment"


class Job(NamedTuple):
    """Hold what accounting knows of one job: a line of ``sacct``.

    The name is that of the run, and the comment that of the rule and its wildcards.
    """

    number: str
    run: str
    account: str
    partition: str
    node: str
    state: str
    start: str
    end: str
    memory: str
    limit: str
    what: str

    @property
    def ended(self) -> bool:
        """Tell whether the job neither waits nor is at work."""
        return self.state not in ("PENDING", "RUNNING", "COMPLETING", "SUSPENDED")


def missing() -> str:
    """Say what this machine lacks to be a cluster; nothing where it lacks nothing."""
    path = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/sbin"])
    programs = ("munged", "mariadbd", "slurmdbd", "slurmctld", "slurmd", "sbatch")
    lost = [name for name in programs if not shutil.which(name, path=path)]
    if lost:
        return f"{', '.join(lost)} missing; install by tests/cluster/slurm_cluster.sh install"
    if os.geteuid() != 0:
        return "only root starts nodes"
    if not importlib.util.find_spec("snakemake_executor_plugin_slurm"):
        return "snakemake-executor-plugin-slurm is not installed"
    return ""


class Slurm:
    """Hold a cluster, whose files are in a folder.

    Parameters
    ----------
    root : Path
        The folder, which may be missing.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.began = datetime.now() - timedelta(minutes=1)

    def _script(self, *arguments: str) -> None:
        # Daemons inherit what is written to, and a pipe would stay open as long as they live.
        with open(self.root.with_suffix(".said"), "w+", encoding="utf-8") as said:
            done = subprocess.run(
                [SCRIPT, *arguments],
                env={**os.environ, "SLURM_TEST_ROOT": str(self.root)},
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
                timeout=PATIENCE * 3,
            )
            said.seek(0)
            assert done.returncode == 0, said.read()

    def start(self) -> None:
        """Start the cluster, all nodes of which are idle then."""
        self._script("start")

    def stop(self) -> None:
        """End every process of it."""
        self._script("stop")

    def start_one(self, daemon: str) -> None:
        """Start a daemon that is not there."""
        self._script("start-one", daemon)

    def stop_one(self, daemon: str, signal: str = "TERM") -> None:
        """End a daemon."""
        self._script("stop-one", daemon, signal)

    def ask(self, *command: str) -> str:
        """Run a command of Slurm, which must succeed."""
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def node(self, name: str, **change: str) -> None:
        """Change a node: ``node("n1", state="drain", reason="test")``."""
        words = [f"{key}={value}" for key, value in change.items()]
        self.ask("scontrol", "update", f"nodename={name}", *words)

    def at_work(self, node: str) -> list[psutil.Process]:
        """List the processes of the jobs that run on a node."""
        numbers = self.running_on(node)
        return [each for each in self.processes() if job_of(each) in numbers]

    def cut(self, node: str) -> list[str]:
        """Take a node's power away, and give the numbers of the jobs that ran there."""
        numbers = self.running_on(node)
        self.stop_one(f"slurmd-{node}", "KILL")
        jobs = self.at_work(node)
        ups = {up for each in jobs for up in parents(each) if up.name() == "slurmstepd"}
        # Who would tell how a job ended goes first.
        for each in (*ups, *jobs):
            with contextlib.suppress(psutil.NoSuchProcess):
                each.kill()
        return numbers

    def state_of(self, node: str) -> str:
        """Give the state of a node, such as ``idle`` or ``down*``."""
        return self.ask("sinfo", "-h", "-N", "-n", node, "-o", "%T").split()[0]

    def queue(self, *more: str) -> list[str]:
        """List the numbers of the jobs that wait or run."""
        return self.ask("squeue", "-h", "-o", "%i", *more).split()

    def running_on(self, node: str) -> list[str]:
        """List the numbers of the jobs that run on a node."""
        return self.queue("-t", "running", "-w", node)

    def jobs(self, run: str) -> list[Job]:
        """List the jobs of a run, in the order in which they were submitted."""
        since = f"{self.began:%Y-%m-%dT%H:%M:%S}"
        words = ["-X", "-n", "-P", "-S", since, f"--name={run}", f"--format={COLUMNS}"]
        return [Job(*line.split("|")) for line in self.ask("sacct", *words).splitlines()]

    def ended(self, run: str) -> list[Job]:
        """List the jobs of a run that is over, once accounting has heard of the end of each."""
        numbers = {*self.queue("-t", "all", "--name", run)}
        within(PATIENCE, lambda: {job.number for job in self.jobs(run) if job.ended} >= numbers)
        return self.jobs(run)

    def mend(self) -> None:
        """Bring back what a test took away, and leave nothing in the queue."""
        for daemon in DAEMONS:
            self.start_one(daemon)
        subprocess.run(["scancel", "-u", "root"], check=True, timeout=PATIENCE)
        for node in NODES:
            if self.state_of(node).startswith(("drain", "down")):
                self.node(node, state="resume")
        with contextlib.suppress(AssertionError):
            within(ENDING, self.idle)
        if not self.idle():
            # Jobs that were cut with their node take room on it until the controller counts anew.
            self.stop_one("slurmctld")
            self.start_one("slurmctld")
        within(PATIENCE, self.idle)
        within(PATIENCE, lambda: not (self.queue() or self.processes()))

    def idle(self) -> bool:
        """Tell whether both nodes are there and have nothing to do."""
        return all(self.state_of(node) == "idle" for node in NODES)

    @property
    def name(self) -> str:
        """The name of the cluster, which every job has in its environment."""
        conf = (self.root / "etc/slurm.conf").read_text(encoding="utf-8")
        return conf.partition("ClusterName=")[2].split()[0]

    def processes(self) -> list[psutil.Process]:
        """List the processes of jobs, whether Slurm knows of them or not."""
        found = []
        for each in psutil.process_iter():
            try:
                found += [each] * (each.environ().get("SLURM_CLUSTER_NAME") == self.name)
            except psutil.Error:
                continue  # It has ended meanwhile.
        return found

    def story(self) -> str:
        """Tell how the cluster is, to somebody who asks why a test takes so long."""
        told = []
        for command in (["squeue", "-o", "%i %T %N %r %k"], ["sinfo", "-N", "-o", "%N %T %E"]):
            done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
            told += [f"$ {' '.join(command)}", done.stdout + done.stderr]
        log = self.root / "log/slurmctld.log"
        return "\n".join([*told, "slurmctld.log:", tail(log.read_text(errors="replace"))])


def job_of(process: psutil.Process) -> str:
    """Give the number of the job that a process belongs to, if it does to one."""
    try:
        return process.environ().get("SLURM_JOB_ID", "")
    except psutil.Error:
        return ""  # It has ended meanwhile.


def parents(process: psutil.Process) -> list[psutil.Process]:
    """List the processes that a process descends from."""
    try:
        return process.parents()
    except psutil.Error:
        return []  # It has ended meanwhile.


def within(seconds: float, happens: Callable[[], object]) -> None:
    """Wait for something that must come."""
    deadline = time.monotonic() + seconds
    while not happens():
        assert time.monotonic() < deadline, f"{seconds} s are over"
        time.sleep(0.3)


def tail(text: str, lines: int = 40) -> str:
    """Give the last lines of a text."""
    return "\n".join(text.splitlines()[-lines:])
