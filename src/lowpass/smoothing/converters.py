"""Attention rewritten as a smoother, and a smoother as attention.

It owns the changes of queries, keys and temperature that leave every weight as it is. It never
weighs anything: what it gives is the input of an estimator, or of attention.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from lowpass.registry import Refusal
from lowpass.smoothing.checks import checked, numbers

# Natural logarithms of the normal numbers of float64 span more than this.
SPAN = 700.0


class WeightedSmoother(NamedTuple):
    """Hold the inputs of a Gaussian smoother whose keys count unequally.

    Attributes
    ----------
    query : (query, feature) float
    key : (key, feature) float
    bandwidth : float
        In the units of a feature.
    log_weight : (key,) float
        Natural logarithm of what a key counts.
    """

    query: np.ndarray
    key: np.ndarray
    bandwidth: float
    log_weight: np.ndarray

    @property
    def weight(self) -> np.ndarray:
        """Give what keys count (key,), relative to the one that counts most.

        Raises
        ------
        Refusal
            If a float cannot hold the least beside the largest.
        """
        below = self.log_weight - self.log_weight.max()
        if below.min() < -SPAN:
            raise Refusal(
                f"weights of keys span a factor of exp({-below.min():.4g}), more than a float "
                "holds, and a key without weight is lost to the queries near it. Use "
                "plain_smoother, which needs no weights, or log_weight."
            )
        return np.exp(below)


class PlainSmoother(NamedTuple):
    """Hold the inputs of a Gaussian smoother whose keys count equally.

    Attributes
    ----------
    query : (query, feature) float
    key : (key, feature) float
    bandwidth : float
        In the units of a feature.
    """

    query: np.ndarray
    key: np.ndarray
    bandwidth: float


class DotProducts(NamedTuple):
    """Hold the inputs of dot-product attention.

    Attributes
    ----------
    query : (query, feature) float
    key : (key, feature) float
    temperature : float
        What dot products are divided by.
    """

    query: np.ndarray
    key: np.ndarray
    temperature: float


def weighted_smoother(query: ArrayLike, key: ArrayLike, temperature: float) -> WeightedSmoother:
    r"""Rewrite attention as a Gaussian smoother that favours long keys.

    .. math::
        \frac{q \cdot k}{T} = -\frac{\|q - k\|^2}{2 T} + \frac{\|k\|^2}{2 T} + \frac{\|q\|^2}{2 T}

    The last term is the same for all keys, and cancels.

    Parameters
    ----------
    query : (query, feature) float
    key : (key, feature) float
    temperature : float
        T, in the squared units of a feature; the root of their number in a transformer.

    Returns
    -------
    WeightedSmoother
        Queries and keys as they are, the bandwidth √T, and the weights exp(‖k‖² / 2T).

    Raises
    ------
    Refusal
        If a number is not finite, features do not match, or the temperature is not positive.

    Examples
    --------
    >>> weighted_smoother([[0.0]], [[1.0], [2.0]], temperature=0.5).log_weight
    array([1., 4.])
    """
    sample, t = checked(query, key, None, 1.0), positive(temperature)
    log_weight = np.square(sample.key).sum(axis=1) / (2 * t)
    return WeightedSmoother(sample.query, sample.key, t**0.5, log_weight)


def plain_smoother(query: ArrayLike, key: ArrayLike, temperature: float) -> PlainSmoother:
    r"""Rewrite attention as a Gaussian smoother in one dimension more.

    .. math::
        \tilde q = (q, 0), \qquad \tilde k = \big(k, \sqrt{M - \|k\|^2}\big), \qquad
        M = \max_j \|k_j\|^2

    The new feature lifts all keys onto one sphere around the origin. There the nearest to a
    query is the one that lies farthest along it.

    Parameters
    ----------
    query : (query, feature) float
    key : (key, feature) float
        Adding one vector to all keys leaves attention as it is; rounding grows with M / T, so
        that keys are better without a common offset.
    temperature : float
        T, in the squared units of a feature.

    Returns
    -------
    PlainSmoother
        Lifted queries and keys, and the bandwidth √T.

    Raises
    ------
    Refusal
        As for :func:`weighted_smoother`.

    Examples
    --------
    >>> plain_smoother([[2.0]], [[3.0], [5.0]], temperature=4.0).key
    array([[3., 4.],
           [5., 0.]])
    """
    sample, t = checked(query, key, None, 1.0), positive(temperature)
    square = np.square(sample.key).sum(axis=1)
    height = np.sqrt(square.max() - square)
    lifted = np.column_stack([sample.query, np.zeros(len(sample.query))])
    return PlainSmoother(lifted, np.column_stack([sample.key, height]), t**0.5)


def dot_products(
    query: ArrayLike, key: ArrayLike, bandwidth: ArrayLike, log_weight: ArrayLike | None = None
) -> DotProducts:
    r"""Rewrite a Gaussian smoother as dot-product attention in one dimension more.

    .. math::
        \tilde q = (q, 1), \qquad \tilde k = \big(k, -\tfrac12 \|k\|^2 + T \log w\big), \qquad
        T = h^2

    Parameters
    ----------
    query : (query, feature) float
    key : (key, feature) float
    bandwidth : float or (feature,) float
        h, in the units of a feature. Where each feature has its own, features are divided by
        them, and T is one.
    log_weight : (key,) float, optional
        Natural logarithm of what a key counts, minus infinity where it does not.

    Returns
    -------
    DotProducts
        Both count from the mean of the keys, which no distance notices: where positions are
        large numbers, dot products would cancel.

    Raises
    ------
    Refusal
        If a number is not finite, sizes do not match, or a bandwidth is not positive.
    """
    sample = checked(query, key, None, bandwidth).centred()
    scalar = np.ndim(bandwidth) == 0
    unit, t = (1.0, float(sample.bandwidth[0]) ** 2) if scalar else (sample.bandwidth, 1.0)
    q, k = sample.query / unit, sample.key / unit
    last = -np.square(k).sum(axis=1) / 2
    if log_weight is not None:
        last = last + t * logarithms(log_weight, len(k))
    return DotProducts(np.column_stack([q, np.ones(len(q))]), np.column_stack([k, last]), t)


def positive(temperature: float) -> float:
    """Read a temperature.

    Raises
    ------
    Refusal
        If it is not positive, or not finite.
    """
    t = float(temperature)
    if not 0 < t < np.inf:
        raise Refusal(
            f"temperature is {t:g}; dot products are divided by it, so give a positive number."
        )
    return t


def logarithms(log_weight: ArrayLike, n_keys: int) -> np.ndarray:
    """Read logarithms of weights, (key,) float.

    Raises
    ------
    Refusal
        If there is not one for each key, or one of them is nan or plus infinity.
    """
    read = numbers(log_weight, "log_weight")
    if read.shape != (n_keys,):
        raise Refusal(
            f"log_weight has shape {read.shape} and there are {n_keys} keys; give each key one."
        )
    bad = np.isnan(read) | (read == np.inf)
    if bad.any():
        at = int(np.flatnonzero(bad)[0])
        raise Refusal(
            f"log_weight [{at}] is {read[at]}; what a key counts is finite, and minus infinity "
            "says that it does not. Give natural logarithms."
        )
    return read
