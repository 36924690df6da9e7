"""Predicted gains against the eigenvalues of the whole map that a layer is."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from lowpass.frozen import dual
from lowpass.gains import (
    Rule,
    fixed_point,
    growth,
    largest_mode,
    mode_ratio,
    other_eigenvalues,
    rate,
    rate_error,
    second_share,
    sharpening_edge,
    slope_error,
    stability,
)
from lowpass.measures import MEASURES
from lowpass.remedies import REMEDIES, Filter
from lowpass.spectra import taper, tapered_rate

N, D = 6, 3
STRENGTHS = {name: 0.3 for name in REMEDIES if name != "none"}


def matrix(rng: np.random.Generator) -> np.ndarray:
    a = np.exp(2 * rng.standard_normal((N, N)))
    return a / a.sum(axis=1, keepdims=True)


def rule(remedy: Filter, values=(1.0,), skip=0.0, step=1.0) -> Rule:
    padded = [np.pad(each, (0, 3 - len(each))) for each in (remedy.high, remedy.mean)]
    return Rule(*padded, np.float64(remedy.source), np.float64(skip), np.float64(step), values)


def whole(a, remedy: Filter, w, skip: float, step: float) -> np.ndarray:
    """Write the layer as one matrix that acts on all entries of the tokens."""
    power = [np.eye(N), a, a @ a]
    j = np.full((N, N), 1 / N)
    high = sum(c * p for c, p in zip(remedy.high, power, strict=False))
    mean = sum(c * p for c, p in zip(remedy.mean, power, strict=False))
    return skip * np.eye(N * D) + step * np.kron((np.eye(N) - j) @ high + j @ mean, w.T)


@pytest.mark.parametrize("name", REMEDIES)
@pytest.mark.parametrize(("skip", "step"), [(0.0, 1.0), (1.0, 0.5), (0.5, -1.0)])
def test_gains_are_the_eigenvalues_of_the_whole_layer(name, skip, step, rng):
    a, w = matrix(rng), rng.standard_normal((D, D))
    remedy = REMEDIES[name](STRENGTHS.get(name, 0.0))
    of = rule(remedy, np.linalg.eigvals(w), skip, step)
    found = np.concatenate([of.transient(other_eigenvalues(a)).ravel(), of.constant()])
    direct = np.linalg.eigvals(whole(a, remedy, w, skip, step))
    # Two sets are one where their power sums are.
    for power in (1, 2, 3):
        assert_allclose((found**power).sum(), (direct**power).sum(), rtol=1e-10, atol=1e-11)
    assert_allclose(np.sort(abs(found)), np.sort(abs(direct)), rtol=1e-7)
    assert_allclose(stability(of, other_eigenvalues(a)), abs(direct).max(), rtol=1e-10)


def test_the_other_eigenvalues_are_all_but_the_one_of_the_constant_mode(rng):
    a = matrix(rng)
    every = np.linalg.eigvals(a)
    others = np.delete(every, np.argmin(abs(every - 1)))
    assert_allclose(np.sort(abs(other_eigenvalues(a))), np.sort(abs(others)), rtol=1e-11)
    # Of a double eigenvalue one, one is left.
    assert_allclose(other_eigenvalues(np.eye(N)), np.ones(N - 1))


def test_a_cycle_keeps_the_roots_of_unity_but_one():
    cycle = np.roll(np.eye(4), 1, axis=1)
    assert_allclose(np.sort_complex(other_eigenvalues(cycle)), [-1, -1j, 1j], atol=1e-14)


@pytest.mark.parametrize("strength", [0.0, 0.5, 2.0])
def test_the_rate_of_scaled_attention_is_that_multiple_of_the_second_eigenvalue(strength, rng):
    a = matrix(rng)
    second = np.sort(abs(np.linalg.eigvals(a)))[-2]
    for name in ("attnscale", "featscale"):
        found = rate(rule(REMEDIES[name](strength)), other_eigenvalues(a))
        assert_allclose(found, (1 + strength) * second, rtol=1e-12)


def test_what_keeps_no_constant_has_an_infinite_rate_and_a_finite_growth(rng):
    of, eigenvalue = rule(REMEDIES["highpass"](1.0)), other_eigenvalues(matrix(rng))
    assert rate(of, eigenvalue) == np.inf
    assert_allclose(growth(of, eigenvalue), abs(1 - eigenvalue).max(), rtol=1e-14)


def test_what_leaves_nothing_at_all_has_the_rate_zero():
    of = rule(Filter((0.0, 1.0), (0.0, 0.0)))
    assert rate(of, other_eigenvalues(np.full((N, N), 1 / N))) == 0


def test_nothing_falls_below_what_a_source_feeds(rng):
    eigenvalue = np.array([0.4, -0.2])
    settles = rule(REMEDIES["neutreno"](0.5))
    assert growth(settles, eigenvalue) == rate(settles, eigenvalue) == 1
    assert_allclose(stability(settles, eigenvalue), 0.7)
    leaves = rule(REMEDIES["neutreno"](0.9))
    assert_allclose(rate(leaves, eigenvalue), 1.1)


def test_the_constant_mode_decides_where_all_others_are_faster():
    assert_allclose(stability(rule(REMEDIES["neutreno"](0.1)), np.array([0.4, -0.2])), 0.9)
    assert_allclose(stability(rule(REMEDIES["neutreno"](2.5)), np.array([2.4])), 1.5)


def test_the_second_share_compares_the_two_largest_gains():
    assert_allclose(second_share(rule(Filter()), np.array([0.2, -0.8, 0.4])), 0.5)
    assert second_share(rule(Filter()), np.array([0.3 + 0.4j, 0.3 - 0.4j])) == 1
    assert second_share(rule(Filter()), np.array([0.3])) == 0
    # An all-pass has no slowest mode.
    assert second_share(rule(REMEDIES["attinv"](0.5)), np.array([0.2, 0.8])) == 1


def test_a_second_gain_bends_a_slope_by_its_power():
    found = slope_error(np.array([0.5, -0.9, 0.45]), 10, taper(10))
    assert_allclose(found, (1 - 0.5 / 0.9) * (0.5 / 0.9) ** 10, rtol=1e-12)


def test_gains_that_are_alike_bend_nothing():
    """Those of several features, of a single mode, and of none."""
    for gains in ([0.7, 0.7, 0.7], [0.7], [], [0.0, 0.0]):
        assert slope_error(np.array(gains, complex), 10, taper(10)) == 0


def test_a_pair_swings_and_does_not_bend():
    pair = 0.9 * np.exp(1j * np.array([0.4, -0.4]))
    few, many = (slope_error(pair, n, taper(n)) for n in (8, 400))
    direct = 2 * np.sin(0.4) * abs(sum(w * np.exp(0.8j * t) for t, w in enumerate(taper(8))))
    assert_allclose(few, direct, rtol=1e-12)
    assert many < 1e-10


def test_the_predicted_error_is_that_of_the_layers(rng):
    """One matrix, iterated in one array: what is foretold is off by no more than is foretold."""
    a, w = matrix(rng), rng.standard_normal((D, D)) / 2
    of, eigenvalue = rule(Filter(), np.linalg.eigvals(w), 1.0, 0.2), other_eigenvalues(a)
    layer = np.eye(N * D) + 0.2 * np.kron(a, w.T)
    weights = dual(a, 1.0)
    ratios, x = [], rng.standard_normal(N * D)
    for _ in range(121):
        kept = weights @ x.reshape(N, D)
        ratios.append(np.log10(np.linalg.norm(x.reshape(N, D) - kept) / np.linalg.norm(kept)))
        x = layer @ x
    found = tapered_rate(np.array(ratios), 60) / rate(of, eigenvalue) - 1
    foretold = rate_error(of, eigenvalue, 60, taper(60))
    assert 1e-13 < abs(found) < 10 * foretold < 0.1


def test_a_layer_sharpens_between_its_edge_and_zero(rng):
    for eigenvalue in (other_eigenvalues(matrix(rng)), np.array([0.5, -0.2]), np.array([0.3])):
        edge = sharpening_edge(eigenvalue)
        for mu in (1.02 * edge, 0.98 * edge, -1.2, -0.5, -0.01, 0.01, 1.0, 30.0):
            found = rate(rule(Filter(), [mu], 1.0), eigenvalue)
            assert (found > 1) == (edge < mu < 0)
    assert_allclose(sharpening_edge(np.array([0.5, -0.2])), -2 / (1 - 0.2), rtol=1e-14)


def test_a_mode_that_is_never_damped_sharpens_however_negative():
    assert sharpening_edge(np.array([-1.0, 0.4])) == -np.inf
    assert sharpening_edge(np.array([])) == -1


def test_batched_rules_are_rules_one_at_a_time(rng):
    a = np.stack([matrix(rng) for _ in range(4)])
    remedies = [REMEDIES["attnscale"](0.3), REMEDIES["gfsa"](0.5), Filter(), Filter()]
    each = [rule(one, np.array([1.0, -0.5]), 0.2, 0.7) for one in remedies]
    together = Rule(
        np.stack([one.high for one in each]),
        np.stack([one.mean for one in each]),
        np.array([one.source for one in each]),
        np.full(4, 0.2),
        np.full(4, 0.7),
        np.tile([1.0, -0.5], (4, 1)),
    )
    eigenvalue = other_eigenvalues(a)
    for function in (growth, rate, stability, second_share):
        alone = [function(one, lam) for one, lam in zip(each, eigenvalue, strict=True)]
        assert_allclose(function(together, eigenvalue), alone, rtol=1e-13)
    alone = [rate_error(one, lam, 5, taper(5)) for one, lam in zip(each, eigenvalue, strict=True)]
    assert_allclose(rate_error(together, eigenvalue, 5, taper(5)), alone, rtol=1e-13)
    assert_allclose(together.at((1,)).high, each[1].high)
    assert not together.is_plain
    assert rule(Filter(), np.array([2.0, -0.5]), 0.0, 0.7).is_plain


@pytest.mark.parametrize("name", ["none", "attnscale", "featscale", "attinv", "residual"])
def test_the_largest_mode_is_what_powers_of_the_filter_turn_tokens_into(name, rng):
    s = rng.standard_normal((N, N))
    a = np.exp(s + s.T)
    a /= a.sum(axis=1, keepdims=True)
    remedy = REMEDIES[name](STRENGTHS.get(name, 0.0))
    h = remedy.matrix(a)
    p = dual(h, remedy.constant_gain)
    mode = largest_mode(h, p, rule(remedy).layered)
    if remedy.high == remedy.mean:
        of_attention = largest_mode(a, dual(a, 1.0), rule(remedy).transient)
        assert_allclose(mode_ratio(of_attention), mode_ratio(mode), rtol=1e-9)
    z = rng.standard_normal(N)
    for _ in range(3000):
        z = h @ (z - p @ z)
        z /= np.linalg.norm(z)
    z -= p @ z
    assert_allclose(abs(np.vdot(z, mode)) / np.linalg.norm(mode) / np.linalg.norm(z), 1, rtol=1e-8)
    assert_allclose(mode_ratio(mode), np.log10(np.std(z) / abs(z.mean())), atol=1e-6)


def test_a_mode_without_a_mean_has_an_infinite_ratio():
    assert mode_ratio(np.array([1.0, -1.0])) == np.inf


def test_the_fixed_point_is_left_as_it_is(rng):
    a, x, strength = matrix(rng), rng.standard_normal((N, D)), 0.6
    end = fixed_point(a - strength * np.eye(N), np.float64(strength), x)
    assert_allclose(a @ end + strength * (x - end), end, rtol=1e-12, atol=1e-12)
    # NeuTRENO keeps the part of the tokens that attention never changes.
    pi = dual(a, 1.0)
    assert_allclose(pi @ end, pi @ x, rtol=1e-11)


# The measures, on trajectories.

DEPTH = 300


def section(**changes) -> dict:
    return {
        "data": {"generator": "gaussian", "n_tokens": 10, "d_model": 4},
        "attention": {"weights": "symmetric", "beta": 1.0, "depth": DEPTH, **changes},
        "spectra": ["slem"],
        "replicates": 6,
    }


def take(name, made):
    return MEASURES[name](made)


VARIANTS = {
    "plain": {},
    "values": {"values": "random"},
    "values and output": {"values": "random", "output": "rotation"},
    "skip": {"skip": 0.5, "step": 0.25},
    "minus": {"skip": 1.0, "step": -0.5},
    **{name: {"remedy": name, "strength": 0.4} for name in STRENGTHS},
    # Its two largest gains are near to each other.
    "attinv": {"remedy": "attinv", "strength": 0.4, "depth": 600},
    "scaled mean": {"remedy": "featscale", "strength": 0.4, "featscale_dc": 0.5},
    "scaled with values": {"remedy": "attnscale", "strength": 0.4, "values": "graded", "skip": 1.0},
}


@pytest.mark.parametrize("name", VARIANTS)
def test_iterated_layers_grow_as_predicted(name, shared_laboratory):
    """Judged where the faster modes have died out by half of the depth."""
    made = shared_laboratory.first("attention", section(**VARIANTS[name]))
    half = VARIANTS[name].get("depth", DEPTH) / 2
    shown = (take("second_gain_share", made) ** half < 1e-10).values
    if name == "neutreno":
        shown &= (take("predicted_growth", made) > 1.1).values
    for measured, foretold in [
        ("transient_rate", "predicted_rate"),
        ("transient_growth", "predicted_growth"),
    ]:
        off = take(measured, made) / take(foretold, made) - 1
        assert_allclose(off.values[shown], 0, atol=1e-10)
    assert shown.any() or "values" in VARIANTS[name]


def test_a_sweep_inside_a_job_is_predicted_run_by_run(shared_laboratory):
    asked = section(remedy=["attnscale", "residual"], strength=[0.2, 0.7], depth=2)
    made = shared_laboratory.first("attention", {**asked, "inside": ["remedy", "strength"]})
    for name in ("predicted_rate", "predicted_stability", "log10_mode_ratio"):
        every = take(name, made)
        assert every.dims == ("remedy", "strength", "replicate")
        for remedy in ("attnscale", "residual"):
            for strength in (0.2, 0.7):
                alone = shared_laboratory.first(
                    "attention", section(remedy=remedy, strength=strength, depth=2)
                )
                found = every.sel(remedy=remedy, strength=strength)
                assert_allclose(found.values, take(name, alone).values, rtol=1e-9)


def test_what_sharpens_ends_at_the_ratio_of_its_largest_mode(shared_laboratory):
    """The transient ratio has grown by hundreds of decades there."""
    made = shared_laboratory.first("attention", section(remedy="attinv", strength=1.0))
    shown = take("second_gain_share", made).values ** 600 < 1e-12
    last = take("log10_hc_dc_ratio", made).isel(layer=-1).values
    assert shown.any()
    assert_allclose(last[shown], take("log10_mode_ratio", made).values[shown], atol=1e-9)
    assert (take("log10_transient_ratio", made).isel(layer=-1) > 100).all()


def test_runs_of_one_job_saw_the_same_attention(shared_laboratory):
    asked = section(remedy=["attnscale", "residual"], strength=[0.2, 0.7], depth=2)
    made = shared_laboratory.first("attention", {**asked, "inside": ["remedy", "strength"]})
    assert (take("attention_spread", made) == 0).all()
    spoilt = made.copy(deep=True)
    spoilt["attention"][1, 0, 3, 2, 4] += 1e-9
    found = take("attention_spread", spoilt)
    assert found.dims == ("replicate",)
    assert_allclose(found.values, 1e-9 * (found["replicate"].values == 3), rtol=1e-6)


def test_the_distance_to_a_fixed_point_falls_at_the_predicted_factor(shared_laboratory):
    asked = section(remedy="neutreno", strength=0.3, depth=12, record="all")
    made = shared_laboratory.first("attention", asked)
    distance = take("log10_fixed_point_distance", made)
    assert distance.dims == ("replicate", "recorded_layer")
    x = made["dc"] * np.exp2(made["dc_exponent"]) + made["hc"] * np.exp2(made["hc_exponent"])
    for replicate, a in enumerate(made["attention"].values):
        layers = x.isel(replicate=replicate).transpose("recorded_layer", "token", "feature").values
        end = 0.3 * np.linalg.inv(1.3 * np.eye(10) - a) @ layers[0]
        direct = [np.linalg.norm(layer - end) / np.linalg.norm(end) for layer in layers]
        assert_allclose(10 ** distance.values[replicate], direct, rtol=1e-8)


def test_the_error_of_an_approximate_power_is_that_of_a_slow_power(shared_laboratory):
    made = shared_laboratory.first("attention", section(depth=1))
    found = take("power_error", made)
    assert found.dims == ("replicate", "order")
    for replicate, a in enumerate(made["attention"].values):
        for order in found["order"].values:
            line = a + (order - 1) * (a @ a - a)
            direct = np.linalg.norm(np.linalg.matrix_power(a, int(order)) - line, np.inf)
            assert_allclose(found.sel(order=order)[replicate], direct, rtol=1e-12, atol=1e-14)


def test_a_cyclic_permutation_attains_the_bound_on_an_approximate_power(shared_laboratory):
    made = shared_laboratory.first("attention", section(depth=1, mask="cycle"))
    found = take("power_error", made)
    assert (found == 2 * found["order"] - 2).all()
