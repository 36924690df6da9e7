"""What the rules of the workflow ask: inputs, recipes, fingerprints, resources, targets."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, MutableMapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from lowpass.ending import refuse
from lowpass.fingerprint import Code, Inventory
from lowpass.locking import Turn, refuse_unwritable
from lowpass.memory import Memory
from lowpass.plan import Plan
from lowpass.plan.code import code_of, inventory_of
from lowpass.plan.point import Point
from lowpass.project import CONFIG
from lowpass.publish import publication
from lowpass.records import canonical, key_of
from lowpass.registry import Refusal
from lowpass.remote.sending import prepare
from lowpass.report import labels, section, told
from lowpass.resources import Resources
from lowpass.whole import whole_plan

PUBLISHED = ("results/paper.pdf", "results/claims.json", "results/manifest.json")
# Two Snakemakes that a cluster starts around each job's own process.
SNAKEMAKE_MEGABYTES = 420
Look = Callable[[Sequence[str], Sequence[str]], object]


class Rules:
    """Answer the rules' questions about one plan.

    Parameters
    ----------
    plan : Plan
        All points.
    root : Path
        Folder of the project.
    look : callable
        Shown the files that each job reads and makes; it refuses those it may not make.
    """

    def __init__(self, plan: Plan, root: Path, look: Look = lambda *files: None) -> None:
        self.plan = plan
        self.look = look
        self._root = root

    @cached_property
    def _code(self) -> Code:
        return code_of(self._root)

    @cached_property
    def resources(self) -> Resources:
        """Estimates of what jobs need."""
        return Resources(self._root)

    @classmethod
    def of(cls, workflow: Any, environment: MutableMapping[str, str]) -> Rules:
        """Read the configuration that a Snakemake run was given.

        Snakemake merges every ``--configfile`` into one; here exactly one file is read, and
        values given by ``--config`` replace its top-level ones. Jobs on other machines will see
        what ``environment`` holds, such as ``os.environ``.
        """
        root = Path(workflow.basedir).resolve()
        try:
            refuse_unwritable()
            files = list(workflow.overwrite_configfiles or [])
            if len(files) > 1:
                raise Refusal(
                    f"command line: {len(files)} files follow --configfile; a plan comes from "
                    f"one file, so name one."
                )
            given = dict(workflow.config_settings.config or {})
            path = Path(files[0]) if files else root / CONFIG
            name = os.path.relpath(path, root) if path.is_relative_to(root) else str(files[0])
            rules = cls(whole_plan(path, name, root, given), root)
            rules.look = Turn(
                workflow, root, partial(prepare, workflow, environment, rules.answers, path)
            ).look
            if workflow.is_main_process:
                sys.stderr.write(rules.warning(Memory(Path())))
            return rules
        except Refusal as refusal:
            refuse(refusal)

    def warning(self, memory: Memory) -> str:
        """Say of how many products a change of code would pass unseen; nothing where of none."""
        there = [point.path for point in self.plan if os.path.exists(point.path)]
        if not (lost := len({*there} - memory.paths)):
            return ""
        return (
            f"lowpass: of {lost} product{'s' if lost > 1 else ''} in results/ Snakemake does not "
            f"remember the code (.snakemake/metadata), so a change of it reruns nothing; "
            f"'make explain' names what changed.\n"
        )

    def _find(self, stage: str, name: str) -> Point:
        try:
            return self.plan.find(stage, name)
        except Refusal as refusal:
            refuse(refusal)

    def parents(self, stage: str, name: str) -> list[str]:
        """List the files a job reads, relative to the folder the workflow runs in."""
        point = self._find(stage, name)
        return self._seen(self._inputs(point), point.paths)

    def _inputs(self, point: Point) -> list[str]:
        if point.resource:
            return [os.path.relpath(self._root / point.resource)]
        form = ".pdf" if point.stage == "paper" else None
        return [path_in_form(parent, form) for parent in point.parents]

    def _seen(self, inputs: list[str], outputs: Sequence[str]) -> list[str]:
        """Give back the files a job reads, where a run may make what it makes of them."""
        try:
            self.look(inputs, outputs)
        except Refusal as refusal:
            refuse(refusal)
        return inputs

    def recipe(self, stage: str, name: str) -> str:
        """Give what is asked of a job, as canonical JSON."""
        return self._find(stage, name).text

    def code(self, stage: str, name: str) -> str:
        """Give the fingerprint of the code that answers."""
        return self.inventory(self._find(stage, name)).fingerprint

    def inventory(self, point: Point) -> Inventory:
        """List the code that answers, definition by definition."""
        try:
            return inventory_of(self._code, point.recipe)
        except Refusal as refusal:
            refuse(refusal)

    def memory(self, stage: str, name: str, attempt: int) -> int:
        """Estimate a job's memory in MB, more on every attempt."""
        megabytes = self.resources.megabytes(self._find(stage, name))
        return (SNAKEMAKE_MEGABYTES + megabytes) * attempt

    def minutes(self, stage: str, name: str) -> int:
        """Bound a job's run time in minutes."""
        return self.resources.minutes(self._find(stage, name))

    def answers(self) -> dict[str, Any]:
        """Answer beforehand what jobs on other machines ask."""
        rows = {f"{point.stage}/{point.name}": self._row(point) for point in self.plan}
        return {"rows": rows, "published": self.published()}

    def _row(self, point: Point) -> dict[str, Any]:
        return {
            "parents": self._inputs(point),
            "recipe": point.text,
            "code": self.inventory(point).fingerprint,
            "memory": self.memory(point.stage, point.name, attempt=1),
            "minutes": self.minutes(point.stage, point.name),
        }

    @property
    def experiments(self) -> list[str]:
        """Name the experiments, which a person may ask for."""
        return [*self.plan.experiments]

    def targets(self, what: str) -> list[str]:
        """List the files of a kind of product, or of one experiment and its figures."""
        if what in self.plan.experiments:
            point = self.plan.experiments[what]
            return [point.path, *(p for q in self._showing(point) for p in q.paths)]
        return [path for point in self.plan if point.stage == what for path in point.paths]

    def _showing(self, experiment: Point) -> list[Point]:
        figures = [point for point in self.plan if point.stage == "figures"]
        return [figure for figure in figures if experiment in figure.parents]

    def section(self, name: str) -> str:
        """Name the section of the report that a figure stands in."""
        return section(self._find("figures", name))

    def labels(self, name: str) -> dict[str, str]:
        """Label a figure in the report."""
        return labels(self._find("figures", name), self.plan.experiments)

    @cached_property
    def told(self) -> dict[str, Any]:
        """Tell the pages of the report what the paper tells; all results must be there."""
        try:
            return told(self.plan, self._root)
        except Refusal as refusal:
            refuse(refusal)

    def finals(self) -> list[str]:
        """List every final product: what a person opens, whatever order it was planned in."""
        stages = ("paper", "claims", "experiment", "figures")
        return [path for stage in stages for path in sorted(self.targets(stage))]

    def gathered(self) -> list[str]:
        """List the files from which the fixed names are made."""
        return self._seen(self.finals(), self.published())

    def publication(self) -> str:
        """Name what the fixed names stand for, as canonical JSON."""
        return canonical(publication(self.finals()))

    def published(self) -> list[str]:
        """List the fixed names, and the one name that is missing when they stand for others.

        Snakemake would remember what they stood for, but its memory can be deleted.
        """
        key = key_of(publication(self.finals()), [])
        return [*PUBLISHED, f"results/publish/manifest~{key}.json"]


def path_in_form(point: Point, form: str | None) -> str:
    """Choose the file of a product that ends in a form, where it has one."""
    return next((path for path in point.paths if form and path.endswith(form)), point.path)


def ancestry(point: Point) -> list[Point]:
    """List a point and everything it is made from, each once."""
    found = {point: None}
    waiting = [point]
    for each in waiting:
        new = [parent for parent in each.parents if parent not in found]
        found |= dict.fromkeys(new)
        waiting += new
    return waiting
