"""The whole answer: causes with all that they make necessary, and what no run would notice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from lowpass.explaining.causes import Causes
from lowpass.explaining.graph import Graph, Task, after
from lowpass.explaining.known import Known, record
from lowpass.explaining.reruns import MISSING, UNFINISHED, Reruns
from lowpass.explaining.rulebook import commands
from lowpass.explaining.words import Cause
from lowpass.fingerprint.inventory import KEPT, changes_since
from lowpass.locking import FREE, KILLED, NOTES, state_of
from lowpass.memory import Memory
from lowpass.rules import Rules


@dataclass(frozen=True)
class Group:
    """Hold one cause and what it made necessary.

    Parameters
    ----------
    cause : Cause
    paths : list of str
        Files that are missing or unfinished, where it is about those.
    first : list of Task
        Jobs that it made necessary by itself.
    tasks : list of Task
        Those jobs and all that follow.
    """

    cause: Cause
    paths: list[str]
    first: list[Task]
    tasks: list[Task]

    @property
    def experiments(self) -> list[str]:
        """The experiments that are gathered anew."""
        points = [task.point for task in self.tasks if task.stage == "experiment"]
        return [point.slug for point in points if point]


class Answer:
    """Say what would run in the current folder, and why.

    Parameters
    ----------
    rules : Rules
        Of the plan in question.
    root : Path
        Folder of the project.
    targets : sequence of str
        Names of targets or paths; everything where there are none.
    """

    def __init__(self, rules: Rules, root: Path, targets: Sequence[str] = ()) -> None:
        self._rules = rules
        self.graph = Graph(rules, targets)
        self.run = state_of(NOTES)
        self._memory = Memory(Path())
        self._reruns = Reruns(self.graph, rules, self._memory, commands(root))
        self.tasks = [*self._reruns.reasons]
        self.causes = Causes(self._reruns, rules, Known(self._memory)).of

    @cached_property
    def groups(self) -> list[Group]:
        """Causes in the order of the work, each with its jobs."""
        first: dict[Cause, list[Task]] = {}
        for task in self.tasks:
            for cause in self.causes[task]:
                first.setdefault(cause, []).append(task)
        groups = []
        for cause, tasks in first.items():
            reasons = [reason for task in tasks for reason in self._reruns.reasons[task]]
            paths = [reason.path for reason in reasons if reason.kind in (MISSING, UNFINISHED)]
            following = after(tasks)
            affected = [task for task in self.tasks if task in following]
            groups.append(Group(cause, paths, tasks, affected))
        return groups

    @cached_property
    def idle(self) -> list[Task]:
        """Jobs that would not run."""
        return [task for task in self.graph if task not in self.causes]

    @cached_property
    def unmade(self) -> list[str]:
        """Files that are missing, and that no job would make, since none that runs reads them."""
        exists = self._reruns.disk.exists
        return [path for task in self.idle for path in task.outputs if not exists(path)]

    @cached_property
    def forgotten(self) -> dict[Cause, list[Task]]:
        """Products of other code that Snakemake cannot compare, since it forgot them."""
        found: dict[Cause, list[Task]] = {}
        for task in self.idle:
            made = all(map(self._reruns.disk.exists, task.outputs))
            if task.point is None or not made or self._reruns.notes(task) is not None:
                continue
            said, now = record(task.outputs[0]), self._rules.inventory(task.point)
            if said and said["code"] != now.fingerprint:
                text = changes_since(said["code"], now, KEPT)
                found.setdefault(Cause("code", text), []).append(task)
        return found

    @cached_property
    def interrupted(self) -> list[str]:
        """Missing files that a run began to make, and makes no more."""
        if self.run not in (FREE, KILLED):
            return []
        exists, unfinished = self._reruns.disk.exists, self._memory.unfinished
        paths = (path for task in self.tasks for path in task.outputs)
        return [path for path in paths if path in unfinished and not exists(path)]
