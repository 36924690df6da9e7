r"""Attention as one step of a random walk along exponentiated logits.

It owns the comparison of an attention matrix with the walk on the affinity
:math:`W = e^{\tilde S}`, taken entry by entry: :math:`A = D^{-1} W = I - L_{rw}`.
"""

from __future__ import annotations

import numpy as np

from lowpass.energy import log10_pair_energy
from lowpass.laplacians import random_walk, stationary_of
from lowpass.modes import eigenvalues
from lowpass.normality import reversibility_defect
from lowpass.symmetrised import affinity_of


def step_defect(attention: np.ndarray, symmetric: np.ndarray) -> np.ndarray:
    r"""Compare attention with one step of the walk.

    .. math:: \max_{ij} |A - (I - L_{rw})|

    Parameters
    ----------
    attention : (..., query, key) float
    symmetric : (..., token, token) float
        S̃.

    Returns
    -------
    (...) float
        In [0, 1]: zero to rounding where attention is that of symmetric logits.

    References
    ----------
    .. [1] chung1997.
    """
    step = np.eye(attention.shape[-1]) - random_walk(affinity_of(symmetric))
    return np.abs(attention - step).max(axis=(-2, -1))


def balance_defect(attention: np.ndarray, symmetric: np.ndarray) -> np.ndarray:
    """Give the largest net flow between two tokens, weighed by the degrees of the affinity.

    Parameters
    ----------
    attention : (..., query, key) float
    symmetric : (..., token, token) float

    Returns
    -------
    (...) float
        In [0, 1]: zero where these degrees are in detailed balance.

    References
    ----------
    .. [1] levin2017, section 1.6.
    """
    return reversibility_defect(attention, degrees(symmetric))


def degrees(symmetric: np.ndarray) -> np.ndarray:
    """Give the degrees (..., token) of the affinity, which sum to one."""
    return stationary_of(affinity_of(symmetric), "random_walk")


def walk_eigenvalues(symmetric: np.ndarray) -> np.ndarray:
    r"""List the eigenvalues of the Laplacian of the walk.

    They are those of :math:`I - D^{-1/2} W D^{-1/2}`, which is symmetric.

    Parameters
    ----------
    symmetric : (..., token, token) float

    Returns
    -------
    (..., mode) float
        In [0, 2), ascending; in [0, 1] where exp(S̃) is positive semidefinite,
        as it is wherever S̃ is.

    References
    ----------
    .. [1] chung1997.
    """
    return eigenvalues(random_walk(affinity_of(symmetric)), degrees(symmetric))


def spectrum_defect(attention: np.ndarray, symmetric: np.ndarray) -> np.ndarray:
    r"""Compare the eigenvalues of attention, found as of any matrix, with those of the walk.

    Parameters
    ----------
    attention : (..., query, key) float
    symmetric : (..., token, token) float

    Returns
    -------
    (...) float
        Largest modulus of a difference, in order of the real parts.
    """
    found = np.linalg.eigvals(attention)
    order = np.argsort(-found.real, axis=-1, kind="stable")
    found = np.take_along_axis(found, order, axis=-1)
    return np.abs(found - (1 - walk_eigenvalues(symmetric))).max(axis=-1)


def energy_defect(attention: np.ndarray, symmetric: np.ndarray, x: np.ndarray) -> np.ndarray:
    r"""Compare two forms of the Dirichlet energy of tokens.

    .. math:: \tfrac12 \sum_{ij} \pi_i A_{ij} \|x_i - x_j\|^2
              = \langle X, (I - A) X \rangle_\pi, \qquad \pi \propto W 1

    Parameters
    ----------
    attention : (..., query, key) float
    symmetric : (..., token, token) float
    x : (..., token, feature) float
        Not all zero.

    Returns
    -------
    (...) float
        Difference in units of ⟨X, X⟩_π: zero to rounding where π is the
        stationary distribution of attention.

    References
    ----------
    .. [1] levin2017, section 13.2.
    """
    pi = degrees(symmetric)
    pairs = 10 ** log10_pair_energy(pi[..., :, None] * attention, x)
    product = (pi[..., :, None] * x * (x - attention @ x)).sum(axis=(-2, -1))
    size = (pi[..., :, None] * x**2).sum(axis=(-2, -1))
    return np.abs(product - pairs) / size
