"""Leave-one-out curves against as many refits."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from lowpass.registry import Refusal
from lowpass.smoothing import loo
from lowpass.smoothing.checks import checked
from lowpass.smoothing.local import matrix_of
from lowpass.smoothing.loo import FEWEST, loo_curve

WIDTHS = np.geomspace(0.01, 2.0, 5)


def refitted(key, value, widths, kernel="gaussian", **knobs) -> np.ndarray:
    """Hide each key from itself in the matrix."""
    found = []
    for h in widths:
        sample = checked(key, key, value, h, **knobs)
        hidden = np.eye(len(sample.key), dtype=bool)
        off = sample.value - matrix_of(sample, kernel=kernel, hidden=hidden) @ sample.value
        found.append(np.square(off).sum(axis=1).mean())
    return np.array(found)


@pytest.mark.parametrize("n_features", [1, 2])
@pytest.mark.parametrize("place", ["random", "standard_normal"])
def test_the_curve_is_that_of_refits_with_isolated_keys_too(place, n_features, rng):
    key = getattr(rng, place)((FEWEST + 100, n_features)) + 100
    key[3], key[5] = 150.0, key[6]
    value = rng.standard_normal(len(key))
    assert_allclose(loo_curve(key, value, WIDTHS), refitted(key, value, WIDTHS), rtol=1e-10)


def test_few_keys_are_refitted_one_by_one(rng):
    """By a loop over what is left, which shares nothing with the matrix."""
    key, value = rng.random(30), rng.standard_normal(30)
    expected = []
    for h in (0.003, 0.1):
        off = []
        for i in range(30):
            square = np.square((np.delete(key, i) - key[i]) / h) / 2
            weight = np.exp(square.min() - square)
            off.append(value[i] - weight @ np.delete(value, i) / weight.sum())
        expected.append(np.square(off).mean())
    assert_allclose(loo_curve(key, value, [0.003, 0.1]), expected, rtol=1e-12)


def test_weights_and_circles_count(rng):
    key, value = rng.random(FEWEST + 50), rng.standard_normal((FEWEST + 50, 2))
    knobs = {"weight": rng.random(len(key)), "period": 1.0}
    widths = [0.02, 0.1]
    assert_allclose(
        loo_curve(key, value, widths, **knobs), refitted(key, value, widths, **knobs), rtol=1e-10
    )


@pytest.mark.parametrize(
    ("kernel", "n_features", "widths"),
    [("laplace", 1, [0.1, 1.0]), ("gaussian", 3, [0.1, 1.0]), ("gaussian", 1, [1e-7, 0.1])],
)
def test_what_no_series_can_do_is_done_by_tiles(kernel, n_features, widths, rng, monkeypatch):
    monkeypatch.setattr(loo, "Series", None)
    key = rng.random((FEWEST + 50, n_features))
    value = rng.standard_normal(len(key))
    expected = refitted(key, value, widths, kernel)
    assert_allclose(loo_curve(key, value, widths, kernel=kernel), expected, rtol=1e-10)


# Refusals.


def test_a_curve_needs_two_keys_and_a_bandwidth():
    with pytest.raises(Refusal, match="there are no bandwidths; a curve needs one"):
        loo_curve([0.0, 1.0], [3.0, 5.0], [])
    with pytest.raises(Refusal, match="there is one key; without it nothing predicts it"):
        loo_curve([0.0], [3.0], [1.0])
    with pytest.raises(Refusal, match="bandwidth"):
        loo_curve([0.0, 1.0], [3.0, 5.0], [1.0, 0.0])
