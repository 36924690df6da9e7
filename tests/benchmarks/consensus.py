"""A layer whose attention is computed anew, in split form, against one float64 array."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from lowpass.consensus import softmax_mixing
from lowpass.splits import Split, by_mean

from .measuring import Row, alternate, divided, own_cpu

D_MODEL = 32
ROUNDS = 11
SECONDS_A_ROUND = 0.1
AGAINST = "softmax in float64"
# So near that no float tells tokens apart, and the exponential is linear to rounding.
NEARER = -100


class Size(NamedTuple):
    """Hold a size, and how many naive layers one near consensus and one far from it may cost."""

    replicates: int
    n_tokens: int
    near: float
    far: float

    def __str__(self) -> str:
        return f"n = {self.n_tokens}, d = {D_MODEL}, {self.replicates} at a time"


SIZES = (Size(1, 64, 6.0, 7.0), Size(10, 64, 3.0, 5.0), Size(1, 256, 2.0, 5.0))
SIZES += (Size(10, 256, 2.0, 3.0),)


def plain(x: np.ndarray, w_q: np.ndarray, w_k: np.ndarray) -> np.ndarray:
    """Compute softmax(X W_Q (X W_K)^T / sqrt(d)) X with as few passes as numpy needs."""
    weight = (x @ w_q) @ np.swapaxes(x @ w_k, -1, -2)
    weight /= np.sqrt(w_q.shape[-1])
    weight -= weight.max(axis=-1, keepdims=True)
    np.exp(weight, out=weight)
    weight /= weight.sum(axis=-1, keepdims=True)
    return weight @ x


def split(state: Split, w_q: np.ndarray, w_k: np.ndarray) -> Split:
    """Compute the same in split form."""
    return softmax_mixing(state, w_q, w_k, score="dot", beta=1.0)(state)


def sides(replicates: int, n_tokens: int, d_model: int) -> dict[str, Callable[[], Any]]:
    """Give one layer of the same tokens, of the same but nearer to their mean, and plainly."""
    rng = np.random.default_rng(20261129)
    x = rng.standard_normal((replicates, n_tokens, d_model))
    pair = rng.standard_normal((2, replicates, d_model, d_model)) / np.sqrt(d_model)
    far = by_mean(x)
    near = Split(far.kept, far.rest, far.exponent + NEARER, far.kept_exponent)
    return {
        "far": lambda: split(far, *pair),
        "near": lambda: split(near, *pair),
        "plain": lambda: plain(x, *pair),
    }


def rows(*, long: bool) -> Iterator[Row]:
    """Measure one layer at several sizes."""
    for size in SIZES:
        yield from layer_rows(size)


def layer_rows(size: Size) -> Iterator[Row]:
    """Compare both ways of computing a layer in split form with the naive one."""
    running = sides(size.replicates, size.n_tokens, D_MODEL)
    # Ten nanoseconds an entry of the matrix, and some for Python, are a rough guess.
    entries = size.replicates * size.n_tokens**2
    count = max(2, round(SECONDS_A_ROUND / (1e-8 * entries + 1e-4)))
    timed = {name: lambda each=each: again(each, count) for name, each in running.items()}
    found = alternate(timed, ROUNDS, {"cpu": own_cpu})["cpu"]
    took = {name: divided(samples, count) for name, samples in found.items()}
    for name, what in (("near", "near consensus"), ("far", "far from it")):
        row, limit = f"recomputed layer, {what}", getattr(size, name)
        yield Row(row, str(size), "s", took[name], took["plain"], AGAINST, limit)


def again(side: Callable[[], Any], count: int) -> None:
    """Do the same several times."""
    for _ in range(count):
        side()
