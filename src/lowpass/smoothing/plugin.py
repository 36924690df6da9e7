r"""Bandwidths that asymptotics give.

It owns the formulas that put estimates of the curvature and of the scatter of
the values into the bandwidth that is best as observations become many,

.. math::
    h = \left(\frac{R(K)}{\mu_2(K)^2} \cdot \frac{\sigma^2 (b - a)}{n \, \theta}\right)^{1/5},
    \qquad \theta = \tfrac1n \textstyle\sum_i m''(k_i)^2 ,

for a local line, or for a local constant inside evenly spread keys; R is the
roughness of a kernel and :math:`\mu_2` its variance. They look at no
criterion, and give one number at the cost of a few fits.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from lowpass.registry import Refusal
from lowpass.smoothing.checks import checked
from lowpass.smoothing.profiles import constant
from lowpass.smoothing.trials import trial

# Degree of the polynomials, and how many distinct keys show that they err.
DEGREE = 4
LEAST_KEYS = 6
# Choices of ruppert1995: at most five blocks, of twenty observations or more; the
# outermost hundredth of the keys and twentieth of their range are not looked at.
MOST_BLOCKS, LEAST_BLOCK = 5, 20
TRIMMED, MARGIN = 0.01, 0.05
# Where curvature is looked at: more places would not change its mean.
PLACES = 401
# Curvature whose whole bend is so small a part of the values is rounding.
STRAIGHT = 1e-10


class Blocks(NamedTuple):
    """Hold what polynomials say block by block."""

    squares: float
    curvature: float
    cross: float


@dataclass(frozen=True)
class Line:
    """Hold observations along one feature, in the order of their keys (key,)."""

    key: np.ndarray
    value: np.ndarray

    @property
    def span(self) -> float:
        """The length that the keys cover."""
        return float(self.key[-1] - self.key[0])

    def blocks(self, count: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Cut the observations into parts of nearly equal size."""
        return zip(np.array_split(self.key, count), np.array_split(self.value, count), strict=True)


def line(key: np.ndarray, value: np.ndarray) -> Line:
    """Order observations of a single feature and a single output."""
    sample = checked(key, key, value, 1.0)
    if sample.key.shape[1] != 1 or sample.value.shape[1] != 1:
        raise Refusal(
            f"keys have {sample.key.shape[1]} features and values {sample.value.shape[1]} outputs; "
            "curvature is estimated along one feature, for one output. Select a bandwidth by a "
            "criterion."
        )
    x, y = sample.key[:, 0], sample.value[:, 0]
    if len(np.unique(x)) < LEAST_KEYS:
        raise Refusal(
            f"{len(np.unique(x))} distinct keys cannot show scatter about a polynomial of degree "
            f"{DEGREE}; it needs {LEAST_KEYS} of them. Select a bandwidth by a criterion."
        )
    order = np.argsort(x, kind="stable")
    return Line(x[order], y[order])


def rule_of_thumb(key: np.ndarray, value: np.ndarray, *, kernel: str = "gaussian") -> float:
    """Take curvature and scatter from one polynomial of degree four.

    Parameters
    ----------
    key : (key,) or (key, 1) float
    value : (key,) float
    kernel : str
        Name in ``PROFILES``, of a kernel of a distance.

    Returns
    -------
    float
        A bandwidth in the units of the key.

    Raises
    ------
    Refusal
        If there is more than one feature, keys are few, or the values lie on a line.

    References
    ----------
    .. [1] fan1996, section 4.2.
    """
    seen = line(key, value)
    said = blockwise(seen, 1)
    spare = len(seen.key) - DEGREE - 1
    return combined(seen, said.squares / spare, said.curvature, kernel)


def plug_in(key: np.ndarray, value: np.ndarray, *, kernel: str = "gaussian") -> float:
    """Take curvature from a local cubic, and scatter from a local line.

    Their own bandwidths come from polynomials of degree four on as many blocks as Mallows'
    criterion asks for.

    Parameters
    ----------
    key : (key,) or (key, 1) float
    value : (key,) float
    kernel : str
        Name in ``PROFILES``, of a kernel of a distance.

    Returns
    -------
    float
        A bandwidth in the units of the key.

    Raises
    ------
    Refusal
        If there is more than one feature, keys are few, or the values lie on a line.

    References
    ----------
    .. [1] ruppert1995.
    """
    seen = line(key, value)
    cut = math.floor(TRIMMED * len(seen.key))
    kept = slice(cut, len(seen.key) - cut)
    seen = line(seen.key[kept], seen.value[kept])
    n, count = len(seen.key), block_count(seen)
    pilot = blockwise(seen, count)
    scatter = pilot.squares / (n - (DEGREE + 1) * count)
    curved(seen, pilot.curvature)
    curvature = cubic_curvature(seen, curvature_bandwidth(seen, scatter, pilot.cross))
    curved(seen, curvature)
    return combined(seen, line_scatter(seen, scatter, curvature), curvature, kernel)


