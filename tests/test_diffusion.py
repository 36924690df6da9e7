"""Heat at given times: exponentials of matrices on every graph, hundreds of digits, refusals."""

from __future__ import annotations

import numpy as np
import pytest
from mpmath import mp
from numpy.testing import assert_allclose
from scipy.linalg import expm

from lowpass.diffusion import HEATS, heat_action, heat_kernel, log10_heat_norm
from lowpass.laplacians import LAPLACIANS, stationary_of
from lowpass.registry import Refusal

from .heated import ALL, CONSTANT, FLOWING, POSITIVE, affinity, generator


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


@pytest.mark.parametrize(("graph", "name"), [(g, n) for g, n in FLOWING if n in POSITIVE])
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
    assert batch.shape == (2, 2, 3, 8, 2)
    for i in np.ndindex(2, 3):
        alone = heat_action(laplacian[i], x[i], times, method=method, stationary=pi[i])
        assert_allclose(batch[:, *i], alone, atol=1e-13)
        assert_allclose(kernels[i], heat_kernel(laplacian[i], 0.4, pi[i]), atol=1e-14)


def exact_norm(w: np.ndarray, name: str, x: np.ndarray, time: float) -> float:
    """Exponentiate in the current precision; give log10 of √(n Σ πᵢ ‖xᵢ - πᵀX‖²)."""
    n, exact, state = len(w), mp.matrix(w.tolist()), mp.matrix(x.tolist())
    degree = [mp.fsum(exact[i, j] for j in range(n)) for i in range(n)]
    walk = name == "random_walk"
    pi = [each / mp.fsum(degree) if walk else mp.mpf(1) / n for each in degree]
    minus = mp.matrix(n, n)
    for i in range(n):
        for j in range(n):
            each = time * (exact[i, j] - (degree[i] if i == j else 0))
            minus[i, j] = each / degree[i] if walk else each
    flowed = mp.expm(minus, method="taylor") * state
    squares = []
    for a in range(x.shape[1]):
        mean = mp.fsum(pi[i] * flowed[i, a] for i in range(n))
        squares += [pi[i] * (flowed[i, a] - mean) ** 2 for i in range(n)]
    return float(mp.log10(n * mp.fsum(squares)) / 2)


@pytest.mark.parametrize(
    ("graph", "name"), [("path", "combinatorial"), ("tokens", "random_walk"), ("logits", "signed")]
)
def test_the_norm_of_what_is_left_is_right_far_beyond_floats(graph, name, rng):
    """To 1e-300 and below (above, for logits, which amplify), relative error 1e-11."""
    w = affinity(graph, rng)
    laplacian, pi = LAPLACIANS[name](w), stationary_of(w, name)
    x = rng.standard_normal((8, 2))
    value = np.sort(np.linalg.eigvals(laplacian).real)
    rate = -value[0] if name == "signed" else value[1]
    times = np.array([0.0, 1e-3, 1.0, 720 / rate])
    ours = log10_heat_norm(laplacian, x, times, pi)
    with mp.workdps(400):
        exact = [exact_norm(w, name, x, time) for time in times]
    assert abs(exact[-1]) > 300
    assert_allclose(ours, exact, rtol=0, atol=1e-11 / np.log(10))


@pytest.mark.parametrize(
    ("time", "message"),
    [
        (-0.5, r"^the diffusion time is -0\.5; .* ill-posed, .* Give a time of zero or more\.$"),
        (np.nan, r"^the diffusion time is nan; heat flows for a finite time\. Give a number\.$"),
        (np.inf, r"^the diffusion time is inf; "),
    ],
)
def test_a_time_that_does_not_run_is_refused(time, message, rng):
    laplacian, _ = generator("ring", "combinatorial", rng)
    x = rng.standard_normal((8, 2))
    with pytest.raises(Refusal, match=message):
        heat_kernel(laplacian, time)
    with pytest.raises(Refusal, match=message):
        heat_action(laplacian, x, np.array([1.0, time]), method="eigh")
    with pytest.raises(Refusal, match=message):
        log10_heat_norm(laplacian, x, np.array([time]))


@pytest.mark.parametrize("method", HEATS)
def test_a_hole_in_what_flows_is_refused(method, rng):
    laplacian, _ = generator("ring", "combinatorial", rng)
    x = rng.standard_normal((8, 2))
    x[3, 1] = np.inf
    with pytest.raises(Refusal, match=r"^token \[3, 1\] is inf; .* Give finite numbers\.$"):
        heat_action(laplacian, x, np.array([1.0]), method=method)
    laplacian[2, 2] = np.nan
    for call in (
        lambda: heat_kernel(laplacian, 1.0),
        lambda: heat_action(laplacian, np.zeros((8, 2)), np.array([1.0]), method=method),
        lambda: log10_heat_norm(laplacian, np.zeros((8, 2)), np.array([1.0])),
    ):
        with pytest.raises(Refusal, match=r"^the Laplacian's entry \[2, 2\] is nan; "):
            call()


@pytest.mark.parametrize("method", HEATS)
def test_a_walk_without_its_weights_is_refused(method, rng):
    laplacian, _ = generator("tokens", "random_walk", rng)
    x = np.zeros((8, 2))
    message = r"^the Laplacian, balanced by its stationary weights, is .* of 'stationary_of'"
    with pytest.raises(Refusal, match=message):
        heat_kernel(laplacian, 1.0)
    with pytest.raises(Refusal, match=message):
        heat_action(laplacian, x, np.array([1.0]), method=method)


def test_heat_that_outgrows_floats_is_refused(rng):
    laplacian, _ = generator("logits", "signed", rng)
    message = r"^the heat flow at time 1000 grows by e\^.* keep an exponent: by 'iterate_heat'"
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
    laplacian, _ = generator("ring", "combinatorial", rng)
    with pytest.raises(Refusal, match=r"^no heat method is called 'chebishev'; .* 'chebyshev'"):
        heat_action(laplacian, np.zeros((8, 1)), np.array([1.0]), method="chebishev")
