"""The smoother by other hands and by a slow loop, its symmetries, and where peers fail."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose
from statsmodels.nonparametric.kernel_regression import KernelReg

from lowpass.registry import Refusal
from lowpass.smoothing.estimators import smooth, smoother_matrix
from lowpass.smoothing.profiles import PROFILES

DISTANCE = [name for name in PROFILES if PROFILES.facts(name)["reads"] == "squared distance"]
REGRESSIONS = {0: "lc", 1: "ll"}
KEY, VALUE = np.array([0.0, 1.0, 3.0]), np.array([5.0, 6.0, 7.0])


@pytest.fixture
def sample(rng) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Give 30 queries and 50 keys in three dimensions, and values."""
    return rng.standard_normal((30, 3)), rng.standard_normal((50, 3)), rng.standard_normal(50)


# Laws of every kernel.


@pytest.mark.parametrize("degree", REGRESSIONS)
@pytest.mark.parametrize("kernel", PROFILES)
def test_constants_are_kept(kernel, degree, sample):
    query, key, _ = sample
    fit = smooth(query, key, np.full(50, 7.0), 1.5, kernel=kernel, degree=degree)
    assert_allclose(fit, 7.0, rtol=0 if degree == 0 else 1e-12)


@pytest.mark.parametrize("kernel", PROFILES)
def test_averages_lie_among_the_values(kernel, sample):
    query, key, value = sample
    fit = smooth(query, key, value, 1.5, kernel=kernel)
    assert fit.min() >= value.min()
    assert fit.max() <= value.max()


@pytest.mark.parametrize("degree", REGRESSIONS)
@pytest.mark.parametrize("kernel", PROFILES)
def test_the_order_of_observations_does_not_matter(kernel, degree, sample, rng):
    query, key, value = sample
    p, r = rng.permutation(50), rng.permutation(30)
    fit = smooth(query, key, value, 2.5, kernel=kernel, degree=degree)
    other = smooth(query[r], key[p], value[p], 2.5, kernel=kernel, degree=degree)
    assert_allclose(other, fit[r], atol=1e-11)


@pytest.mark.parametrize("degree", REGRESSIONS)
@pytest.mark.parametrize("kernel", DISTANCE)
def test_places_have_no_origin(kernel, degree, sample):
    """Moved by whole numbers, so that places are moved without rounding."""
    query, key, value = (np.round(2**20 * each) / 2**20 for each in sample)
    fit = smooth(query, key, value, 2.5, kernel=kernel, degree=degree)
    moved = smooth(query + 1024, key + 1024, value, 2.5, kernel=kernel, degree=degree)
    assert_allclose(moved, fit, rtol=1e-13)


