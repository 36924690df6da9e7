"""Runs that are killed at any moment, and go on to the same bytes.

Every hand that kills is drawn from a seed. ``make test-workflow`` kills three times, ``make soak``
as often as LOWPASS_KILLS says.
"""

from __future__ import annotations

import os
import random
import re
import shlex
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from .project import NOTHING, Project, succeeded, told

N_KILLS = int(os.environ.get("LOWPASS_KILLS", "3"))
# A project is killed so many times before it may end, since each time costs a start.
IN_A_ROW = 3
PATIENCE = 120  # Seconds until a run that makes nothing is a failure, on a busy machine.
Run = subprocess.Popen


def until(happens: Callable[[], object], run: Run | None = None) -> bool:
    """Wait for something; tell whether it came before the run ended and patience did."""
    deadline = time.monotonic() + PATIENCE
    while not happens():
        if (run and run.poll() is not None) or time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def jobs_of(run: Run) -> list[psutil.Process]:
    """List the processes in which jobs of a run compute."""
    found = []
    for child in psutil.Process(run.pid).children(recursive=True):
        try:
            found += [child] * (child.cmdline()[1:3] == ["-m", "lowpass"])
        except psutil.Error:
            continue  # It has ended meanwhile.
    return found


def kill_snakemake(run: Run) -> None:
    """Kill the one process that knows of the others: its jobs go on alone."""
    run.kill()


def kill_all(run: Run) -> None:
    """Kill Snakemake, the shells and the jobs."""
    os.killpg(run.pid, signal.SIGKILL)


def kill_job(run: Run) -> None:
    """Kill one job, as a system that lacks memory does."""
    if until(lambda: jobs_of(run), run):
        for job in jobs_of(run)[:1]:
            job.kill()
    run.wait(PATIENCE)


HANDS = (kill_snakemake, kill_all, kill_job)


def whole_only(project: Project, whole: dict[str, bytes]) -> None:
    """Check that what bears the name of a result is all of it."""
    for path in project.root.glob("results/**/*.*"):
        name = str(path.relative_to(project.root))
        if not name.endswith(".part"):
            assert path.read_bytes() == whole[name], f"{name} is not whole"


def locked(project: Project) -> bool:
    """Tell whether a run has locked its files."""
    return any(project.root.glob(".snakemake/locks/*.output.lock"))


def killed(project: Project, hand: Callable[[Run], None], rng: random.Random) -> None:
    """Start a run, and kill it after some products and a moment."""
    n_products, moment = rng.randrange(4), rng.uniform(0, 1.5)
    before = len(project.products())
    with open(project.root.parent / "said", "w", encoding="utf-8") as output:
        run = project.start(cores=2, output=output)
    try:
        until(lambda: len(project.products()) >= before + n_products, run)
        time.sleep(moment)
        hand(run)
    finally:
        run.kill()
        run.wait(PATIENCE)


def go_on(project: Project) -> None:
    """Do what the next run says, where it is kept from beginning."""
    if not locked(project):
        return
    finished = project.snakemake()
    assert finished.returncode == 1
    (line,) = told(finished.stderr)
    assert re.match(r"lowpass: results/\S+: a run that was killed left it locked \(process ", line)
    (command,) = re.findall("Type '(.*)', and run again: what was finished is kept", line)
    program, *arguments = shlex.split(command)
    assert program == ".venv/bin/snakemake"
    succeeded(project.snakemake(*arguments))
    assert not locked(project)


def left_running(project: Project) -> list[psutil.Process]:
    """List the processes that work in a project's folder."""
    found = []
    for each in psutil.process_iter():
        try:
            found += [each] * Path(each.cwd()).is_relative_to(project.root)
        except (psutil.Error, OSError):
            continue  # It is somebody else's, or has ended.
    return found


@pytest.mark.parametrize("seed", range(-(-N_KILLS // IN_A_ROW)))
def test_a_run_that_was_killed_at_any_moment_goes_on_to_the_same_bytes(seed, finished, tmp_path):
    rng = random.Random(seed)
    project = finished.copy(tmp_path / "project")
    project.unmake(rng.choice(project.products("data", "nc")))
    whole = finished.bytes_of()
    for hand in rng.sample(HANDS, min(IN_A_ROW, N_KILLS - seed * IN_A_ROW)):
        killed(project, hand, rng)
        whole_only(project, whole)
        go_on(project)
    succeeded(project.snakemake())
    # What went on alone comes to its own end.
    assert until(lambda: not left_running(project)), left_running(project)
    assert project.bytes_of() == whole
    assert project.plan() == NOTHING


def hold(run: Run) -> list[psutil.Process]:
    """Stop a job that is beyond the start of Python, so that it cannot end in the next moment."""
    for job in jobs_of(run):
        try:
            if job.cpu_times().user > 0.2:
                job.suspend()
                return [job]
        except psutil.Error:
            continue  # It has ended meanwhile.
    return []


@pytest.fixture
def ctrl_c():
    """Have programs heed Ctrl-C, which a shell that works in the background forbids."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("ctrl_c")
def test_a_second_run_waits_for_the_first_and_ctrl_c_ends_that_cleanly(finished, tmp_path):
    project, whole = finished.copy(tmp_path / "project"), finished.bytes_of()
    project.unmake(*project.products("data", "nc"))
    with open(tmp_path / "said", "w", encoding="utf-8") as output:
        run = project.start("counterexamples", output=output)
    try:
        assert until(lambda: locked(project), run)
        second = project.snakemake("counterexamples", "--quiet", "all")
        held: list[psutil.Process] = []
        assert until(lambda: held.extend(hold(run)) or held, run)
        # What a terminal does to all programs in its foreground.
        os.killpg(run.pid, signal.SIGINT)
        held[0].resume()
        run.wait(PATIENCE)
    finally:
        run.kill()
    assert second.returncode == 1
    (line,) = told(second.stderr)
    assert re.fullmatch(
        rf"lowpass: results/\S+: another run is at work on it \(process {run.pid} on \S+\), so "
        r"nothing was started\. Wait for its end, or stop it with Ctrl-C where it runs\.",
        line,
    )
    assert run.returncode == 1
    said = (tmp_path / "said").read_text(encoding="utf-8")
    assert told(said) == ["lowpass: interrupted. Run again to go on; what was finished is kept."]
    assert "Traceback" not in said
    assert until(lambda: not left_running(project)), left_running(project)
    assert not locked(project)
    assert [*project.root.glob("results/**/*.part")] == []
    whole_only(project, whole)
    project.run("nile")
    assert project.plan("nile") == NOTHING
    whole_only(project, whole)
