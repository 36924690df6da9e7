"""The shapes of weights that end at a distance.

It owns four functions of u, a distance in units of the bandwidth, from 0 to 1.
Attention kernels and smoothing kernels of one name have one shape; both are
free to scale it.
"""

from __future__ import annotations

import numpy as np


def level(u: np.ndarray) -> np.ndarray:
    """Stay at one up to the bandwidth: the shape of a boxcar."""
    return np.ones_like(u)


def slope(u: np.ndarray) -> np.ndarray:
    """Fall linearly to zero at the bandwidth: the shape of a triangle."""
    return 1 - u


def parabola(u: np.ndarray) -> np.ndarray:
    """Fall as a parabola to zero at the bandwidth: the shape of Epanechnikov's kernel."""
    return 1 - u**2


def cubes(u: np.ndarray) -> np.ndarray:
    """Fall to zero so that two derivatives vanish there, too: the shape of a tricube."""
    return (1 - u**3) ** 3
