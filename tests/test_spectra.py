"""Stationary distributions, eigenvalues, norms and rates against closed forms and oracles."""

from __future__ import annotations

import numpy as np
import pytest
from mpmath import mp
from numpy.testing import assert_allclose
from scipy.special import ive

from lowpass.data import GENERATORS
from lowpass.kernels import KERNELS, attend, softmax
from lowpass.masks import MASKS
from lowpass.registry import Refusal
from lowpass.spectra import (
    dft_mean,
    eigenvalues,
    fitted_order,
    fitted_rate,
    log10_norm,
    rounding_floor,
    row_sum_defect,
    stationary,
    taper,
    tapered_rate,
    unit_eigenvalue_defect,
)

POSITIVE = [name for name in KERNELS if KERNELS.facts(name)["positive"]]


def exact_stationary(a: np.ndarray) -> list[float]:
    """Solve for the left eigenvector with 60 digits, the diagonal being what a row leaves."""
    n = len(a)
    with mp.workdps(60):
        p = mp.matrix(a.tolist())
        for i in range(n):
            p[i, i] = 1 - mp.fsum(p[i, j] for j in range(n) if j != i)
        system = p.T - mp.eye(n)
        system[0, :] = mp.ones(1, n)
        return [float(e) for e in mp.lu_solve(system, mp.matrix([1] + [0] * (n - 1)))]


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("kernel", POSITIVE)
def test_the_stationary_distribution_stays(kernel, mask, rng):
    """A causal mask keeps all of it on the first token, and cannot be balanced."""
    x = rng.standard_normal((3, 8, 4))
    facts = MASKS.facts(mask)
    if KERNELS.facts(kernel)["doubly_stochastic"] and not facts["total_support"]:
        return
    width = 2 if facts["parameters"] else None
    chosen = {"kernel": kernel, "mask": mask, "mask_width": width}
    a = attend(x, x[..., ::-1], score="dot", beta=2.0, **chosen)
    pi = stationary(a)
    assert pi.shape == (3, 8)
    assert ((pi > 0).sum(axis=-1) == (1 if mask == "causal" else 8)).all()
    assert_allclose(pi.sum(axis=-1), 1, rtol=1e-15)
    assert_allclose(pi[:, None, :] @ a, pi[:, None, :], rtol=1e-13)


@pytest.mark.parametrize("sharpness", [0.3, 3.0, 30.0, 150.0])
def test_every_stationary_entry_has_thirteen_digits(sharpness, rng):
    """The sharpest has entries near 1e-100; an eigensolver leaves no digit of those."""
    a = softmax(sharpness * rng.standard_normal((9, 9)))
    assert_allclose(stationary(a), exact_stationary(a), rtol=1e-13)


@pytest.mark.parametrize("at_once", [1, 2, 4, 5])
def test_the_stretches_of_an_elimination_change_nothing(at_once, rng, monkeypatch):
    monkeypatch.setattr("lowpass.spectra.TOKENS_AT_ONCE", at_once)
    a = softmax(30 * rng.standard_normal((2, 9, 9)))
    assert_allclose(stationary(a), [exact_stationary(each) for each in a], rtol=1e-13)


def test_renaming_tokens_renames_the_stationary_distribution(rng):
    a = softmax(20 * rng.standard_normal((9, 9)))
    p = rng.permutation(9)
    assert_allclose(stationary(a[p][:, p]), stationary(a)[p], rtol=1e-13)


@pytest.mark.parametrize("sharpness", [1.0, 10.0, 60.0])
def test_symmetric_logits_are_stationary_in_their_row_sums(sharpness, rng):
    """Detailed balance: π is proportional to the row sums of W = exp(S)."""
    s = sharpness * rng.standard_normal((12, 12))
    s = s + s.T
    weight = np.exp(s - s.max()).sum(axis=1)
    assert_allclose(stationary(softmax(s)), weight / weight.sum(), rtol=2e-12)


