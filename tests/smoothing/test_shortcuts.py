"""Approximations that are asked for by name, and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from lowpass.registry import Refusal
from lowpass.smoothing.estimators import smooth
from lowpass.smoothing.methods import METHODS
from lowpass.smoothing.shortcuts import nystrom, positive_features, subsample

DRAWING = [name for name in METHODS if METHODS.facts(name)["draws"]]
KNOBS = {"kernel": "gaussian", "degree": 0, "beyond": "nearest"}


@pytest.fixture
def observed(rng) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Give 15 queries and 900 keys in the plane, with a value."""
    key = rng.uniform(-1, 1, (900, 2))
    return rng.uniform(-1, 1, (15, 2)), key, np.sin(3 * key[:, 0]) + key[:, 1]


# Laws.


@pytest.mark.parametrize("name", DRAWING)
@pytest.mark.parametrize("weighted", [False, True])
def test_a_shortcut_comes_near_the_fit(name, weighted, observed, rng):
    """256 terms at a bandwidth that is half of the range: within a tenth of it."""
    weight = rng.integers(0, 3, 900) if weighted else None
    true = smooth(*observed, [1.0, 1.2], weight=weight)
    found = smooth(*observed, [1.0, 1.2], weight=weight, method=name)
    assert abs(found - true).max() < 0.1 * np.ptp(observed[2])


@pytest.mark.parametrize("name", DRAWING)
def test_a_shift_of_all_places_changes_nothing(name, observed):
    q, k, v = observed
    near, far = (smooth(q + by, k + by, v, 1.0, method=name) for by in (0, 4096))
    assert_allclose(far, near, atol=1e-5)


@pytest.mark.parametrize("name", DRAWING)
def test_a_draw_is_the_same_every_time(name, observed):
    one, other = (smooth(*observed, 1.0, method=name) for _ in range(2))
    assert (one == other).all()


@pytest.mark.parametrize("name", DRAWING)
def test_one_key_is_enough(name):
    assert smooth([0.0, 0.2], [0.1], [7.0], 1.0, method=name).tolist() == [7.0, 7.0]


@pytest.mark.parametrize("name", DRAWING)
def test_observations_that_do_not_count_are_not_seen(name, observed):
    q, k, v = observed
    weight = np.ones(900)
    weight[100:] = 0
    some = smooth(q, k[:100], v[:100], 1.0, method=name)
    found = smooth(q, k, np.where(weight > 0, v, 1e6), 1.0, weight=weight, method=name)
    # What is subtracted before features are taken is the mean of all keys.
    assert_allclose(found, some, atol=0.5)


# What is particular.


def test_fewer_keys_than_terms_are_all_of_them(observed):
    q, k, v = (each[:40] for each in observed)
    assert_allclose(smooth(q, k, v, 0.5, method="subsample"), smooth(q, k, v, 0.5), rtol=1e-12)
    assert_allclose(smooth(q, k, v, 0.5, method="nystrom"), smooth(q, k, v, 0.5), atol=1e-5)


def test_more_terms_come_nearer(observed):
    from lowpass.smoothing.checks import checked

    true = smooth(*observed, 0.5)
    for method in (subsample, nystrom, positive_features):
        sample = checked(*observed[:2], observed[2][:, None], 0.5)
        off = [
            np.mean(
                [
                    np.square(method(sample, **KNOBS, terms=m, seed=s)[:, 0] - true).mean()
                    for s in range(4)
                ]
            )
            for m in (4, 400)
        ]
        assert off[1] < off[0] / 4, method


# Refusals.


@pytest.mark.parametrize("name", sorted({*DRAWING} - {"subsample"}))
def test_keys_on_a_circle_are_refused(name):
    with pytest.raises(Refusal, match=rf"^method '{name}' got keys on a circle; .*'tiled'"):
        smooth([0.0], [0.1, 0.9], [1.0, 2.0], 0.1, period=1.0, method=name)


@pytest.mark.parametrize("name", DRAWING)
def test_other_kernels_are_refused(name):
    with pytest.raises(Refusal, match=rf"^method '{name}' got the kernel 'boxcar'"):
        smooth([0.0], [0.1, 0.9], [1.0, 2.0], 1.0, kernel="boxcar", method=name)


def test_weights_without_a_positive_sum_are_refused(rng):
    """In 64 dimensions cosines make some sums of weights negative."""
    q, k = rng.standard_normal((50, 64)), rng.standard_normal((60, 64))
    with pytest.raises(
        Refusal,
        match=r"^method 'trigonometric_features' estimates the weights of query \[\d+\] to sum to "
        r"-\S+; an average needs a positive sum, and \d+ of 50 queries have none\. Use more terms",
    ):
        smooth(q, k, k[:, 0], 64**0.25, method="trigonometric_features")
