"""Fits by Fourier series against exact ones, where keys are dense and where they are few."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from lowpass.registry import Refusal
from lowpass.smoothing import gridded as module
from lowpass.smoothing.checks import checked
from lowpass.smoothing.gridded import TOLERANCE, gridded, objection
from lowpass.smoothing.methods import METHODS

KNOBS = {"kernel": "gaussian", "degree": 0, "beyond": "nearest"}


@pytest.fixture
def exact_queries(monkeypatch) -> list[int]:
    """Watch how many queries are averaged exactly."""
    seen: list[int] = []
    exact = module.tiled

    def watched(sample, **knobs):
        seen.append(len(sample.query))
        return exact(sample, **knobs)

    monkeypatch.setattr(module, "tiled", watched)
    return seen


@pytest.mark.parametrize("n_features", [1, 2])
@pytest.mark.parametrize("bandwidth", [0.05, 0.2, 2.0])
@pytest.mark.parametrize("place", ["random", "standard_normal", "standard_cauchy"])
def test_fits_are_exact_to_twelve_digits_however_keys_are_spread(place, bandwidth, n_features, rng):
    key, query = (np.clip(getattr(rng, place)((n, n_features)), -4, 4) for n in (1500, 300))
    sample = checked(query, key, rng.standard_normal(1500), bandwidth)
    fit, exact = gridded(sample, **KNOBS), METHODS["exact"](sample, **KNOBS)
    assert np.abs(fit - exact).max() <= TOLERANCE * np.ptp(sample.value) / 2


def test_where_keys_are_few_a_series_alone_would_fail(rng, exact_queries, monkeypatch):
    key = np.concatenate([rng.random(1000), [2.0]])
    sample = checked([0.5, 1.6, 2.0, 50.0], key, rng.standard_normal(1001), 0.06)
    exact = METHODS["exact"](sample, **KNOBS)
    assert_allclose(gridded(sample, **KNOBS), exact, atol=TOLERANCE)
    assert exact_queries == [3]
    monkeypatch.setattr(module, "least_mass", lambda *_: -np.inf)
    monkeypatch.setattr(module, "TOLERANCE", np.inf)
    off = np.abs(gridded(sample, **KNOBS) - exact).ravel()
    assert off[0] < TOLERANCE < off[1]


def test_where_keys_are_dense_nothing_is_averaged_exactly(rng, exact_queries):
    sample = checked(rng.random(500), rng.random(2000), rng.standard_normal(2000), 0.05)
    gridded(sample, **KNOBS)
    assert exact_queries == []


def test_each_feature_has_a_bandwidth_of_its_own(rng):
    key, query = rng.random((2, 800, 2)) * [1.0, 1e4]
    sample = checked(query, key, rng.standard_normal((800, 3)), [0.1, 2e3])
    fit, exact = gridded(sample, **KNOBS), METHODS["exact"](sample, **KNOBS)
    assert_allclose(fit, exact, atol=1e-12)


def test_one_feature_may_lie_on_a_circle_and_another_on_a_line(rng):
    key, query = rng.random((2, 500, 2))
    sample = checked(query, key, rng.standard_normal(500), 0.1, period=[1.0, np.inf])
    assert_allclose(gridded(sample, **KNOBS), METHODS["exact"](sample, **KNOBS), atol=1e-12)


# Refusals.


@pytest.mark.parametrize("bandwidth", [1e-4, 1e-9, 1e-300])
def test_a_bandwidth_that_needs_too_many_modes_is_refused(bandwidth):
    sample = checked([0.5], [0.0, 1.0], [3.0, 5.0], bandwidth)
    said = rf"bandwidth {bandwidth:.3g} needs \d+ Fourier modes .* Use method 'tiled'\."
    with pytest.raises(Refusal, match=said):
        gridded(sample, **KNOBS)


def test_the_smallest_of_several_bandwidths_counts():
    sample = checked([0.5], [0.0, 1.0], [3.0, 5.0], 1.0)
    assert objection(sample, "gaussian", 0) == ""
    assert "needs" in objection(sample, "gaussian", 0, bandwidth=np.array([1e-5]))
    assert "needs" in objection(replace(sample, bandwidth=np.array([1e-5])), "gaussian", 0)
