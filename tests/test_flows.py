"""Heat layer by layer: multiples of its time, hundreds of digits, closed forms, refusals."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest
from mpmath import mp
from numpy.testing import assert_allclose
from scipy.linalg import expm

from lowpass.flows import FLOWS, iterate_heat
from lowpass.heat_equation import HeatEquation
from lowpass.laplacians import LAPLACIANS, stationary_of
from lowpass.registry import Refusal
from lowpass.spectra import log10_norm
from lowpass.splits import Split, dc, hc

from .heated import FLOWING, affinity, generator, started

# Their only error is rounding; the others leave something out, or are a model of their own.
EXACT = ["eigh", "chebyshev"]
CLOSE = ["taylor", "rk45", "dop853"]
MAPPING = [name for name in FLOWS if FLOWS.facts(name)["maps_values"]]
KNOBS = {"taylor_order": 24, "tolerance": 1e-11}


def knobs(method: str) -> dict:
    """Give what a method asks for."""
    return {name: KNOBS[name] for name in FLOWS.facts(method)["knobs"]}


def unsplit(state: Split) -> np.ndarray:
    """Put tokens together from their two parts."""
    return state.kept[..., None, :] + np.ldexp(state.rest, state.exponent[..., None, None])


@pytest.mark.parametrize(("graph", "name"), FLOWING)
@pytest.mark.parametrize("method", EXACT)
def test_layers_of_heat_are_multiples_of_its_time(graph, name, method, rng):
    laplacian, pi = generator(graph, name, rng)
    x = rng.standard_normal((8, 2))
    flow = iterate_heat(*started(laplacian, x, pi), time=0.3, method=method, **knobs(method))
    for layer, state in enumerate(islice(flow, 5)):
        expected = expm(-0.3 * layer * laplacian) @ x
        ours = state.kept + np.ldexp(state.rest, state.exponent)
        assert_allclose(ours, expected, atol=1e-12 * np.abs(expected).max())


@pytest.mark.parametrize("method", EXACT)
@pytest.mark.parametrize("graph", ["ring", "logits"])
def test_one_layer_may_take_a_long_time(graph, method, rng):
    """Far more than one polynomial resolves: the slowest mode changes by e^{±60 |λ|}, 1e15 and up.

    Logits are centred, so that their Laplacian has as many negative eigenvalues as positive ones.
    """
    w = affinity(graph, rng)
    name = "combinatorial" if graph == "ring" else "signed"
    laplacian, pi = LAPLACIANS[name](w if graph == "ring" else w - w.mean()), np.full(8, 1 / 8)
    x = rng.standard_normal((8, 2))
    slow = iterate_heat(*started(laplacian, x, pi), time=60.0, method=method, **knobs(method))
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
def test_what_is_left_agrees_with_the_unsplit_recurrence_in_exact_arithmetic(
    graph, name, time, goal, rng
):
    """‖HC(t)‖, relative error 1e-11, beyond the range of floats either way.

    The recurrence runs on as many digits as the norm is small, and 60 more. Logits amplify.
    """
    w = affinity(graph, rng)
    x = rng.standard_normal((8, 2))
    equation, start = started(LAPLACIANS[name](w), x, stationary_of(w, name))
    ours = {}
    for method in EXACT:
        norms = ours[method] = []
        for state in iterate_heat(equation, start, time=time, method=method):
            norms.append(log10_norm(*hc(state)))
            if abs(norms[-1]) > abs(goal):
                break
    depth = min(map(len, ours.values())) - 1
    layers = sorted({0, 1, depth // 8, depth // 2, depth})
    with mp.workdps(60 + abs(goal)):
        exact = exact_norms(w, name, x, time, layers)
    assert exact[-1] / goal > 1
    for norms in ours.values():
        assert_allclose(np.array(norms)[layers], exact, rtol=0, atol=1e-11 / np.log(10))


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
    flow = iterate_heat(*started(laplacian, x, pi), time=1.0, method=method, **knobs(method))
    means = [dc(state, pi) for state in islice(flow, 50)]
    assert np.array_equal(means, [means[0]] * 50)


@pytest.mark.parametrize(("graph", "name"), [("affinity", "random_walk"), ("logits", "signed")])
@pytest.mark.parametrize("method", FLOWS)
def test_what_changes_has_no_stationary_part_in_any_layer(graph, name, method, rng):
    laplacian, pi = generator(graph, name, rng)
    x = rng.standard_normal((8, 2))
    flow = iterate_heat(*started(laplacian, x, pi), time=1.0, method=method, **knobs(method))
    for state in islice(flow, 0, 30, 6):
        assert_allclose(pi @ state.rest, 0, atol=1e-15)


@pytest.mark.parametrize("method", FLOWS)
def test_tokens_that_agree_stay_as_they_are(method, rng):
    laplacian, pi = generator("tokens", "random_walk", rng)
    x = np.tile(rng.standard_normal(3), (8, 1))
    flow = iterate_heat(*started(laplacian, x, pi), time=1.0, method=method, **knobs(method))
    for state in islice(flow, 4):
        assert np.array_equal(state.rest, np.zeros((8, 3)))
        assert state.exponent == 0


@pytest.mark.parametrize("method", EXACT)
def test_the_parts_of_a_graph_keep_their_difference(method, rng):
    w = np.kron(np.eye(2), np.ones((4, 4)))
    laplacian, pi = LAPLACIANS["combinatorial"](w), np.full(8, 1 / 8)
    x = rng.standard_normal((8, 1))
    flow = iterate_heat(*started(laplacian, x, pi), time=50.0, method=method, **knobs(method))
    state = next(islice(flow, 40, None))
    halves = np.repeat([x[:4].mean(), x[4:].mean()], 4)[:, None]
    assert_allclose(np.ldexp(state.rest, state.exponent), halves - x.mean(), rtol=1e-12)


@pytest.mark.parametrize("method", FLOWS)
def test_no_time_is_no_change(method, rng):
    laplacian, pi = generator("grid", "random_walk", rng)
    x = rng.standard_normal((8, 2))
    late = next(
        islice(
            iterate_heat(*started(laplacian, x, pi), time=0.0, method=method, **knobs(method)),
            9,
            None,
        )
    )
    ours = late.kept + np.ldexp(late.rest, late.exponent)
    assert_allclose(ours, x, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("method", FLOWS)
def test_a_flow_without_a_limit_is_refused(method, rng):
    laplacian, _ = generator("tokens", "normalised", rng)
    start = Split.of(np.zeros(2), rng.standard_normal((8, 2)))
    with pytest.raises(Refusal, match=r"^row \[0\] of the Laplacian sums to .* use 'random_walk'"):
        iterate_heat(HeatEquation(laplacian, np.full(8, 1 / 8)), start, time=1.0, method=method)


@pytest.mark.parametrize("name", ["combinatorial", "random_walk"])
@pytest.mark.parametrize("method", FLOWS)
def test_flows_in_a_batch_are_those_of_its_members(name, method, rng):
    laplacian, pi = generator("tokens", name, rng, 2, 3)
    x = rng.standard_normal((2, 3, 8, 2))
    batch = next(
        islice(
            iterate_heat(*started(laplacian, x, pi), time=0.4, method=method, **knobs(method)),
            40,
            41,
        )
    )
    for i in np.ndindex(2, 3):
        flow = iterate_heat(
            *started(laplacian[i], x[i], pi[i]), time=0.4, method=method, **knobs(method)
        )
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
        iterate_heat(HeatEquation(laplacian, pi), start, time=1.0, method="eigh")
    with pytest.raises(Refusal, match=r"^no heat flow is called 'eihg'; did you mean 'eigh'\?"):
        iterate_heat(*started(laplacian, x, pi), time=1.0, method="eihg")


# Methods with an error of their own.


@pytest.mark.parametrize(("graph", "name"), [("path", "combinatorial"), ("logits", "signed")])
@pytest.mark.parametrize("method", CLOSE)
def test_close_methods_are_close(method, graph, name, rng):
    laplacian, pi = generator(graph, name, rng)
    x = rng.standard_normal((8, 2))
    flow = iterate_heat(*started(laplacian, x, pi), time=0.8, method=method, **knobs(method))
    for layer, state in enumerate(islice(flow, 4)):
        expected = expm(-0.8 * layer * laplacian) @ x
        assert_allclose(unsplit(state), expected, atol=1e-9 * np.abs(expected).max())


@pytest.mark.parametrize("method", CLOSE)
def test_close_methods_stay_close_far_below_one_array(method, rng):
    """A star's slowest mode falls by e^-40 in every layer, and no error of a step hides it."""
    w = np.zeros((6, 6))
    w[0, 1:] = w[1:, 0] = 1
    time, layers = (2.0, 400) if method == "taylor" else (40.0, 20)
    laplacian, pi = LAPLACIANS["combinatorial"](w), np.full(6, 1 / 6)
    x = rng.standard_normal((6, 2))
    norms = []
    for each, given in (("eigh", {}), (method, {"taylor_order": 40, "tolerance": 1e-10})):
        only = {name: given[name] for name in FLOWS.facts(each)["knobs"]}
        flow = iterate_heat(*started(laplacian, x, pi), time=time, method=each, **only)
        norms.append(log10_norm(*hc(next(islice(flow, layers, None)))))
    assert norms[0] < -300
    assert_allclose(norms[1], norms[0], atol=1e-7)


