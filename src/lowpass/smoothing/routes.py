"""The same averages, taken another way around.

It owns the routes from attention to a Gaussian smoother and from a smoother to attention: each
rewrites its inputs, and lets the other side do the averaging.
"""

from __future__ import annotations

import numpy as np

from lowpass.smoothing import converters
from lowpass.smoothing.estimators import dot_product_attention, smooth


def by_weighted_keys(
    query: np.ndarray, key: np.ndarray, value: np.ndarray, temperature: float
) -> np.ndarray:
    """Attend by smoothing, where a long key counts more.

    Parameters
    ----------
    query : (query, feature) float
    key : (key, feature) float
    value : (key,) or (key, output) float
    temperature : float
        What dot products are divided by.

    Returns
    -------
    (query,) or (query, output) float
        As :func:`lowpass.smoothing.estimators.dot_product_attention` gives.
    """
    made = converters.weighted_smoother(query, key, temperature)
    return smooth(made.query, made.key, value, made.bandwidth, weight=made.weight)


def by_one_dimension_more(
    query: np.ndarray, key: np.ndarray, value: np.ndarray, temperature: float
) -> np.ndarray:
    """Attend by smoothing, where keys are lifted onto a sphere.

    Parameters
    ----------
    query : (query, feature) float
    key : (key, feature) float
    value : (key,) or (key, output) float
    temperature : float
        What dot products are divided by.

    Returns
    -------
    (query,) or (query, output) float
        As :func:`lowpass.smoothing.estimators.dot_product_attention` gives.
    """
    made = converters.plain_smoother(query, key, temperature)
    return smooth(made.query, made.key, value, made.bandwidth)


def by_dot_products(
    query: np.ndarray, key: np.ndarray, value: np.ndarray, bandwidth: float | np.ndarray
) -> np.ndarray:
    """Smooth by attending to keys that carry their squared norm.

    Parameters
    ----------
    query : (query, feature) float
    key : (key, feature) float
    value : (key,) or (key, output) float
    bandwidth : float or (feature,) float
        In the units of a feature.

    Returns
    -------
    (query,) or (query, output) float
        As :func:`lowpass.smoothing.estimators.smooth` gives.
    """
    made = converters.dot_products(query, key, bandwidth)
    return dot_product_attention(made.query, made.key, value, made.temperature)