def test_a_birth_death_chain_reaches_beyond_the_smallest_ratio_of_floats():
    """Leaving at 1e-200 per step: π falls by 1e200 a place, twice, and only then underflows."""
    a = np.array([[1.0, 1e-200, 0.0], [1.0 - 1e-200, 0.0, 1e-200], [0.0, 1.0, 0.0]])
    assert np.array_equal(stationary(a), [1.0, 1e-200, 0.0])


@pytest.mark.parametrize("kernel", [n for n in KERNELS if KERNELS.facts(n)["doubly_stochastic"]])
def test_a_doubly_stochastic_matrix_is_stationary_at_exactly_one_over_n(kernel, rng):
    a = KERNELS[kernel](2 * rng.standard_normal((4, 7, 7)))
    assert np.array_equal(stationary(a), np.full((4, 7), 1 / 7))


def test_a_cycle_has_one_stationary_distribution_although_it_never_mixes():
    assert np.array_equal(stationary(MASKS["cycle"](5).astype(float)), np.full(5, 1 / 5))


def test_a_periodic_chain_that_is_not_balanced_is_solved_too():
    """A star: the hub every second step, so π = 1/2 there and 1/6 on each leaf."""
    a = np.array([[0, 1, 1, 1], [3, 0, 0, 0], [3, 0, 0, 0], [3, 0, 0, 0]]) / 3
    assert_allclose(stationary(a), [1 / 2, 1 / 6, 1 / 6, 1 / 6], rtol=1e-15)


def test_a_reducible_matrix_is_averaged_from_the_uniform_start(rng):
    """Oracle: 2^40 steps of the lazy matrix (I + A)/2, which has the same Cesàro limit."""
    a = softmax(rng.standard_normal((9, 9)))
    a[:4, 4:] = 0
    a[4:7, :4] = a[4:7, 7:] = 0
    a /= a.sum(axis=1, keepdims=True)
    power = (np.eye(9) + a) / 2
    for _ in range(40):
        power = power @ power
        power /= power.sum(axis=1, keepdims=True)
    assert_allclose(stationary(a), power.mean(axis=0), rtol=1e-12, atol=1e-15)


def test_causal_attention_ends_in_the_first_token(rng):
    a = softmax(np.where(np.tri(6, dtype=bool), rng.standard_normal((6, 6)), -np.inf))
    assert np.array_equal(stationary(a), np.eye(6)[0])
    assert np.array_equal(stationary(a[::-1, ::-1]), np.eye(6)[5])


@pytest.mark.parametrize("beta", [0.5, 4.0, 30.0])
def test_attention_on_a_ring_has_a_bessel_spectrum(beta, rng):
    """R11: S = β cos(θᵢ - θⱼ) makes A a von Mises convolution, with gain I_k(β)/I_0(β).

    A solver of any kind is exact relative to the largest eigenvalue, which is one; so 1e-13 of
    the eigenvalue is asked for where it exceeds 1e-1, and 1e-14 absolutely below.
    """
    x = GENERATORS["ring"](rng, n_tokens=96)
    a = attend(x, x, score="l2", kernel="softmax", mask="none", beta=beta)
    gain = ive(np.arange(49), beta) / ive(0, beta)
    each_twice = np.sort(np.concatenate([gain, gain[1:48]]))[::-1]
    ours = eigenvalues(a)
    assert_allclose(ours.imag, 0, atol=1e-14)
    assert_allclose(ours.real[:49], each_twice[:49], rtol=1e-13, atol=1e-14)


def test_the_two_ways_to_write_a_ring_are_the_same(rng):
    """The dot product divides by √2, so β√2 makes up for it."""
    x = GENERATORS["ring"](rng, n_tokens=96)
    dot = attend(x, x, score="dot", kernel="softmax", mask="none", beta=3 * np.sqrt(2))
    l2 = attend(x, x, score="l2", kernel="softmax", mask="none", beta=3.0)
    assert_allclose(dot, l2, rtol=1e-14)


