r"""How well every observation is predicted by all others, at many bandwidths.

It owns the curve of leave-one-out scores of long data. A Gaussian needs one transform of the
observations for all bandwidths, and one back for each; a key leaves its own sums,

.. math:: f_{-i}(k_i) = \frac{\sum_j w_j K_{ij} v_j - w_i v_i}{\sum_j w_j K_{ij} - w_i},

where what is left of the denominator keeps its digits, and is averaged exactly where not.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from lowpass.registry import Refusal
from lowpass.smoothing.checks import Sample, checked, numbers
from lowpass.smoothing.gridded import columns_of, least_mass, objection
from lowpass.smoothing.hull import Hull
from lowpass.smoothing.spectral import Box, Reader, Series
from lowpass.smoothing.tiled import divided_keys, left_out

# Of one prediction, in halves of the range of the values; that of their mean is far below it,
# as few keys lie where the density is just large enough.
TOLERANCE = 1e-10
# Fewer keys are averaged sooner than transformed.
FEWEST = 512


def loo_curve(
    key: ArrayLike,
    value: ArrayLike,
    bandwidths: ArrayLike,
    *,
    kernel: str = "gaussian",
    degree: int = 0,
    weight: ArrayLike | None = None,
    period: ArrayLike | None = None,
) -> np.ndarray:
    r"""Give the mean squared leave-one-out residual at each bandwidth.

    Parameters
    ----------
    key : (key, feature) or (key,) float
        Two at least.
    value : (key,) or (key, output) float
    bandwidths : (bandwidth,) float
        In the units of every feature.
    kernel : str
        Name in ``PROFILES``. A Gaussian of at most two features takes a time that is
        proportional to the number of keys.
    degree : {0, 1}
    weight : (key,) float, optional
        How much an observation counts for others; all residuals count alike.
    period : float or (feature,) float, optional
        The circumference, where keys lie on a circle.

    Returns
    -------
    (bandwidth,) float
        In the squared units of ``value``, summed over outputs. That of the formula to 1e-10;
        an isolated key is predicted by its nearest neighbour.

    Raises
    ------
    Refusal
        As for :func:`lowpass.smoothing.estimators.smooth`; also if there is no bandwidth, or one
        key.

    Examples
    --------
    >>> loo_curve([0.0, 1.0, 9.0], [3.0, 5.0, 5.0], [0.01, 1e6])
    array([2.66666667, 2.        ])
    """
    widths = numbers(bandwidths, "bandwidths").reshape(-1)
    if widths.size == 0:
        raise Refusal("there are no bandwidths; a curve needs one at least. Give some.")
    samples = [checked(key, key, value, h, weight, period=period) for h in widths]
    if len(samples[0].key) < 2:
        raise Refusal("there is one key; without it nothing predicts it. Give another observation.")
    order = np.lexsort(samples[0].key.T[::-1])
    samples = [_ordered(each, order) for each in samples]
    residual = _residuals(samples, kernel, degree)
    return np.array([np.square(each).sum(axis=1).mean() for each in residual])


def _ordered(sample: Sample, order: np.ndarray) -> Sample:
    weight = None if sample.weight is None else sample.weight[order]
    key = sample.key[order]
    return replace(sample, query=key, key=key, value=sample.value[order], weight=weight)


def _residuals(samples: list[Sample], kernel: str, degree: int):
    """Yield the residuals at each bandwidth, (key, output) float."""
    widest = max(samples, key=lambda each: each.bandwidth.max())
    least = np.min([each.bandwidth for each in samples], axis=0)
    said = objection(widest, kernel, degree, bandwidth=least, tolerance=TOLERANCE)
    if said or len(widest.key) < FEWEST:
        everyone = np.arange(len(widest.key))
        keys = divided_keys(widest)
        for each in samples:
            yield each.value - left_out(each, everyone, kernel=kernel, degree=degree, keys=keys)
        return
    hull, box = Hull.of(widest.value), Box.around(widest, widest.bandwidth)
    columns = columns_of(widest, hull)
    series = Series.of(widest.key, columns, box, box.modes(least))
    reader, keys = Reader(widest.key, box), None
    for each in samples:
        smoothed = series.smoothed(each.bandwidth)
        sums = reader.read(series, smoothed) - columns
        trusted = sums[:, -1] > least_mass(smoothed.shape[1:], TOLERANCE) * series.highest(smoothed)
        fit = np.empty_like(each.value)
        fit[trusted] = hull.outward(sums[trusted, :-1] / sums[trusted, -1:])
        rest = np.flatnonzero(~trusted)
        if len(rest):
            keys = keys or divided_keys(widest)
            fit[rest] = left_out(replace(each, query=each.key[rest]), rest, keys=keys)
        yield each.value - fit
