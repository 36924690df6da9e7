"""The jobs of a plan and the files between them, as the rules of the workflow name them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from lowpass.plan import Point
from lowpass.registry import Refusal, did_you_mean
from lowpass.rules import Rules

PUBLISH = "publish"
# Names of targets that stand for all products of a stage; "paper" includes its fixed names.
KINDS = ("data", "figures", "claims")
WHOLE = ("all", "paper", PUBLISH)


@dataclass(eq=False)
class Task:
    """Hold one job: what it makes, of which files, and how it hangs together with others.

    Parameters
    ----------
    stage : str
        The folder of what it makes.
    outputs, inputs : tuple of str
        Paths relative to the folder the workflow runs in.
    benchmark : str
        Path of the file that says how long it took; empty where there is none.
    point : Point, optional
        What is planned; None for the publication under fixed names.
    makers : dict of Task to list of str
        The jobs it waits for, each with the files it takes from there.
    takers : list of Task
        The jobs that wait for it.
    """

    stage: str
    outputs: tuple[str, ...]
    inputs: tuple[str, ...]
    benchmark: str = ""
    point: Point | None = field(default=None, repr=False)
    makers: dict[Task, list[str]] = field(default_factory=dict, repr=False)
    takers: list[Task] = field(default_factory=list, repr=False)


class Graph:
    """Hold the jobs of a plan, or those that some targets need.

    Parameters
    ----------
    rules : Rules
        Which name inputs, outputs and targets.
    targets : sequence of str
        Names of targets or paths; everything where there are none.

    Raises
    ------
    Refusal
        When the configuration plans no such target.
    """

    def __init__(self, rules: Rules, targets: Sequence[str] = ()) -> None:
        every = [*map(task_of(rules), rules.plan), publication(rules)]
        self._maker = {path: task for task in every for path in task.outputs}
        for task in every:
            for path in task.inputs:
                if path in self._maker:
                    task.makers.setdefault(self._maker[path], []).append(path)
        self.wanted = frozenset(
            path for target in targets or ("all",) for path in self._files(rules, target)
        )
        reached = before(self._maker[path] for path in self.wanted)
        self.tasks = [task for task in every if task in reached]
        for task in self.tasks:
            for maker in task.makers:
                maker.takers.append(task)

    def __iter__(self) -> Iterator[Task]:
        """Iterate over jobs, every one after those it waits for."""
        return iter(self.tasks)

    def __len__(self) -> int:
        return len(self.tasks)

    def _files(self, rules: Rules, target: str) -> list[str]:
        if target in WHOLE:
            return rules.published()
        if target in KINDS or target in rules.plan.experiments:
            return rules.targets(target)
        path = os.path.relpath(target)
        if path not in self._maker:
            known = [*WHOLE, *KINDS, *rules.plan.experiments]
            raise Refusal(
                f"'{target}' is neither a target nor a product of this configuration"
                f"{did_you_mean(target, known)} Targets: {', '.join(known)}. Name one of them, or "
                f"a file below results/ that is planned."
            )
        return [path]

    def maker(self, path: str) -> Task | None:
        """Find the job that makes a file; none where the project holds it."""
        return self._maker.get(path)


def task_of(rules: Rules):
    """Give the function from a point to its job."""

    def task(point: Point) -> Task:
        return Task(
            point.stage,
            point.paths,
            tuple(rules.parents(point.stage, point.name)),
            f"logs/{point.stage}/{point.name}.jsonl",
            point,
        )

    return task


def publication(rules: Rules) -> Task:
    """Give the job that names the final products."""
    return Task(PUBLISH, tuple(rules.published()), tuple(rules.finals()))


def before(tasks: Iterable[Task]) -> set[Task]:
    """Collect jobs and all that they wait for."""
    found: set[Task] = set()
    waiting = list(tasks)
    while waiting:
        task = waiting.pop()
        if task not in found:
            found.add(task)
            waiting += task.makers
    return found


def after(tasks: Iterable[Task]) -> set[Task]:
    """Collect jobs and all that wait for them."""
    found: set[Task] = set()
    waiting = list(tasks)
    while waiting:
        task = waiting.pop()
        if task not in found:
            found.add(task)
            waiting += task.takers
    return found
