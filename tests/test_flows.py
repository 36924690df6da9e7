"""Heat layer by layer: multiples of its time, hundreds of digits, closed forms, refusals."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest
from mpmath import mp
from numpy.testing import assert_allclose
from scipy.linalg import expm

from lowpass.flows import FLOWS, iterate_heat
from lowpass.laplacians import LAPLACIANS, stationary_of
from lowpass.registry import Refusal
from lowpass.spectra import log10_norm
from lowpass.splits import Split, dc, hc

from .heated import FLOWING, affinity, generator, started


@pytest.mark.parametrize(("graph", "name"), FLOWING)
@pytest.mark.parametrize("method", FLOWS)
def test_layers_of_heat_are_multiples_of_its_time(graph, name, method, rng):
    laplacian, pi = generator(graph, name, rng)
    x = rng.standard_normal((8, 2))
    flow = iterate_heat(*started(laplacian, x, pi), time=0.3, method=method)
    for layer, state in enumerate(islice(flow, 5)):
        expected = expm(-0.3 * layer * laplacian) @ x
        ours = state.kept + np.ldexp(state.rest, state.exponent)
        assert_allclose(ours, expected, atol=1e-12 * np.abs(expected).max())


@pytest.mark.parametrize("method", FLOWS)
@pytest.mark.parametrize("graph", ["ring", "logits"])
def test_one_layer_may_take_a_long_time(graph, method, rng):
    """Far more than one polynomial resolves: the slowest mode changes by e^{±60 |λ|}, 1e15 and up.

    Logits are centred, so that their Laplacian has as many negative eigenvalues as positive ones.
    """
    w = affinity(graph, rng)
    name = "combinatorial" if graph == "ring" else "signed"
    laplacian, pi = LAPLACIANS[name](w if graph == "ring" else w - w.mean()), np.full(8, 1 / 8)
    x = rng.standard_normal((8, 2))
    slow = iterate_heat(*started(laplacian, x, pi), time=60.0, method=method)
    quick = iterate_heat(*started(laplacian, x, pi), time=0.5, method="eigh")
    for state, same in zip(islice(slow, 4), islice(quick, 0, None, 120), strict=False):
        assert_allclose(log10_norm(*hc(state)), log10_norm(*hc(same)), atol=1e-12)


def exact_norms(
    w: np.ndarray, name: str, x: np.ndarray, time: float, layers: list[int]
) -> np.ndarray:
    """Iterate X ← e^{-τL} X, unsplit, in the current precision; give log10 ‖CX‖ at some layers."""
    n = len(w)
    exact = mp.matrix(w.tolist())
    degree = [mp.fsum(exact[i, j] for j in range(n)) for i in range(n)]
    minus = mp.matrix(n, n)
    for i in range(n):
        for j in range(n):
            divisor = degree[i] if name == "random_walk" else 1
            minus[i, j] = time * (exact[i, j] - (degree[i] if i == j else 0)) / divisor
    kernel, state, norms = mp.expm(minus, method="taylor"), mp.matrix(x.tolist()), []
    for layer in range(max(layers) + 1):
        if layer in layers:
            columns = [[state[i, a] for i in range(n)] for a in range(x.shape[1])]
            apart = mp.fsum((e - mp.fsum(c) / n) ** 2 for c in columns for e in c)
            norms.append(float(mp.log10(apart) / 2))
        state = kernel * state
    return np.array(norms)


@pytest.mark.parametrize(
    ("graph", "name", "time", "goal"),
    [
        ("ring", "combinatorial", 4.0, -300),
        ("path", "random_walk", 40.0, -300),
        ("tokens", "combinatorial", 2.0, -400),
        ("tokens", "random_walk", 4.0, -400),
        ("grid", "random_walk", 7.0, -300),
        ("logits", "signed", 2.0, 300),
    ],
)
@pytest.mark.parametrize("method", FLOWS)
def test_what_is_left_agrees_with_the_unsplit_recurrence_in_exact_arithmetic(
    graph, name, time, goal, method, rng
):
    """‖HC(t)‖, relative error 1e-11, beyond the range of floats either way.

    The recurrence runs on as many digits as the norm is small, and 60 more. Logits amplify.
    """
    w = affinity(graph, rng)
    x = rng.standard_normal((8, 2))
    flow = iterate_heat(
        *started(LAPLACIANS[name](w), x, stationary_of(w, name)), time=time, method=method
    )
    ours = []
    for state in flow:
        ours.append(log10_norm(*hc(state)))
        if abs(ours[-1]) > abs(goal):
            break
    depth = len(ours) - 1
    layers = sorted({0, 1, depth // 8, depth // 2, depth})
    with mp.workdps(60 + abs(goal)):
        exact = exact_norms(w, name, x, time, layers)
    assert exact[-1] / goal > 1
    assert_allclose(np.array(ours)[layers], exact, rtol=0, atol=1e-11 / np.log(10))


def test_nothing_underflows_after_a_hundred_thousand_e_foldings():
    """A star keeps every mode that sums to zero on its leaves, at the rate one exactly."""
    w = np.zeros((6, 6))
    w[0, 1:] = w[1:, 0] = 1
    x = np.zeros((6, 1))
    x[1:3, 0] = 1, -1
    laplacian, pi = LAPLACIANS["combinatorial"](w), np.full(6, 1 / 6)
    flow = iterate_heat(*started(laplacian, x, pi), time=1e4, method="eigh")
    state = next(islice(flow, 10, None))
    expected = np.log10(np.sqrt(2)) - 1e5 / np.log(10)
    assert_allclose(log10_norm(*hc(state)), expected, rtol=1e-13)
    assert np.array_equal(dc(state, pi), [0.0])


@pytest.mark.parametrize("method", FLOWS)
def test_the_constant_never_changes(method, rng):
    """With even weights the mean of every layer is that of the start, to the last bit."""
    laplacian, pi = generator("tokens", "combinatorial", rng)
    x = rng.standard_normal((8, 3))
    flow = iterate_heat(*started(laplacian, x, pi), time=1.0, method=method)
    means = [dc(state, pi) for state in islice(flow, 50)]
    assert np.array_equal(means, [means[0]] * 50)


@pytest.mark.parametrize(("graph", "name"), FLOWING)
@pytest.mark.parametrize("method", FLOWS)
def test_what_changes_has_no_stationary_part_in_any_layer(graph, name, method, rng):
    laplacian, pi = generator(graph, name, rng)
    x = rng.standard_normal((8, 2))
    flow = iterate_heat(*started(laplacian, x, pi), time=2.0, method=method)
    for state in islice(flow, 0, 60, 12):
        assert_allclose(pi @ state.rest, 0, atol=1e-15)


@pytest.mark.parametrize("method", FLOWS)
def test_tokens_that_agree_stay_as_they_are(method, rng):
    laplacian, pi = generator("tokens", "random_walk", rng)
    x = np.tile(rng.standard_normal(3), (8, 1))
    flow = iterate_heat(*started(laplacian, x, pi), time=1.0, method=method)
    for state in islice(flow, 4):
        assert np.array_equal(state.rest, np.zeros((8, 3)))
        assert state.exponent == 0


@pytest.mark.parametrize("method", FLOWS)
def test_the_parts_of_a_graph_keep_their_difference(method, rng):
    w = np.kron(np.eye(2), np.ones((4, 4)))
    laplacian, pi = LAPLACIANS["combinatorial"](w), np.full(8, 1 / 8)
    x = rng.standard_normal((8, 1))
    flow = iterate_heat(*started(laplacian, x, pi), time=50.0, method=method)
    state = next(islice(flow, 40, None))
    halves = np.repeat([x[:4].mean(), x[4:].mean()], 4)[:, None]
    assert_allclose(np.ldexp(state.rest, state.exponent), halves - x.mean(), rtol=1e-12)


@pytest.mark.parametrize("method", FLOWS)
def test_no_time_is_no_change(method, rng):
    laplacian, pi = generator("grid", "random_walk", rng)
    x = rng.standard_normal((8, 2))
    late = next(islice(iterate_heat(*started(laplacian, x, pi), time=0.0, method=method), 9, None))
    ours = late.kept + np.ldexp(late.rest, late.exponent)
    assert_allclose(ours, x, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("method", FLOWS)
def test_a_flow_without_a_limit_is_refused(method, rng):
    laplacian, _ = generator("tokens", "normalised", rng)
    start = Split.of(np.zeros(2), rng.standard_normal((8, 2)))
    with pytest.raises(Refusal, match=r"^row \[0\] of the Laplacian sums to .* use 'random_walk'"):
        iterate_heat(laplacian, start, np.full(8, 1 / 8), time=1.0, method=method)


@pytest.mark.parametrize("name", ["combinatorial", "random_walk"])
@pytest.mark.parametrize("method", FLOWS)
def test_flows_in_a_batch_are_those_of_its_members(name, method, rng):
    laplacian, pi = generator("tokens", name, rng, 2, 3)
    x = rng.standard_normal((2, 3, 8, 2))
    batch = next(islice(iterate_heat(*started(laplacian, x, pi), time=0.4, method=method), 40, 41))
    for i in np.ndindex(2, 3):
        flow = iterate_heat(*started(laplacian[i], x[i], pi[i]), time=0.4, method=method)
        alone = next(islice(flow, 40, None))
        assert_allclose(log10_norm(*hc(batch))[i], log10_norm(*hc(alone)), atol=1e-12)


def test_what_does_not_flow_is_refused(rng):
    laplacian, pi = generator("tokens", "random_walk", rng)
    x = rng.standard_normal((8, 2))
    with pytest.raises(Refusal, match=r"^the diffusion time is -0\.5; .* ill-posed, "):
        iterate_heat(*started(laplacian, x, pi), time=-0.5, method="eigh")
    with pytest.raises(Refusal, match=r"^the Laplacian, balanced by its .* of 'stationary_of'"):
        iterate_heat(*started(laplacian, x, np.full(8, 1 / 8)), time=1.0, method="eigh")
    start = Split(np.zeros(2), np.where(np.arange(2) == 1, np.nan, x), np.array(0), np.array(0))
    with pytest.raises(Refusal, match=r"^token \[0, 1\] is nan; .* Give finite numbers\.$"):
        iterate_heat(laplacian, start, pi, time=1.0, method="eigh")
    with pytest.raises(Refusal, match=r"^no heat flow is called 'eihg'; did you mean 'eigh'\?"):
        iterate_heat(*started(laplacian, x, pi), time=1.0, method="eihg")