@pytest.mark.parametrize("method", ["rk45", "dop853"])
def test_a_smaller_tolerance_is_a_smaller_error(method, rng):
    laplacian, pi = generator("tokens", "combinatorial", rng)
    x = rng.standard_normal((8, 2))
    expected = expm(-laplacian) @ x
    errors = []
    for tolerance in (1e-3, 1e-6, 1e-9):
        flow = iterate_heat(
            *started(laplacian, x, pi), time=1.0, method=method, tolerance=tolerance
        )
        errors.append(np.abs(unsplit(next(islice(flow, 1, None))) - expected).max())
    assert (np.array(errors) < 3 * np.array([1e-3, 1e-6, 1e-9])).all()
    assert errors[2] < errors[0]


@pytest.mark.parametrize(("time", "goal"), [(0.1, -300), (1.5, 300)])
def test_euler_steps_are_powers_of_one_matrix_in_exact_arithmetic(time, goal, rng):
    """(I - τL)^t, inside the region of stability and outside, to 1e±300 and beyond."""
    w = affinity("affinity", rng)
    x = rng.standard_normal((8, 1))
    laplacian, pi = LAPLACIANS["combinatorial"](w), np.full(8, 1 / 8)
    flow = iterate_heat(*started(laplacian, x, pi), time=time, method="euler")
    ours = []
    for state in flow:
        ours.append(log10_norm(*hc(state)))
        if abs(ours[-1]) > abs(goal):
            break
    with mp.workdps(400 + abs(goal)):
        exact_w = mp.matrix(w.tolist())
        degree = mp.diag([mp.fsum(exact_w[i, j] for j in range(8)) for i in range(8)])
        step = mp.eye(8) - time * (degree - exact_w)
        late = step ** (len(ours) - 1) * mp.matrix(x.tolist())
        mean = mp.fsum(late) / 8
        exact = float(mp.log10(mp.norm(late - mp.matrix([mean] * 8))))
    assert exact / goal > 1
    assert_allclose(ours[-1], exact, rtol=0, atol=1e-11)


