"""Local planes: what they reproduce, the least squares they are, slopes that keys leave open."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from lowpass.registry import Refusal
from lowpass.smoothing.checks import checked
from lowpass.smoothing.local import local_linear, matrix_of
from lowpass.smoothing.profiles import PROFILES
from lowpass.smoothing.weights import shares_of


@pytest.fixture
def places(rng) -> tuple[np.ndarray, np.ndarray]:
    """Give 9 queries and 60 keys in the plane, some queries outside of the keys."""
    return 1.5 * rng.standard_normal((9, 2)), rng.standard_normal((60, 2))


@pytest.mark.parametrize("kernel", PROFILES)
def test_planes_are_reproduced(kernel, places):
    query, key = places
    matrix = matrix_of(checked(query, key, None, 2.0), kernel=kernel, degree=1)
    assert_allclose(matrix.sum(axis=1), 1, rtol=1e-12)
    plane = np.array([3.0, -0.5])
    assert_allclose(matrix @ (7 + key @ plane), 7 + query @ plane, rtol=1e-10)


@pytest.mark.parametrize("kernel", PROFILES)
def test_a_row_is_weighted_least_squares(kernel, places):
    """Normal equations of (1, k - q), solved by somebody else."""
    query, key = places
    sample = checked(query, key, None, [2.0, 1.5])
    share = shares_of(sample, kernel)
    for q, w, row in zip(query, share, local_linear(sample, share), strict=True):
        if np.count_nonzero(w) < 4:
            continue  # Fewer keys leave a slope open, and each norm of it closes another.
        design = np.c_[np.ones(60), key - q] * np.sqrt(w)[:, None]
        assert_allclose(row, np.linalg.pinv(design)[0] * np.sqrt(w), atol=1e-10)


def test_a_line_through_two_keys_goes_on_however_small_the_second_share_is():
    """At 40 bandwidths the nearer key has all weight but e^-780."""
    matrix = matrix_of(checked([40.0], [0.0, 1.0, 2.0], None, 1.05), degree=1)
    assert_allclose(matrix, [[0, -38, 39]], atol=1e-12)


def test_keys_in_one_place_leave_the_average():
    matrix = matrix_of(checked([5.0, 0.0], [1.0, 1.0, 1.0], None, 0.3, [1, 1, 2]), degree=1)
    assert_allclose(matrix, [[0.25, 0.25, 0.5]] * 2, rtol=1e-14)


def test_keys_on_a_line_leave_the_slope_across_it_open(rng):
    """The pseudo-inverse sees no change across, and the fit is that on the line."""
    along = rng.standard_normal(20)
    key = np.outer(along, [0.6, 0.8])
    off = checked([[0.3 * 0.6 - 0.8, 0.3 * 0.8 + 0.6]], key, None, 1.0)
    on = checked([0.3], along, None, 1.0)
    assert_allclose(matrix_of(off, degree=1), matrix_of(on, degree=1), atol=1e-10)


@pytest.mark.parametrize("kernel", ["boxcar", "triangle", "epanechnikov", "tricube"])
def test_a_single_key_in_reach_gives_its_value(kernel):
    matrix = matrix_of(checked([0.2, 7.0], [0.0, 1.0, 2.0], None, 0.5), kernel=kernel, degree=1)
    assert np.array_equal(matrix, [[1, 0, 0], [0, 0, 1]])


def test_out_of_reach_may_be_no_number():
    sample = checked([0.0, 9.0], [0.0, 0.1, 0.2], None, 0.5)
    matrix = matrix_of(sample, kernel="boxcar", degree=1, beyond="nan")
    assert np.isnan(matrix).tolist() == [[False] * 3, [True] * 3]


@pytest.mark.parametrize("degree", [0, 1])
def test_a_circle_is_a_line_that_repeats(degree, rng):
    query, key = rng.uniform(0, 5, 4), rng.uniform(0, 5, 10)
    around = matrix_of(checked(query, key, None, 0.6, period=5.0), degree=degree)
    repeated = np.concatenate([key + 5.0 * turn for turn in range(-4, 5)])
    unrolled = matrix_of(checked(query, repeated, None, 0.6), degree=degree)
    assert_allclose(around, unrolled.reshape(4, 9, 10).sum(axis=1), atol=1e-12)


@pytest.mark.parametrize("degree", [0, 1])
def test_a_circle_has_no_seam(degree, rng):
    key = rng.uniform(0, 5, 10)
    here, turned = (
        matrix_of(checked([0.1 + t], key + t, None, 0.6, period=5.0), degree=degree)
        for t in (0.0, 3.7)
    )
    assert_allclose(turned, here, atol=1e-12)


@pytest.mark.parametrize("period", [None, 50.0])
@pytest.mark.parametrize("degree", [0, 1])
def test_a_hidden_key_is_left_out(degree, period, rng):
    key = np.sort(rng.uniform(0, 10, 12))
    sample = checked(key, key, None, 0.8, period=period)
    left_out = matrix_of(sample, degree=degree, hidden=np.eye(12, dtype=bool))
    for i in range(12):
        rest = checked(key[[i]], np.delete(key, i), None, 0.8, period=period)
        refit = matrix_of(rest, degree=degree)[0]
        assert left_out[i, i] == 0
        assert_allclose(np.delete(left_out[i], i), refit, atol=1e-10)


@pytest.mark.parametrize("unit", [2.0**-660, 2.0**660])
def test_lengths_may_have_any_unit(unit, places):
    """Though their squares could not be held: 2^660 is about 1e199."""
    query, key = places
    one = matrix_of(checked(query, key, None, 2.0), degree=1)
    other = matrix_of(checked(unit * query, unit * key, None, unit * 2.0), degree=1)
    assert_allclose(other, one, rtol=1e-12)


@pytest.mark.parametrize("degree", [-1, 2, 0.5, "linear"])
def test_other_degrees_are_refused(degree):
    with pytest.raises(Refusal, match=r"^degree is .*; local constants \(0\) and local planes"):
        matrix_of(checked([0.0], [0.0], None, 1.0), degree=degree)
