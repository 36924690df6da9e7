"""Kernel smoothing by tiles, Fourier series and cells, against the formula written down.

As a program it smooths many keys of 16 features in tiles and prints what that needed:
``python -m tests.benchmarks.smoothing N_KEYS N_QUERIES``, in bytes above what was there before
its arrays.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec

import numpy as np

from lowpass.smoothing.checks import checked
from lowpass.smoothing.choosing import METHODS
from lowpass.smoothing.loo import loo_curve

from ..workflow.project import ROOT
from .measuring import Row, Samples, alternate, own_cpu
from .processes import python

ROUNDS = 3
# Rows of the matrix that the formula holds at once.
CHUNK = 256
# Each query costs the formula the same, so that some of them stand for all.
SAMPLED = 512
# How many the other library takes: one after the other, in Python.
FEW = 64
MANY, WIDE = 100_000, 16
PEAK = 300e6
WIDTHS = np.geomspace(0.01, 0.5, 20)
KNOBS = {"kernel": "gaussian", "degree": 0, "beyond": "nearest"}


@dataclass(frozen=True)
class Case:
    """Hold a problem: as many queries as keys.

    Parameters
    ----------
    n_keys, n_features : int
    bandwidth : float
        Beside a standard deviation, or the range of even keys, of one.
    place : str
        How keys lie: ``standard_normal`` or ``random``, which is evenly.
    """

    n_keys: int
    n_features: int = 1
    bandwidth: float = 0.1
    place: str = "random"

    def __str__(self) -> str:
        spread = "even" if self.place == "random" else "normal"
        return f"n = {self.n_keys}, d = {self.n_features}, h = {self.bandwidth:g}, {spread}"

    def arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Draw queries, keys and values."""
        rng = np.random.default_rng(20261129)
        query, key = (getattr(rng, self.place)((self.n_keys, self.n_features)) for _ in range(2))
        return query, key, np.sin(3 * key[:, 0]) + rng.standard_normal(self.n_keys)


def formula(query: np.ndarray, key: np.ndarray, value: np.ndarray, h: float) -> np.ndarray:
    """Average as it is usually written down, some rows of the matrix at a time."""
    fit = np.empty(len(query))
    for low in range(0, len(query), CHUNK):
        rows = slice(low, low + CHUNK)
        square = ((query[rows, None, :] - key[None, :, :]) ** 2).sum(axis=-1)
        weight = np.exp(-square / (2 * h**2))
        fit[rows] = weight @ value / weight.sum(axis=1)
    return fit


def by_cdist(query: np.ndarray, key: np.ndarray, value: np.ndarray, h: float) -> np.ndarray:
    """Average as the formula does, from distances of a compiled function."""
    from scipy.spatial.distance import cdist

    fit = np.empty(len(query))
    for low in range(0, len(query), CHUNK):
        weight = np.exp(-cdist(query[low : low + CHUNK], key, "sqeuclidean") / (2 * h**2))
        fit[low : low + CHUNK] = weight @ value / weight.sum(axis=1)
    return fit


def library(query: np.ndarray, key: np.ndarray, value: np.ndarray, h: float) -> np.ndarray:
    """Average by statsmodels."""
    from statsmodels.nonparametric.kernel_regression import KernelReg

    d = key.shape[1]
    with warnings.catch_warnings():
        # It announces how it will one day seed a generator, which is not used here.
        warnings.simplefilter("ignore", FutureWarning)
        return KernelReg(value, key, "c" * d, reg_type="lc", bw=[h] * d).fit(query)[0]


def loo_formula(key: np.ndarray, value: np.ndarray, h: float, count: int) -> float:
    """Give the sum of some squared leave-one-out residuals, as they are written down."""
    total = 0.0
    for low in range(0, count, CHUNK):
        rows = np.arange(low, min(low + CHUNK, count))
        weight = np.exp(-((key[rows] - key[:, 0]) ** 2) / (2 * h**2))
        weight[np.arange(len(rows)), rows] = 0
        total += np.square(value[rows] - weight @ value / weight.sum(axis=1)).sum()
    return total


def ours(case: Case, method: str, **knobs: object) -> Callable[[], np.ndarray]:
    """Smooth by a method of this project."""
    query, key, value = case.arrays()

    def once() -> np.ndarray:
        sample = checked(query, key, value, case.bandwidth)
        return METHODS[method](sample, **KNOBS, **knobs)[:, 0]

    return once


def theirs(case: Case, run: Callable = formula, count: int = SAMPLED) -> Callable[[], np.ndarray]:
    """Smooth for some of the queries by another way."""
    query, key, value = case.arrays()
    return lambda: run(query[:count], key, value, case.bandwidth)


def times(samples: Samples, factor: float) -> Samples:
    """Give the values of a whole of which a part was measured."""
    return Samples(tuple(value * factor for value in samples.values))


