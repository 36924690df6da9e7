"""Observations of which a smoother's answer is all that it does.

It owns the impulse on evenly spaced keys, whose transform is one at every frequency.
"""

from __future__ import annotations

import numpy as np

from lowpass.data import GENERATORS
from lowpass.domains import Count, Positive
from lowpass.registry import Refusal

# Below, both neighbours of a key are the same one.
LEAST = 3


@GENERATORS.add(
    "impulse", kind="observations", reads=False, certain=True, gives=("values", "circle", "grid")
)
def impulse(*, n_keys: Count, spacing: Positive = 1.0) -> dict[str, np.ndarray]:
    """Observe one at the first of evenly spaced keys of a circle; nothing is random.

    Parameters
    ----------
    n_keys : int
        Number of keys, at least 3; an even one has a wave that alternates from key to key.
    spacing : float
        Arc between neighbours, in any unit.

    Returns
    -------
    dict of str to array
        ``key_position`` (key, feature), the arc from the first key; ``value`` (key,), one there
        and zero elsewhere; ``period``, the circumference.

    Raises
    ------
    Refusal
        If there are fewer than three keys.
    """
    if n_keys < LEAST:
        raise Refusal(
            f"impulse got n_keys = {n_keys}; a ring on which a key has two neighbours has at "
            f"least {LEAST} of them. Use more keys."
        )
    place = np.arange(n_keys)
    return {
        "key_position": spacing * place[:, None],
        "value": np.where(place == 0, 1.0, 0.0),
        "period": np.array(spacing * n_keys),
    }
