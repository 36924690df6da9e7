"""How causes are put into words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from lowpass.records import canonical

# More values than this are counted instead of named.
NAMED = 4


class Cause(NamedTuple):
    """Hold what made jobs necessary; equal causes are one.

    Parameters
    ----------
    kind : str
        One word for programs.
    text : str
        A sentence for people, without its full stop.
    """

    kind: str
    text: str


def exchanged(what: str, came: Sequence[Any], went: Sequence[Any], name: str) -> str:
    """Say which values of something came into an experiment, and which went.

    Examples
    --------
    >>> exchanged("beta", [10.0], [], "mine"), exchanged("depth", [60], [80], "mine")
    ('beta 10 is new in mine', 'depth 60 instead of 80 in mine')
    """
    if came and went:
        return f"{what} {listed(came)} instead of {listed(went)} in {name}"
    verb = "is" if len(came) == 1 else "are"
    return f"{what} {listed(came)} {verb} new in {name}" if came else taken(what, went, name)


def taken(what: str, went: Sequence[Any], name: str) -> str:
    """Say which values of something went."""
    verb = "was" if len(went) == 1 else "were"
    return f"{what} {listed(went)} {verb} taken out of {name}"


def reseeded(before: Any, now: Any) -> Cause:
    """Say that the root of the random streams is another."""
    return Cause("seed", f"seed {told(now)} instead of {told(before)}")


def listed(values: Sequence[Any], most: int = NAMED) -> str:
    """Name values, or the first of them and the number of the others."""
    named = ", ".join(map(told, values[:most]))
    return named + (f" and {len(values) - most} more" if len(values) > most else "")


def told(value: Any) -> str:
    """Write a value as a configuration would."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    if value is None:
        return "none"
    return value if isinstance(value, str) else canonical(value)
