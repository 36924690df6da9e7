"""The composite norm and its infimum against searches, and the bound of Dong et al."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from mpmath import mp
from numpy.testing import assert_allclose
from scipy.optimize import minimize

from lowpass.collapse import (
    column_norm,
    composite_norm,
    composite_norm_infimum,
    log10_dong_bound,
    row_norm,
)


def test_the_composite_norm_is_the_mean_of_two_sums():
    m = np.array([[1.0, -2.0], [3.0, 0.0], [-1.0, 1.0]])
    assert (column_norm(m), row_norm(m)) == (5, 3)
    assert_allclose(composite_norm(m), np.sqrt(15), rtol=1e-15)


def test_the_composite_norm_is_a_norm_of_products(rng):
    """‖AB‖ ≤ ‖A‖‖B‖, on which the bound of Dong et al. rests."""
    a, b = rng.standard_normal((2, 50, 4, 4))
    assert (composite_norm(a @ b) <= composite_norm(a) * composite_norm(b) * (1 + 1e-14)).all()


@pytest.mark.parametrize(("n", "d"), [(2, 1), (5, 3), (16, 8)])
def test_no_row_gives_less_than_the_infimum(n, d, rng):
    x = rng.standard_normal((n, d))
    low = composite_norm_infimum(x)
    assert low > 0
    rows = [x.mean(axis=0), np.median(x, axis=0), *rng.standard_normal((500, d)), *x]
    best = min(rows, key=lambda y: composite_norm(x - y))
    found = minimize(lambda y: composite_norm(x - y), best, method="Nelder-Mead").x
    assert low <= composite_norm(x - found)
    assert low <= composite_norm(x - best)


def test_a_larger_infimum_is_broken(rng):
    """Of one feature both minima are attained near the same number."""
    x = np.array([[-1.0], [0.0], [1.0]])
    assert_allclose(composite_norm_infimum(x), composite_norm(x), rtol=1e-14)


def test_the_smallest_row_norm_of_one_feature_is_half_the_range(rng):
    """With ‖·‖_∞ at the middle of the range and ‖·‖₁ at the median, both in closed form."""
    x = rng.standard_normal((9, 1))
    column = np.abs(x - np.median(x)).sum()
    assert_allclose(composite_norm_infimum(x), np.sqrt(column * np.ptp(x) / 2), rtol=1e-12)


def test_the_smallest_row_norm_of_two_features_is_found_by_rotation(rng):
    """In the plane ‖·‖₁ is the largest coordinate after a turn by 45°: half the larger range."""
    x = rng.standard_normal((9, 2))
    turned = x @ np.array([[1, 1], [1, -1]])
    row = np.ptp(turned, axis=0).max() / 2
    column = np.abs(x - np.median(x, axis=0)).sum(axis=0).max()
    assert_allclose(composite_norm_infimum(x), np.sqrt(column * row), rtol=1e-12)


def test_equal_tokens_have_no_residual():
    assert composite_norm_infimum(np.zeros((2, 4, 3))).tolist() == [0, 0]


def test_a_batch_is_bounded_as_its_members_are(rng):
    x = rng.standard_normal((2, 2, 4, 3))
    each = [composite_norm_infimum(x[index]) for index in itertools.product(range(2), repeat=2)]
    assert_allclose(composite_norm_infimum(x).ravel(), each, rtol=1e-12)


# The bound.


def test_the_bound_is_the_cubic_recurrence_from_layer_to_layer():
    """Theorem 2.2 is r₊ = c r³, carried on."""
    c, r = 0.7, 0.4
    found = log10_dong_bound(np.log10(c), np.log10(r), 5)
    with mp.workdps(200):
        size = mp.mpf(r)
        for value in found:
            assert_allclose(value, float(mp.log10(size)), rtol=1e-12)
            size = mp.mpf(c) * size**3


def residuals(x: np.ndarray, w_qk: np.ndarray, w_v: np.ndarray, depth: int) -> list[float]:
    """Compute self-attention anew at each layer with 200 digits; give log10 of the residuals."""
    n, d = x.shape
    tokens, product, values = (mp.matrix(each.tolist()) for each in (x, w_qk, w_v))
    found = []
    for _ in range(depth + 1):
        mean = [mp.fsum(tokens[:, j]) / n for j in range(d)]
        rest = [[abs(tokens[i, j] - mean[j]) for j in range(d)] for i in range(n)]
        columns = max(mp.fsum(row[j] for row in rest) for j in range(d))
        found.append(float(mp.log10(columns * max(map(mp.fsum, rest))) / 2))
        logits = tokens * product * tokens.T / mp.sqrt(d)
        weights = logits.apply(mp.exp)
        for i in range(n):
            weights[i, :] /= mp.fsum(weights[i, :])
        tokens = weights * tokens * values
    return found


def bounded(x: np.ndarray, w_qk: np.ndarray, w_v: np.ndarray, constant: float) -> np.ndarray:
    """Give the theorem's bound after three layers, with any constant in the place of 4."""
    factor = constant * column_norm(w_qk) * composite_norm(w_v) / np.sqrt(x.shape[1])
    start = composite_norm_infimum(x - x.mean(axis=0))
    return log10_dong_bound(np.log10(factor), np.log10(start), 3)


@pytest.mark.parametrize("beta", [0.05, 0.2, 0.5, 2.0])
def test_recomputed_self_attention_stays_below_the_bound(beta, rng):
    """R07, for the residual from the mean row, which is not less than that of the best one."""
    for _ in range(5):
        x, (w_q, w_k, w_v) = rng.standard_normal((4, 3)), rng.standard_normal((3, 3, 3))
        w_qk = beta * w_q @ w_k.T
        with mp.workdps(200):
            found = residuals(x, w_qk, w_v, 3)
        assert (found[1:] <= bounded(x, w_qk, w_v, 4.0)[1:]).all()


@pytest.mark.parametrize(("constant", "holds"), [(4.0, True), (0.5, True), (0.4, False)])
def test_two_opposite_tokens_need_a_constant_of_one_half(constant, holds):
    """One layer takes ±a to ±a tanh(βa²), and their residual √2 a to √2 βa³ at most."""
    x, beta, value = np.array([[0.1], [-0.1]]), np.array([[0.7]]), np.array([[1.0]])
    with mp.workdps(200):
        found = residuals(x, beta, value, 3)
    assert_allclose(found[1], np.log10(np.sqrt(2) * 0.1 * np.tanh(0.007)), rtol=1e-12)
    assert found[3] < -28
    assert (found[1:] <= bounded(x, beta, value, constant)[1:]).all() == holds


def test_a_bound_on_the_verge_stays():
    assert_allclose(log10_dong_bound(np.array([2.0]), np.array([-1.0]), 700), -1, rtol=1e-15)


def test_a_bound_beyond_all_powers_of_ten_is_infinite():
    found = log10_dong_bound(np.array([2.0, 2.0, 2.0]), np.array([1.0, -3.0, -np.inf]), 700)
    assert found[:, -1].tolist() == [np.inf, -np.inf, -np.inf]
    assert found[2, 0] == -np.inf
