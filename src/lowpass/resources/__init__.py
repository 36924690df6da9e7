"""What a job needs: memory and time, from the sizes that its recipe and its parents' name.

It owns what a process takes before it computes, and how much more than it needs a job is
granted. What a stage holds beside is counted in one module for each kind of job.
"""

from __future__ import annotations

import math
from pathlib import Path

from lowpass.plan.complete import complete
from lowpass.plan.point import Point
from lowpass.registry import Refusal
from lowpass.resources.gathering import of_claims, of_experiment, of_figure, of_paper
from lowpass.resources.sizes import size_of
from lowpass.resources.stages import full, of_attention, of_data, of_diffusion, of_spectra
from lowpass.resources.studies import of_smoothing
from lowpass.resources.work import Work

# Megabytes of an interpreter with all that jobs compute with, measured: 193 with what every job
# imports, up to 35 more with parts of scipy, which a mask, a kernel or a measure may need; and of
# what others import beside: matplotlib with its fonts, the typesetter.
LIBRARIES = 240
BESIDE = {"figures": 40, "paper": 60}
# What lies between arrays, and is not given back.
SLACK = 1.1
# Operations in a minute, ten times fewer than a slow core does; and minutes that no job lacks.
A_MINUTE, FEWEST = 60 * 1e8, 5
GATHERING = {
    "experiment": of_experiment,
    "figures": of_figure,
    "claims": of_claims,
    "paper": of_paper,
}


class Resources:
    """Estimate what the jobs of a plan need, each once.

    Parameters
    ----------
    root : Path
        Folder of the project, which holds the data files.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._known: dict[Point, Work] = {}

    def megabytes(self, point: Point) -> int:
        """Estimate the most memory that a job's process holds, in 10⁶ bytes."""
        beside = BESIDE.get(point.stage, 0)
        return math.ceil(LIBRARIES + beside + SLACK * self.work(point).held / 1e6)

    def minutes(self, point: Point) -> int:
        """Bound the time that a job takes, in whole minutes."""
        return max(FEWEST, math.ceil(self.work(point).operations / A_MINUTE))

    def work(self, point: Point) -> Work:
        """Estimate what a job holds and does beyond starting."""
        if point not in self._known:
            self._known[point] = self._estimate(point)
        return self._known[point]

    def _estimate(self, point: Point) -> Work:
        parents = [self.work(parent) for parent in point.parents]
        if point.stage in GATHERING:
            return GATHERING[point.stage](parents)
        params = complete(point.recipe)
        if point.stage == "data":
            return of_data(params, size_of(params, self._root / point.resource))
        if point.stage == "attention":
            return of_attention(full(params), *parents)
        if point.stage == "diffusion":
            return of_diffusion(full(params), *parents)
        if point.stage == "spectra":
            return of_spectra(params, *parents)
        if point.stage == "smoothing":
            return of_smoothing(params, *parents)
        raise Refusal(f"stage '{point.stage}': nothing says what its jobs need; say it here.")
