"""Where tokens and observations come from.

It owns the registry of generators, functions whose keyword-only parameters are
their whole configuration, and those that draw tokens. The fact ``kind`` of an
entry says whether it gives ``"tokens"`` to attend over or ``"observations"`` to
smooth; ``reads`` says whether it takes them from the content of a file, which is
its first argument then, or draws them from a random stream.
"""

from __future__ import annotations

import numpy as np

from lowpass.domains import Count, Positive
from lowpass.registry import Refusal, Registry

GENERATORS = Registry("token generator")


@GENERATORS.add("gaussian", kind="tokens", reads=False)
def gaussian(rng: np.random.Generator, *, n_tokens: Count, d_model: Count) -> np.ndarray:
    """Draw independent standard normal tokens.

    Parameters
    ----------
    rng : numpy.random.Generator
    n_tokens : int
        Number of tokens.
    d_model : int
        Number of features of a token.

    Returns
    -------
    (token, feature) float
        Independent entries with mean 0 and variance 1.
    """
    return rng.standard_normal((n_tokens, d_model))


@GENERATORS.add("two_levels", kind="tokens", reads=False)
def two_levels(
    rng: np.random.Generator, *, n_tokens: Count, d_model: Count, contrast: Positive = 0.5
) -> np.ndarray:
    """Place half of the tokens above a common mean and half below it.

    Parameters
    ----------
    rng : numpy.random.Generator
        Draws the mean, m ~ N(0, I).
    n_tokens : int
        Number of tokens; even, so that the two halves balance.
    d_model : int
        Number of features of a token.
    contrast : float
        Dimensionless; the ratio ‖HC‖/‖DC‖ of the result.

    Returns
    -------
    (token, feature) float
        m (1 + contrast) in the first half and m (1 - contrast) in the second.

    Raises
    ------
    Refusal
        If ``n_tokens`` is odd.
    """
    if n_tokens % 2:
        raise Refusal(
            f"two_levels got n_tokens = {n_tokens}; two halves of equal size need an even number. "
            f"Use {n_tokens + 1}."
        )
    mean = rng.standard_normal(d_model)
    level = np.repeat([1 + contrast, 1 - contrast], n_tokens // 2)
    return level[:, None] * mean


@GENERATORS.add("ring", kind="tokens", reads=False)
def ring(rng: np.random.Generator, *, n_tokens: Count) -> np.ndarray:
    """Place tokens evenly on the unit circle; nothing is random.

    Parameters
    ----------
    rng : numpy.random.Generator
        Not used.
    n_tokens : int
        Number of tokens.

    Returns
    -------
    (token, feature) float
        Rows (cos θ, sin θ) with θ = 2π i / n.
    """
    angle = 2 * np.pi * np.arange(n_tokens) / n_tokens
    return np.stack([np.cos(angle), np.sin(angle)], axis=-1)
