r"""How the weight of an observation falls with its distance.

It owns the smoothing kernels: each turns scores into logarithms of weights,
up to a constant factor, and -inf is no weight at all. The fact ``reads`` says
what a score is: a ``"squared distance"`` :math:`u^2 = |q - k|^2 / h^2`, or a
``"product"`` :math:`q \cdot k / h^2`. ``support`` is the u at which weights end,
and ``reach`` that beyond which all of them together are lost in rounding.

Kernels of a distance carry their constants on a line: ``variance``
:math:`\int u^2 K / \int K`, ``roughness`` :math:`\int K^2 / (\int K)^2`, and
``low_pass``, whether the Fourier transform is nowhere negative. A product is no
distance: its kernel has no such constants.

References
----------
.. [1] wand1995, chapter 2.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from lowpass.registry import Refusal, Registry
from lowpass.shapes import cubes, level, parabola, slope

PROFILES = Registry("smoothing kernel")
# A distance that equals the bandwidth but for rounding is within it.
EDGE = 1 + 1e-12


@PROFILES.add(
    "gaussian",
    reads="squared distance",
    support=math.inf,
    reach=9.0,
    variance=1.0,
    roughness=1 / (2 * math.sqrt(math.pi)),
    low_pass=True,
)
def gaussian(scores: np.ndarray) -> np.ndarray:
    r"""Weigh by :math:`e^{-u^2/2}`."""
    return -scores / 2


@PROFILES.add(
    "laplace",
    reads="squared distance",
    support=math.inf,
    reach=40.0,
    variance=2.0,
    roughness=1 / 4,
    low_pass=True,
)
def laplace(scores: np.ndarray) -> np.ndarray:
    r"""Weigh by :math:`e^{-u}`."""
    return -np.sqrt(scores)


@PROFILES.add(
    "epanechnikov",
    reads="squared distance",
    support=1.0,
    reach=1.0,
    variance=1 / 5,
    roughness=3 / 5,
    low_pass=False,
)
def epanechnikov(scores: np.ndarray) -> np.ndarray:
    r"""Weigh by :math:`1 - u^2` up to the bandwidth."""
    return _within_reach(scores, parabola)


@PROFILES.add(
    "tricube",
    reads="squared distance",
    support=1.0,
    reach=1.0,
    variance=35 / 243,
    roughness=175 / 247,
    low_pass=False,
)
def tricube(scores: np.ndarray) -> np.ndarray:
    r"""Weigh by :math:`(1 - u^3)^3` up to the bandwidth."""
    return _within_reach(scores, cubes)


@PROFILES.add(
    "triangle",
    reads="squared distance",
    support=1.0,
    reach=1.0,
    variance=1 / 6,
    roughness=2 / 3,
    low_pass=True,
)
def triangle(scores: np.ndarray) -> np.ndarray:
    r"""Weigh by :math:`1 - u` up to the bandwidth."""
    return _within_reach(scores, slope)


@PROFILES.add(
    "boxcar",
    reads="squared distance",
    support=1.0,
    reach=1.0,
    variance=1 / 3,
    roughness=1 / 2,
    low_pass=False,
)
def boxcar(scores: np.ndarray) -> np.ndarray:
    """Weigh alike up to the bandwidth, which counts as far as rounding can tell."""
    return _within_reach(scores, level)


@PROFILES.add("exp_dot", reads="product", support=math.inf, reach=math.inf)
def exp_dot(scores: np.ndarray) -> np.ndarray:
    r"""Weigh by :math:`e^{q \cdot k / h^2}`, as dot-product attention does.

    References
    ----------
    .. [1] tsai2019, section 3.
    """
    return scores


def _within_reach(scores: np.ndarray, shape: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    near = scores <= EDGE
    weight = shape(np.sqrt(np.minimum(scores, 1.0)))
    with np.errstate(divide="ignore"):
        return np.where(near, np.log(weight), -np.inf)


def constant(kernel: str, name: str) -> float:
    """Look up a constant of a kernel on a line.

    Parameters
    ----------
    kernel : str
        Name in ``PROFILES``.
    name : str
        ``"variance"``, ``"roughness"`` or ``"low_pass"``.

    Returns
    -------
    float
        Dimensionless; for the bandwidth one.

    Raises
    ------
    Refusal
        If the kernel is of a product, which has none.
    """
    facts = PROFILES.facts(kernel)
    if name not in facts:
        raise Refusal(
            f"the kernel '{kernel}' has no {name}: it weighs by a product, which is no distance. "
            "Use a kernel of a distance, such as 'gaussian'."
        )
    return facts[name]
