"""What a textbook's ways of pooling by attention cost, and how near the learned one is to best."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from lowpass.domains import Bandwidths, Count, Positive, Share
from lowpass.labels import DIMENSIONS, VARIABLES, Card
from lowpass.registry import Refusal
from lowpass.smoothing.estimators import smoother_matrix
from lowpass.smoothing.expected import (
    covariance,
    expected_score,
    held_out,
    moments,
    trained_scale,
)
from lowpass.smoothing.minimum import minimise
from lowpass.studies.names import STUDIES, Answers, Observed, Watch

DIMENSIONS.enter("pooling_rule", Card("p", "how a bandwidth comes about"))
DIMENSIONS.enter("start_scale", Card("w_0", "inverse bandwidth before the first step"))
EVERY = ("pooling_rule",)
CURVE = ("bandwidth",)
VARIABLES.enter("squared_bias", Card(r"b^2", "mean squared bias", dims=CURVE))
VARIABLES.enter("fit_variance", Card(r"s^2", "mean variance of the fit", dims=CURVE))
VARIABLES.enter("expected_error", Card(r"b^2+s^2", "expected squared error", dims=CURVE))
VARIABLES.enter("expected_loo", Card(r"E\,CV(h)", "expected leave-one-out error", dims=CURVE))
VARIABLES.enter(
    "expected_training", Card(r"E\,r^2", "expected training error, own value seen", dims=CURVE)
)
VARIABLES.enter(
    "rule_bandwidth",
    Card("h", "bandwidth of a rule", dims=EVERY, infinite="all keys have one weight"),
)
VARIABLES.enter("rule_error", Card(r"b^2+s^2", "expected squared error of a rule", dims=EVERY))
VARIABLES.enter("rule_bias", Card(r"b^2", "mean squared bias of a rule", dims=EVERY))
VARIABLES.enter("rule_fit", Card(r"E f", "expected fit", dims=(*EVERY, "query")))
VARIABLES.enter(
    "learned_excess", Card("e-1", "error of the learned bandwidth over the least, less one")
)
VARIABLES.enter("learned_score", Card(r"E\,CV(h^*)", "smallest expected leave-one-out error"))
VARIABLES.enter("trained_bandwidth", Card("h", "bandwidth after some steps", dims=("start_scale",)))
VARIABLES.enter(
    "trained_error",
    Card(r"b^2+s^2", "expected squared error after some steps", dims=("start_scale",)),
)
VARIABLES.enter("truth_at_query", Card("f", "truth at the queries", dims=("query",)))

# The book draws the first inverse bandwidth evenly from 0 to 1.
STARTS = (np.arange(10) + 0.5) / 10
# The bandwidth of the book's nonparametric attention pooling.
FIXED = 1.0


class Design(NamedTuple):
    """Hold what expected errors follow from."""

    key: np.ndarray
    query: np.ndarray
    truth: np.ndarray
    aim: np.ndarray
    scatter: np.ndarray

    def matrix(self, bandwidth: float) -> np.ndarray:
        """Smooth from keys to queries; an infinite bandwidth averages."""
        if np.isinf(bandwidth):
            return np.full((len(self.query), len(self.key)), 1 / len(self.key))
        return smoother_matrix(self.query, self.key, bandwidth)

    def parts(self, bandwidth: float) -> tuple[float, float]:
        """Give mean squared bias and mean variance at the queries."""
        bias, variance = moments(self.matrix(bandwidth), self.truth, self.aim, self.scatter)
        return float(np.mean(np.square(bias))), float(np.mean(variance))

    def error(self, bandwidth: float) -> float:
        """Give the expected squared error at the queries."""
        return sum(self.parts(bandwidth))

    def loo(self, bandwidth: float) -> float:
        """Give what the leave-one-out score is in expectation."""
        return expected_score(held_out(self.key, bandwidth), self.truth, self.scatter)

    def training(self, bandwidth: float) -> float:
        """Give the expected training error, to which every value contributes itself."""
        own = smoother_matrix(self.key, self.key, bandwidth)
        return expected_score(own, self.truth, self.scatter)


@STUDIES.add("pooling", of=("truth", "queries"))
def pooling(
    observed: Observed,
    watch: Watch,
    *,
    bandwidths: Bandwidths,
    correlation: Share = 0.0,
    steps: Count = 5,
    rate: Positive = 0.5,
) -> Answers:
    """Compare average pooling, a fixed bandwidth and a learned one with the best; nothing is drawn.

    Parameters
    ----------
    observed : Dataset
        ``key_position`` (key, feature), ``query_position`` (query, feature), ``truth`` (key),
        ``truth_at_query`` (query) and ``noise``.
    watch : callable
        Hands on the bandwidths one by one, so that somebody may count them.
    bandwidths : mapping
        Geometric grid on which errors are computed, and minima bracketed.
    correlation : float
        Of the errors of two successive keys; it falls geometrically with their distance.
    steps : int
        Steps of gradient descent by which the book learns the bandwidth.
    rate : float
        Learning rate of these steps.

    Returns
    -------
    Dataset
        Bias, variance and criteria over bandwidths; bandwidth, error and expected fit of every
        rule; and where gradient descent ends from ten starts.
    """
    import xarray as xr

    design = designed(observed, correlation)
    grid = bandwidths.grid()
    ends = float(grid[0]), float(grid[-1])
    chosen = {
        "average": np.inf,
        "fixed": FIXED,
        "learned": interior(design.loo, *ends, "leave-one-out"),
        "best": interior(design.error, *ends, "expected"),
    }
    return xr.Dataset(
        {
            **observed[["truth_at_query", "query_position"]],
            **curves(design, grid, watch),
            **rules(design, chosen),
            **descents(design, steps, rate),
            "learned_score": design.loo(chosen["learned"]),
        },
        {"bandwidth": grid, "pooling_rule": list(chosen), "query": observed["query"].values},
    )


def designed(observed: Observed, correlation: float) -> Design:
    """Read a design from its labels."""
    scatter = covariance(observed.sizes["key"], float(observed["noise"]), correlation)
    names = ("key_position", "query_position", "truth", "truth_at_query")
    key, query, truth, aim = (observed[name].values for name in names)
    return Design(key, query, truth, aim, scatter)


def interior(score: Callable[[float], float], low: float, high: float, name: str) -> float:
    """Find the bandwidth of the least score, which an end of the bracket is not."""
    found = minimise(score, low, high)
    if found.place != "interior":
        raise Refusal(
            f"the least {name} error lies at the {found.place} of the bandwidths {low:g} … "
            f"{high:g}; it may be less beyond. Widen the grid."
        )
    return found.at


def curves(design: Design, grid: np.ndarray, watch: Watch) -> dict[str, tuple]:
    """Compute errors and criteria over bandwidths."""
    rows = [(*design.parts(h), design.loo(h), design.training(h)) for h in watch(grid)]
    bias, variance, loo, training = np.array(rows).T
    return {
        "squared_bias": (CURVE, bias),
        "fit_variance": (CURVE, variance),
        "expected_error": (CURVE, bias + variance),
        "expected_loo": (CURVE, loo),
        "expected_training": (CURVE, training),
    }


def rules(design: Design, chosen: dict[str, float]) -> dict[str, tuple]:
    """Compute what every rule costs, and what it fits on average."""
    parts = np.array([design.parts(h) for h in chosen.values()])
    error = dict(zip(chosen, parts.sum(axis=1), strict=True))
    return {
        "rule_bandwidth": (EVERY, np.array([*chosen.values()])),
        "rule_error": (EVERY, parts.sum(axis=1)),
        "rule_bias": (EVERY, parts[:, 0]),
        "rule_fit": (
            (*EVERY, "query"),
            np.stack([design.matrix(h) @ design.truth for h in chosen.values()]),
        ),
        "learned_excess": ((), error["learned"] / error["best"] - 1),
    }


def descents(design: Design, steps: int, rate: float) -> dict[str, tuple]:
    """Follow gradient descent from every start."""
    scales = [
        trained_scale(design.key, design.truth, design.scatter, w, steps=steps, rate=rate)
        for w in STARTS
    ]
    ends = 1 / abs(np.array(scales))
    return {
        "start_scale": (("start_scale",), STARTS),
        "trained_bandwidth": (("start_scale",), ends),
        "trained_error": (("start_scale",), np.array([design.error(h) for h in ends])),
    }