def compare(case: Case, sides: dict[str, Callable], limits: dict[str, float]) -> Iterator[Row]:
    """Time ways of this project in turn with some queries of the formula."""
    found = alternate({**sides, "theirs": theirs(case)}, ROUNDS, {"cpu": own_cpu})["cpu"]
    every = times(found.pop("theirs"), case.n_keys / min(SAMPLED, case.n_keys))
    for name, samples in found.items():
        against = f"formula, {CHUNK} rows at a time"
        yield Row(name, str(case), "s", samples, every, against, limits.get(name))


def rows(*, long: bool) -> Iterator[Row]:
    """Compare each method with the formula, and with libraries."""
    normal = "standard_normal"
    tiles = [Case(10_000, 1, 0.1, normal), Case(10_000, 1, 0.02, normal)]
    tiles += [Case(10_000, 2, 0.2, normal), Case(10_000, 3, 0.4, normal)]
    tiles += [Case(10_000, WIDE, 2.0, normal)]
    for case in tiles:
        sides = {"tiled": ours(case, "tiled"), "tiled, float32": tiled_single(case)}
        limits = {"tiled": 1 / 6, "tiled, float32": 1 / 10}
        yield from compare(case, sides, limits)
    series = {10_000: 1 / 200, 100_000: 1 / 3000}
    for n_keys, limit in series.items():
        for case in (Case(n_keys), Case(n_keys, place=normal)):
            limits = {"gridded": limit} if case.place == "random" else {}
            sides = {"gridded": ours(case, "gridded")}
            if case.place == "random":
                sides["binned"] = ours(case, "binned")
            yield from compare(case, sides, limits)
    yield from compare(flat := Case(20_000, 2), {"gridded": ours(flat, "gridded")}, {})
    yield from library_rows(Case(10_000, WIDE, 2.0, normal), Case(10_000))
    yield from loo_rows()
    yield peak_row(MANY if long else MANY // 8)


def tiled_single(case: Case) -> Callable[[], np.ndarray]:
    """Smooth in tiles of single precision."""
    return ours(case, "tiled", dtype="float32")


def library_rows(wide: Case, line: Case) -> Iterator[Row]:
    """Compare with compiled distances, and with a library, where it is there."""
    pairs = [(wide, "tiled", by_cdist, SAMPLED, "scipy's cdist, 256 rows at a time")]
    if find_spec("statsmodels") is None:
        print("smoothing: statsmodels not installed; its rows are left out")
    else:
        pairs += [(wide, "tiled", library, FEW, "statsmodels KernelReg")]
        pairs += [(line, "gridded", library, FEW, "statsmodels KernelReg")]
    for case, method, run, count, against in pairs:
        sides = {"ours": ours(case, method), "theirs": theirs(case, run, count)}
        found = alternate(sides, ROUNDS, {"cpu": own_cpu})["cpu"]
        every = times(found["theirs"], case.n_keys / count)
        yield Row(method, str(case), "s", found["ours"], every, against)


def loo_rows() -> Iterator[Row]:
    """Score many bandwidths on long data, of which the formula takes some rows at one."""
    for place in ("random", "standard_normal"):
        case = Case(MANY, place=place)
        _, key, value = case.arrays()
        sides = {
            "ours": lambda key=key, value=value: loo_curve(key, value, WIDTHS),
            "theirs": lambda key=key, value=value: loo_formula(key, value, 0.1, SAMPLED),
        }
        found = alternate(sides, ROUNDS, {"cpu": own_cpu})["cpu"]
        every = times(found["theirs"], len(WIDTHS) * MANY / SAMPLED)
        told = f"n = {MANY}, d = 1, {len(WIDTHS)} bandwidths, {str(case).rpartition(' ')[2]}"
        against = f"formula, {CHUNK} rows at a time"
        yield Row("leave-one-out curve", told, "s", found["ours"], every, against, ceiling=1.0)


def peak_row(n_queries: int) -> Row:
    """Smooth many keys of many features in a process of its own."""
    arguments = ["-m", "tests.benchmarks.smoothing", str(MANY), str(n_queries)]
    said = python(arguments, ROOT).splitlines()[-1]
    case = f"{MANY} keys, {n_queries} queries, d = {WIDE}"
    keys = Samples((MANY * WIDE * 8,))
    found = Samples((float(said),))
    return Row("peak of tiles", case, "B", found, keys, "its keys", ceiling=PEAK, clock="memory")


def peak(n_keys: int, n_queries: int) -> float:
    """Give by how much keys, queries and their fits raise the peak of this process, in bytes."""
    from .memory import forget_peak, status

    tiny = Case(4, WIDE, 2.0, "standard_normal")
    ours(tiny, "tiled")()
    forget_peak()
    held = status("VmRSS")
    query, key, value = Case(n_keys, WIDE, 2.0, "standard_normal").arrays()
    METHODS["tiled"](checked(query[:n_queries], key, value, 2.0), **KNOBS)
    return status("VmHWM") - held


if __name__ == "__main__":
    print(peak(int(sys.argv[1]), int(sys.argv[2])))
