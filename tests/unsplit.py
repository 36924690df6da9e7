"""Recurrences on whole tokens, in as many digits as asked: the oracle of all split arithmetic."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from mpmath import mp, mpf

from lowpass.spectra import log10_norm
from lowpass.splits import Split, hc

Rows = list[list]
# What a relative error of 1e-11 in a ratio is on its decimal logarithm.
TOLERANCE = 1e-11 / np.log(10)


def exact(array: np.ndarray) -> Rows:
    """Take floats (row, column) as they are."""
    return [[mpf(float(entry)) for entry in row] for row in array]


def rows_of(state: Split) -> Rows:
    """Add the two parts of one split state, without rounding."""
    up, down = (mpf(2) ** int(each) for each in (state.kept_exponent, state.exponent))
    kept = [mpf(float(entry)) * up for entry in state.kept]
    rest = exact(state.rest)
    return [[k + entry * down for k, entry in zip(kept, row, strict=True)] for row in rest]


def product(left: Rows, right: Rows) -> Rows:
    """Multiply two matrices."""
    columns = list(zip(*right, strict=True))
    return [[mp.fdot(row, column) for column in columns] for row in left]


def added(*terms: tuple[float, Rows]) -> Rows:
    """Add multiples of matrices."""
    factors = [mpf(factor) for factor, _ in terms]
    several = zip(*(rows for _, rows in terms), strict=True)
    return [[mp.fdot(factors, entries) for entries in zip(*rows, strict=True)] for rows in several]


def attention(x: Rows, pair: np.ndarray, score: str, beta: float, allowed=None) -> Rows:
    """Compute softmax attention as its definition says."""
    q, k = (product(x, exact(w)) for w in pair)
    scores = {
        "dot": lambda a, b: mpf(beta) / mp.sqrt(len(a)) * mp.fdot(a, b),
        "l2": lambda a, b: (
            -mpf(beta) / 2 * mp.fsum((u - v) ** 2 for u, v in zip(a, b, strict=True))
        ),
    }
    rows = []
    for i, query in enumerate(q):
        logits = [scores[score](query, key) for key in k]
        seen = [j for j in range(len(k)) if allowed is None or allowed[i, j]]
        top = max(logits[j] for j in seen)
        weight = [mp.exp(logits[j] - top) if j in seen else mp.zero for j in range(len(k))]
        total = mp.fsum(weight)
        rows.append([each / total for each in weight])
    return rows


def layer_norm(x: Rows) -> Rows:
    """Normalise every token as the definition says."""
    rows = []
    for token in x:
        mean = mp.fsum(token) / len(token)
        deviation = mp.sqrt(mp.fsum((entry - mean) ** 2 for entry in token) / len(token))
        rows.append([(entry - mean) / deviation for entry in token])
    return rows


def log_ratio(x: Rows) -> float:
    """Give log10 of ‖HC(X)‖/‖DC(X)‖."""
    means = [mp.fsum(column) / len(x) for column in zip(*x, strict=True)]
    apart = mp.fsum((e - m) ** 2 for row in x for e, m in zip(row, means, strict=True))
    return float(mp.log10(apart / (len(x) * mp.fsum(m**2 for m in means))) / 2)


def log_ratio_of(state: Split) -> np.ndarray:
    """Give log10 of ‖HC(X)‖/‖DC(X)‖ of states that are split by the mean."""
    rows = np.broadcast_to(state.kept[..., None, :], state.rest.shape)
    return log10_norm(*hc(state)) - log10_norm(rows, state.kept_exponent)


def ratios(step: Callable, start: Split, depth: int) -> np.ndarray:
    """Give log10 of HC/DC of a split state, and of what ``depth`` steps make of it."""
    logs = [log_ratio_of(start)]
    for _ in range(depth):
        start = step(start)
        logs.append(log_ratio_of(start))
    return np.array(logs)


def exact_ratios(step: Callable, start: Split, depth: int, digits: int = 80) -> np.ndarray:
    """Do the same with whole tokens, on more than three times the digits that HC/DC is small."""
    with mp.workdps(2000):
        x = rows_of(start)
        logs = [log_ratio(x)]
    for _ in range(depth):
        with mp.workdps(digits + 3.2 * max(0, -logs[-1])):
            x = step(x)
            logs.append(log_ratio(x))
    return np.array(logs)
