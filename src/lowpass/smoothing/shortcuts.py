"""Approximations as methods of smoothing, so that they can be asked for by name.

It owns their defaults, and what they refuse: a kernel that is no Gaussian, keys
on a circle, and a query whose estimated weights have no positive sum, of which
no average can be taken. None of them is ever picked.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from lowpass.registry import Refusal
from lowpass.smoothing import approximations
from lowpass.smoothing.approximations import Fits
from lowpass.smoothing.checks import Sample
from lowpass.smoothing.features import independent_directions, orthogonal_directions
from lowpass.smoothing.hull import Hull
from lowpass.smoothing.landmarks import chosen
from lowpass.smoothing.methods import METHODS, exact

# As many features as a Performer usually has.
TERMS = 256
# An average lies within the range of the values, however wrong it is.
MADE_FOR: dict[str, Any] = {
    "kernels": ("gaussian",),
    "degrees": (0,),
    "most_features": math.inf,
    "error": 1.0,
    "draws": ("terms", "seed"),
}


@METHODS.add("subsample", **MADE_FOR)
def subsample(
    sample: Sample, *, kernel: str, degree: int, beyond: str, terms: int = TERMS, seed: int = 0
) -> np.ndarray:
    """Average over some of the observations, each as likely as any other.

    The error falls as one over the root of their number. It is what a cleverer method has to beat.

    Parameters
    ----------
    sample : Sample
    kernel, degree, beyond
        As for :func:`lowpass.smoothing.methods.exact`.
    terms : int
        Number of observations that are kept; all, where there are fewer.
    seed : int
        Of the draw.

    Returns
    -------
    (query, output) float
    """
    counting = np.ones(len(sample.key)) if sample.weight is None else sample.weight
    some = np.flatnonzero(counting > 0)
    kept = some[chosen(_stream(seed), min(terms, len(some)), len(some))]
    fewer = replace(
        sample,
        key=sample.key[kept],
        value=sample.value[kept],
        weight=None if sample.weight is None else sample.weight[kept],
    )
    return exact(fewer, kernel=kernel, degree=degree, beyond=beyond)


@METHODS.add("nystrom", **MADE_FOR)
def nystrom(
    sample: Sample, *, kernel: str, degree: int, beyond: str, terms: int = TERMS, seed: int = 0
) -> np.ndarray:
    """Interpolate the kernel between some of the keys, with a ridge of 1e-8 of its peak.

    Parameters
    ----------
    sample : Sample
    kernel, degree, beyond
        A Gaussian, 0, and not looked at.
    terms : int
        Number of landmarks; all keys, where there are fewer.
    seed : int
        Of the draw.

    Returns
    -------
    (query, output) float

    References
    ----------
    .. [1] williams2001.
    """

    def fits(q: np.ndarray, k: np.ndarray, v: np.ndarray, w: np.ndarray | None) -> Fits:
        count = min(terms, len(k))
        order = chosen(_stream(seed), count, len(k))
        return approximations.by_landmarks(q, k, v, order, [count], weight=w)

    return _averaged(sample, "nystrom", fits)


@METHODS.add("positive_features", **MADE_FOR)
def positive_features(
    sample: Sample, *, kernel: str, degree: int, beyond: str, terms: int = TERMS, seed: int = 0
) -> np.ndarray:
    """Average in linear time by positive random features of orthogonal directions (FAVOR+).

    Parameters
    ----------
    sample : Sample
    kernel, degree, beyond
        A Gaussian, 0, and not looked at.
    terms : int
        Number of features.
    seed : int
        Of the draw.

    Returns
    -------
    (query, output) float

    References
    ----------
    .. [1] choromanski2021.
    """

    def fits(q: np.ndarray, k: np.ndarray, v: np.ndarray, w: np.ndarray | None) -> Fits:
        directions = orthogonal_directions(_stream(seed), terms, k.shape[1])
        return approximations.by_positive_features(q, k, v, directions, [terms], weight=w)

    return _averaged(sample, "positive_features", fits)


@METHODS.add("trigonometric_features", **MADE_FOR)
def trigonometric_features(
    sample: Sample, *, kernel: str, degree: int, beyond: str, terms: int = TERMS, seed: int = 0
) -> np.ndarray:
    """Average in linear time by cosines and sines of random directions.

    Parameters
    ----------
    sample : Sample
    kernel, degree, beyond
        A Gaussian, 0, and not looked at.
    terms : int
        Number of directions, each of which makes two features.
    seed : int
        Of the draw.

    Returns
    -------
    (query, output) float

    Raises
    ------
    Refusal
        If the weights of a query have no positive sum.

    References
    ----------
    .. [1] rahimi2007.
    """

    def fits(q: np.ndarray, k: np.ndarray, v: np.ndarray, w: np.ndarray | None) -> Fits:
        directions = independent_directions(_stream(seed), terms, k.shape[1])
        return approximations.by_trigonometric_features(q, k, v, directions, [terms], weight=w)

    return _averaged(sample, "trigonometric_features", fits)


def _stream(seed: int) -> np.random.Generator:
    """Open the stream of a draw that is the same on every machine."""
    return np.random.Generator(np.random.PCG64(seed))


def _averaged(sample: Sample, method: str, fits: Callable[..., Fits]) -> np.ndarray:
    """Fit a sample in units of its bandwidth, or refuse what is no average."""
    if sample.period is not None and np.isfinite(sample.period).any():
        raise Refusal(
            f"method '{method}' got keys on a circle; its features do not close. Use method "
            "'tiled', which does."
        )
    middle = sample.centred()
    counts = slice(None) if sample.weight is None else np.flatnonzero(sample.weight > 0)
    weight = None if sample.weight is None else sample.weight[counts] / sample.weight.max()
    ((fit, normaliser),) = fits(
        middle.query / sample.bandwidth,
        middle.key[counts] / sample.bandwidth,
        sample.value[counts],
        weight,
    ).values()
    bad = np.flatnonzero(~(normaliser > 0))
    if len(bad):
        raise Refusal(
            f"method '{method}' estimates the weights of query [{bad[0]}] to sum to "
            f"{normaliser[bad[0]]:.3g}; an average needs a positive sum, and {len(bad)} of "
            f"{len(normaliser)} queries have none. Use more terms, or method 'tiled'."
        )
    return Hull.of(sample.value).clipped(fit)
