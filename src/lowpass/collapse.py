r"""How far tokens are from one row that all of them share, and how fast a bound says they fall.

It owns the composite norm of Dong et al.,

.. math:: \|R\|_{1,\infty} = \sqrt{\|R\|_1 \|R\|_\infty},

the geometric mean of the largest column sum and the largest row sum of moduli.
"""

from __future__ import annotations

import numpy as np


def column_norm(matrix: np.ndarray) -> np.ndarray:
    """Give ‖M‖₁, the largest sum of moduli of a column (..., row, column)."""
    return np.abs(matrix).sum(axis=-2).max(axis=-1)


def row_norm(matrix: np.ndarray) -> np.ndarray:
    """Give ‖M‖_∞, the largest sum of moduli of a row (..., row, column)."""
    return np.abs(matrix).sum(axis=-1).max(axis=-1)


def composite_norm(matrix: np.ndarray) -> np.ndarray:
    r"""Give the composite norm of a matrix.

    .. math:: \|M\|_{1,\infty} = \sqrt{\|M\|_1 \|M\|_\infty}

    Parameters
    ----------
    matrix : (..., row, column) float

    Returns
    -------
    (...) float
        Not negative.

    References
    ----------
    .. [1] dong2021, section 2.
    """
    return np.sqrt(column_norm(matrix) * row_norm(matrix))


def _nearest_column_norm(x: np.ndarray) -> float:
    """Minimise ‖X - 1yᵀ‖₁ over rows y: each column is nearest to its own median."""
    return float(column_norm(x - np.median(x, axis=0)))


def _weighted_spread(x: np.ndarray, weight: np.ndarray) -> float:
    """Sum over columns the least weighted sum of distances from one number, a weighted median."""
    order = np.argsort(x, axis=0)
    height = np.take_along_axis(x, order, axis=0)
    below = np.cumsum(weight[order], axis=0)
    median = np.argmax(below >= weight.sum() / 2, axis=0)
    centre = height[median, np.arange(x.shape[1])]
    return float(weight @ np.abs(x - centre).sum(axis=1))


def _nearest_row_norm(x: np.ndarray) -> float:
    """Bound the minimum of ‖X - 1yᵀ‖_∞ over rows y from below, tightly.

    Any distribution over the tokens gives a bound: the largest distance from y is at least the
    mean one, which weighted medians minimise. A linear program finds the best distribution; how
    well it does so decides how tight the bound is, and not whether it holds.
    """
    from scipy.optimize import linprog
    from scipy.sparse import block_array, eye_array, kron

    n_tokens, d = x.shape
    n_pairs = n_tokens * d
    each = kron(np.ones((n_tokens, 1)), eye_array(d))
    sums = kron(eye_array(n_tokens), np.ones((1, d)))
    # Unknown are the row y, the distance in each coordinate, and the largest distance.
    rules = block_array(
        [
            [None, sums, -np.ones((n_tokens, 1))],
            [each, -eye_array(n_pairs), None],
            [-each, -eye_array(n_pairs), None],
        ],
        format="csr",
    )
    solved = linprog(
        np.concatenate([np.zeros(d + n_pairs), [1.0]]),
        A_ub=rules,
        b_ub=np.concatenate([np.zeros(n_tokens), x.ravel(), -x.ravel()]),
        bounds=(None, None),
        # Faster than the simplex method here, and it ends at a vertex as well.
        method="highs-ipm",
    )
    weight = np.maximum(-solved.ineqlin.marginals[:n_tokens], 0)
    return _weighted_spread(x, weight / weight.sum())


def composite_norm_infimum(x: np.ndarray) -> np.ndarray:
    r"""Bound the composite norm of the residual from below, whatever row is taken away.

    .. math:: \sqrt{\min_y \|X - 1y^\top\|_1 \cdot \min_y \|X - 1y^\top\|_\infty}
              \le \min_y \|X - 1y^\top\|_{1,\infty}

    The first minimum is attained at the medians of columns; the second is
    bounded by a distribution over tokens that a linear program finds.

    Parameters
    ----------
    x : (..., token, feature) float
        Of order one, or all zero.

    Returns
    -------
    (...) float
        Not negative; a lower bound to rounding, at most the norm of the
        residual from any row, such as the mean.

    References
    ----------
    .. [1] dong2021, section 2, where res(X) takes the minimising row away.
    """
    found = np.zeros(x.shape[:-2])
    for index in np.ndindex(found.shape):
        if x[index].any():
            found[index] = np.sqrt(_nearest_column_norm(x[index]) * _nearest_row_norm(x[index]))
    return found


def log10_dong_bound(log10_factor: np.ndarray, log10_start: np.ndarray, depth: int) -> np.ndarray:
    r"""Bound the residual of self-attention after each layer.

    .. math:: \log_{10} \Bigl( c^{(3^L - 1)/2} r^{3^L} \Bigr), \qquad
              c = 4 b / \sqrt{d_{qk}}

    Parameters
    ----------
    log10_factor : (...) float
        Decimal logarithm of c.
    log10_start : (...) float
        Decimal logarithm of r, the composite norm of the residual at layer 0.
    depth : int

    Returns
    -------
    (..., layer) float
        Decimal logarithm for L = 0, 1, ..., ``depth``. Infinite where even that
        is beyond floats, near layer 640, or where r is zero.

    References
    ----------
    .. [1] dong2021, theorem 2.2.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        power = 3.0 ** np.arange(depth + 1)
        steep = np.asarray(log10_factor / 2 + log10_start)[..., None]
        bound = np.where(steep == 0, 0, power * steep) - np.asarray(log10_factor)[..., None] / 2
    return bound
