"""Names for open-ended things, and refusals that help.

A registry owns one kind of thing (kernels, measures, claims ...) under literal
names. It also notes which names were asked for, so that a job can prove that
its fingerprint covered everything it used.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, ClassVar, TypeVar

T = TypeVar("T")


class Refusal(ValueError):
    """Say in one line what was wrong, with its value, why, and what to do."""


def did_you_mean(word: object, known: Iterable[str]) -> str:
    """Phrase the nearest known name as a question, or nothing where none is near."""
    near = difflib.get_close_matches(str(word), list(known), n=1, cutoff=0.5)
    return f"; did you mean '{near[0]}'?" if near else "."


class Registry(Mapping[str, Any]):
    """Map literal names to things of one kind.

    Parameters
    ----------
    kind : str
        What an entry is, with its article left out: ``"attention kernel"``.

    Examples
    --------
    >>> SHAPES = Registry("shape")
    >>> @SHAPES.add("square", corners=4)
    ... def square(x):
    ...     return x * x
    >>> SHAPES["square"](3), SHAPES.facts("square")
    (9, {'corners': 4})
    >>> SHAPES["sqare"]
    Traceback (most recent call last):
    lowpass.registry.Refusal: no shape is called 'sqare'; did you mean 'square'? Known: square.
    """

    asked: ClassVar[set[tuple[str, str]]] = set()

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._things: dict[str, Any] = {}
        self._facts: dict[str, dict[str, Any]] = {}

    def add(self, name: str, **facts: Any) -> Callable[[T], T]:
        """Register the decorated function or class under ``name``, with facts about it."""

        def keep(thing: T) -> T:
            self.enter(name, thing, **facts)
            return thing

        return keep

    def enter(self, name: str, thing: Any, **facts: Any) -> None:
        """Register a value that is not a definition, such as a card."""
        if name in self._things:
            raise Refusal(
                f"two {self.kind}s are called '{name}'; names are unique, so rename the second."
            )
        self._things[name] = thing
        self._facts[name] = facts

    def facts(self, name: str) -> dict[str, Any]:
        """Give the facts that were registered with an entry."""
        self[name]
        return self._facts[name]

    def __getitem__(self, name: str) -> Any:
        if isinstance(name, str) and name in self._things:
            Registry.asked.add((self.kind, name))
            return self._things[name]
        raise Refusal(
            f"no {self.kind} is called '{name}'{did_you_mean(name, self._things)} "
            f"Known: {', '.join(sorted(self._things))}."
        )

    def __contains__(self, name: object) -> bool:
        return name in self._things

    def __iter__(self) -> Iterator[str]:
        return iter(self._things)

    def __len__(self) -> int:
        return len(self._things)
