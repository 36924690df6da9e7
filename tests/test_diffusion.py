"""Heat flows: laws over all graphs, exponentials of matrices, hundreds of digits, refusals."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest
from mpmath import mp
from numpy.testing import assert_allclose
from scipy.linalg import expm

from lowpass.diffusion import FLOWS, HEATS, heat_action, heat_kernel, iterate_heat
from lowpass.graphs import GRAPHS
from lowpass.laplacians import LAPLACIANS, stationary_of
from lowpass.registry import Refusal
from lowpass.spectra import log10_norm
from lowpass.splits import Split, dc, hc
from lowpass.starts import STARTS

CONSTANT = [name for name in LAPLACIANS if LAPLACIANS.facts(name)["constant_mode"]]
POSITIVE = [name for name in CONSTANT if LAPLACIANS.facts(name)["positive"]]
PLACE = np.array([[row, column] for row in range(2) for column in range(4)])
# Besides the graphs: numbers of any sign, for which heat may flow the wrong way.
AFFINITIES = [*GRAPHS, "logits"]


def affinity(name: str, rng: np.random.Generator, *leading: int) -> np.ndarray:
    """Give the affinity of eight tokens on a graph, or their symmetrised logits."""
    x = rng.standard_normal((*leading, 8, 3))
    if name == "logits":
        return x @ np.swapaxes(x, -1, -2) / 2
    return GRAPHS[name](x, PLACE, 0.6)


def possible(graph: str, laplacian: str) -> bool:
    return graph != "logits" or not LAPLACIANS.facts(laplacian)["positive"]


FLOWING = [(g, name) for g in AFFINITIES for name in CONSTANT if possible(g, name)]
ALL = [(g, name) for g in AFFINITIES for name in LAPLACIANS if possible(g, name)]


def generator(
    graph: str, name: str, rng: np.random.Generator, *leading: int
) -> tuple[np.ndarray, np.ndarray | None]:
    """Give a Laplacian and its stationary weights, or None where it has none."""
    w = affinity(graph, rng, *leading)
    keeps = LAPLACIANS.facts(name)["constant_mode"]
    return LAPLACIANS[name](w), stationary_of(w, name) if keeps else None


def test_the_same_methods_act_once_and_layer_by_layer():
    assert set(HEATS) == set(FLOWS)


@pytest.mark.parametrize(("graph", "name"), ALL)
@pytest.mark.parametrize("time", [0.0, 0.01, 1.0, 5.0])
def test_the_heat_kernel_is_the_exponential_of_the_laplacian(graph, name, time, rng):
    laplacian, pi = generator(graph, name, rng)
    expected = expm(-time * laplacian)
    kernel = heat_kernel(laplacian, time, pi)
    assert_allclose(kernel, expected, rtol=0, atol=1e-12 * np.abs(expected).max())


@pytest.mark.parametrize(("graph", "name"), FLOWING)
def test_rows_of_a_heat_kernel_sum_to_one_whatever_the_signs(graph, name, rng):
    """B05: the row normalisation of the note changes nothing."""
    laplacian, pi = generator(graph, name, rng)
    kernel = heat_kernel(laplacian, 0.8, pi)
    assert_allclose(kernel.sum(axis=1), 1, atol=1e-14 * np.abs(kernel).max())


@pytest.mark.parametrize(("graph", "name"), FLOWING)
@pytest.mark.parametrize("method", HEATS)
def test_heat_keeps_its_stationary_mean(graph, name, method, rng):
    laplacian, pi = generator(graph, name, rng)
    x = rng.standard_normal((8, 2))
    flowed = heat_action(laplacian, x, np.array([0.8]), method=method, stationary=pi)[0]
    assert_allclose(pi @ flowed, pi @ x, atol=1e-13 * np.abs(flowed).max())


@pytest.mark.parametrize(("graph", "name"), ALL)
def test_times_of_heat_add_up(graph, name, rng):
    laplacian, pi = generator(graph, name, rng)
    first, second, both = (heat_kernel(laplacian, time, pi) for time in (0.3, 0.9, 1.2))
    assert_allclose(first @ second, both, atol=1e-13 * np.abs(both).max())


@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("name", POSITIVE)
@pytest.mark.parametrize("method", HEATS)
def test_heat_never_leaves_the_range_of_its_start(graph, name, method, rng):
    """The maximum principle, for affinities that are not negative."""
    laplacian, pi = generator(graph, name, rng)
    x = rng.standard_normal((8, 5))
    flowed = heat_action(laplacian, x, np.linspace(0, 3, 13), method=method, stationary=pi)
    assert (np.diff(flowed.max(axis=1), axis=0) < 1e-14).all()
    assert (np.diff(flowed.min(axis=1), axis=0) > -1e-14).all()


def test_logits_of_any_sign_break_the_maximum_principle(rng):
    laplacian, _ = generator("logits", "signed", rng)
    assert heat_kernel(laplacian, 0.5).min() < -0.1


@pytest.mark.parametrize(("graph", "name"), ALL)
@pytest.mark.parametrize("method", HEATS)
def test_every_method_applies_the_kernel(graph, name, method, rng):
    laplacian, pi = generator(graph, name, rng)
    x, times = rng.standard_normal((8, 2)), np.array([0.6, 0.0, 0.05])
    ours = heat_action(laplacian, x, times, method=method, stationary=pi)
    kernels = np.stack([heat_kernel(laplacian, time, pi) for time in times])
    size = np.abs(kernels).max(axis=(1, 2))[:, None, None]
    assert_allclose(ours / size, kernels @ x / size, atol=1e-12)


@pytest.mark.parametrize("name", POSITIVE)
def test_the_methods_agree_after_a_long_time(name, rng):
    laplacian, pi = generator("path", name, rng)
    x, times = rng.standard_normal((8, 2)), np.array([1e3, 1e5])
    ours = [heat_action(laplacian, x, times, method=m, stationary=pi) for m in HEATS]
    for each in ours:
        assert_allclose(each, np.broadcast_to(pi @ x, each.shape), atol=1e-10)


@pytest.mark.parametrize("graph", ["tokens", "logits"])
@pytest.mark.parametrize("method", HEATS)
def test_renaming_tokens_renames_what_flows(graph, method, rng):
    laplacian, _ = generator(graph, "signed", rng)
    x, p, times = rng.standard_normal((8, 2)), rng.permutation(8), np.array([0.4])
    ours = heat_action(laplacian, x, times, method=method)
    renamed = heat_action(laplacian[p][:, p], x[p], times, method=method)
    assert_allclose(renamed, ours[:, p], atol=1e-13 * np.abs(ours).max())


@pytest.mark.parametrize("name", CONSTANT)
@pytest.mark.parametrize("method", HEATS)
def test_heat_in_a_batch_flows_as_in_its_members(name, method, rng):
    laplacian, pi = generator("tokens", name, rng, 2, 3)
    x, times = rng.standard_normal((2, 3, 8, 2)), np.array([0.4, 0.1])
    batch = heat_action(laplacian, x, times, method=method, stationary=pi)
    kernels = heat_kernel(laplacian, 0.4, pi)
    states = list(islice(iterate_heat(*started(laplacian, x, pi), time=0.4, method=method), 40))
    assert batch.shape == (2, 2, 3, 8, 2)
    for i in np.ndindex(2, 3):
        alone = heat_action(laplacian[i], x[i], times, method=method, stationary=pi[i])
        assert_allclose(batch[:, *i], alone, atol=1e-13)
        assert_allclose(kernels[i], heat_kernel(laplacian[i], 0.4, pi[i]), atol=1e-14)
        flow = iterate_heat(*started(laplacian[i], x[i], pi[i]), time=0.4, method=method)
        late = next(islice(flow, 39, None))
        both = [log10_norm(*hc(state)) for state in (states[-1], late)]
        assert_allclose(both[0][i], both[1], atol=1e-12)


def started(laplacian: np.ndarray, x: np.ndarray, pi: np.ndarray) -> tuple:
    """Give what an iteration takes: the Laplacian, the start in split form, π."""
    return laplacian, Split.of(*STARTS["tokens"](x, laplacian, pi)), pi


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
    for state in islice(flow, 0, 300, 30):
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


@pytest.mark.parametrize(
    ("time", "message"),
    [
        (-0.5, r"^the diffusion time is -0\.5; .* ill-posed, .* Give a time of zero or more\.$"),
        (np.nan, r"^the diffusion time is nan; heat flows for a finite time\. Give a number\.$"),
        (np.inf, r"^the diffusion time is inf; "),
    ],
)
def test_a_time_that_does_not_run_is_refused(time, message, rng):
    laplacian, pi = generator("ring", "combinatorial", rng)
    x = rng.standard_normal((8, 2))
    with pytest.raises(Refusal, match=message):
        heat_kernel(laplacian, time)
    with pytest.raises(Refusal, match=message):
        heat_action(laplacian, x, np.array([1.0, time]), method="eigh")
    with pytest.raises(Refusal, match=message):
        iterate_heat(*started(laplacian, x, pi), time=time, method="eigh")


@pytest.mark.parametrize("method", HEATS)
def test_a_hole_in_what_flows_is_refused(method, rng):
    laplacian, pi = generator("ring", "combinatorial", rng)
    x = rng.standard_normal((8, 2))
    start = Split(np.zeros(2), np.where(np.arange(2) == 1, np.nan, x), np.array(0), np.array(0))
    with pytest.raises(Refusal, match=r"^token \[0, 1\] is nan; .* Give finite numbers\.$"):
        iterate_heat(laplacian, start, pi, time=1.0, method=method)
    x[3, 1] = np.inf
    with pytest.raises(Refusal, match=r"^token \[3, 1\] is inf; .* Give finite numbers\.$"):
        heat_action(laplacian, x, np.array([1.0]), method=method)
    laplacian[2, 2] = np.nan
    for call in (
        lambda: heat_kernel(laplacian, 1.0),
        lambda: heat_action(laplacian, np.zeros((8, 2)), np.array([1.0]), method=method),
        lambda: iterate_heat(*started(laplacian, np.zeros((8, 2)), pi), time=1.0, method=method),
    ):
        with pytest.raises(Refusal, match=r"^the Laplacian's entry \[2, 2\] is nan; "):
            call()


@pytest.mark.parametrize("method", HEATS)
def test_a_walk_without_its_weights_is_refused(method, rng):
    laplacian, _ = generator("tokens", "random_walk", rng)
    x, even = np.zeros((8, 2)), np.full(8, 1 / 8)
    message = r"^the Laplacian, balanced by its stationary weights, is .* of 'stationary_of'"
    with pytest.raises(Refusal, match=message):
        heat_kernel(laplacian, 1.0)
    with pytest.raises(Refusal, match=message):
        heat_action(laplacian, x, np.array([1.0]), method=method)
    with pytest.raises(Refusal, match=message):
        iterate_heat(*started(laplacian, x, even), time=1.0, method=method)


@pytest.mark.parametrize("method", FLOWS)
def test_a_flow_without_a_limit_is_refused(method, rng):
    laplacian, _ = generator("tokens", "normalised", rng)
    start = Split.of(np.zeros(2), rng.standard_normal((8, 2)))
    with pytest.raises(Refusal, match=r"^row \[0\] of the Laplacian sums to .* use 'random_walk'"):
        iterate_heat(laplacian, start, np.full(8, 1 / 8), time=1.0, method=method)


def test_heat_that_outgrows_floats_is_refused(rng):
    laplacian, _ = generator("logits", "signed", rng)
    message = r"^the heat flow at time 1000 grows by e\^.* or 'iterate_heat', which keeps an exp"
    with pytest.raises(Refusal, match=message):
        heat_kernel(laplacian, 1e3)
    with pytest.raises(Refusal, match=message):
        heat_action(laplacian, np.zeros((8, 1)), np.array([0.0, 1e3]), method="eigh")


def test_a_sum_that_would_cancel_is_refused(rng):
    laplacian, _ = generator("logits", "signed", rng)
    with pytest.raises(
        Refusal, match=r"^the Laplacian may have eigenvalues down to -.* 'eigh', or"
    ):
        heat_action(laplacian, np.zeros((8, 1)), np.array([0.1, 9.0]), method="chebyshev")


def test_a_method_nobody_knows_is_refused(rng):
    laplacian, pi = generator("ring", "combinatorial", rng)
    with pytest.raises(Refusal, match=r"^no heat method is called 'taylor'"):
        heat_action(laplacian, np.zeros((8, 1)), np.array([1.0]), method="taylor")
    with pytest.raises(Refusal, match=r"^no heat flow is called 'taylor'"):
        iterate_heat(*started(laplacian, np.zeros((8, 1)), pi), time=1.0, method="taylor")