@pytest.mark.parametrize("order", [1, 3])
def test_taylor_steps_are_powers_of_a_polynomial(order, rng):
    laplacian, pi = generator("tokens", "random_walk", rng)
    x = rng.standard_normal((8, 2))
    flow = iterate_heat(*started(laplacian, x, pi), time=0.3, method="taylor", taylor_order=order)
    z = -0.3 * laplacian
    step = np.eye(8) + z + (z @ z / 2 + z @ z @ z / 6 if order == 3 else 0)
    for layer, state in enumerate(islice(flow, 5)):
        assert_allclose(unsplit(state), np.linalg.matrix_power(step, layer) @ x, atol=1e-13)


def test_euler_is_taylor_of_order_one(rng):
    laplacian, pi = generator("path", "combinatorial", rng)
    given = started(laplacian, rng.standard_normal((8, 2)), pi)
    one = iterate_heat(*given, time=0.2, method="euler")
    other = iterate_heat(*given, time=0.2, method="taylor", taylor_order=1)
    for ours, same in islice(zip(one, other, strict=False), 9):
        assert np.array_equal(ours.rest, same.rest)


# Mapped values.


def mapped(kind: str, rng: np.random.Generator) -> np.ndarray:
    """Give a map of three features: any, a turn, one of either sign, one that is not diagonal."""
    turn = np.array([[0.0, 1, 0], [-1, 0, 0], [0, 0, 0.5]])
    jordan = np.eye(3) + np.eye(3, k=1)
    return {
        "any": rng.standard_normal((3, 3)),
        "turn": turn,
        "signs": np.diag([1.0, -1, 0.3]),
        "jordan": jordan,
    }[kind]


@pytest.mark.parametrize("kind", ["any", "turn", "signs", "jordan"])
@pytest.mark.parametrize("method", [name for name in MAPPING if name != "euler"])
def test_mapped_values_flow_by_the_exponential_of_a_kronecker_product(kind, method, rng):
    laplacian, pi = generator("affinity", "random_walk", rng)
    x, w = rng.standard_normal((8, 3)), mapped(kind, rng)
    flow = iterate_heat(*started(laplacian, x, pi, w), time=0.7, method=method, **knobs(method))
    both = np.kron(laplacian, w.T)
    for layer, state in enumerate(islice(flow, 5)):
        expected = (expm(-0.7 * layer * both) @ x.ravel()).reshape(8, 3)
        within = 1e-12 if method == "eigh" else 1e-8
        assert_allclose(unsplit(state), expected, atol=within * np.abs(expected).max())


