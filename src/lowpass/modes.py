"""The modes of a Laplacian.

It owns what must hold for modes to be real, with eigenvalues that have all
their digits where no weight is negative.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lowpass.laplacians import first_place
from lowpass.registry import Refusal

# Entries that should mirror each other come from a quotient of sums, each exact to 1e-14.
SYMMETRY = 1e-12


def refuse_missing(x: np.ndarray, what: str) -> None:
    """Insist on finite numbers."""
    missing = ~np.isfinite(x)
    if missing.any():
        index, words = first_place(missing)
        raise Refusal(
            f"{what} [{words}] is {x[index]}; diffusion would spread it to every token. "
            "Give finite numbers."
        )


def balanced(laplacian: np.ndarray, stationary: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    r"""Turn a Laplacian into a similar symmetric matrix.

    .. math:: \Pi^{1/2} L\, \Pi^{-1/2}, \qquad \Pi = \operatorname{diag}(\pi)

    Parameters
    ----------
    laplacian : (..., token, token) float
    stationary : (..., token) float or None
        Weights π with π_i L_ij = π_j L_ji; None where L is symmetric.

    Returns
    -------
    symmetric : (..., token, token) float
    root : (..., token) float
        The square roots of π.

    Raises
    ------
    Refusal
        If an entry is not finite, a weight is not positive, or the result is
        not symmetric to rounding.
    """
    refuse_missing(laplacian, "the Laplacian's entry")
    if stationary is None:
        stationary = np.full(laplacian.shape[:-1], 1 / laplacian.shape[-1])
    if not (stationary > 0).all():
        index, words = first_place(~(stationary > 0))
        raise Refusal(
            f"the stationary weight of token [{words}] is {stationary[index]:.3g}; modes are "
            "divided by its root. Remove tokens without neighbours."
        )
    root = np.sqrt(stationary)
    even = root[..., :, None] * laplacian / root[..., None, :]
    mirror = np.swapaxes(even, -1, -2)
    apart = np.abs(even - mirror)
    if (apart > SYMMETRY * np.abs(even).max(axis=(-2, -1), keepdims=True)).any():
        index, words = first_place(apart == apart.max())
        raise Refusal(
            f"the Laplacian, balanced by its stationary weights, is {even[index]:.6g} at "
            f"[{words}] and {mirror[index]:.6g} in the mirror image, {apart[index]:.3g} apart; "
            "only a symmetric one has real modes. Give the weights of 'stationary_of', or a "
            "symmetric affinity."
        )
    return (even + mirror) / 2, root


def _loses_constants(laplacian: np.ndarray) -> np.ndarray:
    """Tell which rows sum to more than the rounding of their sum."""
    rounding = laplacian.shape[-1] * np.finfo(np.float64).eps * np.abs(laplacian).sum(axis=-1)
    return np.abs(laplacian.sum(axis=-1)) > 4 * rounding


def refuse_other_limits(laplacian: np.ndarray) -> None:
    """Insist that a constant stays, beside which something can flow."""
    if laplacian.shape[-1] < 2:
        raise Refusal("there is one token; nothing can flow to another. Give two tokens or more.")
    bad = _loses_constants(laplacian)
    if bad.any():
        index, words = first_place(bad)
        raise Refusal(
            f"row [{words}] of the Laplacian sums to {laplacian[index].sum():.3g}; its heat flow "
            "does not keep constants, so no mean survives. Instead of 'normalised' use "
            "'random_walk', which is similar to it."
        )


@dataclass(frozen=True)
class Modes:
    r"""The modes that diffusion changes, beside the constant that it keeps.

    .. math:: L v_m = \lambda_m v_m, \qquad \pi^\top v_m = 0, \qquad
              v_l^\top \operatorname{diag}(\pi)\, v_m = \delta_{lm}

    Attributes
    ----------
    eigenvalue : (..., mode) float
        One fewer than tokens, ascending.
    vector : (..., token, mode) float
    """

    eigenvalue: np.ndarray
    vector: np.ndarray


def _energy(laplacian: np.ndarray, stationary: np.ndarray, vector: np.ndarray) -> np.ndarray:
    r"""Take eigenvalues from differences between neighbours.

    .. math:: \lambda = \sum_{i < j} \pi_i (-L_{ij}) (v_i - v_j)^2 \Big/ \sum_i \pi_i v_i^2

    Without negative weights no term cancels another, so that the smallest eigenvalue has as many
    digits as the largest; an eigensolver leaves an error relative to the largest. The square of
    the vectors' error is what remains, 1e-32 of the largest.
    """
    energy = np.zeros(vector.shape[:-2] + vector.shape[-1:])
    leading = tuple(range(laplacian.ndim - 2))
    for token in range(laplacian.shape[-1]):
        joined = (laplacian[..., token, token + 1 :] != 0).any(axis=leading)
        near = token + 1 + np.flatnonzero(joined)
        step = vector[..., near, :] - vector[..., token, None, :]
        rate = -stationary[..., token, None] * laplacian[..., token, near]
        energy += (rate[..., None, :] @ np.square(step, out=step))[..., 0, :]
    return energy / (stationary[..., None, :] @ vector**2)[..., 0, :]


def changing_modes(laplacian: np.ndarray, stationary: np.ndarray) -> Modes:
    """Find the modes that a heat flow changes.

    A reflection turns the constant mode into the first axis, which is left
    out: what remains is free of it whatever the other eigenvalues are.

    Parameters
    ----------
    laplacian : (..., token, token) float
        Its rows sum to zero.
    stationary : (..., token) float
        Weights π with π_i L_ij = π_j L_ji; they sum to one.

    Returns
    -------
    Modes
        For affinities that are not negative each eigenvalue is right relative
        to itself, down to 1e-17 of the largest; else relative to the largest.

    Raises
    ------
    Refusal
        If rows do not sum to zero, the balance does not hold, or an entry is
        not finite.
    """
    symmetric, root = balanced(laplacian, stationary)
    refuse_other_limits(laplacian)
    axis = root.copy()
    # Adding, not subtracting, keeps the reflection exact where the first weight is nearly one.
    axis[..., 0] += 1
    axis /= np.linalg.norm(axis, axis=-1, keepdims=True)
    across = (symmetric @ axis[..., None])[..., 0]
    inside = (across * axis).sum(axis=-1)[..., None, None]
    outer = axis[..., :, None] * (across[..., None, :] - inside * axis[..., None, :])
    turned = symmetric - 2 * (outer + np.swapaxes(outer, -1, -2))
    _, inner = np.linalg.eigh(turned[..., 1:, 1:])
    along = axis[..., None, 1:] @ inner
    lifted = np.concatenate([np.zeros_like(along), inner], axis=-2)
    vector = (lifted - 2 * axis[..., :, None] * along) / root[..., :, None]
    value = _energy(laplacian, stationary, vector)
    order = np.argsort(value, axis=-1, kind="stable")
    return Modes(
        np.take_along_axis(value, order, axis=-1),
        np.take_along_axis(vector, order[..., None, :], axis=-1),
    )


def eigenvalues(laplacian: np.ndarray, stationary: np.ndarray | None = None) -> np.ndarray:
    """List the eigenvalues of a Laplacian in ascending order.

    Parameters
    ----------
    laplacian : (..., token, token) float
    stationary : (..., token) float or None
        Weights π with π_i L_ij = π_j L_ji, as given by
        :func:`lowpass.laplacians.stationary_of`; None where L is symmetric.

    Returns
    -------
    (..., mode) float
        Real. Where constants are kept, their zero is exact, and for affinities
        that are not negative every other one is right relative to itself, down
        to 1e-17 of the largest.

    Raises
    ------
    Refusal
        If the balance does not hold or an entry is not finite.
    """
    symmetric, root = balanced(laplacian, stationary)
    if laplacian.shape[-1] < 2 or _loses_constants(laplacian).any():
        return np.linalg.eigvalsh(symmetric)
    return with_constant(changing_modes(laplacian, root**2).eigenvalue)


def with_constant(eigenvalue: np.ndarray) -> np.ndarray:
    """Put the zero of the constant mode among the eigenvalues of the changing ones.

    Parameters
    ----------
    eigenvalue : (..., mode) float

    Returns
    -------
    (..., mode) float
        One more, ascending.
    """
    constant = np.zeros((*eigenvalue.shape[:-1], 1))
    return np.sort(np.concatenate([constant, eigenvalue], axis=-1), axis=-1)
