"""How far features miss the similarity they stand in for, over many independent draws."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Annotated

import numpy as np
from annotated_types import Ge, Le

from lowpass.domains import Count, Positive
from lowpass.labels import DIMENSIONS, VARIABLES, Card
from lowpass.rounding import ROUNDING, Remainder
from lowpass.scores import elu, log_elu_features
from lowpass.smoothing import feature_errors
from lowpass.smoothing.features import (
    independent_directions,
    log_positive_features,
    orthogonal_directions,
    recall,
    remember,
    trigonometric_features,
)
from lowpass.studies.names import STUDIES, Answers, Observed, Watch

DIMENSIONS.enter("random_feature", Card(r"\phi", "kind of random features"))
DIMENSIONS.enter("squared_norm", Card(r"\|q+k\|^2", "squared norm of query and key together"))
FEATURE_DIMS = ("replicate", "random_feature", "squared_norm", "n_terms")
VARIABLES.enter(
    "feature_error",
    Card(
        r"\mathrm{MSE}/e^{2q\cdot k}",
        "mean squared error of the similarity",
        dims=FEATURE_DIMS,
    ),
)
VARIABLES.enter(
    "feature_error_predicted",
    Card(
        r"(e^{\|q+k\|^2}-1)/m",
        "mean squared error that independent features are to have",
        dims=FEATURE_DIMS,
    ),
)
VARIABLES.enter(
    "feature_error_scatter",
    Card(
        r"\sigma_{\mathrm{MSE}}/\mathrm{MSE}",
        "expected scatter of the measured error, relative to it",
        dims=("replicate", "squared_norm", "n_terms"),
    ),
)
VARIABLES.enter(
    "negative_estimates",
    Card(r"P(\hat\alpha<0)", "share of estimates that are negative", dims=FEATURE_DIMS),
)
VARIABLES.enter(
    "linear_defect",
    Card(
        r"\max|f-\tilde f|",
        "defect of linear attention against its matrix, in ranges of the values",
        dims=("replicate",),
    ),
)
ROUNDING.enter("linear_defect", Remainder())
VARIABLES.enter(
    "rank_defect",
    Card(
        r"\sigma_{d+1}/\sigma_1",
        "first singular value of linear attention beyond its rank, over the largest",
        dims=("replicate",),
    ),
)
ROUNDING.enter("rank_defect", Remainder())

# Directions drawn at once, whose features fit a few megabytes.
DRAWN = 2**15
# The smallest ‖q + k‖² of a pair; others are its powers of two.
SMALLEST = 0.25
# A decomposition costs as much as many features, and tails of bounded ones are short.
ORTHOGONAL, TRIGONOMETRIC = "orthogonal", "trigonometric"
POSITIVE = "independent"


@STUDIES.add("random_features", of=("queries", "values"), draws=("rounds",))
def random_features(
    observed: Observed,
    watch: Watch,
    rng: np.random.Generator,
    *,
    rounds: Count = 16,
    most_terms: Annotated[int, Ge(1), Le(DRAWN)] = 64,
    largest_norm: Positive = 8.0,
) -> Answers:
    r"""Measure the mean squared error of random features, beside its closed form.

    A query and a key are rescaled so that ‖q + k‖² and ‖q - k‖² are equal, and powers of two.
    Errors are relative to the similarity :math:`e^{q \cdot k}`.

    Parameters
    ----------
    observed : Dataset
        ``query_position`` (query, feature), ``key_position`` (key, feature) and ``value`` (key),
        whose features are the width of the directions; only the first pair is rescaled.
    watch : callable
        Hands on the rounds one by one, so that somebody may count them.
    rng : numpy.random.Generator
    rounds : int
        Independent directions are drawn 32,768 at a time, so many times; others once.
    most_terms : int
        Largest number of directions of one estimate; others are its powers of four, from one.
    largest_norm : float
        Largest ‖q + k‖².

    Returns
    -------
    Dataset
        Measured and predicted errors, the share of negative estimates, and what linear attention
        with elu + 1 leaves of its factorisation and of its rank.
    """
    import xarray as xr

    terms = 4 ** np.arange(int(np.log2(most_terms)) // 2 + 1)
    norms = SMALLEST * 2.0 ** np.arange(int(np.log2(max(largest_norm / SMALLEST, 1))) + 1)
    kinds = drawings(rounds)
    pair, found = rescaled(observed, norms), []
    for kind, draws in kinds.items():
        blocks = (draw(rng, DRAWN, pair[0].shape[1]) for draw in watch(draws))
        found.append(measured(blocks, pair, terms, signed=kind == TRIGONOMETRIC))
    dims = ("random_feature", "squared_norm", "n_terms")
    return xr.Dataset(
        {
            "feature_error": (dims, np.stack([error for error, _ in found])),
            "negative_estimates": (dims, np.stack([negative for _, negative in found])),
            "feature_error_predicted": (dims, laws(kinds, norms, terms)),
            "feature_error_scatter": (dims[1:], scatter(norms, terms, DRAWN * rounds)),
            **linear_defects(observed),
        },
        dict(zip(dims, (list(kinds), norms, terms), strict=True)),
    )


def drawings(rounds: int) -> dict[str, list[Callable[..., np.ndarray]]]:
    """Say how directions of every kind are drawn, and how often."""
    return {
        POSITIVE: [independent_directions] * rounds,
        ORTHOGONAL: [orthogonal_directions],
        TRIGONOMETRIC: [independent_directions],
    }


def rescaled(observed: Observed, norms: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Give pairs (pair, feature) whose sums and differences have the same squared norms."""
    q, k = (observed[name].values[0] for name in ("query_position", "key_position"))
    length = np.sqrt(norms)[:, None]
    total, apart = (each / np.linalg.norm(each) * length for each in (q + k, q - k))
    return (total + apart) / 2, (total - apart) / 2


