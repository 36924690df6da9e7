"""Which jobs a run would start, decided as Snakemake decides it.

A job runs when something that is wanted is missing, when its own inputs, parameters or
command are not those that Snakemake remembers, when a job it waits for runs, or when it
makes a missing file that a running job reads. Where Snakemake remembers nothing, it
compares nothing.
"""

from __future__ import annotations

import hashlib
import os
from collections import deque
from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from lowpass.explaining.graph import Graph, Task
from lowpass.memory import Memory, Remembered
from lowpass.rules import Rules

# Larger files are not compared by content; profiles/default says so to Snakemake.
LARGEST = 1_000_000_000

MISSING, UNFINISHED, UPDATED = "missing", "unfinished", "updated"
PARAMS, INPUTS, COMMAND = "params", "inputs", "command"


class Reason(NamedTuple):
    """Say of a job why it runs by itself: the kind of reason, and the file it is about."""

    kind: str
    path: str = ""


class Disk:
    """Look at files, each once, so that an answer is about one moment."""

    def __init__(self) -> None:
        self.exists = cache(os.path.exists)
        self.checksum = cache(checksum)
        self._stat = cache(os.stat)

    def age(self, path: str) -> float | None:
        """Give the time of an output; none where it is missing."""
        return self._stat(path, follow_symlinks=False).st_mtime if self.exists(path) else None

    def newest(self, path: str) -> float:
        """Give the time of an input, or of what it points to where that is newer."""
        link = self._stat(path, follow_symlinks=False).st_mtime
        return max(link, self._stat(path).st_mtime)


def checksum(path: str) -> str | None:
    """Digest a file in the manner of Snakemake; none where it is too large."""
    if os.path.getsize(path) > LARGEST:
        return None
    with open(path, "rb") as file:
        return f"sha256:{hashlib.file_digest(file, 'sha256').hexdigest()}"


class Reruns:
    """Decide about the jobs of a graph.

    Parameters
    ----------
    graph : Graph
        The jobs in question.
    rules : Rules
        What each of them would be asked now.
    memory : Memory
        What they were asked when they last ran.
    commands : mapping of str to (str, str)
        Rule and shell command of each stage.
    """

    def __init__(
        self,
        graph: Graph,
        rules: Rules,
        memory: Memory,
        commands: Mapping[str, tuple[str, str]],
    ) -> None:
        self.graph, self.memory, self.disk = graph, memory, Disk()
        self._rules, self.commands = rules, commands
        self._ages: dict[Task, float | None] = {}
        self.reasons = self._decide()

    def notes(self, task: Task) -> list[Remembered] | None:
        """Recall how a job's files were made; none where one of them is not remembered."""
        known = [self.memory.of(path) for path in task.outputs]
        return [note for note in known if note] if all(known) else None

    def params(self, task: Task) -> frozenset[str]:
        """Give what a job would be asked now, as Snakemake would note it."""
        if task.point is None:
            return frozenset([repr(self._rules.publication())])
        where = task.stage, task.point.name
        return frozenset([repr(self._rules.recipe(*where)), repr(self._rules.code(*where))])

    def _decide(self) -> dict[Task, list[Reason]]:
        """Map every job that would run to its own reasons, of which it may have none."""
        reasons = {task: own for task in self.graph if (own := self._own(task))}
        waiting, found = deque(reasons), dict(reasons)
        while waiting:
            task = waiting.popleft()
            for maker, paths in task.makers.items():
                missing = [Reason(MISSING, path) for path in paths if not self.disk.exists(path)]
                if missing and maker not in found:
                    waiting.append(maker)
                if missing:
                    known = found.setdefault(maker, [])
                    known += [each for each in missing if each not in known]
            for taker in task.takers:
                if taker not in found:
                    found[taker] = []
                    waiting.append(taker)
        return {task: found[task] for task in self.graph if task in found}

    def _own(self, task: Task) -> list[Reason]:
        exists, unfinished = self.disk.exists, self.memory.unfinished
        own = [Reason(UNFINISHED, p) for p in task.outputs if p in unfinished and exists(p)]
        own += [Reason(MISSING, p) for p in self._wanted(task) if not exists(p)]
        own += [Reason(UPDATED, path) for path in task.inputs if self._is_updated(task, path)]
        notes = self.notes(task) or []
        params, inputs = self.params(task) if notes else frozenset(), sorted(task.inputs)
        _, command = self.commands.get(task.stage, ("", None))
        own += [Reason(PARAMS)] * any(note.params != params for note in notes)
        own += [Reason(INPUTS)] * any([*note.inputs] != inputs for note in notes)
        known = [note.command for note in notes if note.command is not None and command]
        return own + [Reason(COMMAND)] * any(each != command for each in known)

    def _wanted(self, task: Task) -> list[str]:
        """List the files of a target that somebody asks for."""
        if self.graph.wanted.isdisjoint(task.outputs):
            return []
        taken = {path for taker in task.takers for path in taker.makers[task]}
        return [path for path in task.outputs if path in self.graph.wanted or path in taken]

    def _is_updated(self, task: Task, path: str) -> bool:
        """Say whether an input is newer than what was made of it, and another."""
        age = self._age(task)
        if age is None or not self.disk.exists(path) or self.disk.newest(path) <= age:
            return False
        notes = [self.memory.of(output) for output in task.outputs]
        known = {note.checksums.get(path) if note else None for note in notes}
        return known != {self.disk.checksum(path)} or known == {None}

    def _age(self, task: Task) -> float | None:
        """Give the time of the oldest file of a job, or of the next job that has any."""
        if task not in self._ages:
            paths = (*task.outputs, *filter(None, [task.benchmark]))
            ages = [age for path in paths if (age := self.disk.age(path)) is not None]
            later = (self._age(taker) for taker in task.takers)
            ages = [min(ages)] if ages else [age for age in later if age is not None][:1]
            self._ages[task] = ages[0] if ages else None
        return self._ages[task]
