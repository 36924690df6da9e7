"""Which code made a result, as sixteen hexadecimal digits.

It owns the identity of code: two results with one fingerprint were computed by the
same definitions. Code is read, never imported. What cannot be read is refused, since
a guess would either rerun too much or, worse, too little.
"""

from __future__ import annotations

import gc
import importlib.metadata
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

from lowpass.fingerprint.closure import Closure, Search
from lowpass.fingerprint.index import Index, Sources, sources_of
from lowpass.fingerprint.inventory import Inventory
from lowpass.fingerprint.remembering import Remembered
from lowpass.registry import Refusal

__all__ = ["Closure", "Code", "Inventory", "check_asked", "names_in"]


class Code:
    """Know the code of one package, as it lies on the disk.

    Use :meth:`read`. An object never looks at the sources again, so one fingerprint
    cannot mix two states of the code.
    """

    def __init__(self, root: Path, package: str, sources: Sources, memory: Path | None) -> None:
        self._package = (root, package, sources)
        self._remembered = Remembered(memory, root, sources) if memory else None
        self._closures: dict[tuple, Closure] = {}
        self._inventories: dict[tuple, Inventory] = {}
        self._versions: dict[str, str] = {}
        # Names that no registry knows cannot change anything, so recipes share closures.
        self._known = frozenset(self._ask(["known"], lambda: sorted(self._search.known)))

    @classmethod
    def read(cls, root: Path, package: str = "lowpass", memory: Path | None = None) -> Code:
        """Read every module of a package.

        Parameters
        ----------
        root : Path
            The folder that contains the package.
        package : str
            The name of the package.
        memory : Path, optional
            A folder that keeps what was found, and where it is looked up as long as no source
            changes; without one, all is found anew.

        Raises
        ------
        Refusal
            If the folder holds no such package, or a module is no valid Python.
        """
        return cls(Path(root), package, sources_of(Path(root), package), memory)

    @property
    def _search(self) -> Search:
        with _collector_paused():
            return _analysed(*self._package)

    def _ask(self, asked: list[Any], find: Callable[[], Any]) -> Any:
        return self._remembered.ask(asked, find) if self._remembered else find()

    def closure(self, roots: Sequence[str], names: Collection[str]) -> Closure:
        """Find everything that the roots reach under the names of a recipe.

        Parameters
        ----------
        roots : sequence of str
            Where to start, such as ``lowpass.stages.attention:attention``.
        names : collection of str
            Every text of the complete recipe, see :func:`names_in`.

        Raises
        ------
        Refusal
            If something reached, or loaded on the way, cannot be followed.
        """
        key = (tuple(roots), self._known.intersection(names))
        if key not in self._closures:
            asked = ["closure", [*roots], sorted(key[1])]
            self._closures[key] = Closure.of(self._ask(asked, lambda: self._found(*key)))
        return self._closures[key]

    def _found(self, roots: Sequence[str], names: Collection[str]) -> dict[str, Any]:
        with _collector_paused():
            return self._search.closure(roots, names).plain

    def fingerprint(
        self,
        roots: Sequence[str],
        names: Collection[str],
        distributions: Sequence[str] = (),
        *,
        installed: Mapping[str, str] | None = None,
    ) -> str:
        """Hash everything reached, with the versions it runs on.

        Parameters
        ----------
        roots, names
            See :meth:`closure`.
        distributions : sequence of str
            Installed packages whose versions count.
        installed : mapping, optional
            Versions to count in place of those installed here, to compare code alone.

        Returns
        -------
        str
            Sixteen hexadecimal digits, comparable within one minor version of Python.
        """
        return self.inventory(roots, names, distributions, installed=installed).fingerprint

    def inventory(
        self,
        roots: Sequence[str],
        names: Collection[str],
        distributions: Sequence[str] = (),
        *,
        installed: Mapping[str, str] | None = None,
    ) -> Inventory:
        """List what :meth:`fingerprint` hashes; for its parameters see there."""
        known = self._known.intersection(names)
        there = None if installed is None else tuple(installed[name] for name in distributions)
        key = (tuple(roots), known, tuple(distributions), there)
        if key not in self._inventories:
            found = there or map(self._version, distributions)
            versions = dict(zip(distributions, found, strict=True))
            python = ".".join(map(str, sys.version_info[:2]))
            self._inventories[key] = Inventory(self.closure(roots, known).digests, versions, python)
        return self._inventories[key]

    def _version(self, distribution: str) -> str:
        """Look a version up once, since that reads a file."""
        if distribution not in self._versions:
            self._versions[distribution] = _version(distribution)
        return self._versions[distribution]

    def complaints(self) -> list[str]:
        """List what loading any module of the package does beyond binding names."""
        modules = self._search.index.modules
        return [str(fault) for name in modules for fault in self._search.judge(name)]


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Keep the garbage collector out of syntax trees: many objects, no garbage, half the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@lru_cache(maxsize=1)
def _analysed(root: Path, package: str, sources: Sources) -> Search:
    """Analyse sources, unless the last ones were equal to the letter."""
    return Search(Index(root, package, sources))


def names_in(recipe: object) -> frozenset[str]:
    """Collect every text in a nested recipe, keys included.

    Examples
    --------
    >>> sorted(names_in({"kernel": "softmax", "remedies": ["skip", {"gain": 2}]}))
    ['gain', 'kernel', 'remedies', 'skip', 'softmax']
    """
    names: set[str] = set()
    waiting = [recipe]
    while waiting:
        part = waiting.pop()
        if isinstance(part, str):
            names.add(part)
        elif isinstance(part, dict):
            waiting += [*part.keys(), *part.values()]
        elif isinstance(part, list | tuple | set | frozenset):
            waiting += part
    return frozenset(names)


def check_asked(closure: Closure, asked: Iterable[tuple[str, str]]) -> None:
    """Prove that every entry used while running was covered by the closure.

    Parameters
    ----------
    closure : Closure
        What the fingerprint covered.
    asked : iterable of (kind, name)
        What was looked up, as ``Registry.asked`` notes it.

    Raises
    ------
    Refusal
        If an entry was used that neither the recipe nor a literal in the code names.
    """
    for kind, name in sorted(set(asked) - closure.entries):
        raise Refusal(
            f"{kind} '{name}' was used, but the fingerprint does not cover it; the result could "
            f"not be traced to its code; name '{name}' in the recipe or as a literal in the stage."
        )


def _version(distribution: str) -> str:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        raise Refusal(
            f"distribution '{distribution}' is not installed; its version is part of every "
            f"fingerprint; install it or take it out of the list."
        ) from None
