"""Weights and starts; the frozen iteration against hundreds of digits; floors of plain floats."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest
from mpmath import mp
from numpy.testing import assert_allclose

from lowpass.eigen import slem
from lowpass.frozen import Frozen, dual, iterate_plain, iterate_split
from lowpass.kernels import KERNELS, logits, softmax
from lowpass.registry import Refusal
from lowpass.spectra import (
    eigenvalues,
    fitted_rate,
    log10_norm,
    rounding_floor,
    stationary,
)
from lowpass.splits import Split, dc, dc_scaled, hc
from lowpass.starts import STARTS
from lowpass.weights import WEIGHTS


def scores(weights: str, n_tokens: int, d_model: int, beta: float, seed: int) -> tuple:
    """Draw tokens and weights; give tokens and logits."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n_tokens, d_model))
    w_q, w_k = WEIGHTS[weights](rng, d_model)
    return x, logits(x @ w_q, x @ w_k, score="dot", mask="none", beta=beta)


def several(weights: str, n_tokens: int, d_model: int, beta: float, seeds: range) -> tuple:
    """Stack the draws of several seeds."""
    drawn = [scores(weights, n_tokens, d_model, beta, seed) for seed in seeds]
    return tuple(np.stack(each) for each in zip(*drawn, strict=True))


def started(name: str, x: np.ndarray, a: np.ndarray) -> tuple[Split, np.ndarray]:
    """Give the first state of a split iteration with the stationary distribution."""
    pi = stationary(a)
    return Split.of(*STARTS[name](x, a, pi)), pi


def log_hc_dc(state: Split, pi: np.ndarray) -> np.ndarray:
    """Give log10 of ‖CX‖/‖JX‖ of a state."""
    mean, down = dc_scaled(state, pi)
    rows = np.broadcast_to(mean[..., None, :], state.rest.shape)
    return log10_norm(*hc(state)) - log10_norm(rows, down)


def log_transient(state: Split) -> np.ndarray:
    """Give log10 of ‖(I - 1πᵀ)X‖/‖1πᵀX‖ of a state."""
    rows = np.broadcast_to(state.kept[..., None, :], state.rest.shape)
    return log10_norm(state.rest, state.exponent) - log10_norm(rows)


def exact_matrix(s: np.ndarray) -> list[list]:
    """Exponentiate the given doubles and normalise, in the current precision."""
    weight = [[mp.exp(mp.mpf(float(entry))) for entry in row] for row in s]
    return [[w / mp.fsum(row) for w in row] for row in weight]


def exact_stationary(a: list[list]) -> list:
    """Solve πᵀ(A - I) = 0 with πᵀ1 = 1 in the current precision."""
    n = len(a)
    system = mp.matrix(n, n)
    for i in range(n):
        for j in range(n):
            system[i, j] = mp.one if i == 0 else a[j][i] - (i == j)
    return list(mp.lu_solve(system, mp.matrix([1] + [0] * (n - 1))))


def exact_ratios(s: np.ndarray, x: np.ndarray, layers: list[int]) -> np.ndarray:
    """Iterate X ← AX, unsplit, and give log10 of both ratios at the given layers."""
    a = exact_matrix(s)
    pi = exact_stationary(a)
    even = [mp.one / len(a)] * len(a)
    columns = [[mp.mpf(float(entry)) for entry in column] for column in x.T]
    rows = []
    for layer in range(max(layers) + 1):
        if layer in layers:
            rows.append([exact_log_ratio(columns, weights) for weights in (even, pi)])
        columns = [[mp.fdot(row, column) for row in a] for column in columns]
    return np.array(rows, dtype=float)


def exact_log_ratio(columns: list[list], weights: list) -> object:
    """Give log10 of ‖X - 1wᵀX‖/‖1wᵀX‖."""
    means = [mp.fdot(weights, column) for column in columns]
    apart = mp.fsum((e - m) ** 2 for c, m in zip(columns, means, strict=True) for e in c)
    return mp.log10(apart / (len(weights) * mp.fsum(m**2 for m in means))) / 2


@pytest.mark.parametrize("name", WEIGHTS)
def test_weights_are_a_pair_of_square_matrices_from_their_generator_alone(name):
    one, two = (WEIGHTS[name](np.random.default_rng(5), 4) for _ in range(2))
    assert np.array_equal(one, two)
    assert np.shape(one) == (2, 4, 4)


@pytest.mark.parametrize("name", ["untied", "symmetric", "tied"])
def test_random_weights_keep_the_scale_of_tokens(name, rng):
    """Entries have variance 1/d; the mean of 40,000 squares is within 5√(2·2/N) of it."""
    w = WEIGHTS[name](rng, 200)[1]
    off_diagonal = w[~np.eye(200, dtype=bool)]
    assert_allclose(np.square(off_diagonal).mean() * 200, 1, atol=5 * 2 / 200)


