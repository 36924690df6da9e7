"""Time two sides in turn, and keep what was found with its spread.

A machine that others use makes everything slower at some moments and nothing faster
at any. So the sides take turns, the least of several rounds counts, and the quotient
of two least times is what a target is about.
"""

from __future__ import annotations

import gc
import resource
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

Clock = Callable[[], float]
Side = Callable[[], object]


def wall() -> float:
    """Give the time on the wall in seconds."""
    return time.perf_counter()


def own_cpu() -> float:
    """Give the seconds of CPU that this process has used, whatever others use meanwhile."""
    return time.process_time()


def children_cpu() -> float:
    """Give the seconds of CPU that finished child processes have used."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@dataclass(frozen=True)
class Samples:
    """Hold the values of one side, round by round.

    Parameters
    ----------
    values : tuple of float
        In the unit of the row.
    """

    values: tuple[float, ...]

    @property
    def best(self) -> float:
        """The least value, which other users of the machine disturbed least."""
        return min(self.values)

    @property
    def spread(self) -> float:
        """How far the median lies above the least value, as a share of it."""
        return statistics.median(self.values) / self.best - 1 if self.best else 0.0


@dataclass(frozen=True)
class Row:
    """Hold one finding.

    Parameters
    ----------
    what : str
        What was measured, in words that README.md explains.
    case : str
        At which size.
    unit : str
        ``s`` or ``B``.
    ours, theirs : Samples
        This project and the alternative.
    against : str
        Names the alternative.
    limit : float, optional
        The target: the largest quotient of ours and theirs that is good enough.
    ceiling : float, optional
        The target where it is about ours alone, in the unit of the row.
    clock : str
        ``cpu``, ``wall`` or ``memory``.
    """

    what: str
    case: str
    unit: str
    ours: Samples
    theirs: Samples
    against: str
    limit: float | None = None
    ceiling: float | None = None
    clock: str = "cpu"
    notes: Mapping[str, Any] = field(default_factory=dict)

    @property
    def ratio(self) -> float:
        """Ours over theirs, of the least values."""
        return self.ours.best / self.theirs.best

    @property
    def is_met(self) -> bool | None:
        """Whether the target is met; None where there is none."""
        if self.limit is not None:
            return self.ratio <= self.limit
        return None if self.ceiling is None else self.ours.best <= self.ceiling


def alternate(
    sides: Mapping[str, Side], rounds: int, clocks: Mapping[str, Clock], *, warm: bool = True
) -> dict[str, dict[str, Samples]]:
    """Time every side once a round, in an order that turns from round to round.

    Parameters
    ----------
    sides : mapping
        Name to what is timed.
    rounds : int
    clocks : mapping
        Name to clock; all of them are read around one and the same call.
    warm : bool
        Whether every side runs once before the first round.

    Returns
    -------
    dict
        Samples by clock and side.
    """
    if warm:
        for side in sides.values():
            side()
    # The collector would look through all that lies in this process, and charge the sides for it.
    gc.collect()
    gc.freeze()
    found: dict[str, dict[str, list[float]]] = {
        clock: {name: [] for name in sides} for clock in clocks
    }
    for turn in range(rounds):
        for name in sorted(sides, reverse=bool(turn % 2)):
            before = {clock: read() for clock, read in clocks.items()}
            sides[name]()
            for clock, read in clocks.items():
                found[clock][name].append(read() - before[clock])
    gc.unfreeze()
    return {
        clock: {name: Samples(tuple(values)) for name, values in each.items()}
        for clock, each in found.items()
    }


def divided(samples: Samples, count: int) -> Samples:
    """Give the values of one of ``count`` equal parts."""
    return Samples(tuple(value / count for value in samples.values))