def measured(
    blocks: Iterator[np.ndarray],
    pair: tuple[np.ndarray, np.ndarray],
    terms: np.ndarray,
    *,
    signed: bool,
) -> tuple[np.ndarray, np.ndarray]:
    """Average squared errors (pair, term), and how often an estimate is negative."""
    q, k = pair
    error, negative = np.zeros((2, len(q), len(terms)))
    count = 0
    for directions in blocks:
        count += 1
        one = ratios(q, k, directions, signed=signed)
        for place, m in enumerate(terms):
            estimate = one.reshape(len(q), -1, m).mean(axis=-1)
            error[:, place] += np.square(estimate - 1).mean(axis=-1)
            negative[:, place] += (estimate < 0).mean(axis=-1)
    return error / count, negative / count


def ratios(q: np.ndarray, k: np.ndarray, directions: np.ndarray, *, signed: bool) -> np.ndarray:
    """Estimate similarities of pairs with one direction each, (pair, direction), over true ones."""
    m = len(directions)
    if signed:
        # A cosine and a sine share their direction; both lack their growth, which is known.
        product = trigonometric_features(q, directions) * trigonometric_features(k, directions)
        growth = np.square(q - k).sum(axis=-1, keepdims=True) / 2
        return m * product.reshape(len(q), m, 2).sum(axis=-1) * np.exp(growth)
    logs = log_positive_features(q, directions) + log_positive_features(k, directions)
    logs -= (q * k).sum(axis=-1, keepdims=True) - np.log(m)
    return np.exp(logs)


def laws(kinds: Iterable[str], norms: np.ndarray, terms: np.ndarray) -> np.ndarray:
    """Predict errors (kind, squared norm, term) of independent directions."""
    signed, positive = feature_errors.trigonometric_error, feature_errors.positive_error
    return np.stack(
        [
            np.stack(
                [(signed if kind == TRIGONOMETRIC else positive)(norms, int(m)) for m in terms],
                axis=-1,
            )
            for kind in kinds
        ]
    )


def scatter(norms: np.ndarray, terms: np.ndarray, directions: int) -> np.ndarray:
    """Predict how far measured errors of positive features scatter around their law."""
    each = [feature_errors.positive_scatter(norms, int(m), directions // int(m)) for m in terms]
    return np.stack(each, axis=-1)


def linear_defects(observed: Observed) -> dict[str, float]:
    """Hold linear attention against the matrix that it never forms."""
    q, k = (observed[name].values for name in ("query_position", "key_position"))
    v = observed["value"].values[:, None]
    similarity = np.exp(elu(q, k))
    matrix = similarity / similarity.sum(axis=1, keepdims=True)
    fast = recall(log_elu_features(q), remember(log_elu_features, k, v))
    singular = np.linalg.svd(matrix, compute_uv=False)
    return {
        "linear_defect": float(abs(fast - matrix @ v).max() / np.ptp(v)),
        "rank_defect": float(singular[q.shape[1]] / singular[0]),
    }
