"""How projections are drawn.

It owns the distributions of the query and key projections, which decide how
tokens are compared.
"""

from __future__ import annotations

import numpy as np

from lowpass.registry import Registry

WEIGHTS = Registry("weight distribution")


@WEIGHTS.add("untied")
def untied(rng: np.random.Generator, d_model: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw independent projections of queries and keys.

    Parameters
    ----------
    rng : numpy.random.Generator
    d_model : int

    Returns
    -------
    w_q, w_k : (feature, feature) float
        Independent entries, N(0, 1/d).
    """
    w_q, w_k = rng.standard_normal((2, d_model, d_model)) / np.sqrt(d_model)
    return w_q, w_k


@WEIGHTS.add("symmetric")
def symmetric(rng: np.random.Generator, d_model: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw projections whose dot-product logits are symmetric.

    Symmetric logits make softmax attention reversible, so its spectrum is real.

    Parameters
    ----------
    rng : numpy.random.Generator
    d_model : int

    Returns
    -------
    w_q, w_k : (feature, feature) float
        The identity, and (G + Gᵀ)/√2 with G ~ N(0, 1/d).
    """
    g = rng.standard_normal((d_model, d_model)) / np.sqrt(d_model)
    return np.eye(d_model), (g + g.T) / np.sqrt(2)


@WEIGHTS.add("tied")
def tied(rng: np.random.Generator, d_model: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw one projection for queries and keys alike.

    Parameters
    ----------
    rng : numpy.random.Generator
    d_model : int

    Returns
    -------
    w_q, w_k : (feature, feature) float
        Equal, with entries N(0, 1/d): the logits are a positive semi-definite
        Gram matrix.
    """
    w = rng.standard_normal((d_model, d_model)) / np.sqrt(d_model)
    return w, w


@WEIGHTS.add("identity")
def identity(rng: np.random.Generator, d_model: int) -> tuple[np.ndarray, np.ndarray]:
    """Compare the tokens as they are; nothing is random.

    Parameters
    ----------
    rng : numpy.random.Generator
        Not used.
    d_model : int

    Returns
    -------
    w_q, w_k : (feature, feature) float
        Both the identity.
    """
    return np.eye(d_model), np.eye(d_model)
