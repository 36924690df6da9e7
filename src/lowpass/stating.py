"""Generators that state logits beside tokens.

It owns the laws of these logits. Their tokens are Gaussian, and independent of
them: they are the signal alone. Logits are stated at the inverse temperature
one, and a fact ``states`` says that they are, so that no score is asked for.
"""

from __future__ import annotations

import numpy as np

from lowpass.data import GENERATORS, gaussian
from lowpass.domains import Count
from lowpass.registry import Refusal


@GENERATORS.add("iid_logits", kind="tokens", reads=False, states=("logits",))
def iid_logits(
    rng: np.random.Generator, *, n_tokens: Count, d_model: Count
) -> dict[str, np.ndarray]:
    r"""Draw logits as independent standard normal numbers, and tokens beside them.

    Parameters
    ----------
    rng : numpy.random.Generator
    n_tokens : int
        Number of tokens.
    d_model : int
        Number of features of a token.

    Returns
    -------
    x : (token, feature) float
        Independent entries with mean 0 and variance 1.
    logits : (query, key) float
        The same; at the inverse temperature β their standard deviation is β.
    """
    x = gaussian(rng, n_tokens=n_tokens, d_model=d_model)
    return {"x": x, "logits": rng.standard_normal((n_tokens, n_tokens))}


@GENERATORS.add("hubs", kind="tokens", reads=False, states=("logits",))
def hubs(rng: np.random.Generator, *, n_tokens: Count, d_model: Count) -> dict[str, np.ndarray]:
    r"""Let the first half of the queries prefer the first key, the second half the second.

    Under softmax the preferred key has a weight that exceeds every other one by
    :math:`\delta = (1 - e^{-\beta}) / (1 + (n-1) e^{-\beta})`. One layer then
    enlarges the high-frequency component of the signal :math:`e_1 - e_2` by
    :math:`\|CAC\|_2 = \delta \sqrt{n/2}`, which tends to :math:`\sqrt{n/2}` with β,
    although for n > 2 it is gone after two: :math:`(CAC)^2 = 0`.

    Parameters
    ----------
    rng : numpy.random.Generator
        Draws the tokens.
    n_tokens : int
        Number of tokens; even, so that the two halves balance.
    d_model : int
        Number of features of a token.

    Returns
    -------
    x : (token, feature) float
        Independent entries with mean 0 and variance 1.
    logits : (query, key) float
        Zero for the preferred key and minus one for all others.

    Raises
    ------
    Refusal
        If ``n_tokens`` is odd.
    """
    if n_tokens % 2:
        raise Refusal(
            f"hubs got n_tokens = {n_tokens}; two halves of equal size need an even number. "
            f"Use {n_tokens + 1}."
        )
    first = np.arange(n_tokens) < n_tokens // 2
    preferred = np.where(first, 0, 1)[:, None] == np.arange(n_tokens)
    x = gaussian(rng, n_tokens=n_tokens, d_model=d_model)
    return {"x": x, "logits": np.where(preferred, 0.0, -1.0)}


@GENERATORS.add("ring_neighbours", kind="tokens", reads=False, states=("logits",))
def ring_neighbours(
    rng: np.random.Generator, *, n_tokens: Count, d_model: Count
) -> dict[str, np.ndarray]:
    r"""Let every query prefer the two neighbours of its own token on a ring, and not itself.

    Under softmax the gain of a wave with k > 0 periods around the ring is

    .. math:: \frac{2 (1 - e^{-\beta})}{2 + (n-2) e^{-\beta}}
              \left|\cos \frac{2\pi k}{n}\right|

    so that the highest frequency passes like none, and k = n/4 is erased.

    Parameters
    ----------
    rng : numpy.random.Generator
        Draws the tokens.
    n_tokens : int
        Number of tokens, three or more; a multiple of four has a wave of n/4
        periods, an even number one that alternates.
    d_model : int
        Number of features of a token.

    Returns
    -------
    x : (token, feature) float
        Independent entries with mean 0 and variance 1.
    logits : (query, key) float
        Zero for the neighbours and minus one for all others: circulant.

    Raises
    ------
    Refusal
        If there are fewer than three tokens.
    """
    if n_tokens < 3:
        raise Refusal(
            f"ring_neighbours got n_tokens = {n_tokens}; below three, both neighbours of a token "
            "are the same one. Use 3 or more."
        )
    next_one = np.roll(np.eye(n_tokens, dtype=bool), 1, axis=-1)
    x = gaussian(rng, n_tokens=n_tokens, d_model=d_model)
    return {"x": x, "logits": np.where(next_one | next_one.T, 0.0, -1.0)}


@GENERATORS.add("row_shifts", kind="tokens", reads=False, states=("logits",))
def row_shifts(
    rng: np.random.Generator, *, n_tokens: Count, d_model: Count
) -> dict[str, np.ndarray]:
    r"""Give every query the same logit for all keys, and another one than its neighbours.

    Softmax sees no shift of a row, so that attention is uniform whatever β. The
    symmetric part of these logits is not constant along rows, :math:`\tilde S_{ij} =
    (a_i + a_j)/2`, and its softmax is :math:`1 \operatorname{softmax}(\beta a / 2)^\top`.

    Parameters
    ----------
    rng : numpy.random.Generator
        Draws the tokens, and the shifts a ~ N(0, I).
    n_tokens : int
        Number of tokens.
    d_model : int
        Number of features of a token.

    Returns
    -------
    x : (token, feature) float
        Independent entries with mean 0 and variance 1.
    logits : (query, key) float
        a1ᵀ.
    """
    x = gaussian(rng, n_tokens=n_tokens, d_model=d_model)
    return {"x": x, "logits": np.tile(rng.standard_normal((n_tokens, 1)), n_tokens)}
