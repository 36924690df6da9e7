"""Laplacians to let heat flow on, for tests of flows: those of every graph."""

from __future__ import annotations

import numpy as np

from lowpass.graphs import GRAPHS
from lowpass.heat_equation import HeatEquation
from lowpass.laplacians import LAPLACIANS, stationary_of
from lowpass.splits import Split
from lowpass.starts import STARTS

CONSTANT = [name for name in LAPLACIANS if LAPLACIANS.facts(name)["constant_mode"]]
POSITIVE = [name for name in CONSTANT if LAPLACIANS.facts(name)["positive"]]
PLACE = np.array([[row, column] for row in range(2) for column in range(4)])


def affinity(name: str, rng: np.random.Generator, *leading: int) -> np.ndarray:
    """Give the affinity of eight tokens on a graph."""
    x, weights = rng.standard_normal((*leading, 8, 3)), rng.standard_normal((2, 3, 3)) / 3**0.5
    return GRAPHS[name](x, PLACE, 0.6, (weights[0], weights[1]))


def possible(graph: str, laplacian: str) -> bool:
    return not (GRAPHS.facts(graph)["signed"] and LAPLACIANS.facts(laplacian)["positive"])


FLOWING = [(g, name) for g in GRAPHS for name in CONSTANT if possible(g, name)]
ALL = [(g, name) for g in GRAPHS for name in LAPLACIANS if possible(g, name)]


def generator(
    graph: str, name: str, rng: np.random.Generator, *leading: int
) -> tuple[np.ndarray, np.ndarray | None]:
    """Give a Laplacian and its stationary weights, or None where it has none."""
    w = affinity(graph, rng, *leading)
    keeps = LAPLACIANS.facts(name)["constant_mode"]
    return LAPLACIANS[name](w), stationary_of(w, name) if keeps else None


def started(
    laplacian: np.ndarray, x: np.ndarray, pi: np.ndarray, values: np.ndarray | None = None
) -> tuple[HeatEquation, Split]:
    """Give what an iteration takes: the equation, and the start in split form."""
    return HeatEquation(laplacian, pi, values), Split.of(*STARTS["tokens"](x, laplacian, pi))
