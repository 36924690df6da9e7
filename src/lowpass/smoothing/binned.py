r"""Gaussian smoothing of data that were counted in cells.

It owns the estimate for plots and for regular grids. Every key gives its weight to the two
nodes beside it, in proportion to how near they are; on a circle the nodes are smoothed by a
Fourier transform, on an interval by a cosine transform in a box with enough room, both times
as heat flows for the time :math:`h^2/2`; between nodes sums are read linearly. The error falls
with the square of the distance of nodes.

References
----------
.. [1] wand1994.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lowpass.registry import Refusal
from lowpass.smoothing.checks import Sample
from lowpass.smoothing.gridded import columns_of
from lowpass.smoothing.hull import Hull
from lowpass.smoothing.methods import METHODS, refuse_unsuited
from lowpass.smoothing.spectral import REACH
from lowpass.smoothing.tiled import tiled

# Nodes for each bandwidth, unless a number is given, and most of them.
FINE = 64
MOST_NODES = 2**20
# Below this share of the largest density, rounding would show in a fit.
LEAST_MASS = 1e-9


@dataclass(frozen=True)
class _Nodes:
    """Evenly spaced places from ``start`` on, on a circle or with walls half a step outside."""

    start: float
    step: float
    count: int
    is_closed: bool

    def weights(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Give the nodes below and above each point, and the share of the upper one."""
        along = (points - self.start) / self.step
        if self.is_closed:
            along = np.mod(along, self.count)
        lower = np.floor(along)
        below = lower.astype(np.intp)
        above = (below + 1) % self.count if self.is_closed else below + 1
        return below % self.count, above, along - lower

    def binned(self, points: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Share columns of numbers, (point, column) float, out among nodes, (column, node)."""
        below, above, share = self.weights(points)
        return np.stack(
            [
                np.bincount(below, (1 - share) * each, self.count)
                + np.bincount(above, share * each, self.count)
                for each in columns.T
            ]
        )

    def diffused(self, sums: np.ndarray, bandwidth: float) -> np.ndarray:
        """Let sums at nodes spread as a Gaussian of the bandwidth does."""
        from scipy.fft import dct, idct, irfft, rfft

        scale = bandwidth / self.step
        if self.is_closed:
            omega = 2 * np.pi * np.fft.rfftfreq(self.count)
            return np.asarray(irfft(rfft(sums) * np.exp(-((scale * omega) ** 2) / 2), self.count))
        omega = np.pi * np.arange(self.count) / self.count
        return np.asarray(idct(dct(sums) * np.exp(-((scale * omega) ** 2) / 2)))


@METHODS.add("binned", kernels=("gaussian",), degrees=(0,), most_features=1, error=1e-4, draws=())
def binned(
    sample: Sample, *, kernel: str, degree: int, beyond: str, nodes: int | None = None
) -> np.ndarray:
    r"""Average data that were counted in cells, exactly where keys are few.

    Parameters
    ----------
    sample : Sample
        Of one feature.
    kernel : {"gaussian"}
    degree : {0}
    beyond : str
        Not looked at: a Gaussian reaches everything.
    nodes : int, optional
        64 for each bandwidth by default.

    Returns
    -------
    (query, output) float
        Within the range of the values; off by about :math:`(\Delta/h)^2/8` of it where keys are
        dense, with the distance :math:`\Delta` of nodes.

    Raises
    ------
    Refusal
        If the kernel is another, there is more than one feature, or more nodes are needed than
        there may be.

    References
    ----------
    .. [1] wand1994.
    """
    refuse_unsuited("binned", sample, kernel=kernel, degree=degree)
    hull, h = Hull.of(sample.value), sample.bandwidth[0]
    grid = _nodes(sample, nodes)
    sums = grid.diffused(grid.binned(sample.key[:, 0], columns_of(sample, hull)), h)
    return _read(sample, grid, sums, hull)


def _read(sample: Sample, grid: _Nodes, sums: np.ndarray, hull: Hull) -> np.ndarray:
    """Read averages between nodes, and average exactly where there are none to be read."""
    place = sample.query[:, 0]
    inside = (place >= grid.start) & (place <= grid.start + grid.step * (grid.count - 2))
    if grid.is_closed:
        inside[:] = True
    below, above, share = grid.weights(np.where(inside, place, grid.start))
    read = sums[:, below] * (1 - share) + sums[:, above] * share
    trusted = inside & (read[-1] > LEAST_MASS * sums[-1].max())
    fit = np.empty((len(place), len(sums) - 1))
    fit[trusted] = (read[:-1, trusted] / read[-1, trusted]).T
    fit = hull.clipped(hull.outward(fit))
    if not trusted.all():
        rest = sample.at(~trusted)
        fit[~trusted] = tiled(rest, kernel="gaussian", degree=0, beyond="nearest")
    return fit


def _nodes(sample: Sample, count: int | None) -> _Nodes:
    h, period = sample.bandwidth[0], None if sample.period is None else sample.period[0]
    if period is not None and np.isfinite(period):
        count = count or int(np.ceil(FINE * period / h))
        return _counted(0.0, period / count, count, True)
    low, high = sample.key.min() - REACH * h, sample.key.max() + REACH * h
    count = count or int(np.ceil(FINE * (high - low) / h))
    return _counted(low, (high - low) / (count - 1), count, False)


def _counted(start: float, step: float, count: int, is_closed: bool) -> _Nodes:
    if not 4 <= count <= MOST_NODES:
        raise Refusal(
            f"binned smoothing would take {count} nodes; it takes 4 to {MOST_NODES}. Use method "
            "'tiled', which needs none, or another bandwidth."
        )
    return _Nodes(start, step, count, is_closed)
