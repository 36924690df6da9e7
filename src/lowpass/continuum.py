"""The continuum that tokens on a ring stand for.

It owns where tokens lie that are as dense as asked, and the differential operators that
attention between them tends to as tokens become many and its bandwidth small.
"""

from __future__ import annotations

import numpy as np

from lowpass.data import GENERATORS
from lowpass.domains import Count, Share

# Newton's steps double the digits in the end, and need a dozen before that near a modulation of 1.
STEPS = 64


def quantiles(n_tokens: int, modulation: float) -> np.ndarray:
    r"""Find the angles that divide a density on the ring into equal shares.

    .. math:: \theta_i + a \sin\theta_i = 2\pi \frac{i + 1/2}{n},
              \qquad p(\theta) = \frac{1 + a\cos\theta}{2\pi}

    This is Kepler's equation for the angle :math:`\theta + \pi`. Newton's method finds it
    from the aphelion, :math:`\theta = 0`, from one side and without overshooting, since
    there the left-hand side is steepest.

    Parameters
    ----------
    n_tokens : int
    modulation : float
        a, in [0, 1).

    Returns
    -------
    (token,) float
        Radians in (-π, π), increasing; the density is largest at zero.
    """
    share = 2 * np.pi * (np.arange(n_tokens) + 0.5) / n_tokens - np.pi
    angle = np.zeros(n_tokens)
    for _ in range(STEPS):
        excess = angle + modulation * np.sin(angle) - share
        angle = angle - excess / (1 + modulation * np.cos(angle))
    return angle


@GENERATORS.add("dense_ring", kind="tokens", reads=False, certain=True, density=True)
def dense_ring(*, n_tokens: Count, modulation: Share = 0.5) -> dict[str, np.ndarray]:
    r"""Place tokens on the unit circle with the density 1 + a cos θ; nothing is random.

    They are the midpoints of equal shares of the density. A mean over tokens is then the
    midpoint rule for a periodic integral, which misses some :math:`e^{-2\pi^2 h^2/D^2}` of a
    Gaussian of bandwidth h, where D is the widest distance between neighbours.

    Parameters
    ----------
    n_tokens : int
        Number of tokens.
    modulation : float
        a, in [0, 1): how uneven the density is; even at 0.

    Returns
    -------
    dict of str to array
        ``x`` (replicate, token, feature): one replicate with rows (cos θ, sin θ) in
        order, and ``log_density_slope`` (token,), the derivative of log p by θ.
    """
    angle = quantiles(n_tokens, modulation)
    slope = -modulation * np.sin(angle) / (1 + modulation * np.cos(angle))
    x = np.stack([np.cos(angle), np.sin(angle)], axis=-1)
    return {"x": x[None], "log_density_slope": slope}


def layer_generator(before: np.ndarray, after: np.ndarray, beta: np.ndarray) -> np.ndarray:
    r"""Divide what a layer changes by the diffusion time of a Gaussian's bandwidth.

    .. math:: \frac{AX - X}{h^2 / 2}, \qquad h^2 = 1/\beta

    Parameters
    ----------
    before, after : (..., token, feature) float
        Tokens X before a layer and AX after it.
    beta : (...) float
        Inverse temperature of the score "l2".

    Returns
    -------
    (..., token, feature) float
    """
    return 2 * beta[..., None, None] * (after - before)


def limit_generator(x: np.ndarray, slope: np.ndarray, drift: np.ndarray) -> np.ndarray:
    r"""Apply a diffusion with a drift along the density to the coordinates of tokens on a ring.

    .. math:: f'' + c\,(\log p)' f', \qquad f = \cos\theta, \sin\theta

    Parameters
    ----------
    x : (..., token, feature) float
        Rows (cos θ, sin θ).
    slope : (token,) float
        Derivative of log p.
    drift : (drift,) float
        Weights c of the drift.

    Returns
    -------
    (..., drift, token, feature) float
    """
    along = np.stack([-x[..., 1], x[..., 0]], axis=-1) * slope[:, None]
    return drift[:, None, None] * along[..., None, :, :] - x[..., None, :, :]


def relative_error(found: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Give the root mean square over tokens of a difference, relative to what is wanted.

    Parameters
    ----------
    found, wanted : (..., token, feature) float

    Returns
    -------
    (...) float
        Tokens count alike, so that the mean is over their density.
    """
    axes = (-2, -1)
    return np.linalg.norm(found - wanted, axis=axes) / np.linalg.norm(wanted, axis=axes)
