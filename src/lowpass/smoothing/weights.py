"""From places to shares.

It owns how much each observation counts for a query: logarithms of weights,
and shares that sum to one whatever their size. A query that is far from every
key therefore gets the value of the nearest one, and disturbs no other query.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from lowpass.registry import Refusal, did_you_mean
from lowpass.smoothing.checks import Sample, checked
from lowpass.smoothing.profiles import PROFILES

# What a query gets that lies out of every key's reach.
BEYOND = ("nearest", "refuse", "nan")
# Keys whose distances differ by rounding are equally near.
TIE = 1 + 1e-12
# Beyond some hundred circumferences a kernel is flat, and its images only cost.
MOST_IMAGES = 10_000


def log_weights(
    query: ArrayLike,
    key: ArrayLike,
    bandwidth: ArrayLike,
    *,
    kernel: str = "gaussian",
    weight: ArrayLike | None = None,
    period: ArrayLike | None = None,
) -> np.ndarray:
    r"""Give the logarithm of every weight, up to a constant that all keys of a query share.

    .. math:: \log w_i + \log K\big(|q_j - k_i| / h\big)

    Parameters
    ----------
    query : (query, feature) or (query,) float
    key : (key, feature) or (key,) float
    bandwidth : float or (feature,) float
        In the units of each feature.
    kernel : str
        Name in ``PROFILES``.
    weight : (key,) float, optional
        How much an observation counts, by itself.
    period : float or (feature,) float, optional
        The circumference, where keys lie on a circle: the kernel is summed over all images of
        a key.

    Returns
    -------
    (query, key) float
        -inf where a key has no weight.

    Raises
    ------
    Refusal
        See :func:`lowpass.smoothing.checks.checked`; also if no kernel has the name, or a product
        is to repeat.
    """
    sample = checked(query, key, None, bandwidth, weight, period=period)
    around = images(sample, kernel)
    log = logs_of(around, kernel).reshape(len(sample.query), -1, len(sample.key))
    return log[:, 0] if log.shape[1] == 1 else np.logaddexp.reduce(log, axis=1)


def shares(log: np.ndarray, spare: Callable[[np.ndarray], np.ndarray] | None = None) -> np.ndarray:
    r"""Divide weights by their sum, row by row.

    .. math:: e^{l_i} \big/ \textstyle\sum_k e^{l_k} = e^{l_i - \max l} \big/
              \textstyle\sum_k e^{l_k - \max l}

    Parameters
    ----------
    log : (query, key) float
        Logarithms of weights; -inf for no weight.
    spare : callable, optional
        From the numbers of the rows that have no weight at all to their shares; without it,
        they are nan.

    Returns
    -------
    (query, key) float
        Rows are non-negative and sum to one.
    """
    top = log.max(axis=1, keepdims=True)
    lost = top[:, 0] == -np.inf
    weight = np.exp(log - np.where(lost[:, None], 0.0, top))
    weight[lost] = 1.0
    weight /= weight.sum(axis=1, keepdims=True)
    if lost.any():
        rows = np.flatnonzero(lost)
        weight[rows] = np.nan if spare is None else spare(rows)
    return weight


def shares_of(
    sample: Sample, kernel: str, *, beyond: str = "nearest", hidden: np.ndarray | None = None
) -> np.ndarray:
    """Share out one among the keys of a sample, for each query.

    Parameters
    ----------
    sample : Sample
        Its period is not looked at: see :func:`images`.
    kernel : str
        Name in ``PROFILES``.
    beyond : {"nearest", "refuse", "nan"}
        What a query gets that no key reaches.
    hidden : (query, key) bool, optional
        Keys that a query does not see.

    Returns
    -------
    (query, key) float
        Rows are non-negative and sum to one.

    Raises
    ------
    Refusal
        If no key reaches a query and that is to be refused, or a query sees no key at all.
    """
    refuse_unknown(beyond)
    log = logs_of(sample, kernel, hidden=hidden)

    def spare(rows: np.ndarray) -> np.ndarray:
        # Where weights have no end, only numbers have: the nearest key is their limit.
        if math.isfinite(PROFILES.facts(kernel)["support"]) and beyond != "nearest":
            if beyond == "refuse":
                raise Refusal(_out_of_reach(sample, kernel, rows[0]))
            return np.full((len(rows), len(sample.key)), np.nan)
        return _nearest(sample, rows, None if hidden is None else hidden[rows])

    return shares(log, spare)


def logs_of(sample: Sample, kernel: str, *, hidden: np.ndarray | None = None) -> np.ndarray:
    """Give the logarithm of every weight of a sample, up to a constant in every row."""
    if PROFILES.facts(kernel)["reads"] == "product":
        # From the middle of the keys, products lose no digits to what all keys of a row share.
        scores = products(sample.key_centred())
    else:
        scores = distances(sample)
    log = PROFILES[kernel](scores)
    if sample.weight is not None:
        with np.errstate(divide="ignore"):
            log = log + np.log(sample.weight)
    return log if hidden is None else np.where(hidden, -np.inf, log)


def distances(sample: Sample) -> np.ndarray:
    r"""Measure squared distances in units of the bandwidth, :math:`|q - k|^2 / h^2`.

    Differences come first, so that they are exact however far off the origin is.

    Parameters
    ----------
    sample : Sample

    Returns
    -------
    (query, key) float
        Dimensionless; inf where a number cannot hold it.
    """
    total = np.zeros((len(sample.query), len(sample.key)))
    with np.errstate(over="ignore"):
        for q, k, h in zip(sample.query.T, sample.key.T, sample.bandwidth, strict=True):
            apart = np.subtract.outer(q, k)
            apart /= h
            apart *= apart
            total += apart
    return total


def products(sample: Sample) -> np.ndarray:
    r"""Multiply queries with keys in units of the bandwidth, :math:`q \cdot k / h^2`.

    Parameters
    ----------
    sample : Sample

    Returns
    -------
    (query, key) float

    Raises
    ------
    Refusal
        If a number cannot hold a product.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        scores = (sample.query / sample.bandwidth) @ (sample.key / sample.bandwidth).T
    bad = ~np.isfinite(scores)
    if bad.any():
        i, j = np.argwhere(bad)[0]
        raise Refusal(
            f"the product of query [{i}] and key [{j}] over the squared bandwidth is "
            f"{scores[i, j]}; no weight can be told from it. Use a larger bandwidth."
        )
    return scores


