r"""The heat equation of tokens whose values are mapped.

It owns :math:`\dot X = -L X W_V`: its slope, its modes, and by how much each of them changes
within a layer.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from lowpass import chebyshev, taylor
from lowpass.modes import Modes, changing_modes
from lowpass.registry import Refusal

# Eigenvalues are right to some 1e-14: a growth below this is rounding, or takes ages to show.
MARGINAL = 1e-12
# More steps within one layer would take minutes.
MOST_PIECES = 10_000


@dataclass(frozen=True, eq=False)
class HeatEquation:
    r"""The equation :math:`\dot X = -L X W_V`.

    Attributes
    ----------
    laplacian : (..., token, token) float
        L, whose rows sum to zero: any entry of ``LAPLACIANS`` but ``normalised``.
    stationary : (..., token) float
        As given by :func:`lowpass.laplacians.stationary_of`.
    values : (..., feature, feature) float or None
        W_V; None for the identity.
    """

    laplacian: np.ndarray
    stationary: np.ndarray
    values: np.ndarray | None = None

    @cached_property
    def modes(self) -> Modes:
        """The modes of L that change."""
        return changing_modes(self.laplacian, self.stationary)

    @cached_property
    def rates(self) -> np.ndarray:
        """The products λμ (..., rate) of eigenvalues of L, but for the constant's, and of W_V."""
        value = self.modes.eigenvalue
        if self.values is None:
            return value
        both = value[..., :, None] * np.linalg.eigvals(self.values)[..., None, :]
        return both.reshape(*both.shape[:-2], -1)

    def slope(self, rest: np.ndarray) -> np.ndarray:
        """Give -L R W_V (..., token, feature)."""
        moved = -(self.laplacian @ rest)
        return moved if self.values is None else moved @ self.values

    def member(self, index: tuple[int, ...]) -> HeatEquation:
        """Give one of the equations of a batch."""
        values = None if self.values is None else self.values[index]
        return HeatEquation(self.laplacian[index], self.stationary[index], values)


def log10_exact_gain(equation: HeatEquation, time: float) -> np.ndarray:
    r"""Give the largest factor by which a mode changes in some time.

    .. math:: \max_{i \ge 2, j} |e^{-\tau \lambda_i \mu_j}|

    Parameters
    ----------
    equation : HeatEquation
    time : float
        Diffusion time τ.

    Returns
    -------
    (...) float
        Decimal logarithm.
    """
    return (-time * np.real(equation.rates)).max(axis=-1) / np.log(10)


def log10_step_gain(equation: HeatEquation, time: float, order: int) -> np.ndarray:
    r"""Give the largest factor by which a Taylor step changes a mode.

    .. math:: \max_{i \ge 2, j} \Big|\sum_{k \le p} (-\tau \lambda_i \mu_j)^k / k!\Big|

    Parameters
    ----------
    equation : HeatEquation
    time : float
        Diffusion time τ of the step.
    order : int
        p; one is explicit Euler.

    Returns
    -------
    (...) float
        Decimal logarithm; minus infinity where a step makes all tokens equal.
    """
    gain = taylor.polynomial(-time * equation.rates, order)
    with np.errstate(divide="ignore"):
        return np.log10(np.abs(gain).max(axis=-1))


def is_stable(log10_gain: np.ndarray) -> np.ndarray:
    """Tell where no mode grows (...) bool, given the decimal logarithm of the largest factor."""
    return log10_gain <= np.log10(1 + MARGINAL)


def reach(equation: HeatEquation, time: float) -> tuple[np.ndarray, np.ndarray]:
    r"""Bound what a layer can change, and by how much it can grow.

    .. math:: \tau \max_i |\lambda_i| \, \|W_V\|_2, \qquad
              \tau \max\big(0, \max_{i,j} (-\lambda_i \omega_j)\big)

    with the eigenvalues ω of the symmetric part of W_V.

    Parameters
    ----------
    equation : HeatEquation
    time : float
        Diffusion time τ of the layer.

    Returns
    -------
    reach, growth : (...) float
        The norm of the exponent, and a bound on the logarithm of that of its exponential.
    """
    value = equation.modes.eigenvalue
    ends = np.stack([value[..., 0], value[..., -1]], axis=-1)
    largest = np.abs(ends).max(axis=-1)
    if equation.values is None:
        return time * largest, time * np.maximum(0.0, -ends.min(axis=-1))
    even = (equation.values + np.swapaxes(equation.values, -1, -2)) / 2
    range_of_values = np.linalg.eigvalsh(even)[..., [0, -1]]
    fastest = (-ends[..., :, None] * range_of_values[..., None, :]).max(axis=(-2, -1))
    norm = np.linalg.norm(equation.values, ord=2, axis=(-2, -1))
    return time * largest * norm, time * np.maximum(0.0, fastest)


def pieces(equation: HeatEquation, time: float) -> int:
    """Cut a layer so that in each piece the slowest mode keeps a good part of itself.

    Otherwise the rounding of a sum, or the error of an integrator, would hide it.

    Parameters
    ----------
    equation : HeatEquation
    time : float
        Diffusion time of the layer.

    Returns
    -------
    int
        At least one.

    Raises
    ------
    Refusal
        If these are very many.
    """
    low, high = chebyshev.interval(equation.laplacian)
    if equation.values is None:
        # The slowest of the changing modes is no faster than their mean.
        trace = np.trace(equation.laplacian, axis1=-2, axis2=-1).max()
        speed = max(trace / (equation.laplacian.shape[-1] - 1), -low)
    else:
        norm = np.linalg.norm(equation.values, ord=2, axis=(-2, -1)).max()
        speed = max(-low, high) * norm
    count = np.ceil(time * speed)
    if count > MOST_PIECES:
        raise Refusal(
            f"a layer of diffusion time {time:g} has to be cut into {count:.0e} pieces, in which "
            f"what is left shrinks to a third or so; above {MOST_PIECES} that takes too long. "
            "Give a layer less time, or use the method 'eigh' without values."
        )
    return max(1, int(count))
