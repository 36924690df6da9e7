"""Weights that end at a distance.

It owns what the kernels of bounded support share: how a logit is read as a
distance in units of the bandwidth, and which queries they leave without a key.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from lowpass.registry import Refusal
from lowpass.scores import first, refuse_unusable

# The logit -βr²/2 at the distance r = h, one over the root of β.
REACH = -0.5


def _refuse_products(scores: np.ndarray, kernel: str) -> None:
    bad = scores > 0
    if bad.any():
        raise Refusal(
            f"score [{first(bad)}] is {scores[bad][0]:.6g}; the kernel '{kernel}' reads minus half "
            "a squared distance, which is not positive. Use score 'l2', or kernel 'softmax'."
        )


def _refuse_alone(scores: np.ndarray, total: np.ndarray, kernel: str) -> None:
    alone = total == 0
    if alone.any():
        nearest = scores[alone][0].max()
        raise Refusal(
            f"query [{first(alone)}] has no key within the bandwidth of the kernel '{kernel}': its "
            f"nearest one has the logit {nearest:.3g}, and weights end at {REACH}. Divide beta by "
            f"more than {nearest / REACH:.3g}, or use kernel 'softmax'."
        )


def shares_within_reach(
    scores: np.ndarray, profile: Callable[[np.ndarray], np.ndarray], kernel: str
) -> np.ndarray:
    r"""Weigh every key by its distance in units of the bandwidth, and divide by the sum.

    .. math:: A_{ij} = K(u_{ij}) \big/ \textstyle\sum_l K(u_{il}), \quad
              u = \sqrt{-2S} = |q - k| / h, \quad K(u) = 0 \text{ for } u > 1

    Parameters
    ----------
    scores : (..., query, key) float
        Logits of the score "l2", :math:`-\beta |q - k|^2 / 2` with
        :math:`\beta = 1/h^2`; -inf where a key is masked.
    profile : callable
        From u in [0, 1] to a weight that is not negative.
    kernel : str
        How messages call it.

    Returns
    -------
    (..., query, key) float
        Rows are non-negative and sum to one.

    Raises
    ------
    Refusal
        As for softmax; also if a score is positive, or a query has no key
        within its bandwidth.
    """
    refuse_unusable(scores)
    _refuse_products(scores, kernel)
    near = scores >= REACH
    weight = np.where(near, profile(np.sqrt(-2 * np.where(near, scores, REACH))), 0.0)
    total = weight.sum(axis=-1, keepdims=True)
    _refuse_alone(scores, total[..., 0], kernel)
    return weight / total
