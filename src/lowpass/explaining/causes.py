"""Why jobs run by themselves, in words of parameters, code and files."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from lowpass.explaining.finals import differences
from lowpass.explaining.graph import PUBLISH, Task
from lowpass.explaining.known import Known, is_edited
from lowpass.explaining.reruns import (
    COMMAND,
    INPUTS,
    MISSING,
    PARAMS,
    UNFINISHED,
    UPDATED,
    Reruns,
)
from lowpass.explaining.sections import Change, changes
from lowpass.explaining.words import Cause, reseeded
from lowpass.fingerprint.inventory import KEPT, changes_since
from lowpass.plan import Point
from lowpass.rules import Rules, ancestry

FINAL = ("claims", "figures", "paper")

FIRST = Cause("first", "nothing has run here yet")
FIXED = Cause("fixed names", "results/paper.pdf and the other fixed names stand for other products")
FORGOTTEN = Cause(
    "forgotten", "files are newer than what was made from them, and Snakemake forgot their content"
)
# Of these the subject is the products.
GONE = Cause("gone", "gone, though a run had made")
LEFT = Cause("unfinished", "left unfinished by a run that was interrupted")
ABSENT = Cause("absent", "not made yet")


class Causes:
    """Find the causes of all jobs that would run.

    Parameters
    ----------
    reruns : Reruns
        Which jobs run, and by what kind of reason.
    rules : Rules
        What they are asked.
    known : Known
        What was asked earlier.
    """

    def __init__(self, reruns: Reruns, rules: Rules, known: Known) -> None:
        self._reruns, self._rules, self._known = reruns, rules, known
        self._new: dict[Point, list[Cause]] = {}
        self._specs = {name: cells[0][0].specs for name, cells in rules.plan.cells.items() if cells}
        if not known.is_empty():
            self._compare_experiments()
        self.of = {task: [*dict.fromkeys(self._causes(task))] for task in reruns.reasons}

    def _causes(self, task: Task) -> Iterable[Cause]:
        """List what made a job necessary, but for the jobs it waits for."""
        kinds = {reason.kind for reason in self._reruns.reasons[task]}
        if MISSING in kinds:
            # What was asked otherwise is missing because a run was about to make it again.
            return [*self._asked(task, kinds)] or self._missing(task)
        left = [LEFT] if UNFINISHED in kinds else []
        return [*left, *self._asked(task, kinds), *self._updates(task)]

    def _asked(self, task: Task, kinds: Collection[str]) -> Iterator[Cause]:
        if PARAMS in kinds:
            yield self._asked_otherwise(task)
        if INPUTS in kinds:
            yield Cause("inputs", "the files it is made from bear other names")
        if COMMAND in kinds:
            rule, _ = self._reruns.commands[task.stage]
            yield Cause("command", f"the command of rule {rule} changed")

    def _updates(self, task: Task) -> Iterator[Cause]:
        reasons = self._reruns.reasons[task]
        for path in (reason.path for reason in reasons if reason.kind == UPDATED):
            maker = self._reruns.graph.maker(path)
            if maker is None:
                yield Cause("data file", f"{path} changed")
            elif maker not in self._reruns.reasons:
                yield updated(path) if self._reruns.notes(task) else FORGOTTEN

    def _asked_otherwise(self, task: Task) -> Cause:
        notes = self._reruns.notes(task) or []
        if task.point is None:
            return FIXED
        now = self._rules.inventory(task.point)
        codes = [note.code for note in notes if note.code not in (None, now.fingerprint)]
        if not codes:
            return Cause("recipe", "the same parameters are written in another manner")
        return Cause("code", changes_since(str(codes[0]), now, KEPT))

    # What is missing.

    def _missing(self, task: Task) -> Iterable[Cause]:
        if self._known.is_empty():
            # The first jobs say it for all that follow.
            return [] if task.makers else [FIRST]
        if task.point is None:
            return self._publication(task)
        if self._reruns.notes(task):
            return [GONE]
        found = self._new.get(task.point, [])
        if task.stage in FINAL:
            found = self._final(task, task.point)
        elif not found and task.point.resource:
            found = self._resource(task.point)
        return found or ([] if self._follows(task) else [ABSENT])

    def _follows(self, task: Task) -> bool:
        return any(maker in self._reruns.reasons for maker in task.makers)

    def _publication(self, task: Task) -> Iterable[Cause]:
        if self._follows(task):
            return []
        others = {*self._known.named(PUBLISH, "manifest")} - {*task.outputs}
        missing = {reason.path for reason in self._reruns.reasons[task]}
        if missing == {path for path in task.outputs if "~" in path} and others:
            return [FIXED]
        return [GONE if self._reruns.notes(task) else ABSENT]

    def _final(self, task: Task, point: Point) -> list[Cause]:
        follows = self._follows(task)
        recipes = self._known.recipes(task.stage, point.slug)
        if not recipes:
            new = task.stage == "figures" and not follows
            return [Cause("figure", f"figure {point.slug} is new")] if new else []
        each = (
            differences(recipe, point.recipe, self._specs, deep=not follows) for recipe in recipes
        )
        return min(each, key=len)

    def _resource(self, point: Point) -> list[Cause]:
        path = point.recipe["params"]["path"]
        earlier = (each["params"] for each in self._known.recipes(point.stage, point.slug))
        same = any(each.get("path") == path for each in earlier)
        return [Cause("data file", f"{path} changed")] if same else []

    def _compare_experiments(self) -> None:
        """Note of every missing point which changes of which experiment made it new."""
        reasons = self._reruns.reasons.items()
        planned = {task.point for task, own in reasons if own and task.point}
        for name, cells in self._rules.plan.cells.items():
            experiment = self._rules.plan.experiments[name]
            chains = [(cell.place, block, ancestry(end)) for cell, block, end in cells]
            if planned.isdisjoint([experiment, *(p for _, _, chain in chains for p in chain)]):
                continue
            found = self._differences(experiment)
            for cause, _ in found:
                self._note(experiment, cause)
            for place, block, chain in chains:
                for point in planned.intersection(chain):
                    stages = {each.stage for each in ancestry(point)}
                    for cause, change in found:
                        if change.concerns(place, block, stages):
                            self._note(point, cause)

    def _note(self, point: Point, cause: Cause) -> None:
        causes = self._new.setdefault(point, [])
        if cause not in causes:
            causes.append(cause)

    def _differences(self, experiment: Point) -> list[tuple[Cause, Change]]:
        """Compare an experiment with the nearest of what it was."""
        name, recipe = experiment.slug, experiment.recipe
        recipes = self._known.recipes("experiment", name)
        if not recipes:
            change = Change(f"experiment {name} is new", "data")
            return [(Cause("experiment", change.text), change)]
        each = (self._changes(earlier, recipe, name) for earlier in recipes)
        return min(each, key=len)

    def _changes(
        self, before: Mapping[str, Any], now: Mapping[str, Any], name: str
    ) -> list[tuple[Cause, Change]]:
        old, new = (each["params"]["section"] for each in (before, now))
        found = [
            (Cause("parameter", each.text), each)
            for each in changes(old, new, name, self._specs[name])
        ]
        if before.get("seed") != now.get("seed"):
            cause = reseeded(before.get("seed"), now.get("seed"))
            found.insert(0, (cause, Change(cause.text, "data")))
        return found


def updated(path: str) -> Cause:
    """Say how a product came to differ from what others were made from."""
    if is_edited(path):
        how = "was edited after it was written (delete it: jobs refuse to read it)"
        return Cause("edited", f"{path} {how}")
    return Cause("stale", f"{path} was made anew")