def test_a_euler_step_maps_values_and_keeps_the_constant(rng):
    laplacian, pi = generator("affinity", "random_walk", rng)
    x, w = rng.standard_normal((8, 3)), mapped("any", rng)
    flow = iterate_heat(*started(laplacian, x, pi, w), time=0.7, method="euler")
    after = unsplit(next(islice(flow, 1, None)))
    assert_allclose(after, x - 0.7 * laplacian @ x @ w, atol=1e-14)
    assert_allclose(pi @ after, pi @ x, atol=1e-14)


@pytest.mark.parametrize("method", MAPPING)
def test_the_identity_maps_nothing(method, rng):
    laplacian, pi = generator("path", "combinatorial", rng)
    x = rng.standard_normal((8, 2))
    plain = iterate_heat(*started(laplacian, x, pi), time=0.4, method=method, **knobs(method))
    same = iterate_heat(
        *started(laplacian, x, pi, np.eye(2)), time=0.4, method=method, **knobs(method)
    )
    for ours, theirs in islice(zip(same, plain, strict=False), 4):
        assert_allclose(unsplit(ours), unsplit(theirs), atol=1e-9)


@pytest.mark.parametrize(("kind", "goal"), [("jordan", -300), ("signs", 300)])
def test_mapped_values_are_right_far_beyond_floats(kind, goal, rng):
    """Backwards where an eigenvalue is negative; a Jordan block has a power of t beside e^-λt."""
    w = np.ones((4, 4)) - np.eye(4)
    laplacian, pi = LAPLACIANS["combinatorial"](w), np.full(4, 0.25)
    x, values = rng.standard_normal((4, 3)), mapped(kind, rng)
    flow = iterate_heat(*started(laplacian, x, pi, values), time=5.0, method="eigh")
    state = next(islice(flow, 40, None))
    with mp.workdps(700):
        # A complete graph has the one eigenvalue 4.
        kernel = mp.expm(-800 * mp.matrix(values.tolist()))
        late = mp.matrix((x - x.mean(axis=0)).tolist()) * kernel
        exact = float(mp.log10(mp.norm(late, 2)))
    assert exact / goal > 1
    assert_allclose(log10_norm(*hc(state)), exact, atol=1e-11)


# Refusals.


def test_values_that_polynomials_of_real_numbers_cannot_follow_are_refused(rng):
    laplacian, pi = generator("path", "combinatorial", rng)
    x = rng.standard_normal((8, 2))
    with pytest.raises(
        Refusal, match=r"^the method 'chebyshev' follows the real .* Use the method 'eigh'\.$"
    ):
        iterate_heat(*started(laplacian, x, pi, np.eye(2)), time=1.0, method="chebyshev")
    with pytest.raises(Refusal, match=r"^the map of values \[1, 0\] is nan; "):
        iterate_heat(
            *started(laplacian, x, pi, np.array([[1, 0], [np.nan, 1]])), time=1.0, method="eigh"
        )


@pytest.mark.parametrize(("time", "order"), [(15.0, 30), (0.5, 1), (60.0, 400)])
def test_a_polynomial_that_resembles_nothing_is_refused(time, order, rng):
    """Too low an order for τλ_max; or so far that rounding takes what the order would leave."""
    laplacian, pi = generator("ring", "combinatorial", rng)
    given = started(laplacian, rng.standard_normal((8, 2)), pi)
    with pytest.raises(
        Refusal, match=rf"^a Taylor polynomial of order {order} .* where τλ_max is {4 * time:g}, .*"
    ):
        iterate_heat(*given, time=time, method="taylor", taylor_order=order)


@pytest.mark.parametrize("method", ["chebyshev", "rk45"])
def test_a_layer_of_very_many_pieces_is_refused(method, rng):
    laplacian, pi = generator("path", "combinatorial", rng)
    given = started(laplacian, rng.standard_normal((8, 2)), pi)
    with pytest.raises(Refusal, match=r"^a layer of diffusion time 1e\+09 has to be cut into 2e\+"):
        next(iterate_heat(*given, time=1e9, method=method, **knobs(method)))


def test_a_euler_step_beyond_floats_is_refused(rng):
    laplacian, pi = generator("path", "combinatorial", rng)
    given = started(laplacian, rng.standard_normal((8, 2)), pi)
    with pytest.raises(Refusal, match=r"^a step of order 1 with τ times .* 3\.85e\+300 leaves"):
        iterate_heat(*given, time=1e300, method="euler")
