"""One layer of softmax attention in tiles, against layers that form their matrix.

As a program it makes one long layer and prints what it needed: ``python -m
tests.benchmarks.attention N_TOKENS``, in bytes above what was there before its tokens.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec

import numpy as np

from lowpass.tiled import folded, mix, mix_recorded

from ..workflow.project import ROOT
from .measuring import Row, Samples, alternate, own_cpu
from .processes import python

ROUNDS = 7
LONG = 65536
PEAK = 200e6
# Scores of soft attention need no shift; of sharp attention most lie below the floor.
SOFT, SHARP = 1.0, 2000.0
Sides = dict[str, Callable[[], object]]


@dataclass(frozen=True)
class Case:
    """Hold tokens (token, feature), projections, and their inverse temperature.

    Parameters
    ----------
    n_tokens, d_model : int
    beta : float
    dtype : str
    """

    n_tokens: int
    d_model: int = 64
    beta: float = SOFT
    dtype: str = "float64"

    def __str__(self) -> str:
        kind = "" if self.dtype == "float64" else f", {self.dtype}"
        return f"n = {self.n_tokens}, d = {self.d_model}{kind}"

    def arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Draw tokens and projections of queries and keys."""
        rng = np.random.default_rng(20261129)
        x = rng.standard_normal((self.n_tokens, self.d_model))
        w_q, w_k = rng.standard_normal((2, self.d_model, self.d_model)) / np.sqrt(self.d_model)
        return x.astype(self.dtype), w_q.astype(self.dtype), w_k.astype(self.dtype)


def whole(x: np.ndarray, w_q: np.ndarray, w_k: np.ndarray, beta: float) -> np.ndarray:
    """Give the matrix as it is usually written down."""
    from scipy.special import softmax

    return softmax((x @ w_q) @ (x @ w_k).T * beta / x.shape[-1] ** 0.5, axis=-1)


def rows_one_by_one(x: np.ndarray, w_q: np.ndarray, w_k: np.ndarray, beta: float) -> np.ndarray:
    """Mix tokens for one query after the other."""
    from scipy.special import softmax

    q, k = x @ w_q, x @ w_k
    return np.stack([softmax(each @ k.T * beta / x.shape[-1] ** 0.5) @ x for each in q])


def recorded(x: np.ndarray, a: np.ndarray) -> tuple[float, ...]:
    """Record what the tiled layer does, each number from its definition."""
    from scipy.fft import fft, ifft
    from scipy.spatial.distance import cdist
    from scipy.special import xlogy

    n = len(x)
    spectrum = fft(x, axis=0)
    spectrum[1:] = 0
    dc = np.real(ifft(spectrum, axis=0))
    unit = x / np.linalg.norm(x, axis=1, keepdims=True)
    return (
        -xlogy(a, a).sum() / n,
        (a * cdist(x, x, "sqeuclidean")).sum() / 2,
        ((unit @ unit.T).sum() - n) / (n * (n - 1)),
        np.linalg.norm(dc),
        np.linalg.norm(x - dc),
        *a.sum(axis=0),
    )


def roofline(case: Case) -> Callable[[], object]:
    """Do the products and the exponentials of a layer, in its tiles, and nothing else."""
    x, w_q, w_k = case.arrays()
    rows = min(256, case.n_tokens)
    tile, out = np.empty((rows, case.n_tokens), case.dtype), np.empty_like(x[:rows])

    def once() -> None:
        q = x @ folded(w_q, w_k, case.beta)
        for low in range(0, case.n_tokens, rows):
            np.matmul(q[low : low + rows], x.T, out=tile)
            np.exp(tile, out=tile)
            np.matmul(tile, x, out=out)

    return once


def layer(case: Case, run: Callable = mix) -> Callable[[], object]:
    """Make one layer of this project: projections folded, tokens mixed."""
    x, w_q, w_k = case.arrays()
    return lambda: run(x, folded(w_q, w_k, case.beta))


