"""Tiles against the matrix, in every dimension, with every kernel, and in their memory."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from lowpass.registry import Refusal
from lowpass.smoothing import leafwise
from lowpass.smoothing.checks import Sample, checked
from lowpass.smoothing.local import matrix_of
from lowpass.smoothing.methods import exact
from lowpass.smoothing.profiles import PROFILES
from lowpass.smoothing.tiled import divided_keys, left_out, recorded, tiled

RADIAL = [name for name in PROFILES if PROFILES.facts(name)["reads"] == "squared distance"]
# Where weights end at a distance, they vanish there and their shares have fewer digits.
ENDLESS = [name for name in RADIAL if PROFILES.facts(name)["support"] == np.inf]


def draw(rng, n_keys: int, n_features: int, bandwidth: float, n_queries: int = 50) -> Sample:
    query, key = (rng.standard_normal((n, n_features)) for n in (n_queries, n_keys))
    return checked(query, key, rng.standard_normal((n_keys, 2)), bandwidth)


def dense(sample: Sample, **knobs) -> np.ndarray:
    return matrix_of(sample, **knobs) @ sample.value


# Laws.


@pytest.mark.parametrize("kernel", PROFILES)
@pytest.mark.parametrize("n_features", [1, 2, 3, 4, 7, 16])
def test_tiles_are_the_matrix(kernel, n_features, rng):
    for n_keys, bandwidth in ((1, 1.0), (37, 3.0), (600, 1.5), (600, 0.1)):
        sample = draw(rng, n_keys, n_features, bandwidth)
        fit = tiled(sample, kernel=kernel, degree=0, beyond="nearest")
        # A share next to the end of a kernel keeps fewer digits, by either way.
        tolerance = 1e-13 if kernel in ENDLESS else 1e-9
        assert_allclose(fit, dense(sample, kernel=kernel), atol=tolerance)


@pytest.mark.parametrize("n_features", [1, 3])
def test_planes_are_those_of_the_matrix(n_features, rng):
    sample = draw(rng, 300, n_features, 0.8)
    fit = tiled(sample, kernel="gaussian", degree=1, beyond="nearest")
    assert_allclose(fit, dense(sample, degree=1), atol=1e-12)
    slope = np.arange(1.0, n_features + 1)
    line = replace(sample, value=(sample.key @ slope)[:, None])
    fit = tiled(line, kernel="gaussian", degree=1, beyond="nearest")
    assert_allclose(fit[:, 0], sample.query @ slope, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("kernel", RADIAL)
def test_what_is_recorded_is_what_the_matrix_says(kernel, rng):
    key = rng.standard_normal((400, 2))
    sample = checked(key, key, rng.standard_normal(400), 0.7, rng.random(400))
    own, matrix = np.arange(400), matrix_of(sample, kernel=kernel)
    found = recorded(sample, own, kernel=kernel)
    tolerance = 1e-12 if kernel in ENDLESS else 1e-8
    assert_allclose(found.fit, matrix @ sample.value, atol=tolerance)
    assert_allclose(found.leverage, matrix.diagonal(), atol=tolerance)
    assert_allclose(found.spread, np.square(matrix).sum(axis=1), atol=tolerance)


@pytest.mark.parametrize("kernel", ENDLESS)
@pytest.mark.parametrize("degree", [0, 1])
def test_what_is_left_out_is_not_seen(kernel, degree, rng):
    key = rng.standard_normal((300, 2))
    key[7] += 100.0
    sample = checked(key, key, rng.standard_normal(300), 0.5)
    own = np.arange(300)
    fit = left_out(sample, own, kernel=kernel, degree=degree)
    for i in (0, 7, 299):
        others = np.delete(own, i)
        less = replace(sample, query=key[[i]], key=key[others], value=sample.value[others])
        expected = dense(less, kernel=kernel, degree=degree)
        assert_allclose(fit[i], expected[0], rtol=1e-10)


def test_two_equal_keys_predict_each_other():
    sample = checked([1.0, 1.0], [1.0, 1.0], [3.0, 5.0], 1e-3)
    assert left_out(sample, np.arange(2)).ravel().tolist() == [5.0, 3.0]


# Particular.


@pytest.mark.parametrize("n_features", [1, 2, 5, 16])
@pytest.mark.parametrize("offset", [0.0, 1e4])
def test_single_precision_is_good_to_five_digits_wherever_keys_lie(n_features, offset, rng):
    sample = draw(rng, 700, n_features, 0.5 * n_features**0.5)
    sample = replace(sample, query=sample.query + offset, key=sample.key + offset)
    fit = tiled(sample, kernel="gaussian", degree=0, beyond="nearest", dtype="float32")
    span = np.ptp(sample.value, axis=0).max()
    assert 0 < np.abs(fit - dense(sample)).max() < 1e-5 * span


def test_products_give_way_to_differences_where_they_would_cancel(rng):
    """Keys of a thousand bandwidths across, in so many features that products are usual."""
    sample = draw(rng, 400, 7, 1.0)
    key = sample.key + 1e3 * (np.arange(400) % 2)[:, None]
    query = key[::9] + 0.3
    sample = replace(sample, query=query, key=key)
    fit = tiled(sample, kernel="gaussian", degree=0, beyond="nearest")
    assert_allclose(fit, dense(sample), atol=1e-13)


def test_scores_that_would_make_denormal_numbers_are_raised_to_the_floor(rng, monkeypatch):
    """Both far and near keys stand in one leaf, so that the floor is needed."""
    seen: list[float] = []
    raised = np.copyto

    def watched(tile, floor, where):
        raised(tile, floor, where=where)
        seen.append(tile.min())

    monkeypatch.setattr(np, "copyto", watched)
    key = np.repeat([0.0, 38.0, 60.0], 20)[:, None] + rng.random((60, 1))
    sample = checked(rng.random((30, 1)), key, rng.standard_normal(60), 1.0)
    fit = tiled(sample, kernel="gaussian", degree=0, beyond="nearest")
    assert_allclose(fit, dense(sample), atol=1e-14)
    assert seen
    assert min(seen) == leafwise.FLOOR["float64"]


def test_weights_of_all_sizes_count_as_they_should(rng):
    sample = replace(draw(rng, 300, 1, 0.05), weight=10.0 ** rng.uniform(-300, 0, 300))
    fit = tiled(sample, kernel="gaussian", degree=0, beyond="nearest")
    assert_allclose(fit, dense(sample), atol=1e-12)


def test_prepared_keys_serve_every_bandwidth(rng):
    key = rng.standard_normal((500, 1))
    wide = checked(key, key, rng.standard_normal(500), 1.0)
    keys, own = divided_keys(wide), np.arange(500)
    narrow = replace(wide, bandwidth=np.array([0.03]))
    assert_allclose(left_out(narrow, own, keys=keys), left_out(narrow, own), atol=1e-14)


def test_memory_is_that_of_a_tile(rng):
    """A matrix of these queries and keys would have 128 megabytes."""
    sample = draw(rng, 4000, 16, 2.0, n_queries=4000)
    tiled(sample, kernel="gaussian", degree=0, beyond="nearest")
    tracemalloc.start()
    tiled(sample, kernel="gaussian", degree=0, beyond="nearest")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    tiles = 2 * leafwise.ROWS * leafwise.COLUMNS * 8
    assert peak < 2 * tiles + 3 * (sample.query.nbytes + sample.key.nbytes)


@pytest.mark.parametrize("beyond", ["nearest", "nan"])
def test_a_query_out_of_reach_gets_what_was_asked_for(beyond):
    sample = checked([0.0, 9.0], [0.0, 2.0], [3.0, 5.0], 1.0)
    fit = tiled(sample, kernel="boxcar", degree=0, beyond=beyond)
    assert fit[0, 0] == 3.0
    assert fit[1, 0] == 5.0 if beyond == "nearest" else np.isnan(fit[1, 0])


# Refusals.


@pytest.mark.parametrize("method", [tiled, exact])
def test_a_query_out_of_reach_can_be_refused_by_its_own_number(method, monkeypatch):
    monkeypatch.setattr("lowpass.smoothing.methods.TILE", 4)
    sample = checked([0.0, 2.0, 0.1, 9.0], [0.0, 2.0], [3.0, 5.0], 1.0)
    with pytest.raises(Refusal, match=r"query \[3\] has no key within the bandwidth"):
        method(sample, kernel="boxcar", degree=0, beyond="refuse")


def test_other_types_degrees_and_ends_are_refused():
    sample = checked([0.0], [0.0, 2.0], [3.0, 5.0], 1.0)
    with pytest.raises(Refusal, match=r"dtype is 'float16'; weights have one of two types"):
        tiled(sample, kernel="gaussian", degree=0, beyond="nearest", dtype="float16")
    with pytest.raises(Refusal, match="degree is 2"):
        tiled(sample, kernel="gaussian", degree=2, beyond="nearest")
    with pytest.raises(Refusal, match="beyond is 'nan '"):
        tiled(sample, kernel="gaussian", degree=0, beyond="nan ")
