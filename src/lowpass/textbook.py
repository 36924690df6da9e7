"""An example of a textbook, on a design that is fixed.

It owns the curve by which *Dive into Deep Learning* introduces attention as
regression. The book draws keys and values; here keys are evenly spaced and the
curve is stated beside the scatter about it, so that expected errors are numbers.
"""

from __future__ import annotations

import numpy as np

from lowpass.data import GENERATORS
from lowpass.domains import Count, NonNegative

# Keys and queries lie in [0, 5).
REACH = 5.0


def curve(x: np.ndarray) -> np.ndarray:
    r"""Give the truth, :math:`2 \sin x + x^{0.8}`."""
    return 2 * np.sin(x) + x**0.8


@GENERATORS.add(
    "sine_and_power", kind="observations", reads=False, certain=True, gives=("truth", "queries")
)
def sine_and_power(
    *, n_keys: Count = 50, n_queries: Count = 50, noise: NonNegative = 0.5
) -> dict[str, np.ndarray]:
    r"""Take the curve 2 sin x + x^0.8 on [0, 5), with keys in the middle of equal shares.

    .. math:: k_i = 5 (i + \tfrac12) / n, \qquad q_j = 5 j / m

    Parameters
    ----------
    n_keys : int
        n, the number of keys.
    n_queries : int
        m, the number of queries; 50 are 0, 0.1 … 4.9.
    noise : float
        Standard deviation of a value about the truth.

    Returns
    -------
    dict of str to array
        ``key_position`` (key, feature), ``query_position`` (query, feature), ``truth`` (key,),
        ``truth_at_query`` (query,) and the number ``noise``.

    References
    ----------
    .. [1] zhang2021, section "Attention Pooling: Nadaraya-Watson Kernel Regression".
    """
    key = REACH * (np.arange(n_keys) + 0.5) / n_keys
    query = REACH * np.arange(n_queries) / n_queries
    return {
        "key_position": key[:, None],
        "query_position": query[:, None],
        "truth": curve(key),
        "truth_at_query": curve(query),
        "noise": np.array(noise),
    }
