"""Room for labels that would collide.

This module owns one-dimensional placement: heights move as little as possible
(least squares) until they keep a distance. It knows no figure.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from lowpass.registry import Refusal


def spread(
    heights: Sequence[float], gap: float, low: float = -math.inf, high: float = math.inf
) -> list[float]:
    r"""Move heights apart, keeping their order, with the least sum of squares.

    Subtracting ``gap`` times the rank turns "at least a gap apart" into "not
    falling", which pooling of adjacent violators solves; clipping the pooled
    heights solves the problem between two bounds as well.

    Parameters
    ----------
    heights : (label,) float
        Where the labels want to be, in any order; ties keep theirs.
    gap : float
        The least distance, in the unit of the heights.
    low, high : float
        The labels stay between these bounds.

    Returns
    -------
    (label,) list of float
        In the order of the input.

    Examples
    --------
    >>> spread([10.0, 11.0, 40.0], gap=9.0)
    [6.0, 15.0, 40.0]
    """
    room = (len(heights) - 1) * gap
    if any(not math.isfinite(height) for height in heights):
        raise Refusal(
            f"label heights {list(heights)} are not all finite; a line's last value must "
            "lie on the axis, so label it where it is still drawn."
        )
    if high - low < room:
        raise Refusal(
            f"{len(heights)} labels {gap:g} apart need {room:g}, and there is {high - low:g}; "
            "make the panel higher or label fewer lines."
        )
    order = sorted(range(len(heights)), key=lambda label: heights[label])
    pooled = _pool([heights[label] - rank * gap for rank, label in enumerate(order)])
    spread_out = [0.0] * len(heights)
    for rank, label in enumerate(order):
        spread_out[label] = min(max(pooled[rank], low), high - room) + rank * gap
    return spread_out


def _pool(values: Sequence[float]) -> list[float]:
    """Give the non-falling sequence that is nearest in least squares."""
    blocks: list[tuple[float, int]] = []
    for value in values:
        mean, count = value, 1
        while blocks and blocks[-1][0] > mean:
            earlier, size = blocks.pop()
            mean = (earlier * size + mean * count) / (size + count)
            count += size
        blocks.append((mean, count))
    return [mean for mean, count in blocks for _ in range(count)]
