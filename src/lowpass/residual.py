r"""What one layer makes of each of its modes, read off the tokens before it and after it.

It owns the projection of tokens on the modes of the operator

.. math:: s\, I \otimes I + h\, M \otimes W^\top, \qquad X \to s X + h\, M X W,

which are those of the matrix M beside those of the map of values W: the coefficient of mode
i, j is :math:`u_i^* X w_j`, with a left eigenvector of M and a right one of W. A layer
multiplies it by :math:`s + h \lambda_i \mu_j`, whatever the other coefficients are.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lowpass.registry import Refusal

# A coefficient below this share of the tokens has no digits to spare.
PRESENT = 1e-10


class Modes(NamedTuple):
    """Hold the modes of one layer.

    Attributes
    ----------
    eigenvalue : (mode,) complex
        λ, those of M by decreasing modulus; of a conjugate pair the one with positive
        imaginary part comes first.
    left : (mode, token) complex
        u*, as rows of unit length.
    value_eigenvalue : (value_mode,) complex
        μ, those of W, in the same order.
    value_right : (feature, value_mode) complex
        w, as columns of unit length.
    """

    eigenvalue: np.ndarray
    left: np.ndarray
    value_eigenvalue: np.ndarray
    value_right: np.ndarray

    @classmethod
    def of(cls, matrix: np.ndarray, values: np.ndarray) -> Modes:
        """Find the modes of a matrix (query, key) and of a map of values (feature, feature)."""
        # The left eigenvectors of a matrix are the right ones of its transpose.
        eigenvalue, left = ordered(matrix.T)
        value_eigenvalue, value_right = ordered(values)
        return cls(eigenvalue, left.T, value_eigenvalue, value_right)

    def coefficients(self, x: np.ndarray) -> np.ndarray:
        """Project tokens (token, feature) on the modes: (mode, value_mode) complex."""
        return self.left @ x @ self.value_right

    def gains(self, skip: float, step: float) -> np.ndarray:
        """Give the gains s + h λ μ of a layer whose skip passes the map of values by.

        Returns
        -------
        (mode, value_mode) complex
        """
        return skip + step * np.outer(self.eigenvalue, self.value_eigenvalue)

    def written_gains(self, skip: float, step: float) -> np.ndarray:
        """Give the gains (s + h λ) μ of a layer whose skip goes through the map of values.

        Returns
        -------
        (mode, value_mode) complex
            Those of (2I - τL) W for s = h = 1 and M = I - τL.
        """
        return np.outer(skip + step * self.eigenvalue, self.value_eigenvalue)


def ordered(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Find eigenvalues (mode,) by decreasing modulus, and eigenvectors (row, mode) beside them."""
    value, right = np.linalg.eig(matrix)
    order = np.argsort(-np.abs(value), kind="stable")
    return value[order].astype(np.complex128), right[:, order].astype(np.complex128)


def measured_gains(modes: Modes, before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Divide the coefficients of tokens after a layer by those before it.

    Parameters
    ----------
    modes : Modes
    before, after : (token, feature) float

    Returns
    -------
    (mode, value_mode) complex

    Raises
    ------
    Refusal
        Where the tokens before the layer lack a mode, so that nothing shows its gain.
    """
    first = modes.coefficients(before)
    share = np.abs(first) / np.linalg.norm(before)
    if (share < PRESENT).any():
        i, j = np.unravel_index(share.argmin(), share.shape)
        raise Refusal(
            f"the tokens of layer 0 hold mode {i} of the layer's matrix, in mode {j} of the map "
            f"of values, with a share of {share.min():.1g} only, so its gain cannot be read off "
            f"them; start from tokens that hold every mode."
        )
    return modes.coefficients(after) / first


def gain_defect(
    modes: Modes, before: np.ndarray, after: np.ndarray, gains: np.ndarray
) -> np.ndarray:
    r"""Compare a layer with the gains it is said to have, mode by mode.

    .. math:: |u_i^* X_1 w_j - g_{ij}\, u_i^* X_0 w_j| \,/\, \|X_0\|_F

    For the right gains that is rounding, however ill-conditioned the modes are: a computed
    eigenvector solves the equation of its eigenvalue to rounding even where it is not near to
    a true one.

    Parameters
    ----------
    modes : Modes
    before, after : (token, feature) float
    gains : (mode, value_mode) complex

    Returns
    -------
    (mode, value_mode) float
        Not negative; zero where the tokens are zero.
    """
    left_over = np.abs(modes.coefficients(after) - gains * modes.coefficients(before))
    return left_over / (np.linalg.norm(before) or 1.0)
