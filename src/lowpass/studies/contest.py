"""What approximate smoothing errs by and costs, beside what as much would buy otherwise."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, NamedTuple

import numpy as np
from annotated_types import Ge

from lowpass.domains import Count, Positive
from lowpass.labels import DIMENSIONS, VARIABLES, Card
from lowpass.registry import Refusal
from lowpass.rounding import DECADES, ROUNDING, Logarithm, Remainder
from lowpass.smoothing import approximations, operations
from lowpass.smoothing.approximations import Fits
from lowpass.smoothing.checks import Sample
from lowpass.smoothing.choosing import METHODS
from lowpass.smoothing.features import independent_directions, orthogonal_directions
from lowpass.smoothing.gridded import TOLERANCE, least_mass
from lowpass.smoothing.landmarks import chosen
from lowpass.smoothing.operations import Operations, Problem
from lowpass.smoothing.spectral import Box, Reader, Series
from lowpass.studies.names import STUDIES, Answers, Observed, Watch

DIMENSIONS.enter("approximation", Card(r"\tilde\alpha", "kind of approximate weights"))
DIMENSIONS.enter("value_noise", Card(r"\sigma", "standard deviation of the noise of values"))
CONTEST_DIMS = ("replicate", "value_noise", "approximation", "n_terms")
VARIABLES.enter(
    "log10_relative_error",
    Card(
        r"\log_{10}\epsilon",
        "decimal logarithm of the error over that of the mean value",
        dims=CONTEST_DIMS,
    ),
)
# Where the kernel between landmarks is nearly singular, rounding is enlarged by one over the ridge.
ROUNDING.enter("log10_relative_error", Logarithm(reach=6))
VARIABLES.enter(
    "log10_rival_error",
    Card(
        r"\log_{10}\epsilon_s",
        "decimal logarithm of the error of as many operations on some of the keys",
        dims=CONTEST_DIMS,
    ),
)
ROUNDING.enter("log10_rival_error", Logarithm(reach=12))
VARIABLES.enter(
    "log10_operations",
    Card(
        r"\log_{10}N",
        "decimal logarithm of the number of operations",
        dims=("replicate", "approximation", "n_terms"),
    ),
)
VARIABLES.enter(
    "log10_exact_operations",
    Card(
        r"\log_{10}N_0",
        "decimal logarithm of the number of operations of all pairs",
        dims=("replicate",),
    ),
)
VARIABLES.enter(
    "unusable_share",
    Card(
        r"P(\sum\hat\alpha\leq0)",
        "share of queries whose weights have no positive sum",
        dims=("replicate", "approximation", "n_terms"),
    ),
)
VARIABLES.enter(
    "tile_error",
    Card(
        r"\epsilon_0",
        "error of exact attention in tiles over that of the mean value",
        dims=("replicate", "value_noise"),
    ),
)
ROUNDING.enter("tile_error", Remainder())
NO_GRID = "a grid in more than two dimensions is out of reach"
VARIABLES.enter(
    "log10_series_error",
    Card(
        r"\log_{10}\epsilon_g",
        "decimal logarithm of the error of Fourier sums over that of the mean value",
        dims=("replicate", "value_noise"),
        infinite=NO_GRID,
    ),
)
# All of it is rounding.
ROUNDING.enter("log10_series_error", Logarithm(end=-DECADES))
VARIABLES.enter(
    "log10_series_operations",
    Card(
        r"\log_{10}N_g",
        "decimal logarithm of the number of operations of Fourier sums",
        dims=("replicate",),
        infinite=NO_GRID,
    ),
)
# Standard deviations of what is observed beside a projection of the key, which has one.
NOISE = (0.0, 1.0)
KNOBS = {"kernel": "gaussian", "degree": 0, "beyond": "nearest"}


class Posed(NamedTuple):
    """Hold one smoothing problem, what all of its keys say, and how large it would be in use."""

    query: np.ndarray
    key: np.ndarray
    value: np.ndarray
    exact: np.ndarray
    problem: Problem

    @property
    def sample(self) -> Sample:
        """What methods of smoothing read."""
        return Sample(self.query, self.key, self.value, np.ones(self.key.shape[1]))

    def miss(self, fit: np.ndarray) -> np.ndarray:
        """Give the error of a fit, (noise,), in units of that of the mean of all values."""
        plain = np.square(self.exact - self.value.mean(axis=0)).mean(axis=0)
        return np.sqrt(np.square(fit - self.exact).mean(axis=0) / plain)


class Entry(NamedTuple):
    """Hold fits of one kind by their number of terms, and the operations of each."""

    fits: Fits
    costs: dict[int, Operations]


@STUDIES.add("contest", of=("queries",), draws=("n_keys", "n_features", "most_terms"))
def contest(
    observed: Observed,
    watch: Watch,
    rng: np.random.Generator,
    *,
    n_keys: Count,
    n_features: Count,
    most_terms: Annotated[int, Ge(64)] = 256,
    exponential_price: Positive = 50.0,
) -> Answers:
    r"""Smooth by features, landmarks and fewer keys at the bandwidth of attention, h² = √d.

    Keys are standard normal, as queries are; a value is the projection of its key on one
    direction, without noise and with as much noise.

    Parameters
    ----------
    observed : Dataset
        ``query_position`` (query, feature), of which the first features are taken. Errors are
        measured there; costs are those of as many queries as keys.
    watch : callable
        Hands on the kinds of approximation one by one, so that somebody may count them.
    rng : numpy.random.Generator
    n_keys : int
        n, the number of keys.
    n_features : int
        d, the number of features of a key.
    most_terms : int
        Largest number of features, landmarks or keys; others are its quotients by powers of
        four.
    exponential_price : float
        Multiply-adds that an exponential, a sine or a cosine is counted as.

    Returns
    -------
    Dataset
        For every kind and number of terms its error, in units of that of the mean of all
        values, its operations, the share of queries without a positive normaliser, and the error
        of as many operations spent on some of the keys.

    Raises
    ------
    Refusal
        If there are fewer keys than terms, or features of queries than are asked for.
    """
    import xarray as xr

    query = observed["query_position"].values
    refuse_sizes(query.shape[1], n_features=n_features, n_keys=n_keys, most_terms=most_terms)
    posed = drawn(query[:, :n_features], rng, n_keys)
    terms = most_terms // 4 ** np.arange(4)[::-1]
    order = chosen(rng, n_keys, n_keys)
    columns = [
        measured(posed, entry, order, exponential_price)
        for _, entry in zip(watch(KINDS), entries(posed, terms.tolist(), order, rng), strict=True)
    ]
    everything = operations.all_pairs(posed.problem).priced(exponential_price)
    return xr.Dataset(
        side_by_side(columns)
        | {"log10_exact_operations": float(np.log10(everything))}
        | {"tile_error": ("value_noise", posed.miss(METHODS["tiled"](posed.sample, **KNOBS)))}
        | by_series(posed, exponential_price),
        {"approximation": list(KINDS), "n_terms": terms, "value_noise": list(NOISE)},
    )


def side_by_side(columns: list[dict[str, np.ndarray]]) -> dict[str, tuple]:
    """Lay out what was measured of each kind, (noise, term) or (term,), along the kinds."""
    dims = ("value_noise", "approximation", "n_terms")
    return {
        name: (dims[3 - first.ndim - 1 :], np.stack([each[name] for each in columns], axis=-2))
        for name, first in columns[0].items()
    }


def refuse_sizes(width: int, *, n_features: int, n_keys: int, most_terms: int) -> None:
    """Refuse what the queries or the keys have too few of."""
    if n_features > width:
        raise Refusal(
            f"{n_features} features were asked for and the queries have {width}; give queries "
            f"with as many, or write n_features: {width}."
        )
    if most_terms > n_keys:
        raise Refusal(
            f"{most_terms} terms of {n_keys} keys are no approximation; write n_keys: "
            f"{most_terms} or more."
        )


def drawn(query: np.ndarray, rng: np.random.Generator, n_keys: int) -> Posed:
    """Draw keys and values, and put all places in units of the bandwidth."""
    d = query.shape[1]
    key = rng.standard_normal((n_keys, d))
    projection = key.sum(axis=1) / np.sqrt(d)
    value = projection[:, None] + np.array(NOISE) * rng.standard_normal((n_keys, 1))
    middle, bandwidth = key.mean(axis=0), d**0.25
    query, key = (query - middle) / bandwidth, (key - middle) / bandwidth
    exact = np.stack([textbook(one, key, value) for one in query])
    # One value at a time, as it would be in use.
    return Posed(query, key, value, exact, Problem(n_keys, n_keys, d, 1))


def textbook(query: np.ndarray, key: np.ndarray, value: np.ndarray) -> np.ndarray:
    """Average for one query, (feature,), with distances from differences."""
    distance = np.square(key - query).sum(axis=1)
    weight = np.exp((distance.min() - distance) / 2)
    return weight @ value / weight.sum()


def by_keys(posed: Posed, terms: list[int], order: np.ndarray, rng) -> Entry:
    """Forget all keys but some."""
    fits = approximations.by_fewer_keys(*posed[:3], order, terms)
    return Entry(fits, {m: operations.fewer_keys(posed.problem, m) for m in terms})


def by_landmarks(posed: Posed, terms: list[int], order: np.ndarray, rng) -> Entry:
    """Interpolate between some of the keys."""
    fits = approximations.by_landmarks(*posed[:3], order, terms)
    return Entry(fits, {m: operations.landmarks(posed.problem, m) for m in terms})


def by_independent(posed: Posed, terms: list[int], order: np.ndarray, rng) -> Entry:
    """Take positive features of independent directions."""
    directions = independent_directions(rng, max(terms), posed.key.shape[1])
    fits = approximations.by_positive_features(*posed[:3], directions, terms)
    return Entry(fits, {m: operations.positive(posed.problem, m) for m in terms})


def by_orthogonal(posed: Posed, terms: list[int], order: np.ndarray, rng) -> Entry:
    """Take positive features of orthogonal directions."""
    directions = orthogonal_directions(rng, max(terms), posed.key.shape[1])
    fits = approximations.by_positive_features(*posed[:3], directions, terms)
    return Entry(fits, {m: operations.orthogonal(posed.problem, m) for m in terms})


def by_trigonometric(posed: Posed, terms: list[int], order: np.ndarray, rng) -> Entry:
    """Take cosines and sines of independent directions."""
    directions = independent_directions(rng, max(terms), posed.key.shape[1])
    fits = approximations.by_trigonometric_features(*posed[:3], directions, terms)
    return Entry(fits, {m: operations.trigonometric(posed.problem, m) for m in terms})


def by_linear(posed: Posed, terms: list[int], order: np.ndarray, rng) -> Entry:
    """Take the features elu + 1, whose number is that of a key's."""
    fit = approximations.by_linear_attention(*posed[:3])
    ones = np.ones(len(fit))
    return Entry(
        dict.fromkeys(terms, (fit, ones)), dict.fromkeys(terms, operations.linear(posed.problem))
    )


