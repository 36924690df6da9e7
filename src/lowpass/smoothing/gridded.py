r"""Gaussian smoothing of many points in one or two dimensions.

It owns the estimate by Fourier series, numerator and denominator, and where it can be
trusted. The error of a sum is a share of the largest one, so that of a fit grows as the
density falls, :math:`\varepsilon \max_x m(x) / m(q)`; where that is too much, and beyond the
room around the keys, the fit is averaged exactly instead.
"""

from __future__ import annotations

import numpy as np

from lowpass.registry import Refusal
from lowpass.smoothing.checks import Sample
from lowpass.smoothing.hull import Hull
from lowpass.smoothing.methods import METHODS, unsuited
from lowpass.smoothing.spectral import MOST_MODES, Box, Reader, Series
from lowpass.smoothing.tiled import tiled

# Errors of sums as shares of the largest one: of the transforms, and for each mode, since
# angles are rounded.
NOISE, NOISE_OF_MODE = 1e-14, 3e-17
# Fits are this near to the exact ones, in halves of the range of the values.
TOLERANCE = 1e-12


@METHODS.add("gridded", kernels=("gaussian",), degrees=(0,), most_features=2, error=1e-12, draws=())
def gridded(sample: Sample, *, kernel: str, degree: int, beyond: str) -> np.ndarray:
    r"""Average by non-uniform Fourier sums, exactly where keys are few.

    Parameters
    ----------
    sample : Sample
        Of at most two features.
    kernel : {"gaussian"}
    degree : {0}
    beyond : str
        Not looked at: a Gaussian reaches everything.

    Returns
    -------
    (query, output) float
        Within the range of the values; that of the formula to 1e-12 of it.

    Raises
    ------
    Refusal
        If the kernel is another, features are more, or the bandwidth is so small beside the
        range of the keys that the series is too long.

    References
    ----------
    .. [1] barnett2019.
    """
    said = objection(sample, kernel, degree)
    if said:
        raise Refusal(f"{said} Use method 'tiled'.")
    hull = Hull.of(sample.value)
    box = Box.around(sample, sample.bandwidth)
    columns = columns_of(sample, hull)
    series = Series.of(sample.key, columns, box, box.modes(sample.bandwidth))
    inside = np.flatnonzero(box.holds(sample.query))
    smoothed = series.smoothed(sample.bandwidth)
    sums = Reader(sample.query[inside], box).read(series, smoothed)
    trusted = sums[:, -1] > least_mass(smoothed.shape[1:], TOLERANCE) * series.highest(smoothed)
    fit = np.full((len(sample.query), sample.value.shape[1]), np.nan)
    fit[inside[trusted]] = sums[trusted, :-1] / sums[trusted, -1:]
    fit = hull.clipped(hull.outward(fit))
    rest = np.setdiff1d(np.arange(len(fit)), inside[trusted], assume_unique=True)
    if len(rest):
        some = sample.at(rest)
        fit[rest] = tiled(some, kernel=kernel, degree=degree, beyond=beyond)
    return fit


def columns_of(sample: Sample, hull: Hull) -> np.ndarray:
    """Give values carried to [-1, 1] and a column of ones, times weights of one at most."""
    columns = np.concatenate([hull.inward(sample.value), np.ones((len(sample.key), 1))], axis=1)
    if sample.weight is not None:
        columns *= (sample.weight / sample.weight.max())[:, None]
    return columns


def least_mass(modes: tuple[int, ...], tolerance: float) -> float:
    """Say which share of the largest density a query needs for its fit to be trusted."""
    return 2 * (NOISE + NOISE_OF_MODE * sum(modes)) / tolerance


def objection(
    sample: Sample,
    kernel: str,
    degree: int,
    *,
    bandwidth: np.ndarray | None = None,
    tolerance: float = TOLERANCE,
) -> str:
    """Say why Fourier series will not do, or nothing if they will.

    Parameters
    ----------
    sample : Sample
    kernel : str
    degree : int
    bandwidth : (feature,) float, optional
        The smallest one that will be asked for, where it is not that of the sample.
    tolerance : float
        Of the fits, in halves of the range of the values.

    Returns
    -------
    str
        One sentence, or an empty text.
    """
    said = unsuited("gridded", sample, kernel=kernel, degree=degree)
    if said:
        return said
    h = sample.bandwidth if bandwidth is None else bandwidth
    modes = Box.around(sample, sample.bandwidth).modes(h)
    if np.prod(modes, dtype=float) > MOST_MODES or least_mass(modes, tolerance) > 1 / 2:
        return (
            f"the bandwidth {h.min():.3g} needs {' x '.join(map(str, modes))} Fourier modes over "
            "the range of the keys; sums of so many are large or inexact."
        )
    return ""
