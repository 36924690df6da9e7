"""What jobs used, as their logs say, beside what was estimated for them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from lowpass.plan.point import Point
from lowpass.resources import Resources
from lowpass.usage import Usage, read

MINUTE = 60.0


class Spent(NamedTuple):
    """Hold what the last job of a product used, and what it was granted."""

    point: Point
    usage: Usage
    megabytes: int
    minutes: int

    @property
    def ratio(self) -> float:
        """The peak as a share of its estimate."""
        return self.usage.megabytes / self.megabytes

    @property
    def share(self) -> float:
        """The time of the processor as a share of its bound."""
        return self.usage.seconds / MINUTE / self.minutes

    def as_object(self) -> dict[str, Any]:
        """Give everything as JSON holds it."""
        return {
            "product": self.point.path,
            **self.usage._asdict(),
            "estimated_megabytes": self.megabytes,
            "bound_minutes": self.minutes,
        }


def spent(points: Iterable[Point], resources: Resources, folder: Path) -> list[Spent]:
    """Read the logs of all products that have one which says what was used.

    Parameters
    ----------
    points : iterable of Point
    resources : Resources
    folder : Path
        Where the workflow ran, and put its ``logs``.
    """
    found = []
    for point in points:
        try:
            log = (folder / f"logs/{point.stage}/{point.name}.log").read_text(encoding="utf-8")
        except OSError:
            continue
        if usage := read(log):
            estimates = resources.megabytes(point), resources.minutes(point)
            found.append(Spent(point, usage, *estimates))
    return found


def as_lines(found: Sequence[Spent]) -> list[str]:
    """Tell of each stage its number of jobs, and the product that is extreme in each respect."""
    lines = []
    for stage in dict.fromkeys(each.point.stage for each in found):
        jobs = [each for each in found if each.point.stage == stage]
        large, tight, long = (
            max(jobs, key=lambda each: each.usage.megabytes),
            max(jobs, key=lambda each: each.ratio),
            max(jobs, key=lambda each: each.usage.seconds),
        )
        lines += [
            f"{stage}: {len(jobs)} job{'s' if len(jobs) > 1 else ''}",
            f"  largest peak  {large.usage.megabytes} MB   {large.point.name}",
            f"  nearest to its estimate  {tight.ratio:.2f} of {tight.megabytes} MB   "
            f"{tight.point.name}",
            f"  longest  {long.usage.seconds:.1f} s, {long.share:.3f} of {long.minutes} min   "
            f"{long.point.name}",
        ]
    return lines


def beyond(found: Iterable[Spent]) -> list[Spent]:
    """List the jobs that held more than was estimated."""
    return [each for each in found if each.ratio > 1]
