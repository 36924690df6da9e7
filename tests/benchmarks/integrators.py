"""The flow of recomputed attention to a given accuracy, by explicit steps and by solvers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from lowpass.equations import TIGHT, Equation, Softmax, relative_distance
from lowpass.integrators import euler, solved
from lowpass.remedies import Filter

from .measuring import Row, alternate, own_cpu

N_TOKENS, D_MODEL, TIME = 64, 16, 2.0
ROUNDS = 5
# Solvers are given tolerances from here on down, a decade at a time, until the error is met.
LOOSEST, TIGHTEST = 0, -13
MOST_STEPS = 2**17

Way = Callable[[], np.ndarray]


class Goal(NamedTuple):
    """Hold an accuracy, what is compared, and the target of their quotient where there is one."""

    error: float
    ours: str
    theirs: str
    limit: float | None


GOALS = (
    Goal(1e-2, "DOP853", "euler", 0.6),
    Goal(1e-3, "DOP853", "euler", 0.1),
    Goal(1e-4, "DOP853", "euler", 0.02),
    Goal(1e-4, "RK45", "euler", 0.02),
    Goal(1e-4, "DOP853", "RK45", None),
    Goal(1e-10, "DOP853", "RK45", 0.75),
)


def problem(n_tokens: int, d_model: int) -> tuple[Equation, np.ndarray]:
    """Draw tokens, and a flow whose map of values has complex eigenvalues."""
    rng = np.random.default_rng(20261129)
    x = rng.standard_normal((n_tokens, d_model))
    w_q, w_k, w_v = rng.standard_normal((3, d_model, d_model)) / np.sqrt(d_model)
    return Equation(Filter(), w_v, Softmax(w_q, w_k, 1 / np.sqrt(d_model), 0.0)), x


def steps(flow: Equation, x: np.ndarray, count: int) -> np.ndarray:
    """Take equal explicit steps."""
    for _ in range(count):
        x = euler(flow.rate, x, TIME / count)
    return x


def ways(flow: Equation, x: np.ndarray, name: str) -> Iterator[Way]:
    """Give ever more accurate ways by one method."""
    if name == "euler":
        count = 1
        while count <= MOST_STEPS:
            yield lambda count=count: steps(flow, x, count)
            count *= 2
        return
    for decade in range(LOOSEST, TIGHTEST - 1, -1):
        given = {"rtol": 10.0**decade, "atol": 10.0 ** (decade - 2)}
        yield lambda given=given: solved(flow.rate, x, TIME, name, **given)


def cheapest(flow: Equation, x: np.ndarray, name: str, error: float) -> Way:
    """Find the first way of a method that comes as near to the solution as asked."""
    exact = solved(flow.rate, x, TIME, "DOP853", **TIGHT)
    return next(way for way in ways(flow, x, name) if relative_distance(way(), exact) <= error)


def rows(*, long: bool) -> Iterator[Row]:
    """Compare methods at equal errors."""
    flow, x = problem(N_TOKENS, D_MODEL)
    for goal in GOALS:
        sides = {name: cheapest(flow, x, name, goal.error) for name in (goal.ours, goal.theirs)}
        found = alternate(sides, ROUNDS, {"cpu": own_cpu})["cpu"]
        yield Row(
            f"flow by {goal.ours}",
            f"error {goal.error:.0e}, n = {N_TOKENS}, d = {D_MODEL}",
            "s",
            found[goal.ours],
            found[goal.theirs],
            "Euler steps" if goal.theirs == "euler" else goal.theirs,
            goal.limit,
        )