def combined(seen: Line, scatter: float, curvature: float, kernel: str) -> float:
    """Put σ² and θ into the formula of this module."""
    curved(seen, curvature)
    shape = constant(kernel, "roughness") / constant(kernel, "variance") ** 2
    return (shape * scatter * seen.span / (len(seen.key) * curvature)) ** 0.2


def curved(seen: Line, curvature: float) -> None:
    """Refuse values on a line, which no bandwidth is too wide for."""
    bend = math.sqrt(curvature) * seen.span**2
    if not bend > STRAIGHT * np.abs(seen.value).max():
        raise Refusal(
            f"the values bend by {bend:.2g} over the range of their keys; without curvature the "
            "best bandwidth is infinite. Fit a line, or select a bandwidth by a criterion."
        )


def blockwise(seen: Line, count: int) -> Blocks:
    """Fit a polynomial of degree four to each block.

    Returns
    -------
    Blocks
        Sum of squared residuals; means of m″² and of m″ m⁗ over the observations.

    Raises
    ------
    Refusal
        If the keys of a block do not tell it, as where one is far from all others.
    """
    from numpy.polynomial import Chebyshev

    sums = np.zeros(3)
    for x, y in seen.blocks(count):
        curve, (_, rank, *_) = Chebyshev.fit(x, y, DEGREE, full=True)
        if rank <= DEGREE:
            raise Refusal(
                f"the {len(x)} keys from {x[0]:.6g} to {x[-1]:.6g} lie so unevenly that they "
                f"tell no polynomial of degree {DEGREE}. Select a bandwidth by a criterion."
            )
        bend = curve.deriv(2)(x)
        sums += [np.square(y - curve(x)).sum(), np.square(bend).sum(), bend @ curve.deriv(4)(x)]
    return Blocks(float(sums[0]), *(float(each) for each in sums[1:] / len(seen.key)))


def block_count(seen: Line) -> int:
    """Choose the number of blocks by Mallows' criterion."""
    n = len(seen.key)
    most = max(min(n // LEAST_BLOCK, MOST_BLOCKS), 1)
    counts = [
        count
        for count in range(1, most + 1)
        if all(len(np.unique(x)) >= LEAST_KEYS for x, _ in seen.blocks(count))
    ]
    squares = [blockwise(seen, count).squares for count in counts]
    unit = squares[-1] / (n - (DEGREE + 1) * counts[-1])
    if unit == 0:
        return counts[0]
    costs = [s / unit + 2 * (DEGREE + 1) * c for s, c in zip(squares, counts, strict=True)]
    return counts[int(np.argmin(costs))]


def curvature_bandwidth(seen: Line, scatter: float, cross: float) -> float:
    """Give the bandwidth of the local cubic, from σ² and the mean of m″ m⁗."""
    factor = 3 / 8 if cross < 0 else 15 / 16
    unit = scatter * seen.span / (max(abs(cross), np.finfo(float).tiny) * len(seen.key))
    # A cubic through everything, where the mean vanishes.
    return min((factor / math.sqrt(math.pi) * unit) ** (1 / 7), seen.span)


def cubic_curvature(seen: Line, bandwidth: float) -> float:
    """Average the squared second derivative of a local cubic, away from both ends."""
    low, high = seen.key[0] + MARGIN * seen.span, seen.key[-1] - MARGIN * seen.span
    inner = seen.key[(low <= seen.key) & (seen.key <= high)]
    at = inner[np.linspace(0, len(inner) - 1, min(PLACES, len(inner))).astype(int)]
    u = (seen.key - at[:, None]) / bandwidth
    weight = np.exp(-np.square(u) / 2)
    moments = np.stack([(weight * u**r).sum(axis=1) for r in range(7)], axis=1)
    sums = np.stack([(weight * u**r) @ seen.value for r in range(4)], axis=1)
    power = np.add.outer(np.arange(4), np.arange(4))
    inverse = np.linalg.pinv(moments[:, power], hermitian=True)
    return float(np.square(2 * (inverse[:, 2] * sums).sum(axis=1) / bandwidth**2).mean())


def line_scatter(seen: Line, scatter: float, curvature: float) -> float:
    """Estimate σ² from the residuals of a local line."""
    constant = 4 * (1 / 2 + 2 * math.sqrt(2) - 4 / 3 * math.sqrt(3)) / math.sqrt(2 * math.pi)
    n = len(seen.key)
    h = (constant * scatter**2 * seen.span / (curvature * n) ** 2) ** (1 / 9)
    if h == 0:
        return 0.0
    fitted = trial(seen.key, seen.value, h, degree=1).fitted
    return float(np.square(fitted.residual).sum() / fitted.left.sum())
