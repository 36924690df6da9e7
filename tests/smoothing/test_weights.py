"""Weights and shares: what they add up to, images on a circle, and queries out of reach."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from lowpass.registry import Refusal
from lowpass.smoothing.checks import checked
from lowpass.smoothing.profiles import PROFILES
from lowpass.smoothing.weights import BEYOND, log_weights, shares, shares_of

DISTANCE = [name for name in PROFILES if PROFILES.facts(name)["reads"] == "squared distance"]
COMPACT = [name for name in DISTANCE if math.isfinite(PROFILES.facts(name)["support"])]


@pytest.fixture
def places(rng) -> tuple[np.ndarray, np.ndarray]:
    """Give 7 queries and 12 keys in the plane."""
    return rng.standard_normal((7, 2)), rng.standard_normal((12, 2))


def line(query, key, h=1.0, weight=None):
    return checked(query, key, None, h, weight)


# Laws of every kernel.


@pytest.mark.parametrize("kernel", PROFILES)
@pytest.mark.parametrize("bandwidth", [1e-3, 0.5, 40])
def test_shares_are_distributions(kernel, bandwidth, places):
    share = shares_of(checked(*places, None, bandwidth), kernel)
    assert (share >= 0).all()
    assert_allclose(share.sum(axis=1), 1, rtol=1e-14)


@pytest.mark.parametrize("kernel", PROFILES)
def test_a_weight_counts_like_so_many_equal_keys(kernel, places):
    query, key = places
    counted = shares_of(checked(query, key, None, 1.0, [3] + [1] * 11), kernel)
    repeated = shares_of(checked(query, np.vstack([key[[0, 0]], key]), None, 1.0), kernel)
    assert_allclose(counted[:, 0], repeated[:, :3].sum(axis=1), rtol=1e-13)
    assert_allclose(counted[:, 1:], repeated[:, 3:], rtol=1e-13)


@pytest.mark.parametrize("kernel", PROFILES)
def test_a_key_of_no_weight_is_as_if_it_were_not_there(kernel, places):
    query, key = places
    share = shares_of(checked(query, key, None, 0.3, [0] + [2] * 11), kernel)
    assert (share[:, 0] == 0).all()
    assert_allclose(share[:, 1:], shares_of(checked(query, key[1:], None, 0.3), kernel), rtol=1e-13)


@pytest.mark.parametrize("kernel", PROFILES)
def test_a_key_that_a_query_does_not_see_is_as_if_it_were_not_there(kernel, places):
    query, key = places
    hidden = np.zeros((7, 12), dtype=bool)
    hidden[:, 4] = True
    share = shares_of(checked(query, key, None, 0.3), kernel, hidden=hidden)
    rest = shares_of(checked(query, np.delete(key, 4, axis=0), None, 0.3), kernel)
    assert (share[:, 4] == 0).all()
    assert_allclose(np.delete(share, 4, axis=1), rest, rtol=1e-13)


@pytest.mark.parametrize("kernel", DISTANCE)
def test_each_feature_is_measured_by_its_own_bandwidth(kernel, places):
    query, key = places
    h = np.array([0.5, 3.0])
    assert_allclose(
        log_weights(query, key, h, kernel=kernel),
        log_weights(query / h, key / h, 1.0, kernel=kernel),
        rtol=1e-9,
    )


# Circles.


@pytest.mark.parametrize("kernel", DISTANCE)
@pytest.mark.parametrize("bandwidth", [0.05, 0.7, 2.5])
def test_a_wrapped_kernel_is_the_sum_of_many_images(kernel, bandwidth, rng):
    """120 circumferences to each side, of which exp(-u) at u = 48 is the last."""
    query, key = rng.uniform(-3, 3, 5), rng.uniform(-3, 3, 6)
    turns = np.arange(-120, 121)
    apart = np.abs(query[:, None, None] - key[None, :, None] - turns) / bandwidth
    with np.errstate(divide="ignore"):
        summed = np.log(np.exp(PROFILES[kernel](apart**2)).sum(axis=2))
    wrapped = log_weights(query, key, bandwidth, kernel=kernel, period=1.0)
    # Where a kernel nears its end, 1 - u has lost some digits of u.
    assert_allclose(np.exp(wrapped), np.exp(summed), rtol=1e-9, atol=1e-13)


@pytest.mark.parametrize("bandwidth", [0.1, 0.5, 2.0])
def test_a_wrapped_gaussian_is_its_fourier_series(bandwidth):
    """Poisson's sum: h√2π Σ exp(-2π²m²h²) cos 2πmx, at circumference one."""
    x = np.linspace(0, 1, 21)
    m = np.arange(1, 40)
    gain = np.exp(-2 * (np.pi * m * bandwidth) ** 2)
    series = 1 + 2 * (gain * np.cos(2 * np.pi * x[:, None] * m)).sum(axis=1)
    wrapped = np.exp(log_weights(x, [0.0], bandwidth, period=1.0)[:, 0])
    assert_allclose(wrapped, bandwidth * math.sqrt(2 * math.pi) * series, rtol=1e-12, atol=1e-16)


