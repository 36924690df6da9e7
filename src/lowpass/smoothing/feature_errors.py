"""By how much random features miss the similarity that they stand in for.

It owns closed forms of their mean squared error, and of how far a mean over
draws still scatters around it; the features themselves are not drawn here.
"""

from __future__ import annotations

import numpy as np


def positive_error(square: np.ndarray, count: int) -> np.ndarray:
    r"""Give the mean squared error of positive features, relative to the square of the kernel.

    One feature of both is :math:`e^{\omega \cdot (q+k)}` but for a factor that is not random,
    and :math:`\mathrm{E}\, e^{t \cdot \omega} = e^{\|t\|^2/2}`. Hence, with m independent
    directions, the error has mean zero and

    .. math:: \mathrm{MSE} = \frac1m e^{\|q+k\|^2} e^{2 q \cdot k} (1 - e^{-\|q+k\|^2})
              = \frac{e^{\|q+k\|^2} - 1}{m}\, e^{2 q \cdot k}.

    Parameters
    ----------
    square : (...) float
        :math:`\|q+k\|^2`.
    count : int
        m, the number of independent directions.

    Returns
    -------
    (...) float

    References
    ----------
    .. [1] choromanski2021, lemma 2.
    """
    return np.expm1(square) / count


def trigonometric_error(square: np.ndarray, count: int) -> np.ndarray:
    r"""Give the mean squared error of trigonometric features, relative as above.

    One feature of both is :math:`\cos \omega \cdot (q-k)`, with mean
    :math:`e^{-\|q-k\|^2/2}` and variance :math:`(1 - e^{-\|q-k\|^2})^2/2`.

    Parameters
    ----------
    square : (...) float
        :math:`\|q-k\|^2`.
    count : int
        m, the number of independent directions, each of which makes two features.

    Returns
    -------
    (...) float
        :math:`e^{\|q-k\|^2} (1 - e^{-\|q-k\|^2})^2 / 2m`.

    References
    ----------
    .. [1] choromanski2021, lemma 2.
    """
    return np.exp(square) * np.square(np.expm1(-square)) / (2 * count)


def positive_scatter(square: np.ndarray, count: int, draws: int) -> np.ndarray:
    r"""Give the standard deviation of a mean of squared errors, relative to its mean.

    The fourth moment of a lognormal variable is in closed form too; it grows as
    :math:`e^{6\|q+k\|^2}`, so that long tokens need more draws than anybody makes.

    Parameters
    ----------
    square : (...) float
        :math:`\|q+k\|^2`.
    count : int
        m, the number of independent directions of one estimate.
    draws : int
        Independent estimates, of positive features.

    Returns
    -------
    (...) float
    """
    fourth = np.exp(6 * square) - 4 * np.exp(3 * square) + 6 * np.exp(square) - 3
    excess = fourth / np.square(np.expm1(square)) - 3
    return np.sqrt((excess / count + 2) / draws)
