r"""The flow that ever thinner residual layers tend to.

It owns the solution of

.. math:: \dot X = g(A)\,X W

for a filter g of attention A and a map W of values: exactly where A is one matrix, and
to the tolerance of an integrator where A is computed from X. A layer
:math:`X + h\,g(A)XW` is a step of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from lowpass.integrators import solved
from lowpass.kernels import KERNELS
from lowpass.layers import PLAIN, filtered
from lowpass.remedies import Filter

# A Taylor sum of this order is right to rounding where its argument is at most one: 1/19! < 1e-17.
TERMS = 18
# Beyond the tolerance of any integrator that layers may be solved with.
TIGHT = {"rtol": 1e-13, "atol": 1e-15}


def exponential_action(
    matrix: np.ndarray, values: np.ndarray, x: np.ndarray, time: float
) -> np.ndarray:
    r"""Apply the exponential of :math:`X \mapsto MXW`, without forming it.

    .. math:: e^{t\,(M \otimes W^\top)} X = \sum_k \frac{t^k}{k!} M^k X W^k

    The time is cut until the sum of every piece is short. Nothing is decomposed, so that
    it does not matter whether M or W has a basis of modes.

    Parameters
    ----------
    matrix : (token, token) float
        M.
    values : (feature, feature) float
        W, of any spectrum: complex, negative or defective.
    x : (token, feature) float
    time : float
        t, of any sign.

    Returns
    -------
    (token, feature) float
        Right to rounding of the largest tokens on the way.

    References
    ----------
    .. [1] almohy2011, which cuts the time and the sum in the same way.
    """
    pieces = max(1, int(np.ceil(abs(time) * spectral_bound(matrix) * spectral_bound(values))))
    part = time / pieces
    for _ in range(pieces):
        term = x
        for k in range(1, TERMS + 1):
            term = (part / k) * (matrix @ term @ values)
            x = x + term
    return x


def spectral_bound(matrix: np.ndarray) -> float:
    """Bound the largest singular value, by the sums of rows and columns."""
    size = np.abs(matrix)
    return float(np.sqrt(size.sum(axis=0).max() * size.sum(axis=1).max()))


@dataclass(frozen=True)
class Softmax:
    r"""Compute softmax attention from tokens.

    .. math:: S_{ij} = c\,q_i \cdot k_j - \tfrac{p}{2}\|k_j\|^2

    Attributes
    ----------
    w_q, w_k : (feature, projected) float
    scale : float
        c.
    penalty : float
        p: zero for scores that are products, c for those that are squared distances, whose
        queries' share is the same in a whole row.
    """

    w_q: np.ndarray
    w_k: np.ndarray
    scale: float
    penalty: float

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """Give the attention (query, key) of tokens (token, feature)."""
        q, k = x @ self.w_q, x @ self.w_k
        return KERNELS["softmax"](self.scale * (q @ k.T) - self.penalty / 2 * (k**2).sum(axis=-1))


@dataclass(frozen=True)
class Equation:
    """Hold a flow.

    Attributes
    ----------
    remedy : Filter
        g, without a source.
    values : (feature, feature) float
        W.
    attention : (query, key) float, or Softmax
        A, or what computes it from tokens.
    """

    remedy: Filter
    values: np.ndarray
    attention: np.ndarray | Softmax

    def rate(self, x: np.ndarray) -> np.ndarray:
        """Give g(A)XW for tokens (token, feature)."""
        a = self.attention(x) if isinstance(self.attention, Softmax) else self.attention
        return filtered(PLAIN, self.remedy, lambda y: a @ y, x, x) @ self.values

    def solution(self, x: np.ndarray, times: Sequence[float]) -> Iterator[np.ndarray]:
        """Give the tokens at some times, in the order of these.

        Parameters
        ----------
        x : (token, feature) float
            At time zero.
        times : sequence of float

        Yields
        ------
        (token, feature) float
            For one matrix right to rounding, otherwise to 1e-12.
        """
        now = 0.0
        for time in times:
            x = self.advanced(x, time - now)
            now = time
            yield x

    def advanced(self, x: np.ndarray, time: float) -> np.ndarray:
        """Take tokens (token, feature) along the flow."""
        if isinstance(self.attention, Softmax):
            return solved(self.rate, x, time, "DOP853", **TIGHT)
        return exponential_action(self.remedy.matrix(self.attention), self.values, x, time)


def relative_distance(x: np.ndarray, other: np.ndarray) -> float:
    """Compare tokens with others in Frobenius' norm; infinite beside others that vanish."""
    norm, off = np.linalg.norm(other), np.linalg.norm(x - other)
    return float(off / norm) if norm else float(np.inf if off else 0.0)
