"""Queries, keys and values that are drawn at random.

It owns the generator of observations that stand for nothing: what holds of them holds of the
formulas.
"""

from __future__ import annotations

import numpy as np

from lowpass.data import GENERATORS
from lowpass.domains import Count, Positive


@GENERATORS.add("pairs", kind="observations", reads=False, gives=("values", "queries"))
def pairs(
    rng: np.random.Generator,
    *,
    n_queries: Count,
    n_keys: Count,
    n_features: Count,
    key_scale: Positive = 1.0,
) -> dict[str, np.ndarray]:
    """Draw standard normal queries, keys and values, all independent.

    Parameters
    ----------
    rng : numpy.random.Generator
    n_queries : int
        Number of queries.
    n_keys : int
        Number of keys, each with a value.
    n_features : int
        Number of features of a query and of a key.
    key_scale : float
        Standard deviation of the features of keys, where those of queries have one.

    Returns
    -------
    dict of str to array
        ``query_position`` (query, feature), ``key_position`` (key, feature), ``value`` (key,).
    """
    query = rng.standard_normal((n_queries, n_features))
    key = key_scale * rng.standard_normal((n_keys, n_features))
    return {
        "query_position": query,
        "key_position": key,
        "value": rng.standard_normal(n_keys),
    }
