"""A few numbers of a spectrum against all eigenvalues or singular values."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from lowpass.diversity import effective_rank
from lowpass.eigen import reversible_eigenvalues, slem
from lowpass.kernels import attend, softmax
from lowpass.weights import WEIGHTS

from .measuring import Row, alternate, own_cpu

SIZES = (256, 512, 1024)
LONG_SIZES = (2048,)
D_MODEL = 64
ROUNDS = 3


def attention(n_tokens: int, *, weights: str = "untied") -> np.ndarray:
    """Draw a matrix of soft attention, as the paper's generator does."""
    rng = np.random.default_rng(20261129)
    x = rng.standard_normal((n_tokens, D_MODEL))
    w_q, w_k = WEIGHTS[weights](rng, D_MODEL)
    return attend(x @ w_q, x @ w_k, score="dot", kernel="softmax", mask="none", beta=1.0)


def scores_alone(n_tokens: int) -> np.ndarray:
    """Draw a matrix of independent scores, whose eigenvalues crowd at the edge of a disc."""
    return softmax(np.random.default_rng(20261129).standard_normal((n_tokens, n_tokens)))


def all_eigenvalues(a: np.ndarray) -> float:
    """Give the second-largest modulus of all eigenvalues."""
    return float(np.sort(np.abs(np.linalg.eigvals(a)))[-2])


def rank_by_svd(x: np.ndarray) -> float:
    """Give the effective rank by singular values."""
    return float(effective_rank(np.linalg.svd(x, compute_uv=False)))


def rank_by_gram(x: np.ndarray) -> float:
    """Give the effective rank by the eigenvalues of xᵀx, which have half of the digits."""
    return float(effective_rank(np.sqrt(np.maximum(np.linalg.eigvalsh(x.T @ x), 0))))


def rows(*, long: bool) -> Iterator[Row]:
    """Compare at several sizes."""
    everything = "eigvals"
    for n_tokens in SIZES + (LONG_SIZES if long else ()):
        limit = 1 / 8 if n_tokens > SIZES[0] else 1 / 3
        a = attention(n_tokens)
        yield compare("second modulus", a, slem, all_eigenvalues, everything, limit)
    crowded = scores_alone(512)
    yield compare("second modulus, crowded", crowded, slem, all_eigenvalues, everything, 1.0)
    symmetric = attention(512, weights="symmetric")
    args = (reversible_eigenvalues, np.linalg.eigvals, everything, 1 / 5)
    yield compare("all modes of a reversible matrix", symmetric, *args)
    tokens = np.random.default_rng(20261129).standard_normal((4096, D_MODEL))
    yield compare("effective rank by xᵀx", tokens, rank_by_gram, rank_by_svd, "svd")
    yield compare("effective rank by xᵀx", attention(512), rank_by_gram, rank_by_svd, "svd")


def compare(
    what: str,
    a: np.ndarray,
    ours: Callable,
    theirs: Callable,
    against: str,
    limit: float | None = None,
) -> Row:
    """Time two sides in turn, on one and the same matrix."""
    timed = {"ours": lambda: ours(a), "theirs": lambda: theirs(a)}
    found = alternate(timed, ROUNDS, {"cpu": own_cpu})["cpu"]
    case = f"{a.shape[0]} x {a.shape[1]}"
    return Row(what, case, "s", found["ours"], found["theirs"], against, limit)
