r"""Sums of Gaussians by Fourier series.

It owns the sums :math:`\sum_i c_i e^{-|x - k_i|^2/2h^2}` over points that lie anywhere in one or
two dimensions: coefficients of the points, times those of the Gaussian, read at other points.
In a box with enough room around the points the series repeats what no point sees; on a circle
it is what is wanted.

References
----------
.. [1] barnett2019.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lowpass.smoothing.checks import Sample

# A Gaussian so many bandwidths out, and its transform so many inverse ones out, are rounding.
REACH = 9.0
# As far beyond the outermost keys sums are wanted, in bandwidths.
MARGIN = 4.0
# The library's transforms are most accurate here; a smaller tolerance only draws a warning.
FINEST = 1e-15
# Most coefficients: a hundred megabytes of work.
MOST_MODES = 2**21


@dataclass(frozen=True)
class Box:
    """Hold where series repeat.

    Parameters
    ----------
    middle, length : (feature,) float
        In the units of each feature.
    is_closed : (feature,) bool
        Whether the feature lies on a circle.
    span : (feature,) float
        How far from the middle sums are what they say.
    """

    middle: np.ndarray
    length: np.ndarray
    is_closed: np.ndarray
    span: np.ndarray

    @classmethod
    def around(cls, sample: Sample, bandwidth: np.ndarray) -> Box:
        """Leave room for the widest bandwidth, (feature,) float, that will be asked for."""
        low, high = sample.key.min(axis=0), sample.key.max(axis=0)
        period = np.full(low.shape, np.inf) if sample.period is None else sample.period
        is_closed = np.isfinite(period)
        length = np.where(is_closed, period, high - low + (REACH + MARGIN) * bandwidth)
        span = np.where(is_closed, np.inf, (high - low) / 2 + MARGIN * bandwidth)
        return cls(low / 2 + high / 2, length, is_closed, span)

    def holds(self, points: np.ndarray) -> np.ndarray:
        """Say of points, (point, feature) float, whether their sums can be read, (point,) bool."""
        return np.all(np.abs(points - self.middle) <= self.span, axis=1)

    def angles(self, points: np.ndarray) -> list[np.ndarray]:
        """Count points, (point, feature) float, in angles, an array for each feature."""
        turn = (points - self.middle) / self.length
        turn -= np.where(self.is_closed, np.rint(turn), 0.0)
        return [np.ascontiguousarray(each) for each in (turn * (2 * np.pi)).T]

    def modes(self, bandwidth: np.ndarray) -> tuple[int, ...]:
        """Count the coefficients of each feature that a bandwidth needs; all are odd."""
        with np.errstate(over="ignore"):
            most = np.ceil(REACH * self.length / (2 * np.pi * bandwidth))
        return tuple(2 * int(min(each, MOST_MODES)) + 1 for each in most)


@dataclass(frozen=True)
class Series:
    """Hold the Fourier coefficients of columns of numbers at points.

    Two real columns share one complex series, whose real and imaginary parts stay apart because
    a Gaussian has real coefficients.

    Parameters
    ----------
    box : Box
    coefficients : (pair, *mode) complex
    n_columns : int
    """

    box: Box
    coefficients: np.ndarray
    n_columns: int

    @classmethod
    def of(cls, points: np.ndarray, columns: np.ndarray, box: Box, modes: Sequence[int]) -> Series:
        """Transform columns, (point, column) float, for the smallest bandwidth's modes."""
        padded = np.zeros((len(points), columns.shape[1] + columns.shape[1] % 2))
        padded[:, : columns.shape[1]] = columns
        pairs = np.ascontiguousarray(padded.view(np.complex128).T)
        plan = _plan(1, modes, len(pairs))
        plan.setpts(*box.angles(points))
        found = plan.execute(pairs if len(pairs) > 1 else pairs[0])
        return cls(box, found.reshape(len(pairs), *modes), columns.shape[1])

    def smoothed(self, bandwidth: np.ndarray) -> np.ndarray:
        """Multiply by the coefficients of a Gaussian, for the modes that it needs.

        Returns
        -------
        (pair, *mode) complex
        """
        d = len(bandwidth)
        have = self.coefficients.shape[1:]
        keep = [min(n, m) for n, m in zip(self.box.modes(bandwidth), have, strict=True)]
        middle = tuple(slice((m - n) // 2, (m + n) // 2) for n, m in zip(keep, have, strict=True))
        out = self.coefficients[(slice(None), *middle)]
        for axis, (n, h, length) in enumerate(zip(keep, bandwidth, self.box.length, strict=True)):
            frequency = 2 * np.pi / length * np.arange(-(n // 2), n // 2 + 1)
            gain = np.sqrt(2 * np.pi) * h / length * np.exp(-((h * frequency) ** 2) / 2)
            out = out * gain.reshape([-1 if i == axis else 1 for i in range(d)])
        return np.ascontiguousarray(out)

    def highest(self, smoothed: np.ndarray) -> float:
        """Give the largest sum of the last column anywhere in the box."""
        last = smoothed[-1]
        sums = np.fft.ifftn(np.fft.ifftshift(last)) * last.size
        return float((sums.imag if self.n_columns % 2 == 0 else sums.real).max())


class Reader:
    """Read smoothed series at the same points again and again."""

    def __init__(self, points: np.ndarray, box: Box):
        self.angles = box.angles(points)
        self.plans: dict[tuple[int, ...], Any] = {}

    def read(self, series: Series, smoothed: np.ndarray) -> np.ndarray:
        """Give the sums of all columns, (point, column) float."""
        shape = smoothed.shape
        if shape not in self.plans:
            plan = _plan(2, shape[1:], shape[0])
            plan.setpts(*self.angles)
            self.plans = {shape: plan}
        found = self.plans[shape].execute(smoothed if shape[0] > 1 else smoothed[0])
        pairs = np.ascontiguousarray(found.reshape(shape[0], -1).T)
        return pairs.view(np.float64)[:, : series.n_columns]


def _plan(kind: int, modes: Sequence[int], count: int):
    from finufft import Plan

    sign = -1 if kind == 1 else 1
    return Plan(kind, tuple(modes), count, eps=FINEST, isign=sign, nthreads=1)