@pytest.mark.parametrize("name", ["symmetric", "tied", "identity"])
def test_weights_that_promise_symmetric_logits_keep_it(name):
    _, s = scores(name, 9, 4, 1.0, 0)
    assert_allclose(s, s.T, atol=1e-14)
    assert_allclose(eigenvalues(softmax(s)).imag, 0, atol=1e-14)


def test_untied_weights_give_complex_eigenvalues():
    _, s = scores("untied", 16, 4, 3.0, 0)
    assert np.abs(eigenvalues(softmax(s)).imag).max() > 1e-3


def test_tied_weights_give_a_positive_spectrum():
    _, s = scores("tied", 9, 4, 1.0, 0)
    assert eigenvalues(softmax(s)).real.min() > -1e-15


@pytest.mark.parametrize("name", STARTS)
def test_a_start_has_no_stationary_part_in_its_transient(name):
    x, s = scores("symmetric", 12, 3, 2.0, 1)
    a = softmax(s)
    pi = stationary(a)
    along, transient = STARTS[name](x, a, pi)
    assert along.shape == (3,)
    assert transient.shape == (12, 3)
    assert_allclose(pi @ transient, 0, atol=1e-15)


@pytest.mark.parametrize("name", STARTS)
def test_starts_of_a_batch_are_its_starts_one_at_a_time(name):
    x, s = several("symmetric", 6, 3, 2.0, range(1, 3))
    a = softmax(s)
    pi = stationary(a)
    alone = (STARTS[name](*each) for each in zip(x, a, pi, strict=True))
    for batch, *single in zip(STARTS[name](x, a, pi), *alone, strict=True):
        assert_allclose(batch, single, rtol=1e-13, atol=1e-15)


def test_the_tokens_are_the_sum_of_their_start():
    x, s = scores("untied", 12, 3, 2.0, 1)
    along, transient = STARTS["tokens"](x, softmax(s), stationary(softmax(s)))
    assert_allclose(along + transient, x, rtol=1e-14, atol=1e-15)


@pytest.mark.parametrize("name", ["no_stationary", "second_mode"])
def test_a_start_without_stationary_part_has_exactly_none(name):
    x, s = scores("symmetric", 12, 3, 2.0, 1)
    along, _ = STARTS[name](x, softmax(s), stationary(softmax(s)))
    assert np.array_equal(along, np.zeros(3))


def test_the_second_mode_is_an_eigenvector():
    x, s = scores("symmetric", 12, 3, 2.0, 1)
    a = softmax(s)
    _, mode = STARTS["second_mode"](x, a, stationary(a))
    assert_allclose(a @ mode, eigenvalues(a)[1].real * mode, atol=1e-14)
    assert np.array_equal(mode, np.repeat(mode[:, :1], 3, axis=1))
    assert_allclose(np.abs(mode).max(), 1, rtol=1e-13)


def test_a_split_state_is_scaled_by_a_power_of_two_exactly(rng):
    r = rng.standard_normal((4, 5, 3)) * np.array([1e-200, 1.0, 1e200, 0.0])[:, None, None]
    state = Split.of(np.zeros((4, 3)), r, np.array([0, 7, -2000, 3]))
    top = np.abs(state.rest).max(axis=(1, 2))
    assert ((top[:3] >= 0.5) & (top[:3] < 1)).all()
    back = np.ldexp(state.rest, (state.exponent - [0, 7, -2000, 3])[:, None, None])
    assert np.array_equal(back, r)


@pytest.mark.parametrize("scale", [2.0**-1074, 2.0**-1024, 2.0**-1022, 2.0**1022])
def test_the_largest_and_smallest_floats_are_scaled_exactly_too(scale):
    r = scale * np.array([[1.0, -3.0], [2.0, 0.0]])
    state = Split.of(np.zeros(2), r)
    assert np.abs(state.rest).max() < 1
    assert np.array_equal(np.ldexp(state.rest, state.exponent), r)