def test_a_wrapped_laplacian_kernel_has_a_closed_form():
    """A geometric sum: cosh((½ - x)/h) / sinh(1/2h), at circumference one."""
    x = np.linspace(0, 1, 21)
    wrapped = np.exp(log_weights(x, [0.0], 0.7, kernel="laplace", period=1.0)[:, 0])
    assert_allclose(wrapped, np.cosh((0.5 - x) / 0.7) / np.sinh(1 / 1.4), rtol=1e-12)


def test_features_may_be_closed_or_open(places):
    """On a cylinder the Gaussian is a product of a wrapped factor and a plain one."""
    query, key = places
    both = log_weights(query, key, [0.8, 0.5], period=[2.0, np.inf])
    around = log_weights(query[:, 0], key[:, 0], 0.8, period=2.0)
    along = log_weights(query[:, 1], key[:, 1], 0.5)
    assert_allclose(both, around + along, rtol=1e-10, atol=1e-12)


def test_a_product_does_not_repeat():
    with pytest.raises(Refusal, match=r"^the kernel 'exp_dot' weighs by a product, .* 'gaussian'"):
        log_weights([0.0], [1.0], 1.0, kernel="exp_dot", period=1.0)


def test_a_kernel_of_many_circumferences_is_refused():
    with pytest.raises(
        Refusal, match=r"^the bandwidth is 1e\+04 circumferences, and 1\.8e\+05 images .* smaller"
    ):
        log_weights([0.0], [1.0], 1e4, period=1.0)


# Out of reach.


@pytest.mark.parametrize("kernel", DISTANCE)
def test_a_query_far_from_every_key_goes_to_the_nearest_alone(kernel):
    query, key = np.array([-1e9, 0.5, 2.9e9]), np.array([0.0, 1.0, 3.0])
    share = shares_of(line(query, key), kernel)
    near = shares_of(line(query[1:2], key), kernel)
    assert np.array_equal(share[1:2], near)
    # One key further on, exp(-u) still has 1/e of the weight; the others have none.
    if kernel != "laplace":
        assert np.array_equal(share[[0, 2]], [[1, 0, 0], [0, 0, 1]])


@pytest.mark.parametrize("kernel", COMPACT)
def test_keys_that_are_equally_near_share_alike(kernel):
    """Also where rounding tells 0.1 + 0.1 from 0.3 - 0.1."""
    share = shares_of(line([0.2], [0.1, 0.3, 0.3, 9.0], 0.01, [1, 1, 2, 1]), kernel)
    assert_allclose(share, [[1 / 4, 1 / 4, 1 / 2, 0]], rtol=1e-15)


@pytest.mark.parametrize("kernel", DISTANCE)
def test_a_bandwidth_too_small_for_any_weight_leaves_the_nearest(kernel):
    share = shares_of(line([0.0, 0.6, 1.0], [0.0, 1.0], 1e-300), kernel)
    assert np.array_equal(share, [[1, 0], [0, 1], [0, 1]])