@pytest.mark.parametrize("degree", REGRESSIONS)
@pytest.mark.parametrize("kernel", PROFILES)
def test_places_have_no_unit(kernel, degree, sample):
    """Feet for metres, of each feature: bandwidths change alike."""
    query, key, value = sample
    unit = np.array([0.3048, 1e6, 1e-6])
    fit = smooth(query, key, value, [2.5, 1.5, 3.0], kernel=kernel, degree=degree)
    scaled = smooth(
        query * unit, key * unit, value, unit * [2.5, 1.5, 3.0], kernel=kernel, degree=degree
    )
    assert_allclose(scaled, fit, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("degree", REGRESSIONS)
def test_values_have_no_origin_and_no_unit(degree, sample):
    query, key, value = sample
    fit = smooth(query, key, value, 1.5, degree=degree)
    assert_allclose(smooth(query, key, 3 * value - 8, 1.5, degree=degree), 3 * fit - 8, rtol=1e-12)


@pytest.mark.parametrize("degree", REGRESSIONS)
@pytest.mark.parametrize("kernel", PROFILES)
def test_the_matrix_maps_values_to_fits(kernel, degree, sample):
    query, key, value = sample
    matrix = smoother_matrix(query, key, 2.5, kernel=kernel, degree=degree)
    assert matrix.shape == (30, 50)
    fit = smooth(query, key, value, 2.5, kernel=kernel, degree=degree)
    assert_allclose(matrix @ value, fit, atol=1e-12)


@pytest.mark.parametrize("degree", REGRESSIONS)
def test_several_outputs_are_estimated_one_by_one(degree, sample, rng):
    query, key, _ = sample
    value = rng.standard_normal((50, 2))
    fit = smooth(query, key, value, 1.5, degree=degree)
    assert fit.shape == (30, 2)
    columns = [smooth(query, key, column, 1.5, degree=degree) for column in value.T]
    assert_allclose(fit, np.transpose(columns), atol=1e-13)


# By other hands.


@pytest.mark.parametrize("degree", REGRESSIONS)
@pytest.mark.parametrize("bandwidth", [[0.7], [0.9, 1.4]])
def test_the_fit_is_that_of_statsmodels(degree, bandwidth, rng):
    """A product of Gaussians is the Gaussian of a distance.

    Theirs forms the normal equations around each query, which loses the digits of its condition;
    queries lie among the keys, and the condition stays below 100.
    """
    d = len(bandwidth)
    key, value = rng.standard_normal((60, d)), rng.standard_normal(60)
    query = rng.uniform(-0.8, 0.8, (11, d))
    theirs = KernelReg(
        value, key, "c" * d, reg_type=REGRESSIONS[degree], bw=np.array(bandwidth), rng=0
    ).fit(query)[0]
    ours = smooth(query, key, value, bandwidth, degree=degree)
    assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("temperature", [0.5, math.sqrt(3), 9.0])
def test_the_fit_of_a_product_is_the_attention_of_torch(temperature, sample):
    torch = pytest.importorskip("torch")
    query, key, value = sample
    theirs = torch.nn.functional.scaled_dot_product_attention(
        *(torch.from_numpy(each) for each in (query, key, value[:, None])), scale=1 / temperature
    )
    ours = smooth(query, key, value, math.sqrt(temperature), kernel="exp_dot")
    assert_allclose(ours, theirs.numpy()[:, 0], rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("bandwidth", [0.5, 2, [1.0, 2.0, 4.0]])
@pytest.mark.parametrize("kernel", DISTANCE)
def test_an_average_is_the_ratio_of_two_sums(kernel, bandwidth, sample):
    """Entry by entry, where some key has a weight."""
    query, key, value = sample
    h = np.broadcast_to(bandwidth, 3)
    fit = smooth(query, key, value, bandwidth, kernel=kernel, beyond="nan")
    for q, ours in zip(query, fit, strict=True):
        squared = [
            math.fsum(((a - b) / s) ** 2 for a, b, s in zip(q, k, h, strict=True)) for k in key
        ]
        weight = [math.exp(PROFILES[kernel](np.array([u]))[0]) for u in squared]
        total = math.fsum(weight)
        theirs = math.fsum(w * v for w, v in zip(weight, value, strict=True))
        assert_allclose(ours, theirs / total if total else np.nan, rtol=1e-11, atol=1e-12)


# Where peers fail.


@pytest.mark.parametrize("kernel", sorted({*DISTANCE} - {"laplace"}))
def test_a_query_far_from_every_key_gets_the_value_of_the_nearest(kernel):
    """At 10,000 bandwidths every weight underflows; other queries must not notice."""
    query = np.array([-1e4, 0.5, 1e4])
    fit = smooth(query, KEY, VALUE, 1.0, kernel=kernel)
    assert fit[[0, 2]].tolist() == [5.0, 7.0]
    assert_allclose(fit[1:2], smooth([0.5], KEY, VALUE, 1.0, kernel=kernel), rtol=1e-15)


def test_weights_that_fall_slower_than_keys_are_apart_share_a_far_query():
    """Exponential weights keep their ratios at any distance: here e² and e³."""
    weight = np.exp([-3.0, -2.0, 0.0])
    fit = smooth([1e4], KEY, VALUE, 1.0, kernel="laplace")
    assert_allclose(fit, weight @ VALUE / weight.sum(), rtol=1e-11)


@pytest.mark.parametrize("degree", REGRESSIONS)
@pytest.mark.parametrize("kernel", PROFILES)
def test_keys_in_one_place_have_the_mean_of_their_values(kernel, degree):
    fit = smooth([2.0, 2.5, 90.0], [2.0] * 3, VALUE, 1.0, kernel=kernel, degree=degree)
    assert_allclose(fit, 6.0, rtol=1e-14)


@pytest.mark.parametrize("degree", REGRESSIONS)
@pytest.mark.parametrize("kernel", PROFILES)
def test_an_observation_twice_is_one_of_twice_the_weight(kernel, degree):
    key, value = np.r_[KEY, 1.0], np.r_[VALUE, 6.0]
    fit = smooth([0.2, 1.7], key, value, 2.0, kernel=kernel, degree=degree)
    weighted = smooth([0.2, 1.7], KEY, VALUE, 2.0, kernel=kernel, degree=degree, weight=[1, 2, 1])
    assert_allclose(fit, weighted, rtol=1e-12)


@pytest.mark.parametrize("degree", REGRESSIONS)
@pytest.mark.parametrize("kernel", PROFILES)
def test_a_single_observation_gives_its_value_everywhere(kernel, degree):
    fit = smooth([-50.0, 2.0, 2.1], [2.0], [5.5], 1.0, kernel=kernel, degree=degree)
    assert fit.tolist() == [5.5] * 3


@pytest.mark.parametrize("degree", REGRESSIONS)
@pytest.mark.parametrize("kernel", PROFILES)
def test_whole_numbers_are_numbers(kernel, degree):
    whole = smooth([0, 2], [0, 1, 3], [5, 6, 7], 2, kernel=kernel, degree=degree)
    assert whole.dtype == np.float64
    real = smooth([0.0, 2.0], KEY, VALUE, 2.0, kernel=kernel, degree=degree)
    assert np.array_equal(whole, real)


@pytest.mark.parametrize("degree", REGRESSIONS)
@pytest.mark.parametrize("kernel", DISTANCE)
def test_places_may_be_far_from_the_origin(kernel, degree, rng):
    """Whole multiples of 1/64 stay exact at 1e8."""
    key = np.round(64 * rng.uniform(0, 9, 40)) / 64
    value = rng.standard_normal(40)
    query = np.array([1.5, 4.0, 7.25])
    near = smooth(query, key, value, 1.5, kernel=kernel, degree=degree)
    far = smooth(query + 1e8, key + 1e8, value, 1.5, kernel=kernel, degree=degree)
    assert_allclose(far, near, rtol=1e-13)


def test_values_may_be_far_from_zero():
    fit = smooth([0.4], KEY, VALUE + 1e8, 0.7)
    assert_allclose(fit - 1e8, smooth([0.4], KEY, VALUE, 0.7), atol=1e-7)


def test_products_may_be_large():
    """Products of 1e4 over a bandwidth of one: all but the largest underflow."""
    query, key = np.array([[100.0, 0.0], [-100.0, 0.0]]), np.array([[100.0, 0.0], [-100.0, 5.0]])
    fit = smooth(query, key, [1.0, 2.0], 1.0, kernel="exp_dot")
    assert fit.tolist() == [1.0, 2.0]


def test_products_with_keys_far_from_the_origin_keep_their_digits():
    """A constant that is added to every key multiplies all weights of a query alike."""
    key = np.array([[0.0, 1.0], [0.5, 0.25], [2.0, 0.0]])
    query = np.array([[1.0, -2.0], [0.25, 3.0]])
    near = smooth(query, key, VALUE, 1.5, kernel="exp_dot")
    far = smooth(query, key + 1e8, VALUE, 1.5, kernel="exp_dot")
    assert_allclose(far, near, rtol=1e-7)  # A key of 1e8 is known to 1e-8.


@pytest.mark.parametrize("bandwidth", [1e-3, 1e-160, 1e-300])
@pytest.mark.parametrize("degree", REGRESSIONS)
@pytest.mark.parametrize("kernel", DISTANCE)
def test_at_a_tiny_bandwidth_keys_keep_their_values(kernel, degree, bandwidth):
    fit = smooth(KEY, KEY, VALUE, bandwidth, kernel=kernel, degree=degree)
    assert_allclose(fit, VALUE, rtol=1e-15)


@pytest.mark.parametrize("degree", REGRESSIONS)
def test_single_precision_is_computed_in_double(degree, sample):
    query, key, value = (each.astype(np.float32) for each in sample)
    fit = smooth(query, key, value, np.float32(1.5), degree=degree)
    assert fit.dtype == np.float64
    double = (each.astype(float) for each in (query, key, value))
    assert np.array_equal(fit, smooth(*double, 1.5, degree=degree))


@pytest.mark.parametrize("degree", REGRESSIONS)
def test_arrays_may_be_views_that_cannot_be_written(degree, sample):
    query, key, value = sample
    wide = np.asfortranarray(np.repeat(key, 2, axis=0))
    views = query[::-1], wide[::2], np.stack([value, value], axis=1)[:, 1]
    for view in views:
        view.flags.writeable = False
    fit = smooth(*views, 1.5, degree=degree)
    plain = smooth(query, key, value, 1.5, degree=degree)[::-1]
    assert_allclose(fit, plain, rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("degree", REGRESSIONS)
def test_no_query_is_no_fit(degree):
    assert smooth([], KEY, VALUE, 1.0, degree=degree).shape == (0,)
    both = smooth(np.empty((0, 1)), KEY, np.c_[VALUE, VALUE], 1.0, degree=degree)
    assert both.shape == (0, 2)
    assert smoother_matrix([], KEY, 1.0, degree=degree).shape == (0, 3)


@pytest.mark.parametrize("beyond", ["nearest", "nan", "refuse"])
def test_out_of_reach_is_a_choice(beyond):
    told = {"kernel": "epanechnikov", "beyond": beyond}
    if beyond == "refuse":
        with pytest.raises(Refusal, match=r"^query \[1\] has no key within the bandwidth"):
            smooth([0.1, 9.0], KEY, VALUE, 0.5, **told)
    else:
        fit = smooth([0.1, 9.0], KEY, VALUE, 0.5, **told)
        assert np.array_equal(fit, [5.0, 7.0 if beyond == "nearest" else np.nan], equal_nan=True)


# Refusals.


def test_an_unknown_method_is_refused():
    with pytest.raises(Refusal, match=r"^no method of smoothing is called 'exakt'; did you mean"):
        smooth([0.0], KEY, VALUE, 1.0, method="exakt")


@pytest.mark.parametrize("ask", [smooth, smoother_matrix])
def test_what_is_asked_wrongly_is_refused(ask):
    values = (VALUE,) if ask is smooth else ()
    for wrong, message in {
        "kernel": r"^no smoothing kernel is called 'wrong'",
        "beyond": r"^beyond is 'wrong'",
        "degree": r"^degree is 'wrong'",
    }.items():
        with pytest.raises(Refusal, match=message):
            ask([0.0], KEY, *values, 1.0, **{wrong: "wrong"})
    with pytest.raises(Refusal, match=r"^key \[1\] is nan"):
        ask([0.0], [0.0, np.nan, 1.0], *values, 1.0)
