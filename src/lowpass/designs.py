"""Observations of a curve that is known, at keys that are evenly spaced.

It owns generators that leave nothing to chance: where the truth, and how far values scatter
about it, are known, the error of a smoother is a number and no estimate.
"""

from __future__ import annotations

import numpy as np

from lowpass.data import GENERATORS
from lowpass.domains import Count, NonNegative, Share


@GENERATORS.add(
    "wave",
    kind="observations",
    reads=False,
    certain=True,
    gives=("truth", "circle", "grid"),
)
def wave(*, n_keys: Count, shift: Share = 0.125, noise: NonNegative = 0.5) -> dict[str, np.ndarray]:
    r"""Place keys in the middle of equal shares of [0, 1], and take a wave for the truth.

    .. math:: x_i = \frac{i + 1/2}{n}, \qquad f(x) = \sin 2\pi(x + s)

    Its ends meet, so that the same keys serve as an interval and as a ring.

    Parameters
    ----------
    n_keys : int
        n, the number of keys.
    shift : float
        s, in periods; at 0 the wave has no curvature at the ends, and at 0.25 no slope.
    noise : float
        Standard deviation of a value about the truth, which has the amplitude one.

    Returns
    -------
    dict of str to array
        ``key_position`` (key, feature), ``truth``, ``truth_slope`` and ``truth_curvature``
        (key,), and the numbers ``noise`` and ``period``, one turn of the ring.
    """
    place = (np.arange(n_keys) + 0.5) / n_keys
    turn = 2 * np.pi
    angle = turn * (place + shift)
    return {
        "key_position": place[:, None],
        "truth": np.sin(angle),
        "truth_slope": turn * np.cos(angle),
        "truth_curvature": -(turn**2) * np.sin(angle),
        "noise": np.array(noise),
        "period": np.array(1.0),
    }
