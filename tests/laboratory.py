"""Whole experiments in one process: the plan's recipes, the real stages, files in a folder.

It owns the way from a section of a configuration to stored datasets without a workflow:
fast enough for a law about two experiments that differ in one parameter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import xarray as xr

from lowpass import store
from lowpass.plan import Plan, Point
from lowpass.plan.complete import complete
from lowpass.records import record_of
from lowpass.stages.experiment import Part, experiment

ROOT = Path(__file__).parents[1]
SEED = 7


def no_code(recipe: Mapping[str, Any]) -> str:
    """Stand in for a fingerprint where none is looked at."""
    return "0" * 16


class Laboratory:
    """Make what a section plans, each product once, below one folder.

    Where nobody changes files, each of them is digested and read once, too.
    """

    def __init__(
        self,
        folder: Path,
        code: Callable[[Mapping[str, Any]], str] = no_code,
        root: Path = ROOT,
        *,
        unchanged: bool = False,
    ) -> None:
        self.folder = folder
        self.root = root
        self.code = code
        self.unchanged = unchanged
        self._parents: dict[str, dict[str, str]] = {}
        self._read: dict[str, xr.Dataset] = {}
        self.versions = {"python": "3", "numpy": "2"}

    def plan(self, section: Mapping[str, Any], *, seed: int = SEED) -> Plan:
        """Plan one experiment called ``trial``."""
        return Plan(seed, {"trial": section}, "test", self.root)

    def file(self, point: Point) -> Path:
        """Give a product's place, made or not."""
        return self.folder / point.path

    def make(self, point: Point) -> dict[str, str]:
        """Make a product and all it is made from; describe it as a parent."""
        if self.unchanged and point.path in self._parents:
            return self._parents[point.path]
        parents = [self.make(parent) for parent in point.parents]
        if not self.file(point).exists():
            record = record_of(
                point.recipe,
                complete(point.recipe),
                parents,
                self.code(point.recipe),
                self.versions,
            )
            store.write(self.file(point), self._compute(point), record, parents)
        digest = store.digest(self.file(point))
        self._parents[point.path] = {"path": point.path, "key": point.key, "digest": digest}
        return self._parents[point.path]

    def open(self, point: Point) -> xr.Dataset:
        """Read a product, which is made where it is missing, without its record and digest."""
        self.make(point)
        if not (self.unchanged and point.path in self._read):
            self._read[point.path] = store.read(self.file(point)).drop_attrs(deep=False)
        return self._read[point.path].copy(deep=True)

    def run(self, section: Mapping[str, Any], *, seed: int = SEED) -> xr.Dataset:
        """Make an experiment and read its dataset."""
        return self.open(self.plan(section, seed=seed).experiments["trial"])

    def first(self, stage: str, section: Mapping[str, Any], *, seed: int = SEED) -> xr.Dataset:
        """Read the first product of one stage of a section."""
        plan = self.plan(section, seed=seed)
        return self.open(next(point for point in plan if point.stage == stage))

    def _compute(self, point: Point) -> Any:
        if point.stage == "experiment":
            return experiment(point.recipe, self._parts(point))
        if point.resource:
            inputs = [(self.root / point.resource).read_bytes()]
        else:
            inputs = [store.read(self.file(parent)) for parent in point.parents]
        stage = getattr(import_module(f"lowpass.stages.{point.stage}"), point.stage)
        return stage(point.recipe, *inputs)

    def _parts(self, point: Point) -> list[Part]:
        params = point.recipe["params"]
        plan = Plan(
            point.recipe.get("seed", 0), {params["name"]: params["section"]}, "recipe", self.root
        )
        return [
            Part(cell.place, block, store.read(self.file(each)))
            for cell, block, each in plan.cells[params["name"]]
        ]