def test_eigenvalues_come_by_decreasing_modulus(rng):
    value = eigenvalues(softmax(3 * rng.standard_normal((4, 9, 9))))
    assert value.shape == (4, 9)
    assert (np.diff(np.abs(value), axis=-1) <= 0).all()
    assert_allclose(value[:, 0], 1, rtol=1e-14)


def test_eigenvalues_sum_to_the_trace(rng):
    a = softmax(3 * rng.standard_normal((4, 9, 9)))
    assert_allclose(eigenvalues(a).sum(axis=-1), np.trace(a, axis1=1, axis2=2), rtol=1e-13)


def test_defects_measure_what_was_added(rng):
    a = softmax(rng.standard_normal((3, 8, 8)))
    assert (row_sum_defect(a) < 1e-15).all()
    assert (unit_eigenvalue_defect(a) < 1e-14).all()
    assert_allclose(row_sum_defect(1.5 * a), 0.5, rtol=1e-14)
    assert_allclose(unit_eigenvalue_defect(0.75 * a), 0.25, rtol=1e-13)
    a[1, 2, 3] -= 0.125
    assert_allclose(row_sum_defect(a)[1], 0.125, rtol=1e-13)


@pytest.mark.parametrize("scale", [1.0, 1e-300, 1e300])
@pytest.mark.parametrize("exponent", [0, -5000, 5000])
def test_log_norms_neither_overflow_nor_underflow(scale, exponent):
    u = scale * np.array([[3.0, 0.0], [0.0, 4.0]])
    expected = np.log10(5) + np.log10(scale) + exponent * np.log10(2)
    assert_allclose(log10_norm(u, exponent), expected, rtol=1e-14)


def test_log_norms_of_a_batch_take_one_exponent_each(rng):
    u, exponent = rng.standard_normal((3, 4, 2)), np.array([0, -10, 10])
    expected = np.log10(np.linalg.norm(u, axis=(1, 2)) * 2.0**exponent)
    assert_allclose(log10_norm(u, exponent), expected, rtol=1e-13)


def test_log_norms_of_a_batch_do_not_depend_on_each_other(rng):
    scale = np.array([1.0, 1e-300, 1e300, 0.0, 1e-120])[:, None, None]
    u = scale * rng.standard_normal((5, 4, 2))
    assert np.array_equal(log10_norm(u), [log10_norm(each) for each in u])


def test_the_log_norm_of_nothing_is_minus_infinity():
    assert log10_norm(np.zeros((4, 2)), 17) == -np.inf


@pytest.mark.parametrize("n_tokens", [1, 2, 7, 64, 97])
def test_the_zero_frequency_is_the_token_mean(n_tokens, rng):
    """A01; an inverse transform without the length would drop a token of an odd number."""
    x = rng.standard_normal((3, n_tokens, 5))
    expected = np.broadcast_to(x.mean(axis=1, keepdims=True), x.shape)
    assert_allclose(dft_mean(x), expected, atol=1e-15)


def test_a_geometric_decay_has_its_own_rate():
    layer = np.arange(50)
    ratio = np.array([0.3, 0.999, 1.2])[:, None] ** layer
    ratio[:, :10] = 1.0
    assert_allclose(fitted_rate(np.log10(ratio), 10), [0.3, 0.999, 1.2], rtol=1e-13)


def test_a_fitted_rate_is_the_least_squares_slope(rng):
    noisy = rng.standard_normal((2, 40))
    slope = np.polyfit(np.arange(15, 40), noisy[:, 15:].T, 1)[0]
    assert_allclose(fitted_rate(noisy, 15), 10**slope, rtol=1e-12)


def test_a_ratio_that_vanished_has_rate_zero_and_one_that_became_infinite_an_infinite_one():
    decay = np.array([[0.0, -1.0, -2.0], [0.0, -np.inf, -np.inf], [0.0, np.inf, np.inf]])
    assert_allclose(fitted_rate(decay, 0), [0.1, 0.0, np.inf], rtol=1e-15)
    assert np.isnan(fitted_rate(np.array([0.0, np.nan, np.nan]), 0))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("n_tokens", [2, 3, 64])
