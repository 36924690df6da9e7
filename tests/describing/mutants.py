"""Configurations with faults: small ones, changed at random places."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from lowpass.describing.parameters import generators, stages

Config = dict[str, Any]

VALUES = [
    *(None, True, False, 0, 1, -1, 2, 3.0, 0.5, 1e-3, "1e-3", "", "a"),
    *("none", "softmax", "slem", "beta", "gaussian", "series"),
    *([], [1], [1, 2], [1, 1], [1, 1.0], [0.5, "a"], [None], [[1]], {}, {"a": 1}, [{"low": 1}]),
    *(["softmax", "sinkhorn"], ["a", "b"], ["gaussian", "two_levels"]),
]
PARTS = ["why", "data", "attention", "smoothing", "spectra", "replicates", "inside", "zip"]


def names() -> list[str]:
    """List every name that may stand anywhere, and some that may not."""
    read = [*stages().values(), *generators().values()]
    known = {name for each in read for name in each.fields}
    return sorted({*PARTS, *known, "generator", "kernl", ""})


def places(thing: Any, path: tuple = ()) -> Iterator[tuple]:
    """Yield the path of everything in nested data, the whole left out."""
    pairs = thing.items() if isinstance(thing, dict) else enumerate(thing)
    for key, value in pairs:
        yield (*path, key)
        if isinstance(value, dict | list):
            yield from places(value, (*path, key))


class Mutator:
    """Change configurations at random."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.names = names()

    def mutant(self, config: Config) -> Config:
        """Change a configuration at one place, two or three."""
        changed = copy.deepcopy(config)
        ways: list[Callable[[Config], None]] = [
            *(self.replace, self.delete, self.sweep, self.settle, self.insert),
            *(self.vary, self.gather),
        ]
        for _ in range(self.rng.integers(1, 4)):
            ways[self.rng.integers(len(ways))](changed)
        return changed

    def pick(self, things: Sequence[Any]) -> Any:
        return copy.deepcopy(things[self.rng.integers(len(things))])

    def place(self, config: Config) -> tuple[Any, Any]:
        """Choose something, by what holds it and its key there."""
        found = list(places(config))
        *path, key = found[self.rng.integers(len(found))] if found else ("",)
        holder = config
        for step in path:
            holder = holder[step]
        return holder, key

    def section(self, config: Config) -> Config:
        """Choose an experiment, where there is one."""
        experiments = config.get("experiments")
        held = experiments.values() if isinstance(experiments, dict) else ()
        found = [each for each in held if isinstance(each, dict)]
        return found[self.rng.integers(len(found))] if found else {}

    # What may happen to a configuration.

    def replace(self, config: Config) -> None:
        holder, key = self.place(config)
        holder[key] = self.pick(VALUES)

    def delete(self, config: Config) -> None:
        holder, key = self.place(config)
        if key != "":
            del holder[key]

    def sweep(self, config: Config) -> None:
        """Make a list of a value, alone or with another."""
        holder, key = self.place(config)
        if key != "":
            holder[key] = [holder[key], *self.pick([[], [self.pick(VALUES)]])]

    def settle(self, config: Config) -> None:
        """Make the first value of a list stand for it."""
        holder, key = self.place(config)
        if key != "" and isinstance(holder[key], list) and holder[key]:
            holder[key] = holder[key][0]

    def insert(self, config: Config) -> None:
        """Write a name with a value somewhere in an experiment."""
        section = self.section(config)
        within = [section, *(value for value in section.values() if isinstance(value, dict))]
        within[self.rng.integers(len(within))][self.pick(self.names)] = self.pick(VALUES)

    def vary(self, config: Config) -> None:
        """Let a parameter differ from case to case."""
        section, stage = self.section(config), self.pick(["data", "attention", "smoothing"])
        params = section.get(stage)
        if isinstance(params, dict) and params:
            name = self.pick(sorted(params))
            value = params.pop(name)
            values = value if isinstance(value, list) else [value, self.pick([value, "a", 2])]
            columns = {"label": ["a", "b", "c"][: len(values)], f"{stage}.{name}": values}
            section["zip"] = {self.pick(["case", "Case"]): columns}

    def gather(self, config: Config) -> None:
        """Compute something, or what cannot be, within one job."""
        names = [self.pick(self.names) for _ in range(self.rng.integers(0, 3))]
        self.section(config)["inside"] = names