def plain(case: Case) -> Sides:
    """Mix with the whole matrix at once, or row by row."""
    arrays = case.arrays()
    return {
        "whole": lambda: whole(*arrays, case.beta) @ arrays[0],
        "rows": lambda: rows_one_by_one(*arrays, case.beta),
    }


def plain_recorded(case: Case) -> Callable[[], object]:
    """Mix with the whole matrix, and record."""
    arrays = case.arrays()

    def once() -> tuple[np.ndarray, tuple[float, ...]]:
        a = whole(*arrays, case.beta)
        return a @ arrays[0], recorded(arrays[0], a)

    return once


def compare(what: str, case: Case, ours: Callable, theirs: Callable, **told) -> Row:
    """Time two sides in turn."""
    found = alternate({"ours": ours, "theirs": theirs}, ROUNDS, {"cpu": own_cpu})["cpu"]
    return Row(what, str(case), "s", found["ours"], found["theirs"], **told)


def rows(*, long: bool) -> Iterator[Row]:
    """Compare a layer with others, with its own parts, and with its bounds."""
    at_once, one_by_one = "scipy softmax of the matrix", "scipy softmax of each row"
    double, single = Case(4096), Case(4096, dtype="float32")
    for case, name, against, limit in (
        (double, "whole", at_once, 0.7),
        (double, "rows", one_by_one, 0.4),
        (single, "whole", at_once, 0.6),
    ):
        told = {"against": against, "limit": limit}
        yield compare("layer", case, layer(case), plain(case)[name], **told)
    yield from record_rows(Case(1024))
    for case, limit in ((Case(1024), 2.0), (Case(4096), 2.0), (Case(1024, 512), 4 / 3)):
        told = {"against": "its products and exponentials", "limit": limit}
        yield compare("layer", case, layer(case), roofline(case), **told)
    for case in (Case(1024, beta=SHARP), Case(4096, beta=SHARP)):
        soft = Case(case.n_tokens, beta=SOFT)
        told = {"against": "a layer of soft attention", "limit": 1.5}
        yield compare("layer of sharp attention", case, layer(case), layer(soft), **told)
    yield from torch_rows(Case(4096))
    yield peak_row()


def record_rows(case: Case) -> Iterator[Row]:
    """Compare a layer that records with one that does not, and with one that defines."""
    ours = layer(case, mix_recorded)
    yield compare(
        "layer with every record",
        case,
        ours,
        plain_recorded(case),
        against="scipy softmax, records by definition",
        limit=0.25,
    )
    told = {"against": "the layer alone", "limit": 2.2}
    yield compare("layer with every record", case, ours, layer(case), **told)


def torch_rows(case: Case) -> Iterator[Row]:
    """Compare with torch, where it is there."""
    if find_spec("torch") is None:
        print("attention: torch not installed; its row is left out")
        return
    import torch

    torch.set_num_threads(1)
    x, w_q, w_k = map(torch.from_numpy, case.arrays())
    attend = torch.nn.functional.scaled_dot_product_attention
    q, k, v = ((x @ w_q)[None] * case.beta, (x @ w_k)[None], x[None])
    told = {"against": "torch scaled_dot_product_attention"}
    yield compare("layer", case, layer(case), lambda: attend(q, k, v), **told)


def peak_row() -> Row:
    """Make one long layer with records in a process of its own."""
    case = Case(LONG, dtype="float32")
    said = python(["-m", "tests.benchmarks.attention", str(LONG)], ROOT).splitlines()[-1]
    state = Samples((LONG * case.d_model * 4,))
    return Row(
        "peak of a layer with every record",
        str(case),
        "B",
        Samples((float(said),)),
        state,
        "its tokens",
        ceiling=PEAK,
        clock="memory",
    )


def peak(n_tokens: int) -> float:
    """Give by how much one layer with records raises the peak of this process, in bytes."""
    from .memory import forget_peak, status

    forget_peak()
    held = status("VmRSS")
    layer(Case(n_tokens, dtype="float32"), mix_recorded)()
    return status("VmHWM") - held


if __name__ == "__main__":
    print(peak(int(sys.argv[1])))
