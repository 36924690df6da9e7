"""What the error of a smoother tends to as keys become many and its bandwidth small.

It owns the constants of that limit, integrals of a kernel over the part of it that keys are
within, and the bandwidths and errors that follow from them. Keys are evenly spaced on [0, 1].
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lowpass.registry import Refusal
from lowpass.smoothing.errors import Ends, reach_of, weight_at

# Nodes of Gauss and Legendre on either side of the query, where every kernel is smooth.
NODES = 96


def panel(low: float | np.ndarray, high: float) -> tuple[np.ndarray, np.ndarray]:
    """Place nodes of Gauss and Legendre with their weights between two ends (..., node)."""
    node, weight = np.polynomial.legendre.leggauss(NODES)
    half = np.asarray(high - low)[..., None] / 2
    return np.asarray(low)[..., None] + half * (node + 1), half * weight


def partial_moments(kernel: str, room: np.ndarray, *, power: int = 1) -> np.ndarray:
    r"""Integrate a kernel times powers of the distance, as far as keys reach on one side.

    .. math:: \mu_r(c) = \int_{-c}^\infty u^r K(u)^p\, du, \qquad r = 0, \dots, 3

    Parameters
    ----------
    kernel : str
    room : (place,) float
        c, the distance from the end in bandwidths; may be infinite.
    power : int
        p.

    Returns
    -------
    (moment, place) float
        For K(0) = 1.
    """
    reach = reach_of(kernel)
    ahead, step = panel(0.0, reach)
    behind, back = panel(np.zeros(np.shape(room)), 1.0)
    # One side is scaled to what there is room for.
    width = np.minimum(room, reach)[..., None]
    behind, back = behind * width, back * width
    right, left = weight_at(kernel, ahead) ** power, weight_at(kernel, behind) ** power
    return np.stack(
        [
            (right * ahead**r * step).sum() + (-1) ** r * (left * behind**r * back).sum(axis=-1)
            for r in range(4)
        ]
    )


def bias_constant(kernel: str, degree: int, room: np.ndarray) -> np.ndarray:
    r"""Give the factor of the bias at a distance of c bandwidths from an end.

    The bias is :math:`\frac{\mu_1}{\mu_0} h f'` in degree 0 and

    .. math:: \frac{\mu_2^2 - \mu_1 \mu_3}{2 (\mu_0 \mu_2 - \mu_1^2)}\, h^2 f''

    in degree 1, to leading order; :func:`partial_moments` are those at c. The first vanishes
    far from the end, where the second is half the variance of the kernel.

    Parameters
    ----------
    kernel : str
    degree : {0, 1}
    room : (place,) float
        c.

    Returns
    -------
    (place,) float
        Of :math:`h^{1 + \text{degree}}` times as high a derivative.

    References
    ----------
    .. [1] fan1992.
    .. [2] wand1995, section 5.5, the behaviour near the boundary.
    """
    m0, m1, m2, m3 = partial_moments(kernel, room)
    if degree == 0:
        return m1 / m0
    return (m2**2 - m1 * m3) / (m0 * m2 - m1**2) / 2


def variance_constant(kernel: str) -> float:
    r"""Give :math:`\int K^2 / (\int K)^2`, the variance times n h far from the ends."""
    everywhere = np.array(np.inf)
    square = partial_moments(kernel, everywhere, power=2)[0]
    return float(square / partial_moments(kernel, everywhere)[0] ** 2)


class Leading(NamedTuple):
    r"""Hold the two terms that lead an integrated error, :math:`a h^p + b / n h`.

    Parameters
    ----------
    bias : float
        a, from the square of the bias.
    power : int
        p, four where the interior leads and three where the ends of the interval do.
    variance : float
        b, the noise's variance included.
    """

    bias: float
    power: int
    variance: float

    def bandwidth(self, n: float) -> float:
        r"""Give the best bandwidth, :math:`(b / p a n)^{1/(p + 1)}`."""
        return (self.variance / (self.power * self.bias * n)) ** (1 / (self.power + 1))

    def error(self, n: float) -> float:
        """Give the error at that bandwidth."""
        h = self.bandwidth(n)
        return self.bias * h**self.power + self.variance / (n * h)


def leading_error(
    slope: np.ndarray,
    curvature: np.ndarray,
    noise: float,
    *,
    kernel: str = "gaussian",
    degree: int = 0,
    ends: Ends = "open",
) -> Leading:
    r"""Find what leads the integrated error of a smoother.

    On a ring, and for lines, it is the interior with :math:`a = (\kappa^2/4) \int f''^2`, where
    κ is the variance of the kernel. For local constants on an interval whose ends are not level
    it is these, with :math:`a = (f'(0)^2 + f'(1)^2) \int_0^\infty (\mu_1 / \mu_0)^2 dc`.

    Parameters
    ----------
    slope, curvature : (key,) float
        First and second derivative of the curve at the keys, in order.
    noise : float
        Standard deviation of an observation's error.
    kernel : str
    degree : {0, 1}
    ends : {"open", "joined"}

    Returns
    -------
    Leading

    Raises
    ------
    Refusal
        If the curve is straight where its bend alone has a bias, so that there is no best
        bandwidth.

    References
    ----------
    .. [1] wand1995, chapter 5.
    """
    variance = noise**2 * variance_constant(kernel)
    steep = float(slope[0] ** 2 + slope[-1] ** 2)
    if degree == 0 and ends == "open" and steep > 0:
        room, step = panel(0.0, reach_of(kernel))
        layer = float((np.square(bias_constant(kernel, 0, room)) * step).sum())
        return Leading(steep * layer, 3, variance)
    bend = float(np.square(curvature).mean())
    if bend == 0:
        raise Refusal(
            "the curve is straight, and a line has no bias at any bandwidth; the best one is "
            "without bounds. Give a curve that bends."
        )
    half = float(bias_constant(kernel, 1, np.array(np.inf)))
    return Leading(half**2 * bend, 4, variance)
