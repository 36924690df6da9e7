"""Fits from cells: of second order, and exact where there is nothing to count."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from lowpass.registry import Refusal
from lowpass.smoothing.binned import MOST_NODES, binned
from lowpass.smoothing.checks import checked
from lowpass.smoothing.methods import METHODS

KNOBS = {"kernel": "gaussian", "degree": 0, "beyond": "nearest"}


@pytest.mark.parametrize("period", [None, 1.0])
def test_the_error_falls_with_the_square_of_the_number_of_nodes(period, rng):
    key, query = rng.random((2, 400))
    value = np.sin(2 * np.pi * key) + 0.1 * rng.standard_normal(400)
    sample = checked(query, key, value, 0.1, period=period)
    exact = METHODS["exact"](sample, **KNOBS)
    nodes = np.array([100, 200, 400, 800, 1600])
    error = [np.sqrt(np.square(binned(sample, nodes=n, **KNOBS) - exact).mean()) for n in nodes]
    slope = np.polyfit(np.log(nodes), np.log(error), 1)[0]
    assert abs(slope + 2) < 0.15


def test_keys_and_queries_on_the_nodes_of_a_circle_are_smoothed_exactly(rng):
    """Nothing is shared out, and the transform of the wrapped Gaussian is all that is left."""
    nodes = 64
    place = np.arange(nodes) / nodes
    sample = checked(place, place, rng.standard_normal(nodes), 0.05, period=1.0)
    # A Gaussian of 3.2 nodes has a transform of 1e-22 at the highest frequency.
    fit = binned(sample, nodes=nodes, **KNOBS)
    assert_allclose(fit, METHODS["exact"](sample, **KNOBS), atol=1e-13)


def test_a_query_off_the_nodes_is_averaged_exactly(rng):
    key = rng.random(100)
    sample = checked([0.5, -40.0, 70.0, 3.0], key, rng.standard_normal(100), 0.2)
    exact = METHODS["exact"](sample, **KNOBS)
    assert_allclose(binned(sample, **KNOBS)[1:], exact[1:], atol=1e-14)


@pytest.mark.parametrize("nodes", [3, MOST_NODES + 1])
def test_too_few_and_too_many_nodes_are_refused(nodes):
    sample = checked([0.5], [0.0, 1.0], [3.0, 5.0], 0.3)
    with pytest.raises(Refusal, match=f"would take {nodes} nodes; it takes 4 to {MOST_NODES}"):
        binned(sample, nodes=nodes, **KNOBS)
    with pytest.raises(Refusal, match="Use method 'tiled'"):
        binned(replace(sample, bandwidth=np.array([1e-9])), **KNOBS)
