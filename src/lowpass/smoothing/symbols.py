r"""What smoothing does to a wave, in closed form.

It owns the symbols of smoothing kernels, that is, the factors by which they change a
wave of each frequency: on a line where keys are dense, and on a ring where they are
evenly spaced. Nothing here forms a weight, so that a smoother can be held to it.

D is the spacing of the keys and h the bandwidth, in one unit; ω is a frequency in
radians per that unit, so that waves on the ring have \|ω\| ≤ π/D.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from lowpass.registry import Refusal, Registry

SYMBOLS = Registry("symbol of a smoothing kernel")

# Below, a power series of the cosine has all digits; above, integration by parts has them.
NEAR = 4.0
TERMS = 24
# The largest exponent that still adds to one.
FARTHEST = 40.0
# Kernels of bounded support have their first, deepest lobe within these scaled frequencies.
LOBES = np.linspace(0, 20, 2001)

# The largest value of x⁴ exp(-x²/2)/24, at x = 2.
HEAT_SUP = 2 / (3 * np.exp(2))


@SYMBOLS.add("gaussian")
def gaussian(scaled: np.ndarray) -> np.ndarray:
    r"""Transform the kernel :math:`e^{-u^2/2}`: :math:`e^{-x^2/2}`.

    Parameters
    ----------
    scaled : (...) float
        x = hω, dimensionless.

    Returns
    -------
    (...) float
        One at zero.
    """
    return np.exp(-(np.asarray(scaled, dtype=np.float64) ** 2) / 2)


@SYMBOLS.add("laplace")
def laplace(scaled: np.ndarray) -> np.ndarray:
    r"""Transform the kernel :math:`e^{-|u|}`: :math:`1/(1 + x^2)`."""
    return 1 / (1 + np.asarray(scaled, dtype=np.float64) ** 2)


@SYMBOLS.add("triangle")
def triangle(scaled: np.ndarray) -> np.ndarray:
    r"""Transform the kernel :math:`1 - |u|`: :math:`(\sin(x/2) / (x/2))^2`.

    It is a boxcar of half the width twice over, so its symbol is a square.
    """
    return np.sinc(np.asarray(scaled) / (2 * np.pi)) ** 2


@SYMBOLS.add("boxcar")
def boxcar(scaled: np.ndarray) -> np.ndarray:
    r"""Transform the kernel 1 on [-1, 1]: :math:`\sin x / x`."""
    return np.sinc(np.asarray(scaled) / np.pi)


@SYMBOLS.add("epanechnikov")
def epanechnikov(scaled: np.ndarray) -> np.ndarray:
    r"""Transform the kernel :math:`1 - u^2`: :math:`3 (\sin x - x \cos x) / x^3`."""
    return polynomial_symbol(np.array([1.0, 0, -1]), scaled)


@SYMBOLS.add("tricube")
def tricube(scaled: np.ndarray) -> np.ndarray:
    r"""Transform the kernel :math:`(1 - |u|^3)^3`, of which the cusps decide how it falls."""
    return polynomial_symbol(np.array([1.0, 0, 0, -3, 0, 0, 3, 0, 0, -1]), scaled)


def polynomial_symbol(coefficients: np.ndarray, scaled: np.ndarray) -> np.ndarray:
    r"""Transform a kernel that is a polynomial in \|u\| and ends at one.

    .. math:: I(p) = \int_0^1 p(u) \cos(xu)\, du
              = \frac{p(1) \sin x}x + \frac{p'(1)\cos x - p'(0)}{x^2} - \frac{I(p'')}{x^2}

    Parameters
    ----------
    coefficients : (power,) float
        Of p, from the constant on.
    scaled : (...) float
        x = hω, dimensionless.

    Returns
    -------
    (...) float
        I(p) at x over that at zero.
    """
    x = np.abs(np.asarray(scaled, dtype=np.float64))
    far = _by_parts(np.polynomial.Polynomial(coefficients), np.maximum(x, NEAR))
    power = np.arange(len(coefficients))
    near, term = np.zeros_like(x), np.ones_like(x)
    for j in range(TERMS):
        near += term * float((coefficients / (2 * j + power + 1)).sum())
        term = -term * np.minimum(x, NEAR) ** 2 / ((2 * j + 1) * (2 * j + 2))
    return np.where(x < NEAR, near, far) / float((coefficients / (power + 1)).sum())


def _by_parts(p: np.polynomial.Polynomial, x: np.ndarray) -> np.ndarray:
    """Integrate a polynomial times a cosine over [0, 1], by its derivatives."""
    slope = p.deriv()
    ends = p(1) * np.sin(x) / x + (slope(1) * np.cos(x) - slope(0)) / x**2
    return ends - _by_parts(slope.deriv(), x) / x**2 if p.degree() > 1 else ends


class Lobe(NamedTuple):
    """Say where a symbol turns negative, and how far it goes."""

    first_zero: float
    place: float
    depth: float


def deepest_lobe(kernel: str) -> Lobe:
    """Find the first zero of a kernel's symbol, and its most negative value.

    Parameters
    ----------
    kernel : str
        Of `SYMBOLS`.

    Returns
    -------
    Lobe
        Scaled frequencies x = hω and the value there; ``(inf, inf, 0)`` where the symbol
        is never negative.
    """
    from scipy.optimize import brentq, minimize_scalar

    symbol = SYMBOLS[kernel]
    value = symbol(LOBES)
    # A double zero, as that of a square, is no change of sign but for rounding.
    if value.min() > -1e-12:
        return Lobe(np.inf, np.inf, 0.0)
    negative, lowest = int(np.argmax(value < 0)), int(np.argmin(value))
    zero: Any = brentq(symbol, LOBES[negative - 1], LOBES[negative], xtol=1e-14)
    bounds = (LOBES[lowest - 1], LOBES[lowest + 1])
    found: Any = minimize_scalar(symbol, bounds=bounds, method="bounded", options={"xatol": 1e-9})
    return Lobe(float(zero), float(found.x), float(found.fun))


def ring_symbol(frequency: np.ndarray, bandwidth: float, spacing: float = 1.0) -> np.ndarray:
    r"""Give the symbol of the wrapped Gaussian smoother on evenly spaced keys.

    .. math:: H(\omega) = \frac{\sum_m e^{-h^2 (\omega + 2\pi m/D)^2 / 2}}
                               {\sum_m e^{-h^2 (2\pi m/D)^2 / 2}}

    Sampling a kernel at the keys adds the images of its transform (Poisson), and
    normalising a row divides by what they add up to at zero: a ratio of theta functions.

    Parameters
    ----------
    frequency : (...) float
        ω; any real number, in radians per unit of the spacing.
    bandwidth, spacing : float
        h and D, positive.

    Returns
    -------
    (...) float
        In (0, 1], and one at ω = 0; the number of keys does not enter.

    Raises
    ------
    Refusal
        If the bandwidth or the spacing is not positive.

    References
    ----------
    .. [1] olver2010, equation 20.2.3.
    """
    _refuse_nothing(bandwidth=bandwidth, spacing=spacing)
    period = 2 * np.pi / spacing
    reach = int(np.ceil(np.sqrt(2 * FARTHEST) / (bandwidth * period))) + 1
    image = period * np.arange(-reach, reach + 1)
    # To within half a period of zero, or the images around it would be too few.
    folded = np.asarray(frequency) - period * np.round(np.asarray(frequency) / period)
    seen = gaussian(bandwidth * (folded[..., None] + image)).sum(axis=-1)
    return seen / gaussian(bandwidth * image).sum()


def grid_deviation(bandwidth: float, spacing: float = 1.0) -> float:
    r"""Bound how far a grid moves the symbol of the Gaussian, at the Nyquist frequency.

    .. math:: \max_{|\omega| \le \pi/D} |H(\omega) - e^{-h^2\omega^2/2}|
              \le e^{-\pi^2 h^2 / 2 D^2}
    """
    return float(np.exp(-((np.pi * bandwidth / spacing) ** 2) / 2))


def layers_deviation(layers: int, bandwidth: float, spacing: float = 1.0) -> float:
    r"""Give what T layers of smoothing miss of one that is √T times as wide, for wide ones.

    .. math:: \max_\omega |H_h(\omega)^T - H_{\sqrt T h}(\omega)|
              \simeq T e^{-2 \pi^2 (1 - 1/T) h^2 / D^2}

    The images of a Gaussian multiply where those of one layer would add; the first of them
    shows most at :math:`\omega = 2\pi/TD`.

    Parameters
    ----------
    layers : int
        T, at least 2.
    bandwidth, spacing : float
        h and D, with h not small against D.

    Returns
    -------
    float
        Relative error :math:`O(e^{-4\pi^2h^2/TD^2})`, nothing at T = 2.
    """
    return float(layers * np.exp(-2 * (1 - 1 / layers) * (np.pi * bandwidth / spacing) ** 2))


def half_power_frequency(bandwidth: float) -> float:
    r"""Give the frequency of which a Gaussian smoother leaves half the power, √(ln 2)/h."""
    return float(np.sqrt(np.log(2)) / bandwidth)


def heat_sup(bandwidth: float, spacing: float = 1.0) -> float:
    r"""Give how far heat on a ring is from the Gaussian smoother, between symbols, for wide ones.

    .. math:: \max_\omega |e^{-\tau(2 - 2\cos\omega D)/D^2} - e^{-h^2\omega^2/2}|
              \simeq \max_x \frac{x^4 e^{-x^2/2}}{24} \frac{D^2}{h^2}
              = \frac{2}{3 e^2} \frac{D^2}{h^2}, \qquad \tau = h^2/2
    """
    return float(HEAT_SUP * (spacing / bandwidth) ** 2)


def heat_l1(bandwidth: float, spacing: float = 1.0) -> float:
    r"""Give how far heat on a ring is from the Gaussian smoother, between rows, for wide ones.

    The difference of symbols :math:`x^4 e^{-x^2/2}/24` transforms to the fourth Hermite
    polynomial times a normal density. Its antiderivative is minus the third, so that its
    modulus is known at the roots :math:`a^2 = 3 - \sqrt 6`, :math:`b^2 = 3 + \sqrt 6`:

    .. math:: \sum_j |E_{ij} - A_{ij}| \simeq \frac{E|\mathrm{He}_4(Z)|}{24} \frac{D^2}{h^2}
              = \frac{a \varphi(a) + b \varphi(b)}{\sqrt 6} \frac{D^2}{h^2}
    """
    root = np.sqrt(3 + np.array([-1, 1]) * np.sqrt(6))
    density = np.exp(-(root**2) / 2) / np.sqrt(2 * np.pi)
    return float((root * density).sum() / np.sqrt(6) * (spacing / bandwidth) ** 2)


def _refuse_nothing(**lengths: float) -> None:
    """Refuse a length that is not a positive number."""
    for name, length in lengths.items():
        if not 0 < length < np.inf:
            raise Refusal(
                f"{name} is {length:g}; a symbol scales frequencies with it, so it has to be a "
                "positive number. Use one in the units of the keys."
            )