def test_dc_and_hc_of_a_split_state_are_those_of_its_tokens():
    x, s = scores("untied", 12, 3, 2.0, 1)
    state, pi = started("tokens", x, softmax(s))
    high, exponent = hc(state)
    assert_allclose(dc(state, pi), x.mean(axis=0), rtol=1e-13)
    assert_allclose(np.ldexp(high, exponent), x - x.mean(axis=0), rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("arithmetic", ["split", "float64"])
def test_the_first_layers_are_powers_of_the_matrix(arithmetic):
    x, s = scores("untied", 12, 3, 2.0, 1)
    a = softmax(s)
    state, pi = started("tokens", x, a)
    if arithmetic == "split":
        states = (
            each.kept + np.ldexp(each.rest, each.exponent) for each in iterate_split(a, state, pi)
        )
    else:
        states = iterate_plain(a, x, arithmetic)
    for layer, tokens in enumerate(islice(states, 6)):
        assert_allclose(tokens, np.linalg.matrix_power(a, layer) @ x, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize(
    ("weights", "n_tokens", "d_model", "beta", "seed", "goal"),
    [
        ("untied", 7, 3, 2.0, 4, -300),
        ("symmetric", 6, 2, 1.5, 4, -300),
        ("tied", 6, 3, 0.5, 1, -300),
        ("untied", 8, 3, 1.0, 5, -400),
    ],
)
def test_the_split_form_agrees_with_the_unsplit_recurrence_in_exact_arithmetic(
    weights, n_tokens, d_model, beta, seed, goal
):
    """Both ratios, relative error 1e-11 at ratios down to 1e-300 and 1e-400.

    The recurrence runs on as many digits as the ratio is small, and 60 more. The first case has
    complex second eigenvalues; the third, the smallest ones.
    """
    x, s = scores(weights, n_tokens, d_model, beta, seed)
    a = softmax(s)
    start, pi = started("tokens", x, a)
    ours = []
    for state in islice(iterate_split(a, start, pi), 3000):
        ours.append([log_hc_dc(state, pi), log_transient(state)])
        if max(ours[-1]) < goal:
            break
    depth = len(ours) - 1
    layers = sorted({0, 1, depth // 8, depth // 2, depth})
    with mp.workdps(60 - goal):
        exact = exact_ratios(s, x, layers)
    assert exact[-1].max() < goal
    assert_allclose(np.array(ours)[layers], exact, rtol=0, atol=1e-11 / np.log(10))


def test_a_block_of_replicates_iterates_as_its_members_do():
    x, s = several("untied", 8, 3, 2.0, range(5))
    a = softmax(s)
    state, pi = started("tokens", x, a)
    block = [log_hc_dc(each, pi) for each in islice(iterate_split(a, state, pi), 101)]
    for i in range(5):
        state, pi = started("tokens", x[i], a[i])
        alone = [log_hc_dc(each, pi) for each in islice(iterate_split(a[i], state, pi), 101)]
        assert_allclose(np.array(block)[:, i], alone, rtol=1e-12)


@pytest.mark.parametrize("arithmetic", ["split", "float64"])
def test_a_layer_stays_as_it_was_given(arithmetic):
    """The next ones are not computed in its place."""
    x, s = several("untied", 8, 3, 2.0, range(2))
    a = softmax(s)
    state, pi = started("tokens", x, a)
    run = iterate_split(a, state, pi) if arithmetic == "split" else iterate_plain(a, x, arithmetic)
    kept = list(islice(run, 5))
    arrays = [each.rest if arithmetic == "split" else each for each in kept]
    copies = [each.copy() for each in arrays[:3]]
    next(run)
    assert all(map(np.array_equal, arrays, copies))
    assert not any(map(np.shares_memory, arrays, arrays[1:]))


def test_the_rate_of_the_split_form_is_the_second_eigenvalue():
    """Symmetric logits, so that no pair of complex eigenvalues makes the slope oscillate.

    The next eigenvalue is smaller by a factor 0.71; to the power of 200 that is 1e-29.
    """
    x, s = scores("symmetric", 32, 8, 2.0, 3)
    a = softmax(s)
    state, pi = started("tokens", x, a)
    decay = np.array([log_transient(each) for each in islice(iterate_split(a, state, pi), 401)])
    assert_allclose(fitted_rate(decay, 200), slem(a), rtol=1e-10)


def test_the_second_mode_keeps_its_ratio_for_ever():
    """Without a stationary part both components vanish together (A04); |λ₂|^t is below 1e-300."""
    x, s = scores("symmetric", 16, 4, 0.25, 3)
    a = softmax(s)
    state, pi = started("second_mode", x, a)
    states = list(islice(iterate_split(a, state, pi), 1001))
    ratio = [log_hc_dc(each, pi) for each in states]
    assert states[-1].exponent < -1075
    assert_allclose(ratio, ratio[0], atol=1e-11)


def test_a_mean_beyond_the_range_of_floats_keeps_its_exponent():
    """The plain token mean underflows at depth 1000 (see above); the scaled one does not."""
    x, s = scores("symmetric", 16, 4, 0.25, 3)
    a = softmax(s)
    state, pi = started("second_mode", x, a)
    late = next(islice(iterate_split(a, state, pi), 1000, None))
    mean, exponent = dc_scaled(late, pi)
    assert np.array_equal(dc(late, pi), np.zeros(4))
    assert np.array_equal(exponent, late.exponent)
    assert (mean != 0).all()


def test_a_doubly_stochastic_matrix_never_feeds_the_mean():
    """No stationary part and uniform π: the mean is exactly zero in every layer (A04)."""
    x, s = scores("untied", 16, 4, 2.0, 8)
    a = KERNELS["sinkhorn"](s)
    state, pi = started("no_stationary", x, a)
    assert np.array_equal(pi, np.full(16, 1 / 16))
    for each in islice(iterate_split(a, state, pi), 300):
        assert np.array_equal(dc(each, pi), np.zeros(4))
        assert log_hc_dc(each, pi) == np.inf


def test_tokens_that_agree_have_exactly_no_transient_part(rng):
    """Although the stationary weights sum to one only to rounding."""
    x = np.tile(rng.standard_normal(50), (7, 1))
    a = softmax(rng.standard_normal((7, 7)))
    for name in ("tokens", "no_stationary"):
        _, transient = STARTS[name](x, a, stationary(a))
        assert np.array_equal(transient, np.zeros((7, 50)))


def test_a_uniform_matrix_forgets_everything_but_the_mean_at_once(rng):
    a = np.full((8, 8), 1 / 8)
    state, pi = started("tokens", rng.standard_normal((8, 3)), a)
    late = next(islice(iterate_split(a, state, pi), 3, None))
    assert np.array_equal(late.rest, np.zeros((8, 3)))
    assert log_hc_dc(late, pi) == -np.inf


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("n_tokens", [8, 64])
def test_plain_floats_stall_between_the_closest_floats_and_the_rounding_of_a_sum(dtype, n_tokens):
    """At the depth where the exact ratio is below 1e-50, u/√(2n) and 2nu bound what is left.

    The lower bound is the least that two unequal floats differ. The upper one is the rounding of
    a product of n terms, n u, and of the row sums of the stored matrix, n u again.
    """
    x, s = scores("untied", n_tokens, 32, 1.0, 0)
    a = softmax(s)
    state, pi = started("tokens", x, a)
    assert log_hc_dc(next(islice(iterate_split(a, state, pi), 300, None)), pi) < -50
    late = next(islice(iterate_plain(a, x, dtype), 300, None))
    assert late.dtype == dtype
    mean = late.astype(np.float64).mean(axis=0)
    ratio = np.linalg.norm(late - mean) / np.linalg.norm(mean) / np.sqrt(n_tokens)
    assert rounding_floor(dtype, n_tokens) <= ratio <= n_tokens * np.finfo(dtype).eps


def test_a_complex_second_eigenvalue_has_no_mode_to_start_from():
    """A turning three-cycle: eigenvalues 1 and (1 ± i√3)/4, so no real second mode."""
    turn = 0.5 * np.eye(3) + 0.5 * np.roll(np.eye(3), 1, axis=1)
    with pytest.raises(
        Refusal, match=r"^the second eigenvalue 0\.25[+-]0\.433j is complex; .* 'symmetric'"
    ):
        STARTS["second_mode"](np.zeros((3, 2)), turn, np.full(3, 1 / 3))


# One matrix, and the left vector that goes with its constant mode.


def test_the_left_vector_of_attention_is_its_stationary_distribution():
    _, s = several("untied", 12, 3, 2.0, range(3))
    assert_allclose(dual(softmax(s), 1.0), stationary(softmax(s)), rtol=1e-12)


def test_a_left_vector_goes_with_its_gain(rng):
    """Rows of A - J/2 sum to one half."""
    a = softmax(rng.standard_normal((2, 7, 7))) - 0.5 / 7
    p = dual(a, 0.5)
    assert_allclose(p.sum(axis=-1), 1, rtol=1e-14)
    assert_allclose((p[:, None, :] @ a)[:, 0], 0.5 * p, atol=1e-15)


def test_a_gain_that_another_mode_has_too_divides_nothing():
    """The identity: every vector is a mode of the gain one."""
    with pytest.raises(Refusal, match=r"^the constant mode has the gain 1, and so has another mo"):
        dual(np.eye(4), 1.0)


def test_a_kept_part_that_grows_keeps_its_exponent(rng):
    """A gain of 1e10 a layer, for 400 layers."""
    a = softmax(rng.standard_normal((6, 6)))
    state, pi = started("tokens", rng.standard_normal((6, 2)), a)
    head = Frozen(1e10 * a, pi, 1e10)
    late = state
    for _ in range(400):
        late = head(late)
    size = np.log10(np.abs(late.kept).max()) + late.kept_exponent * np.log10(2)
    assert_allclose(size - np.log10(np.abs(state.kept).max()), 4000, rtol=1e-13)
