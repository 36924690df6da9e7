"""Everything that a few roots reach under the names of a recipe.

The closure owns the search: from unit to unit, from a lookup to the entries a recipe
names, from a module to what loading it runs. What cannot be followed is refused.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from lowpass.fingerprint.importing import Judge
from lowpass.fingerprint.index import Index, outer
from lowpass.fingerprint.reading import Reading
from lowpass.registry import Refusal, did_you_mean

NOTHING: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Closure:
    """Hold what a result depends on.

    Parameters
    ----------
    digests : mapping of str to str
        The hash of every reached definition, such as ``lowpass.kernels:softmax``.
    entries : frozenset of (kind, name)
        Registry entries that may be looked up.
    """

    digests: Mapping[str, str]
    entries: frozenset[tuple[str, str]]

    @property
    def units(self) -> frozenset[str]:
        """Reached definitions."""
        return frozenset(self.digests)

    @property
    def plain(self) -> dict[str, Any]:
        """What it holds, in the types that JSON has."""
        return {"digests": dict(self.digests), "entries": sorted(map(list, self.entries))}

    @classmethod
    def of(cls, plain: Mapping[str, Any]) -> Closure:
        """Make one from its plain form."""
        return cls(plain["digests"], frozenset((kind, name) for kind, name in plain["entries"]))


class Search:
    """Find closures in one index; every reading and every verdict is made once."""

    def __init__(self, index: Index) -> None:
        self.index = index
        self.reading = cache(lambda name, keep: Reading(index, index.units[name], keep))
        self.judge = cache(lambda name: Judge(index, index.modules[name]).faults)
        self.loads = cache(
            lambda name: (*index.loads(name, index.modules[name].body), *outer(name))
        )
        self.known = frozenset(n for entries in index.entries.values() for n in entries)

    def root(self, text: str) -> str:
        """Give the unit behind ``module:name``."""
        module, _, name = text.partition(":")
        if module not in self.index.modules:
            known = list(self.index.modules)
            raise Refusal(f"no module is called '{module}'{did_you_mean(module, known)}")
        if (place := self.index.resolve(module, name)) not in self.index.units:
            known = list(self.index.modules[module].units)
            raise Refusal(f"{module} defines no '{name}'{did_you_mean(name, known)}")
        return str(place)

    def closure(self, roots: Sequence[str], names: Collection[str]) -> Closure:
        """Follow the roots; read annotations and docstrings only if something reached does."""
        keep, sweep = NOTHING, None
        while sweep is None or not sweep.reads <= keep:
            keep |= sweep.reads if sweep else NOTHING
            sweep = Sweep(self, frozenset(names), keep)
            sweep.run([self.root(text) for text in roots])
        kinds = self.index.registries
        return Closure(
            {unit: self.reading(unit, keep).digest for unit in sorted(sweep.units)},
            frozenset((kinds[registry], name) for registry, name in sweep.entries),
        )


class Sweep:
    """Walk once through everything that is reached."""

    def __init__(self, search: Search, names: frozenset[str], keep: frozenset[str]) -> None:
        self.search, self.index, self.keep = search, search.index, keep
        self.names = set(names)
        self.units: set[str] = set()
        self.loaded: set[str] = set()
        self.opened: set[str] = set()
        self.entries: set[tuple[str, str]] = set()
        self.reads: set[str] = set()

    def run(self, units: list[str]) -> None:
        """Reach units until neither code nor recipe names another one."""
        while units:
            while units:
                units += self.reach(units.pop())
            registry_entries = self.index.entries.items()
            self.entries |= {
                (r, n) for r, found in registry_entries if r in self.opened for n in found
                if n in self.names
            }  # fmt: skip
            pulled = (self.index.entries[r].get(n, []) for r, n in self.entries)
            units = [u.name for found in pulled for u in found if u.name not in self.units]

    def reach(self, name: str) -> set[str]:
        """Take one unit in and give the units it leads to."""
        if name in self.units:
            return set()
        self.units.add(name)
        self.load(self.index.units[name].module)
        reading = self.search.reading(name, self.keep)
        refuse_first(reading.faults)
        for module in reading.modules:
            self.load(module)
        self.names |= reading.words
        self.opened |= reading.opened
        self.entries |= reading.named
        self.reads |= reading.reads
        return reading.units - self.units

    def load(self, name: str) -> None:
        """Judge a module, the packages around it, and all that they import when loaded."""
        waiting = [name]
        while waiting:
            module = waiting.pop()
            if module not in self.loaded:
                self.loaded.add(module)
                refuse_first(self.search.judge(module))
                waiting += self.search.loads(module)


def refuse_first(faults: list) -> None:
    """Raise the first of the faults, if there is any."""
    if faults:
        raise Refusal(str(faults[0]))
