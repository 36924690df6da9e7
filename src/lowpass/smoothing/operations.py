"""What a smoother costs, counted rather than timed.

It owns the number of multiply-adds and of exponentials that each way of
smoothing takes, for given sizes. A count is the same on every machine, and it
flatters nobody's implementation; what a machine makes of it is another matter.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

# Places of a grid that a point meets, for each feature, at the finest tolerance.
WINDOW = 16


class Operations(NamedTuple):
    """Count the operations of one smooth.

    Parameters
    ----------
    multiply_adds : float
        A multiplication, an addition, or both at once.
    exponentials : float
        An exponential, a sine or a cosine.
    """

    multiply_adds: float
    exponentials: float

    def priced(self, exponential: float) -> float:
        """Count an exponential as so many multiply-adds."""
        return self.multiply_adds + exponential * self.exponentials


class Problem(NamedTuple):
    """Say how large a problem is.

    Parameters
    ----------
    queries, keys : int
        n of both.
    features : int
        d, features of a key.
    outputs : int
        Values of an observation.
    """

    queries: int
    keys: int
    features: int
    outputs: int

    @property
    def columns(self) -> int:
        """What is averaged: the values, and ones for the normaliser."""
        return self.outputs + 1


def all_pairs(problem: Problem) -> Operations:
    """Count the textbook formula, which tiles rearrange and do not change.

    A score takes d + 1 multiply-adds (an inner product, and the key's own term), and
    averaging one for each value and for the normaliser.
    """
    pairs = problem.queries * problem.keys
    return Operations(pairs * (problem.features + 1 + problem.columns), pairs)


def fewer_keys(problem: Problem, count: int) -> Operations:
    """Count the textbook formula with some of the keys."""
    return all_pairs(problem._replace(keys=count))


def positive(problem: Problem, count: int) -> Operations:
    """Count positive features: every query and every key once against each direction."""
    each = (problem.queries + problem.keys) * count
    return Operations(each * (problem.features + 1 + problem.columns), each)


def orthogonal(problem: Problem, count: int) -> Operations:
    """Count positive features whose blocks of d directions take a QR decomposition each.

    Householder's takes 2d³/3 multiply-adds, and as many to form Q.
    """
    multiply_adds, exponentials = positive(problem, count)
    blocks = math.ceil(count / problem.features)
    return Operations(multiply_adds + blocks * 4 / 3 * problem.features**3, exponentials)


def trigonometric(problem: Problem, count: int) -> Operations:
    """Count a sine and a cosine for each direction, of every query and every key."""
    each = (problem.queries + problem.keys) * count
    return Operations(each * (problem.features + 2 * problem.columns), 2 * each)


def linear(problem: Problem) -> Operations:
    """Count linear attention, whose features are d in number; half need an exponential."""
    each = (problem.queries + problem.keys) * problem.features
    return Operations(each * (1 + problem.columns), each / 2)


def landmarks(problem: Problem, count: int) -> Operations:
    """Count the kernel from and to landmarks, between them, and one Cholesky factor.

    The factor takes m³/6 multiply-adds, and a solution m² for each column.
    """
    each = (problem.queries + problem.keys + count) * count
    between = count**3 / 6 + count**2 * problem.columns
    return Operations(each * (problem.features + 1 + problem.columns) + between, each)


def series(problem: Problem, modes: Sequence[int], left: float) -> Operations:
    """Count non-uniform Fourier sums over a grid of twice as many places as modes.

    A point meets a window of 16 places for each feature, whose profiles are polynomials of 16
    coefficients, and a fast Fourier transform of N complex numbers takes 5/2 N log₂ N; two
    columns share one transform, which is made once from the keys and once to the queries.

    Parameters
    ----------
    problem : Problem
    modes : (feature,) int
    left : float
        Queries where keys are few, which are averaged exactly.
    """
    d, pairs = problem.features, math.ceil(problem.columns / 2)
    points = (problem.queries + problem.keys) * ((1 + 2 * pairs) * WINDOW**d + d * WINDOW**2)
    places = math.prod(2 * n for n in modes)
    transforms = 2 * pairs * 5 / 2 * places * math.log2(places)
    rest = all_pairs(problem._replace(queries=1))
    return Operations(
        points + transforms + left * rest.multiply_adds,
        2 * sum(modes) + left * rest.exponentials,
    )
