"""Where tokens and observations come from.

It owns the registry of generators, functions whose keyword-only parameters are
their whole configuration, and those that draw tokens. The fact ``kind`` of an
entry says whether it gives ``"tokens"`` to attend over or ``"observations"`` to
smooth; ``reads`` says whether it takes them from the content of a file, which is
its first argument then, or draws them from a random stream. What draws tokens gives
an array; where it states more, the fact ``states`` names what, and it gives a mapping of
arrays with the tokens under ``x``. Observations are a mapping with ``key_position``, and
the fact ``gives`` names what there is beside: see :mod:`lowpass.studies.names`.
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


@GENERATORS.add("permuted_ring", kind="tokens", reads=False)
def permuted_ring(rng: np.random.Generator, *, n_tokens: Count) -> np.ndarray:
    """Place tokens evenly on the unit circle, and number them in random order.

    Whatever compares tokens by their features alone is that of the ring, renamed:
    eigenvalues stay, while discrete Fourier frequencies mean nothing any more.

    Parameters
    ----------
    rng : numpy.random.Generator
        Draws the order.
    n_tokens : int
        Number of tokens.

    Returns
    -------
    (token, feature) float
        The rows of :func:`ring`, each once.
    """
    return ring(rng, n_tokens=n_tokens)[rng.permutation(n_tokens)]


@GENERATORS.add("smooth_ring", kind="tokens", reads=False)
def smooth_ring(
    rng: np.random.Generator, *, n_tokens: Count, d_model: Count, harmonics: Count = 3
) -> np.ndarray:
    r"""Draw features that vary smoothly along a ring, as sums of its longest waves.

    .. math:: x_{ia} = \frac1{\sqrt{m + 1}} \Big(c_{0a} + \sum_{k=1}^{m}
              c_{ka} \cos k\theta_i + s_{ka} \sin k\theta_i\Big), \quad \theta_i = 2\pi i / n

    Parameters
    ----------
    rng : numpy.random.Generator
        Draws the amplitudes c and s ~ N(0, 1).
    n_tokens : int
        Number of tokens.
    d_model : int
        Number of features of a token.
    harmonics : int
        m, the most periods around the ring; below half the number of tokens.

    Returns
    -------
    (token, feature) float
        Independent features of mean 0 and variance 1, whose covariance between
        tokens depends on their distance along the ring only.

    Raises
    ------
    Refusal
        If a wave is too short for the ring.
    """
    if 2 * harmonics >= n_tokens:
        raise Refusal(
            f"smooth_ring got harmonics = {harmonics} and n_tokens = {n_tokens}; a wave has to "
            f"span more than two tokens. Use {2 * harmonics + 1} tokens or more."
        )
    angle = 2 * np.pi * np.arange(n_tokens) / n_tokens
    phase = angle[:, None] * np.arange(harmonics + 1)
    waves = np.concatenate([np.cos(phase), np.sin(phase[:, 1:])], axis=-1)
    amplitude = rng.standard_normal((2 * harmonics + 1, d_model))
    return waves @ amplitude / np.sqrt(harmonics + 1)
