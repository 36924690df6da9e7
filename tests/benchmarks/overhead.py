"""What a run of the workflow costs beyond its computations.

As a program it makes every product of a finished run again in one warm process, and prints
the seconds of CPU by what they went into: ``python -m tests.benchmarks.overhead CONFIG``, in
the folder of the run and with its ``src`` on the path.
"""

from __future__ import annotations

import gc
import json
import os
import shutil
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from pkgutil import resolve_name
from tempfile import TemporaryDirectory
from typing import Any
from unittest import mock

from ..workflow.project import CONFIG, ROOT, Project
from .measuring import Row, Samples, children_cpu, wall
from .processes import python

SMOKE = "config/smoke.yaml"
# What every job does before it knows what it is to do: it imports, and it reads its code.
IMPORT = (
    "from lowpass.loading import import_from_source; import_from_source(); "
    "import gc, lowpass.jobs, lowpass.store; "
)
CHECK = "from tests.benchmarks.startup import job; job(); "
END = "gc.freeze()"
STARTS = 5
COMPUTING = "computing"
# The functions a job spends its time in, and what that time is for.
PARTS = {
    "lowpass.jobs.Job.compute": COMPUTING,
    "lowpass.jobs.check_code": "checking code",
    "lowpass.jobs.parent_of": "verifying parents",
    "lowpass.store.read": "reading",
    "lowpass.store.write": "writing",
    "lowpass.jobs.Job.publish": "writing",
}


def rows(*, long: bool) -> Iterator[Row]:
    """Divide a run of the smoke configuration, and one of the paper, into its parts."""
    yield from run_rows("smoke", SMOKE)
    if long:
        yield from run_rows("paper", CONFIG)


def run_rows(name: str, config: str) -> Iterator[Row]:
    """Run one configuration in a copy of the project and say where its time went."""
    cores = len(os.sched_getaffinity(0))
    with TemporaryDirectory() as folder:
        project = Project.checkout(Path(folder) / "project")
        shutil.copy2(ROOT / CONFIG, project.root / CONFIG)
        dry = least(lambda: run(project, config, cores, "--dry-run"))
        cpu, spent = timed(lambda: run(project, config, cores))
        jobs = job_seconds(project.root)
        imports = least(lambda: warm(project.root, IMPORT + END))
        check = least(lambda: warm(project.root, IMPORT + CHECK + END)) - imports
        parts = again(project.root, config)
    parts["checking code"] += check * len(jobs)
    parts["importing and ending"] = imports * len(jobs)
    parts["Snakemake's plan"] = dry
    parts["further imports, Snakemake's jobs"] = cpu - sum(parts.values())
    case = f"{len(jobs)} jobs on {cores} cores"
    for part, seconds in sorted(parts.items(), key=lambda item: -item[1]):
        yield share(f"{name}: {part}", case, seconds, cpu, "CPU of the whole run", "cpu")
    capacity = cores * spent
    yield share(f"{name}: all CPU", case, cpu, capacity, "cores x wall", "wall")
    yield share(f"{name}: jobs", case, sum(jobs), capacity, "cores x wall", "wall")


def least(work: Callable[[], object]) -> float:
    """Give the least CPU of some processes that are started several times."""
    return min(timed(work)[0] for _ in range(STARTS))


def warm(root: Path, code: str) -> None:
    """Run a line of Python on the code of a copy of the project."""
    python(["-c", code], root, PYTHONPATH=path_of(root))


def path_of(root: Path) -> str:
    """Let a process import the code of a copy, and these benchmarks."""
    return os.pathsep.join([str(root / "src"), str(ROOT)])


def share(what: str, case: str, ours: float, theirs: float, against: str, clock: str) -> Row:
    """Say how much of the whole a part is."""
    return Row(what, case, "s", Samples((ours,)), Samples((theirs,)), against, clock=clock)


def timed(work: Callable[[], object]) -> tuple[float, float]:
    """Give the CPU of the processes that some work starts, and its time on the wall."""
    before = children_cpu(), wall()
    work()
    return children_cpu() - before[0], wall() - before[1]


def run(project: Project, config: str, cores: int, *more: str) -> None:
    """Run the workflow as a person does."""
    finished = project.snakemake("--configfile", config, *more, cores=cores)
    if finished.returncode:
        raise RuntimeError((finished.stdout + finished.stderr)[-2000:])


def job_seconds(root: Path) -> list[float]:
    """Read from Snakemake's own benchmark files how long each job took on the wall."""
    files = sorted(root.glob("logs/**/*.jsonl"))
    lines = [line for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    return [json.loads(line)["s"] for line in lines]


def again(root: Path, config: str) -> dict[str, float]:
    """Make every product again in one process of its own; give CPU seconds by part."""
    arguments = ["-m", "tests.benchmarks.overhead", config]
    return json.loads(python(arguments, root, PYTHONPATH=path_of(root)).splitlines()[-1])


class Meter:
    """Add up the CPU of this process by what it is spent on; an inner part is not the outer's."""

    def __init__(self) -> None:
        self.spent: dict[str, float] = defaultdict(float)
        self._open = ["other work of jobs"]
        self._since = time.process_time()

    def _note(self) -> None:
        now = time.process_time()
        self.spent[self._open[-1]] += now - self._since
        self._since = now

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Count what happens inside under a name."""
        self._note()
        self._open.append(name)
        try:
            yield
        finally:
            self._note()
            self._open.pop()

    def around(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Count every call of a function, and every layer of a trajectory it returns."""

        def called(*arguments: Any, **named: Any) -> Any:
            with self.part(name):
                product = function(*arguments, **named)
            if hasattr(product, "layers"):
                return product._replace(layers=self.each(name, product.layers))
            return product

        return called

    def each(self, name: str, items: Iterator[Any]) -> Iterator[Any]:
        """Count the making of every item."""
        end = object()
        while True:
            with self.part(name):
                item = next(items, end)
            if item is end:
                return
            yield item

    def total(self) -> dict[str, float]:
        """Give the seconds by part, up to now."""
        self._note()
        return dict(self.spent)


def make_all(config: str) -> None:
    """Make every product of a configuration, parents first."""
    from lowpass import jobs
    from lowpass.project import ROOT as root
    from lowpass.rules import Rules
    from lowpass.whole import whole_plan

    rules = Rules(whole_plan(root / config, config, root), root)
    for point in rules.plan:
        stage, name = point.stage, point.name
        inputs = [] if stage == "experiment" else rules.parents(stage, name)
        jobs.run(point.text, rules.code(stage, name), inputs, list(point.paths))


def metered(config: str) -> dict[str, float]:
    """Make everything once to warm up and once to measure."""
    make_all(config)
    # A process of one job has little for the collector to look through.
    gc.collect()
    gc.freeze()
    meter = Meter()
    for place, part in PARTS.items():
        mock.patch(place, meter.around(part, resolve_name(place))).start()
    before = meter.total()
    make_all(config)
    after = meter.total()
    mock.patch.stopall()
    return {part: after[part] - before.get(part, 0.0) for part in after}


if __name__ == "__main__":
    print(json.dumps(metered(sys.argv[1])))