def images(sample: Sample, kernel: str) -> Sample:
    """Repeat the keys of a circle until no further image counts.

    Parameters
    ----------
    sample : Sample
        Without a period, it comes back as it is.
    kernel : str
        Name in ``PROFILES``.

    Returns
    -------
    Sample
        Keys run fastest, images slowest; values are left out, so is the period.

    Raises
    ------
    Refusal
        If the kernel reads a product, or is hundreds of circumferences wide.
    """
    if sample.period is None:
        return sample
    if PROFILES.facts(kernel)["reads"] == "product":
        raise Refusal(
            f"the kernel '{kernel}' weighs by a product, which does not repeat around a circle. "
            "Leave out the period, or use a kernel of a distance such as 'gaussian'."
        )
    closed = np.isfinite(sample.period)
    circumference = np.where(closed, sample.period, 0.0)
    offsets = circumference * np.array(list(_turns(sample, PROFILES.facts(kernel)["reach"])))
    key = np.where(closed, np.mod(sample.key, sample.period), sample.key)
    return replace(
        sample,
        query=np.where(closed, np.mod(sample.query, sample.period), sample.query),
        key=(offsets[:, None] + key).reshape(-1, key.shape[1]),
        value=np.empty((len(offsets) * len(key), 0)),
        weight=None if sample.weight is None else np.tile(sample.weight, len(offsets)),
        period=None,
    )


def _turns(sample: Sample, reach: float) -> itertools.product:
    """Count how often to go around each circle, both ways."""
    assert sample.period is not None
    wide = reach * sample.bandwidth / sample.period
    # One more turn, as query and key may lie at opposite ends of the interval.
    most = np.where(np.isfinite(sample.period), np.ceil(wide) + 1, 0)
    n_images = np.prod(2 * most + 1)
    if n_images > MOST_IMAGES:
        widest = (sample.bandwidth / sample.period).max()
        raise Refusal(
            f"the bandwidth is {widest:.3g} circumferences, and {n_images:.3g} images of each key "
            "would count; a kernel so wide weighs every key alike. Use a smaller bandwidth."
        )
    return itertools.product(*(range(-int(m), int(m) + 1) for m in most))


def extent(points: np.ndarray) -> float:
    """Give the power of two next to the widest range of points, (point, feature) float."""
    return float(np.ldexp(0.5, np.frexp(np.ptp(points, axis=0).max())[1]))


def refuse_unknown(beyond: str) -> None:
    """Refuse a name for what happens out of reach that is not in ``BEYOND``."""
    if beyond not in BEYOND:
        raise Refusal(
            f"beyond is '{beyond}'{did_you_mean(beyond, BEYOND)} A query that no key reaches gets "
            f"one of: {', '.join(BEYOND)}."
        )


def _nearest(sample: Sample, rows: np.ndarray, hidden: np.ndarray | None) -> np.ndarray:
    """Share out one among the nearest keys that count, for some queries."""
    # Ratios of bandwidths are enough to compare, and lengths near one stay in range.
    relative = sample.bandwidth / sample.bandwidth.min()
    relative = relative * extent(np.concatenate([sample.query[rows], sample.key]) / relative)
    away = distances(replace(sample, query=sample.query[rows], bandwidth=relative))
    count = np.ones(len(sample.key)) if sample.weight is None else sample.weight
    unseen = (count == 0) | (False if hidden is None else hidden)
    away = np.where(unseen, np.inf, away)
    least = away.min(axis=1, keepdims=True)
    if np.isinf(least).any():
        row = sample.called(rows[np.isinf(least[:, 0])][0])
        raise Refusal(
            f"query [{row}] sees no key; an average needs at least one. Give another observation."
        )
    weight = np.where(away <= least * TIE, count, 0.0)
    return weight / weight.sum(axis=1, keepdims=True)


def _out_of_reach(sample: Sample, kernel: str, row: int) -> str:
    away = math.sqrt(distances(sample.at(slice(row, row + 1))).min())
    return (
        f"query [{sample.called(row)}] has no key within the bandwidth of the kernel '{kernel}': "
        f"its nearest one lies {away:.3g} bandwidths away. Use a larger bandwidth, or "
        "beyond='nearest'."
    )
