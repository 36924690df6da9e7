"""Attention by way of smoothers and smoothers by way of attention, against exact arithmetic."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from lowpass.registry import Refusal
from lowpass.smoothing.converters import dot_products, plain_smoother, weighted_smoother

EPS = np.finfo(np.float64).eps
# Of queries and keys, against a temperature of one.
SIZES = [1e-3, 1.0, 6.0, 100.0]
DIGITS = 50


def normalised(logit: np.ndarray) -> np.ndarray:
    weight = np.exp(logit - logit.max(axis=1, keepdims=True))
    return weight / weight.sum(axis=1, keepdims=True)


def attention(query, key, temperature) -> np.ndarray:
    return normalised(query @ key.T / temperature)


def gaussian(query, key, bandwidth, log_weight=0.0) -> np.ndarray:
    square = (((query[:, None] - key[None]) / bandwidth) ** 2).sum(axis=-1)
    return normalised(log_weight - square / 2)


def exactly(query, key, logit) -> np.ndarray:
    """Normalise the exponentials of logits in fifty digits."""
    with mpmath.workdps(DIGITS):
        points = [[[mpmath.mpf(x) for x in row] for row in each.tolist()] for each in (query, key)]
        table = [[mpmath.exp(logit(q, k)) for k in points[1]] for q in points[0]]
        return np.array([[float(w / mpmath.fsum(row)) for w in row] for row in table])


def rounding(query, key, temperature) -> float:
    """Bound what rounding does to a weight: some units of the largest logit that cancels."""
    reach = np.linalg.norm(query, axis=1).max() + np.linalg.norm(key, axis=1).max()
    return 8 * EPS * (1 + reach**2 / temperature)


@pytest.fixture(params=SIZES)
def points(rng, request) -> tuple[np.ndarray, np.ndarray]:
    return request.param * rng.standard_normal((7, 3)), request.param * rng.standard_normal((9, 3))


# Laws.


def test_attention_is_a_weighted_smoother(points):
    query, key = points
    exact = exactly(query, key, lambda q, k: mpmath.fdot(q, k) / mpmath.mpf(1.7))
    got = gaussian(*weighted_smoother(query, key, 1.7))
    assert_allclose(got, exact, rtol=0, atol=rounding(query, key, 1.7))


def test_attention_is_a_plain_smoother_in_one_dimension_more(points):
    query, key = points
    exact = exactly(query, key, lambda q, k: mpmath.fdot(q, k) / mpmath.mpf(1.7))
    got = gaussian(*plain_smoother(query, key, 1.7))
    assert_allclose(got, exact, rtol=0, atol=rounding(query, key, 1.7))


@pytest.mark.parametrize("h", [1.3, np.array([0.8, 1.3, 2.0])], ids=["one", "three"])
def test_a_smoother_is_attention_in_one_dimension_more(points, h):
    query, key = points
    widths = np.broadcast_to(h, 3).tolist()

    def logit(q, k):
        return (
            -sum(((a - b) / mpmath.mpf(w)) ** 2 for a, b, w in zip(q, k, widths, strict=True)) / 2
        )

    got = attention(*dot_products(query, key, h))
    assert_allclose(got, exactly(query, key, logit), rtol=0, atol=rounding(query, key, 0.64))


def test_there_and_back_is_where_it_began(points, rng):
    """Weighted or plain, as attention or not: each of six routes has the same weights."""
    query, key = points
    allowed = 4 * rounding(query, key, 1.7)
    first = weighted_smoother(query, key, 1.7)
    wanted = gaussian(*first)
    back = dot_products(*first)
    assert_allclose(attention(*back), wanted, rtol=0, atol=allowed)
    plain = plain_smoother(query, key, 1.7)
    again = dot_products(*plain)
    assert_allclose(attention(*again), wanted, rtol=0, atol=allowed)
    lifted = plain_smoother(*again)
    heights = rounding(lifted.query, lifted.key, 1.7)
    assert_allclose(gaussian(*lifted), wanted, rtol=0, atol=heights)


def test_lifted_keys_are_equally_long(points):
    lifted = plain_smoother(*points, 1.7)
    norms = np.linalg.norm(lifted.key, axis=1)
    assert_allclose(norms, np.linalg.norm(points[1], axis=1).max(), rtol=4 * EPS)
    assert_array_equal(lifted.query[:, -1], 0)


def test_a_common_offset_of_the_keys_leaves_attention_alone(points):
    """Only the key weights notice where the origin is."""
    query, key = points
    offset = np.array([1.0, -2.0, 0.5]) * np.abs(key).max()
    one = gaussian(*weighted_smoother(query, key, 1.7))
    other = gaussian(*weighted_smoother(query, key + offset, 1.7))
    assert_allclose(one, other, rtol=0, atol=rounding(query, key + offset, 1.7))


# Closed forms.


def test_one_key_has_all_the_weight():
    for route in (weighted_smoother, plain_smoother):
        assert_array_equal(gaussian(*route([[1.0, 2.0]], [[3.0, 4.0]], 0.1)), [[1.0]])
    assert_array_equal(attention(*dot_products([[1.0, 2.0]], [[3.0, 4.0]], 0.1)), [[1.0]])


def test_two_keys_share_by_the_logistic_function():
    query, key = np.array([[0.4], [-1.5]]), np.array([[1.0], [3.0]])
    wanted = 1 / (1 + np.exp(2 * query[:, 0] / 0.7))
    assert_allclose(gaussian(*weighted_smoother(query, key, 0.7))[:, 0], wanted, rtol=1e-14)
    assert_allclose(gaussian(*plain_smoother(query, key, 0.7))[:, 0], wanted, rtol=1e-14)


def test_key_weights_are_exponentials_of_squared_norms():
    smoother = weighted_smoother([[0.0, 0.0]], [[3.0, 4.0], [0.0, 1.0]], 2.0)
    assert_array_equal(smoother.log_weight, [25 / 4, 1 / 4])
    assert smoother.bandwidth == 2.0**0.5
    assert_allclose(smoother.weight, [1.0, np.exp(-6.0)], rtol=1e-15)


def test_the_temperature_of_a_smoother_is_its_squared_bandwidth():
    assert dot_products([[0.0]], [[1.0]], 3.0).temperature == 9.0
    assert dot_products([[0.0]], [[1.0]], [3.0]).temperature == 1.0


# What is particular.


@pytest.mark.parametrize("route", [weighted_smoother, plain_smoother])
def test_a_slip_of_one_per_cent_shows(rng, route):
    query, key = rng.standard_normal((30, 8)), rng.standard_normal((50, 8))
    wrong = gaussian(*route(query, key, 1.01 * 8**0.5))
    assert abs(wrong - attention(query, key, 8**0.5)).max() > 1e-4


def test_without_key_weights_it_is_another_smoother(rng):
    query, key = rng.standard_normal((30, 8)), rng.standard_normal((50, 8))
    smoother = weighted_smoother(query, key, 8**0.5)
    wrong = gaussian(smoother.query, smoother.key, smoother.bandwidth)
    assert abs(wrong - attention(query, key, 8**0.5)).max() > 1e-2


@pytest.mark.parametrize("offset", [0.0, 1871.0, 1e8])
def test_large_positions_lose_no_more_than_they_had(rng, offset):
    """Dot products of years would cancel by seven digits, and of 1e8 by all there are."""
    query, key = rng.integers(0, 99, (5, 1)), np.arange(100)[:, None]
    got = attention(*dot_products(query + offset, key + offset, 4.2))
    assert_allclose(got, gaussian(query, key, 4.2), rtol=0, atol=rounding(key, key, 4.2**2))


def test_logits_of_ten_thousand_are_weighed(rng):
    query, key = 100 * rng.standard_normal((5, 4)), 100 * rng.standard_normal((6, 4))
    assert abs(query @ key.T).max() > 1e4
    for route in (weighted_smoother, plain_smoother):
        got = gaussian(*route(query, key, 1.0))
        assert np.isfinite(got).all()
        assert_allclose(got, attention(query, key, 1.0), rtol=0, atol=rounding(query, key, 1.0))


def test_the_smoothers_weights_become_those_of_attention(rng):
    query, key = rng.standard_normal((5, 2)), rng.standard_normal((6, 2))
    weight = np.array([0.0, 1.0, 2.0, 0.5, 1e-3, 4.0])
    with np.errstate(divide="ignore"):
        log_weight = np.log(weight)
    got = attention(*dot_products(query, key, 0.9, log_weight))
    assert_allclose(got, gaussian(query, key, 0.9, log_weight), rtol=0, atol=1e-14)
    assert_array_equal(got[:, 0], 0)


@pytest.mark.parametrize(
    "change",
    [
        lambda x: x.astype(np.float32),
        lambda x: x.round().astype(int),
        np.asfortranarray,
        lambda x: np.repeat(x, 2, axis=0)[::2],
        lambda x: x.tolist(),
    ],
    ids=["single precision", "whole numbers", "by columns", "strided", "lists"],
)
def test_points_of_any_make_are_read(rng, change):
    query, key = (change(5 * rng.standard_normal((n, 3))) for n in (4, 6))
    plain = np.asarray(query, dtype=float), np.asarray(key, dtype=float)
    for convert in (weighted_smoother, plain_smoother, dot_products):
        for one, other in zip(convert(query, key, 2), convert(*plain, 2.0), strict=True):
            assert_array_equal(one, other)


def test_arguments_stay_as_they_are(rng):
    query, key = rng.standard_normal((4, 3)), rng.standard_normal((6, 3))
    before = query.copy(), key.copy()
    for convert in (weighted_smoother, plain_smoother, dot_products):
        convert(query, key, 2.0)
    assert_array_equal(query, before[0])
    assert_array_equal(key, before[1])


def test_points_on_a_line_need_no_second_axis():
    assert plain_smoother([2.0], [3.0, 5.0], 4.0).key.shape == (2, 2)


def test_another_implementation_of_attention_agrees(rng):
    """By the attention of PyTorch, where there is one."""
    torch = pytest.importorskip("torch")
    query, key, value = (rng.standard_normal((n, 8)) for n in (30, 50, 50))
    as_tensors = (torch.from_numpy(each)[None] for each in (query, key, value))
    wanted = torch.nn.functional.scaled_dot_product_attention(*as_tensors)[0].numpy()
    for route in (weighted_smoother, plain_smoother):
        got = gaussian(*route(query, key, 8**0.5)) @ value
        assert_allclose(got, wanted, rtol=0, atol=1e-13)


# Refusals.


@pytest.mark.parametrize("convert", [weighted_smoother, plain_smoother])
@pytest.mark.parametrize("wrong", [0.0, -1.0, np.inf, np.nan])
def test_a_temperature_that_is_none_is_refused(convert, wrong):
    with pytest.raises(Refusal, match=rf"temperature is {wrong:g}; .* give a positive number"):
        convert([[1.0]], [[1.0]], wrong)


@pytest.mark.parametrize("convert", [weighted_smoother, plain_smoother, dot_products])
def test_a_missing_number_is_refused_by_its_place(convert):
    with pytest.raises(Refusal, match=r"key \[1, 0\] is nan"):
        convert([[1.0, 2.0]], [[1.0, 2.0], [np.nan, 0.0]], 1.0)


@pytest.mark.parametrize("convert", [weighted_smoother, plain_smoother, dot_products])
def test_queries_and_keys_of_two_spaces_are_refused(convert):
    with pytest.raises(Refusal, match="queries have 1 features and keys have 2"):
        convert([[1.0]], [[1.0, 2.0]], 1.0)


def test_a_bandwidth_that_is_none_is_refused():
    with pytest.raises(Refusal, match=r"bandwidth \[1\] is 0"):
        dot_products([[1.0, 2.0]], [[1.0, 2.0]], [1.0, 0.0])


def test_weights_that_are_none_are_refused():
    with pytest.raises(Refusal, match=r"log_weight \[1\] is nan; .* Give natural logarithms"):
        dot_products([[1.0]], [[1.0], [2.0]], 1.0, [0.0, np.nan])
    with pytest.raises(Refusal, match=r"log_weight has shape \(1,\) and there are 2 keys"):
        dot_products([[1.0]], [[1.0], [2.0]], 1.0, [0.0])


def test_weights_that_no_float_holds_are_refused():
    """The short key would be lost, although the query lies on it."""
    smoother = weighted_smoother([[0.0]], [[0.0], [50.0]], 1.0)
    assert_array_equal(gaussian(*smoother), [[0.5, 0.5]])
    with pytest.raises(Refusal, match=r"span a factor of exp\(1250\), .* Use plain_smoother"):
        _ = smoother.weight