@pytest.mark.parametrize("unit", [1e-200, 1e200])
@pytest.mark.parametrize("kernel", COMPACT)
def test_the_nearest_key_is_told_in_any_unit(kernel, unit):
    """Though squares of such lengths could not be held."""
    share = shares_of(line([5.0 * unit], [0.0, 1.0 * unit, 8.0 * unit], unit), kernel)
    assert np.array_equal(share, [[0, 0, 1]])


@pytest.mark.parametrize("kernel", DISTANCE)
def test_the_nearest_key_is_one_that_counts(kernel):
    sample = line([100.0, 100.0], [0.0, 1.0, 99.0, 100.0], 0.01, [1, 1, 1, 0])
    hidden = np.array([[False, False, False, False], [False, False, True, False]])
    share = shares_of(sample, kernel, hidden=hidden)
    assert_allclose(share, [[0, 0, 1, 0], [0, 1, 0, 0]], atol=1e-40)


@pytest.mark.parametrize("kernel", COMPACT)
def test_out_of_reach_may_be_no_number(kernel):
    share = shares_of(line([0.1, 5.0], [0.0, 1.0], 0.5), kernel, beyond="nan")
    assert np.array_equal(share, [[1, 0], [np.nan, np.nan]], equal_nan=True)


@pytest.mark.parametrize("kernel", COMPACT)
def test_out_of_reach_may_be_refused(kernel):
    with pytest.raises(
        Refusal,
        match=rf"^query \[1\] has no key within the bandwidth of the kernel '{kernel}': its "
        r"nearest one lies 8 bandwidths away\. Use a larger bandwidth, or beyond='nearest'\.$",
    ):
        shares_of(line([0.1, 5.0], [0.0, 1.0], 0.5), kernel, beyond="refuse")


@pytest.mark.parametrize("beyond", BEYOND)
def test_nothing_is_out_of_reach_of_a_gaussian(beyond):
    assert np.array_equal(shares_of(line([1e9], [0.0, 1.0]), "gaussian", beyond=beyond), [[0, 1]])


def test_an_unknown_way_out_is_refused():
    with pytest.raises(
        Refusal, match=r"^beyond is 'nearst'; did you mean 'nearest'\? .* nearest, refuse, nan\.$"
    ):
        shares_of(line([0.0], [0.0]), "gaussian", beyond="nearst")


def test_an_unknown_kernel_is_refused():
    with pytest.raises(Refusal, match=r"^no smoothing kernel is called 'gausian'; did you mean"):
        log_weights([0.0], [0.0], 1.0, kernel="gausian")


def test_a_query_that_sees_no_key_is_refused():
    with pytest.raises(Refusal, match=r"^query \[1\] sees no key; .* another observation\.$"):
        shares_of(line([0.0, 1.0], [0.0]), "gaussian", hidden=np.array([[False], [True]]))


def test_a_product_that_no_number_holds_is_refused():
    with pytest.raises(Refusal, match=r"^the product of query \[0\] and key \[0\] .* is -inf; "):
        log_weights([1e200], [1.0, 1e200], 1.0, kernel="exp_dot")


# Shares by themselves.


def test_shares_know_no_scale():
    log = np.array([[0.0, -1.0, -np.inf]])
    for shift in (0.0, 1e4, -1e4):
        assert_allclose(shares(log + shift), shares(log), rtol=1e-11)
    assert_allclose(shares(log), [[math.e / (1 + math.e), 1 / (1 + math.e), 0]], rtol=1e-15)


def test_rows_without_weight_get_what_is_spared_for_them():
    log = np.array([[-np.inf, -np.inf], [0.0, -np.inf]])
    assert np.array_equal(shares(log), [[np.nan, np.nan], [1, 0]], equal_nan=True)
    spared = shares(log, lambda rows: np.full((len(rows), 2), 0.5))
    assert np.array_equal(spared, [[0.5, 0.5], [1, 0]])
