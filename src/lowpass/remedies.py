r"""Remedies against smoothing.

A remedy turns attention into a filter, a polynomial of A. It owns which one: the
coefficients for what differs between tokens, those for their mean, and the weight
of the tokens of layer 0,

.. math:: X \to C \textstyle\sum_k a_k A^k X + J \sum_k b_k A^k X + c X_0,

with J = 11ᵀ/n and C = I - J. A mode of A with eigenvalue λ gets the gain
:math:`g(\lambda) = \sum_k a_k \lambda^k`, the constant mode gets
:math:`\sum_k b_k`. At strength zero every remedy is attention as it was; ``knobs``
of an entry names its other parameters.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lowpass.registry import Registry

REMEDIES = Registry("remedy")


@dataclass(frozen=True)
class Filter:
    """Hold what a layer does with A, the identity and the tokens of layer 0.

    Attributes
    ----------
    high : (power,) tuple of float
        a, coefficients of I, A, A² for what differs between tokens.
    mean : (power,) tuple of float
        b, those for the token mean.
    source : float
        c, the weight of the tokens of layer 0.
    """

    high: tuple[float, ...] = (0.0, 1.0)
    mean: tuple[float, ...] = (0.0, 1.0)
    source: float = 0.0

    @property
    def constant_gain(self) -> float:
        """Gain of the constant mode, for which A is one."""
        return float(sum(self.mean))

    def gain(self, eigenvalue: np.ndarray) -> np.ndarray:
        """Predict the gain of modes other than the constant one.

        Parameters
        ----------
        eigenvalue : (...) complex
            Of A.

        Returns
        -------
        (...) complex
        """
        return np.polynomial.polynomial.polyval(eigenvalue, self.high)

    def matrix(self, attention: np.ndarray) -> np.ndarray:
        """Form the filter's matrix, without the source.

        Parameters
        ----------
        attention : (..., query, key) float
            Square.

        Returns
        -------
        (..., query, key) float
            Its rows sum to the gain of the constant mode.
        """
        n_tokens = attention.shape[-1]
        power = np.broadcast_to(np.eye(n_tokens), attention.shape)
        high, mean = np.zeros(attention.shape), np.zeros(attention.shape[:-1])[..., None, :]
        for a, b in zip(self.high, self.mean, strict=True):
            high = high + a * power
            mean = mean + (b - a) * power.mean(axis=-2, keepdims=True)
            power = power @ attention
        return high + mean


def polynomial(*coefficients: float) -> Filter:
    """Make a filter that treats mean and differences alike."""
    return Filter(coefficients, coefficients)


@REMEDIES.add("none", knobs=())
def none(strength: float) -> Filter:
    """Leave attention as it is, at any strength."""
    return Filter()


@REMEDIES.add("attnscale", knobs=())
def attnscale(strength: float) -> Filter:
    r"""Scale attention around the token mean, J + (1 + ω)(A - J).

    Parameters
    ----------
    strength : float
        ω; neutral at 0.

    Returns
    -------
    Filter
        g(λ) = (1 + ω) λ; the constant mode keeps its gain of one.

    References
    ----------
    .. [1] wang2022, section 3.
    """
    return Filter((0.0, 1 + strength), (-strength, 1 + strength))


@REMEDIES.add("featscale", knobs=("featscale_dc",))
def featscale(strength: float, featscale_dc: float = 0.0) -> Filter:
    r"""Scale the two components of what attention gives, ((1 + s)J + (1 + t)C)A.

    The parts replace what attention gives; adding them to it, scaled, would be the
    filter of strength 1 + 2t.

    Parameters
    ----------
    strength : float
        t, for what differs between tokens; neutral at 0.
    featscale_dc : float
        s, for the token mean; neutral at 0.

    Returns
    -------
    Filter
        g(λ) = (1 + t) λ, and 1 + s for the constant mode.

    References
    ----------
    .. [1] wang2022, section 3.
    """
    return Filter((0.0, 1 + strength), (0.0, 1 + featscale_dc))


@REMEDIES.add("gfsa", knobs=("gfsa_w0", "gfsa_w1", "gfsa_order"))
def gfsa(
    strength: float, gfsa_w0: float = 0.0, gfsa_w1: float = 1.0, gfsa_order: int = 3
) -> Filter:
    r"""Add the identity and an approximate power, w₀I + w₁A + wₖ(A + (K - 1)(A² - A)).

    Parameters
    ----------
    strength : float
        wₖ; neutral at 0.
    gfsa_w0 : float
        w₀; neutral at 0.
    gfsa_w1 : float
        w₁; neutral at 1.
    gfsa_order : int
        K, the power that A + (K - 1)(A² - A) stands for.

    Returns
    -------
    Filter
        g(λ) = w₀ + w₁λ + wₖ(λ + (K - 1)(λ² - λ)).

    References
    ----------
    .. [1] choi2024, section 4.
    """
    slope = gfsa_order - 1
    return polynomial(gfsa_w0, gfsa_w1 + strength * (1 - slope), strength * slope)


@REMEDIES.add("neutreno", knobs=())
def neutreno(strength: float) -> Filter:
    r"""Pull the values back to those of the first layer, AV + λ̃(V⁰ - V).

    The iteration has the fixed point λ̃((1 + λ̃)I - A)⁻¹V⁰, which is stable where
    every |λₖ - λ̃| < 1.

    Parameters
    ----------
    strength : float
        λ̃; neutral at 0.

    Returns
    -------
    Filter
        g(λ) = λ - λ̃ for what differs from the fixed point.

    References
    ----------
    .. [1] nguyen2023.
    """
    return Filter((-strength, 1.0), (-strength, 1.0), strength)


@REMEDIES.add("attinv", knobs=())
def attinv(strength: float) -> Filter:
    r"""Turn attention towards its inverted filter 2I - A, as A + 2c(I - A).

    Parameters
    ----------
    strength : float
        c; neutral at 0, and 2I - A at 1.

    Returns
    -------
    Filter
        g(λ) = λ + 2c(1 - λ).
    """
    return polynomial(2 * strength, 1 - 2 * strength)


@REMEDIES.add("highpass", knobs=())
def highpass(strength: float) -> Filter:
    r"""Turn attention towards the high-pass I - A, as A + c(I - 2A).

    Parameters
    ----------
    strength : float
        c; neutral at 0, and I - A at 1, which keeps no constant.

    Returns
    -------
    Filter
        g(λ) = λ + c(1 - 2λ).
    """
    return polynomial(strength, 1 - 2 * strength)


@REMEDIES.add("residual", knobs=())
def residual(strength: float) -> Filter:
    r"""Add the tokens themselves, A + cI.

    Parameters
    ----------
    strength : float
        c; neutral at 0.

    Returns
    -------
    Filter
        g(λ) = λ + c, and 1 + c for the constant mode.

    References
    ----------
    .. [1] dong2021, section 3.
    """
    return polynomial(strength, 1.0)


@REMEDIES.add("laplacian", knobs=())
def laplacian(strength: float) -> Filter:
    r"""Take the tokens themselves away from what attention gives, A - cI.

    With a skip connection and a step h, a layer of strength one is
    :math:`X - h(I - A)XW_V`, an Euler step of the flow of a graph Laplacian, whereas
    :math:`X + hAXW_V` is one of the flow of A itself.

    Parameters
    ----------
    strength : float
        c; neutral at 0. At 1 what is left is minus the random-walk Laplacian I - A.

    Returns
    -------
    Filter
        g(λ) = λ - c, and 1 - c for the constant mode.

    References
    ----------
    .. [1] chung1997, for the Laplacian of a random walk.
    """
    return polynomial(-strength, 1.0)


@REMEDIES.add("centring", knobs=())
def centring(strength: float) -> Filter:
    r"""Take the token mean away from what attention gives, A - cJ.

    Parameters
    ----------
    strength : float
        c; neutral at 0. At 1 the constant mode is gone after one layer.

    Returns
    -------
    Filter
        g(λ) = λ, and 1 - c for the constant mode.
    """
    return Filter((0.0, 1.0), (-strength, 1.0))
