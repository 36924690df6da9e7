"""Heat at many times against exponentials of matrices, and at one time to a given accuracy."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import NamedTuple

import numpy as np

from lowpass.diffusion import heat_action, log10_heat_norm
from lowpass.equations import relative_distance
from lowpass.flows import FLOWS, iterate_heat
from lowpass.graphs import GRAPHS
from lowpass.heat_equation import HeatEquation
from lowpass.laplacians import LAPLACIANS, stationary_of
from lowpass.splits import Split, along, remove_stationary

from .measuring import Row, Samples, alternate, own_cpu

D_MODEL = 64
SIZES = (512, 2048)
TIMES = np.logspace(-2, 1, 32)
# An exponential takes seconds; some of the times, evenly spread, stand for all of them.
SAMPLED = slice(3, None, 8)
ROUNDS = 3

Way = Callable[[], np.ndarray]


class Problem(NamedTuple):
    """Hold a Laplacian, the weights that balance it, and tokens."""

    laplacian: np.ndarray
    stationary: np.ndarray
    x: np.ndarray


class Goal(NamedTuple):
    """Hold an accuracy, a method and what it is compared with."""

    error: float
    ours: str
    theirs: str
    limit: float | None


GOALS = (
    Goal(1e-3, "chebyshev", "euler", 0.2),
    Goal(1e-3, "chebyshev", "rk45", None),
    Goal(1e-3, "taylor", "chebyshev", None),
    Goal(1e-9, "chebyshev", "rk45", 0.2),
    Goal(1e-9, "chebyshev", "dop853", 0.75),
    Goal(1e-9, "chebyshev", "taylor", None),
    Goal(1e-9, "chebyshev", "eigh", 0.5),
)


def problem(n_tokens: int, d_model: int) -> Problem:
    """Draw tokens, and join them by the exponentials of their logits."""
    rng = np.random.default_rng(20261129)
    x = rng.standard_normal((n_tokens, d_model))
    w_q, w_k = rng.standard_normal((2, d_model, d_model)) / np.sqrt(d_model)
    affinity = GRAPHS["affinity"](x, None, 1.0, (w_q, w_k))
    return Problem(LAPLACIANS["random_walk"](affinity), stationary_of(affinity, "random_walk"), x)


def at_all_times(given: Problem, method: str) -> np.ndarray:
    """Let heat flow for every time."""
    return heat_action(given.laplacian, given.x, TIMES, method=method, stationary=given.stationary)


def exponentials(given: Problem, times: np.ndarray = TIMES[SAMPLED]) -> np.ndarray:
    """Exponentiate the matrix for some of the times, and apply each."""
    from scipy.linalg import expm

    return np.stack([expm(-time * given.laplacian) @ given.x for time in times])


def norms(given: Problem) -> np.ndarray:
    """Give the norm of what is left at every time."""
    return log10_heat_norm(given.laplacian, given.x, TIMES, given.stationary)


def flowed(given: Problem, method: str, layers: int, **knobs: float) -> np.ndarray:
    """Let heat flow for the time one, in a number of layers."""
    pi = given.stationary
    start = Split.of(along(pi, given.x)[..., 0, :], remove_stationary(pi, given.x))
    equation = HeatEquation(given.laplacian, pi)
    flow = iterate_heat(equation, start, time=1 / layers, method=method, **knobs)
    last = next(islice(flow, layers, None))
    return last.kept + np.ldexp(last.rest, last.exponent)


def ways(given: Problem, method: str) -> Iterator[Way]:
    """Give ever more accurate ways by one method."""
    if method == "euler":
        yield from (lambda n=2**k: flowed(given, method, n) for k in range(20))
    elif method == "taylor":
        yield from (lambda p=p: flowed(given, method, 1, taylor_order=p) for p in range(6, 40))
    elif "tolerance" in FLOWS.facts(method)["knobs"]:
        yield from (lambda t=10.0**-d: flowed(given, method, 1, tolerance=t) for d in range(1, 14))
    else:
        yield lambda: flowed(given, method, 1)


def cheapest(given: Problem, method: str, error: float) -> Way:
    """Find the first way of a method that comes as near to the solution as asked."""
    exact = flowed(given, "eigh", 1)
    return next(way for way in ways(given, method) if relative_distance(way(), exact) <= error)


def rows(*, long: bool) -> Iterator[Row]:
    """Compare at several sizes, and methods at equal errors."""
    for n_tokens in SIZES:
        yield from many_times(n_tokens, TIMES if long else TIMES[SAMPLED])
    small = problem(SIZES[0], D_MODEL)
    for goal in GOALS:
        sides = {name: cheapest(small, name, goal.error) for name in (goal.ours, goal.theirs)}
        found = alternate(sides, ROUNDS, {"cpu": own_cpu})["cpu"]
        case = f"error {goal.error:.0e}, n = {SIZES[0]}"
        times = found[goal.ours], found[goal.theirs]
        yield Row(f"heat by {goal.ours}", case, "s", *times, goal.theirs, goal.limit)


def many_times(n_tokens: int, sampled: np.ndarray) -> Iterator[Row]:
    """Compare all times at once with one exponential after the other."""
    given = problem(n_tokens, D_MODEL)
    theirs = {"expm": lambda: exponentials(given, sampled)}
    measured = alternate(theirs, 1, {"cpu": own_cpu}, warm=False)["cpu"]["expm"]
    share = len(TIMES) / len(sampled)
    every = Samples(tuple(value * share for value in measured.values))
    ours = {
        "eigh": lambda: at_all_times(given, "eigh"),
        "chebyshev": lambda: at_all_times(given, "chebyshev"),
        "norms": lambda: norms(given),
    }
    found = alternate(ours, ROUNDS, {"cpu": own_cpu})["cpu"]
    case = f"{len(TIMES)} times, n = {n_tokens}, d = {D_MODEL}"
    against = f"{len(TIMES)} x expm @ X, from {len(sampled)} of them"
    limits = {"eigh": 1 / 40, "chebyshev": 1 / 80} if n_tokens >= 2048 else {}
    for name, samples in found.items():
        what = "norms at many times" if name == "norms" else f"heat at many times, {name}"
        yield Row(what, case, "s", samples, every, against, limits.get(name))
