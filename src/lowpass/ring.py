"""Tokens on a ring, in closed form.

It owns what attention over a circle does to a Fourier mode, beside what
differential equations do to it.
"""

from __future__ import annotations

import numpy as np


def bessel_gain(k: np.ndarray | int, beta: np.ndarray | float) -> np.ndarray:
    r"""Give the gain of attention for tokens dense on the unit circle.

    The logits :math:`\beta \cos(\theta_i - \theta_j)` make attention a
    convolution with the density :math:`e^{\beta\cos\theta} / 2\pi I_0(\beta)`,
    whose Fourier coefficients are ratios of Bessel functions:

    .. math:: g_k = \frac1{2\pi I_0(\beta)} \int_{-\pi}^{\pi} e^{\beta\cos\theta}
              \cos k\theta \, d\theta = I_k(\beta) / I_0(\beta)

    Parameters
    ----------
    k : (...) int
        Periods around the circle.
    beta : (...) float
        Inverse temperature, not negative.

    Returns
    -------
    (...) float
        One at k = 0, then falling to zero. On n evenly spaced tokens the
        gain differs from it by aliasing, of the size of ``bessel_gain(n - k, beta)``.

    References
    ----------
    .. [1] olver2010, equation 10.32.3.
    """
    from scipy.special import ive

    return ive(np.abs(k), beta) / ive(0, beta)


def gaussian_gain(k: np.ndarray | int, beta: np.ndarray | float) -> np.ndarray:
    r"""Give the gain of the heat equation on the unit circle at the time 1/(2β).

    .. math:: e^{-k^2/2\beta} = \frac{I_k(\beta)}{I_0(\beta)}
              \Big(1 + \frac{k^2}{4\beta^2} + O(\beta^{-3})\Big)

    Parameters
    ----------
    k : (...) int
        Periods around the circle.
    beta : (...) float
        Inverse temperature, not negative.

    Returns
    -------
    (...) float
        In [0, 1]; at β = 0, after infinite time, only k = 0 is left. For fixed
        k the relative distance from :func:`bessel_gain` falls as β⁻²; the
        largest over all k, absolutely, as β⁻¹.

    References
    ----------
    .. [1] olver2010, equation 10.40.1, for the expansion of the ratio.
    """
    square = np.asarray(k, dtype=np.float64) ** 2
    with np.errstate(divide="ignore"):
        time = 0.5 / np.asarray(beta, dtype=np.float64)
    # Otherwise the mean, too, would be lost at infinite time, as zero times infinity.
    return np.exp(-np.where(square > 0, square, 1.0) * np.where(square > 0, time, 0.0))


def ring_eigenvalue(frequency: np.ndarray | float) -> np.ndarray:
    r"""Give the eigenvalue of a ring's combinatorial Laplacian.

    .. math:: \lambda(\omega) = 2 - 2\cos\omega = 4 \sin^2(\omega/2)

    Parameters
    ----------
    frequency : (...) float
        Radians per token; 2πk/n for the mode with k periods on n tokens.

    Returns
    -------
    (...) float
        In [0, 4], with every digit near zero too.
    """
    return 4 * np.sin(np.asarray(frequency) / 2) ** 2


def ring_heat_gain(frequency: np.ndarray | float, time: np.ndarray | float) -> np.ndarray:
    r"""Give the gain of diffusion on a ring with unit weights.

    .. math:: e^{-\tau (2 - 2\cos\omega)}

    Parameters
    ----------
    frequency : (...) float
        Radians per token.
    time : (...) float
        Diffusion time τ, dimensionless.

    Returns
    -------
    (...) float
        In (0, 1] for times that are not negative.
    """
    return np.exp(-np.asarray(time) * ring_eigenvalue(frequency))


def ring_time(n_tokens: int, beta: np.ndarray | float) -> np.ndarray:
    r"""Give the diffusion time on a ring that agrees with attention as β grows.

    Attention tends to :math:`e^{-k^2/2\beta}`, and on n tokens the Laplacian's
    eigenvalue is :math:`(2\pi k/n)^2 (1 - (\pi k/n)^2/3 + \dots)`. The exponents
    have the same leading term if

    .. math:: \tau = \frac{n^2}{8 \pi^2 \beta}

    and then the gains' relative distance tends to
    :math:`\pi^2 k^4 / 6 n^2 \beta + k^2 / 4 \beta^2`: the first term is the
    coarseness of the ring, the second the shape of the kernel.

    Parameters
    ----------
    n_tokens : int
    beta : (...) float
        Inverse temperature, positive.

    Returns
    -------
    (...) float
        Diffusion time, dimensionless; the continuous circle's is 1/(2β).
    """
    return n_tokens**2 / (8 * np.pi**2 * np.asarray(beta))


def circle_heat(x: np.ndarray, time: float) -> np.ndarray:
    r"""Let the heat equation act on tokens that are spread evenly around a circle.

    .. math:: \hat x_k \to e^{-k^2 \tau} \hat x_k

    Parameters
    ----------
    x : (..., token, feature) float
        In the order of the circle.
    time : float
        τ, not negative; infinite time leaves the mean.

    Returns
    -------
    (..., token, feature) float
    """
    n_tokens = x.shape[-2]
    wave = np.fft.rfft(x, axis=-2)
    square = np.arange(wave.shape[-2]) ** 2.0
    gain = np.exp(-square * np.where(square > 0, time, 0.0))
    return np.fft.irfft(gain[:, None] * wave, n_tokens, axis=-2)


def shortened_circle(x: np.ndarray, time: float) -> np.ndarray:
    r"""Shrink a circle as the flow by which curves shorten does.

    A point moves towards the centre at the speed of the curvature, 1/r, so that

    .. math:: r^2 = r_0^2 - 2 \tau

    until nothing is left.

    Parameters
    ----------
    x : (token, feature) float
        Points of a circle around their mean.
    time : float
        τ, not negative.

    Returns
    -------
    (token, feature) float

    References
    ----------
    .. [1] gage1986.
    """
    centre = x.mean(axis=-2, keepdims=True)
    square = ((x - centre) ** 2).sum(axis=-1).mean()
    left = max(0.0, 1 - 2 * time / square) if square else 0.0
    return centre + np.sqrt(left) * (x - centre)