def test_no_two_floats_are_closer_than_the_rounding_floor(dtype, n_tokens):
    """The relative gap is least just below 2: tokens there, one of them one float further down.

    With gap g and mean m, ‖HC‖ = g√(1 - 1/n) and ‖DC‖ = √n m; at n = 2 it is the floor itself.
    """
    gap = float(np.finfo(dtype).eps)
    mean = 2 - gap - gap / n_tokens
    assert np.array(2 - gap, dtype) == 2 - gap > np.array(2 - 2 * gap, dtype) == 2 - 2 * gap
    ratio = gap * np.sqrt(1 - 1 / n_tokens) / (np.sqrt(n_tokens) * mean)
    assert ratio > rounding_floor(dtype, n_tokens)
    assert n_tokens > 2 or ratio < rounding_floor(dtype, n_tokens) * (1 + 2 * gap)


def test_negative_weights_have_no_stationary_distribution():
    with pytest.raises(Refusal, match=r"^the mixing matrix has the entry -0\.5; .* softmax\.$"):
        stationary(np.array([[1.5, -0.5], [0.5, 0.5]]))


def test_a_rate_needs_two_layers():
    with pytest.raises(Refusal, match=r"^a rate was to be fitted from layer 9 on, which leaves 1"):
        fitted_rate(np.zeros(10), 9)


def test_a_fitted_order_is_the_slope_of_each_layer_over_the_one_before(rng):
    noisy = rng.standard_normal((2, 30))
    slopes = [np.polyfit(row[11:-1], row[12:], 1)[0] for row in noisy]
    assert_allclose(fitted_order(noisy, 11), slopes, rtol=1e-12)


def test_a_ratio_that_vanished_has_infinite_order_and_one_that_stands_still_is_geometric():
    decay = np.array([[0.0, -1.0, -2.0], [0.0, -np.inf, -np.inf], [-1.0, -1.0, -1.0]])
    assert_allclose(fitted_order(decay, 0), [1.0, np.inf, 1.0], rtol=1e-15)


def test_an_order_needs_three_layers():
    with pytest.raises(Refusal, match=r"^an order was to be fitted from layer 8 on, .* leaves 2"):
        fitted_order(np.zeros(10), 8)


def test_a_geometric_decay_has_its_tapered_rate(rng):
    layer = np.arange(41)
    assert_allclose(tapered_rate(np.log10(0.7) * layer, 20), 0.7, rtol=1e-13)
    assert_allclose(tapered_rate(np.array([3.0, 0.0, -1.0]), 1), 0.1, rtol=1e-15)
    noisy = rng.standard_normal((2, 41))
    direct = [np.dot(taper(30), np.diff(row[10:])) for row in noisy]
    assert_allclose(tapered_rate(noisy, 10), 10 ** np.array(direct), rtol=1e-12)


def test_swings_leave_a_tapered_rate_alone_and_bend_a_fitted_one():
    """A pair of modes: |cos φt| and its harmonics beside the slope."""
    layer = np.arange(801)
    swinging = np.log10(0.9) * layer + np.log10(1.5 + np.cos(0.37 * layer))
    assert abs(tapered_rate(swinging, 400) / 0.9 - 1) < 1e-10
    assert abs(fitted_rate(swinging, 400) / 0.9 - 1) > 1e-6


def test_a_taper_sums_to_one_and_is_even():
    for n in (1, 2, 7, 400):
        assert_allclose(taper(n).sum(), 1, rtol=1e-14)
        assert_allclose(taper(n), taper(n)[::-1], rtol=1e-9, atol=1e-300)


def test_a_tapered_ratio_that_vanished_has_rate_zero_or_infinity():
    decay = np.array([[0.0, -np.inf, -np.inf], [0.0, np.inf, np.inf]])
    assert tapered_rate(decay, 0).tolist() == [0, np.inf]


def test_a_tapered_rate_needs_a_step():
    with pytest.raises(Refusal, match=r"^a rate was to be averaged over 0 steps between layers"):
        tapered_rate(np.zeros(10), 9)
