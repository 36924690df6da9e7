"""The mean of one variable given another, from a density of both.

It owns the derivation that gave kernel regression its formula: estimate the joint density of
inputs and outputs by kernels, then integrate. It never uses the formula that comes out.
"""

from __future__ import annotations

import numpy as np

# In units of the bandwidth of an output: how far beyond the values a Gaussian is integrated, which
# leaves out 1e-22 of it, and the step, at which the trapezoidal rule errs by 1e-34 of it.
REACH, STEP = 10.0, 0.5


def conditional_mean(
    query: np.ndarray,
    key: np.ndarray,
    value: np.ndarray,
    bandwidth: float,
    *,
    value_bandwidth: float,
    log_weight: np.ndarray | None = None,
) -> np.ndarray:
    r"""Integrate a kernel estimate of the density of inputs and outputs.

    .. math::
        \hat p(x, y) = \sum_j w_j\, \phi_h(x - k_j)\, \phi_g(y - v_j), \qquad
        m(q) = \frac{\int y\, \hat p(q, y)\, dy}{\int \hat p(q, y)\, dy}

    φ is the Gaussian density in as many dimensions as its argument has. The integrals are
    sums over equal steps, which is exact to rounding for functions as smooth as these.

    Parameters
    ----------
    query : (query, feature) float
    key : (key, feature) float
    value : (key,) float
    bandwidth : float
        h, in the units of a feature.
    value_bandwidth : float
        g, in the units of a value. The result does not depend on it.
    log_weight : (key,) float, optional
        Natural logarithm of what an observation counts.

    Returns
    -------
    (query,) float
        In the units of ``value``.

    References
    ----------
    .. [1] nadaraya1964.
    .. [2] watson1964.
    """
    outputs = grid(value, value_bandwidth)
    density = joint_density(query, key, value, outputs, bandwidth, value_bandwidth, log_weight)
    # Counted from the middle of the values, so that a large common part does not cancel.
    middle = (value.min() + value.max()) / 2
    return middle + density @ (outputs - middle) / density.sum(axis=1)


def grid(value: np.ndarray, value_bandwidth: float) -> np.ndarray:
    """Lay out the outputs (output,) where the density is looked at, in equal steps."""
    first, last = value.min() - REACH * value_bandwidth, value.max() + REACH * value_bandwidth
    n_steps = int(np.ceil((last - first) / (STEP * value_bandwidth)))
    return np.linspace(first, last, n_steps + 1)


def joint_density(query, key, value, outputs, bandwidth, value_bandwidth, log_weight=None):
    """Estimate the density at every query and output, up to a factor of each query.

    Parameters
    ----------
    query : (query, feature) float
    key : (key, feature) float
    value : (key,) float
    outputs : (output,) float
    bandwidth, value_bandwidth : float
    log_weight : (key,) float, optional

    Returns
    -------
    (query, output) float
        Its factor makes the key that counts most at a query count one: far from all keys
        densities would vanish.
    """
    square = np.square(query[:, None, :] - key[None, :, :]).sum(axis=-1)
    exponent = -square / (2 * bandwidth**2)
    if log_weight is not None:
        exponent = exponent + log_weight
    inputs = np.exp(exponent - exponent.max(axis=1, keepdims=True))
    gaps = (outputs[None, :] - value[:, None]) / value_bandwidth
    return inputs @ (np.exp(-np.square(gaps) / 2) / (np.sqrt(2 * np.pi) * value_bandwidth))