def by_series(posed: Posed, price: float) -> dict[str, Any]:
    """Measure non-uniform Fourier sums, where there are few enough features for a grid."""
    error, cost = np.full(len(NOISE), np.inf), np.inf
    if posed.key.shape[1] <= METHODS.facts("gridded")["most_features"]:
        sample = posed.sample
        modes = Box.around(sample, sample.bandwidth).modes(sample.bandwidth)
        error = np.log10(posed.miss(METHODS["gridded"](sample, **KNOBS)))
        left = sparse_share(sample, modes) * posed.problem.queries
        cost = np.log10(operations.series(posed.problem, modes, left).priced(price))
    return {
        "log10_series_error": ("value_noise", error),
        "log10_series_operations": float(cost),
    }


def sparse_share(sample: Sample, modes: tuple[int, ...]) -> float:
    """Find at which share of places that are distributed as the keys a series is not trusted."""
    box = Box.around(sample, sample.bandwidth)
    found = Series.of(sample.key, np.ones((len(sample.key), 1)), box, modes)
    smoothed = found.smoothed(sample.bandwidth)
    mass = Reader(sample.key, box).read(found, smoothed)[:, -1]
    return float((mass <= least_mass(modes, TOLERANCE) * found.highest(smoothed)).mean())


KINDS = {
    "fewer keys": by_keys,
    "landmarks": by_landmarks,
    "independent features": by_independent,
    "orthogonal features": by_orthogonal,
    "trigonometric features": by_trigonometric,
    "elu + 1": by_linear,
}


def entries(
    posed: Posed, terms: list[int], order: np.ndarray, rng: np.random.Generator
) -> Iterator[Entry]:
    """Run every kind in turn."""
    for kind in KINDS.values():
        yield kind(posed, terms, order, rng)


def measured(posed: Posed, entry: Entry, order: np.ndarray, price: float) -> dict[str, np.ndarray]:
    """Measure one kind: arrays (noise, term), or (term,)."""
    costs = {m: cost.priced(price) for m, cost in entry.costs.items()}
    one = operations.fewer_keys(posed.problem, 1).priced(price)
    bought = {m: int(np.clip(cost / one, 1, len(order))) for m, cost in costs.items()}
    rivals = approximations.by_fewer_keys(*posed[:3], order, {*bought.values()})
    error = np.stack([posed.miss(fit) for fit, _ in entry.fits.values()], axis=-1)
    rival = np.stack([posed.miss(rivals[bought[m]][0]) for m in entry.fits], axis=-1)
    return {
        "log10_relative_error": np.log10(error),
        "log10_rival_error": np.log10(rival),
        "log10_operations": np.log10(list(costs.values())),
        "unusable_share": np.array([(by <= 0).mean() for _, by in entry.fits.values()]),
    }
