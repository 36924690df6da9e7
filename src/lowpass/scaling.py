"""What the second modulus of a long sequence tends to.

It owns two laws, for tokens that are drawn at random.
"""

from __future__ import annotations

import numpy as np


def gaussian_modulus(w_q: np.ndarray, w_k: np.ndarray, beta: np.ndarray | float) -> np.ndarray:
    r"""Give |λ₂| of softmax attention between very many standard normal tokens.

    .. math:: |\lambda_2| \to \frac{\beta}{\sqrt d}\, \rho(W_K W_Q^\top)

    A query x weighs tokens y with the density of the normal distribution times
    :math:`e^{x^\top M y}`, which is the normal distribution about :math:`M^\top x`. The
    mean of a linear function is then linear in x again: linear functions are mapped by
    :math:`M = \beta W_Q W_K^\top / \sqrt d`, whose spectral radius this is, and polynomials
    of a higher degree belong to products of its eigenvalues.

    Parameters
    ----------
    w_q, w_k : (..., feature, projected) float
    beta : (...) float
        Inverse temperature, dimensionless.

    Returns
    -------
    (...) float
        May exceed one, where no sequence is long enough.
    """
    radius = np.abs(np.linalg.eigvals(w_q @ np.swapaxes(w_k, -1, -2))).max(axis=-1)
    return beta / np.sqrt(w_q.shape[-1]) * radius


def independent_modulus(beta: np.ndarray | float, n_tokens: int) -> np.ndarray:
    r"""Give |λ₂| of softmax attention with independent normal logits.

    .. math:: |\lambda_2| \approx \sqrt{(e^{\beta^2} - 1) / n}

    The weights of a row are independent but for their sum, with mean 1/n and the
    variance of a lognormal number over n²: their eigenvalues fill a disc of this radius.

    Parameters
    ----------
    beta : (...) float
        Inverse temperature: the standard deviation of a logit.
    n_tokens : int

    Returns
    -------
    (...) float
        May exceed one, where weights are far from equal.

    References
    ----------
    .. [1] bordenave2012, where the logarithm of a weight need not be normal.
    """
    return np.sqrt(np.expm1(np.square(beta)) / n_tokens)


def layers_to_a_millionth(modulus: np.ndarray) -> np.ndarray:
    r"""Give the depth at which :math:`|\lambda_2|^t` is a millionth.

    Parameters
    ----------
    modulus : (...) float
        |λ₂|.

    Returns
    -------
    (...) float
        In layers, not rounded to whole ones; zero where |λ₂| is zero, infinite where it is one
        or above.
    """
    with np.errstate(divide="ignore"):
        fall = -np.log10(modulus)
    return np.divide(6.0, fall, out=np.full(np.shape(fall), np.inf), where=fall > 0)
