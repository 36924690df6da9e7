"""What jobs used, as their logs say, beside what was estimated for them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from lowpass.plan.point import Point
from lowpass.resources import Resources
from lowpass.usage import Usage, read

MINUTE = 60.0


class Spent(NamedTuple):
    """Hold what a product's job is granted, and what its last one used, if its log says so."""

    point: Point
    megabytes: int
    minutes: int
    usage: Usage | None

    @property
    def used(self) -> Usage:
        """What was used; nothing where that is not known."""
        return self.usage or Usage(0, 0.0)

    @property
    def ratio(self) -> float:
        """The peak as a share of its estimate."""
        return self.used.megabytes / self.megabytes

    @property
    def share(self) -> float:
        """The time of the processor as a share of its bound."""
        return self.used.seconds / MINUTE / self.minutes

    def as_object(self) -> dict[str, Any]:
        """Give everything as JSON holds it."""
        return {
            "product": self.point.path,
            "estimated_megabytes": self.megabytes,
            "bound_minutes": self.minutes,
            "megabytes": self.usage and self.usage.megabytes,
            "seconds": self.usage and self.usage.seconds,
        }


def spent(points: Iterable[Point], resources: Resources, folder: Path) -> list[Spent]:
    """Estimate every product's job, and read its log.

    Parameters
    ----------
    points : iterable of Point
    resources : Resources
    folder : Path
        Where the workflow ran, and put its ``logs``.
    """
    return [
        Spent(
            point,
            resources.megabytes(point),
            resources.minutes(point),
            said_in(folder / f"logs/{point.stage}/{point.name}.log"),
        )
        for point in points
    ]


def said_in(log: Path) -> Usage | None:
    """Read what a log says of use; none where there is no log, or its job did not end well."""
    try:
        return read(log.read_text(encoding="utf-8"))
    except OSError:
        return None


def as_lines(found: Sequence[Spent]) -> Iterator[str]:
    """Tell of each stage its number of jobs, and the product that is extreme in each respect."""
    for stage in dict.fromkeys(each.point.stage for each in found):
        jobs = [each for each in found if each.point.stage == stage]
        done = [each for each in jobs if each.usage]
        yield f"{stage}: {len(jobs)} job{'s' if len(jobs) > 1 else ''}, {len(done)} done"
        large = max(jobs, key=lambda each: each.megabytes)
        yield f"  largest estimate  {large.megabytes} MB   {large.point.name}"
        if not done:
            continue
        large = max(done, key=lambda each: each.used.megabytes)
        near = max(done, key=lambda each: each.ratio)
        long = max(done, key=lambda each: each.used.seconds)
        yield f"  largest peak  {large.used.megabytes} MB   {large.point.name}"
        yield f"  nearest to its estimate  {near.ratio:.2f}   {near.point.name}"
        yield (
            f"  longest  {long.used.seconds:.1f} s, {long.share:.3f} of its {long.minutes} min   "
            f"{long.point.name}"
        )


def beyond(found: Iterable[Spent]) -> list[Spent]:
    """List the jobs that held more than was estimated."""
    return [each for each in found if each.ratio > 1]
