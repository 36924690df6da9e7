"""The second-largest eigenvalue modulus: closed forms, and all eigenvalues as the oracle."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import ive
from scipy.stats import ortho_group

from lowpass import eigen
from lowpass.eigen import DENSE, is_reversible, reversible_eigenvalues, slem
from lowpass.kernels import KERNELS, attend, softmax

LARGE = DENSE + 16


def second(a: np.ndarray) -> float:
    """Take one away from all moduli: the oracle, without the centring of tokens."""
    value = np.linalg.eigvals(a)
    return np.abs(np.delete(value, np.argmin(np.abs(value - 1)))).max()


def attention_of(rng, kind: str, beta: float, n: int = LARGE) -> np.ndarray:
    """Draw one matrix; 'turning' ones have complex pairs of nearly equal modulus in front."""
    if kind == "iid":
        return softmax(beta * rng.standard_normal((n, n)))
    if kind == "turning":
        ahead = np.roll(np.eye(n), 1, axis=1) + np.roll(np.eye(n), 4, axis=1)
        return 0.5 * softmax(beta * rng.standard_normal((n, n))) + 0.5 * softmax(2 * beta * ahead)
    q, k = rng.standard_normal((2, n, 16))
    q, k = {"untied": (q, q @ rng.standard_normal((16, 16)) / 4), "tied": (q, q)}[kind]
    return softmax(beta / 4 * q @ k.T)


def with_spectrum(rng, value: list[float]) -> np.ndarray:
    """Build a symmetric matrix with row sums one and, beside that one, these eigenvalues."""
    n = len(value) + 1
    basis = np.linalg.qr(np.column_stack([np.ones(n), rng.standard_normal((n, n - 1))]))[0]
    return basis @ np.diag([1.0, *value]) @ basis.T


@pytest.mark.parametrize("n", [6, LARGE])
def test_the_second_modulus_of_simple_matrices(n):
    half = n // 2
    simple = {
        "uniform": (np.full((n, n), 1 / n), 0.0),
        "blocks": (np.kron(np.eye(2), np.full((half, half), 1 / half)), 1.0),
        "cycle": (np.roll(np.eye(n), 1, axis=1), 1.0),
        "identity": (np.eye(n), 1.0),
        "causal": (np.tri(n) / np.arange(1, n + 1)[:, None], 0.5),
        "anticausal": ((np.tri(n) / np.arange(1, n + 1)[:, None])[::-1, ::-1], 0.5),
        "lazy": (0.75 * np.eye(n) + 0.25 / n, 0.75),
        "hub": (np.eye(n)[[0] * half + [1] * half], 0.0),
    }
    for name, (a, expected) in simple.items():
        assert_allclose(slem(a), expected, atol=2e-14, err_msg=name)


@pytest.mark.parametrize(("a", "expected"), [([[1.0]], 0.0), ([[0.9, 0.1], [0.3, 0.7]], 0.6)])
def test_one_token_has_nothing_to_forget_and_two_have_one_mode(a, expected):
    assert_allclose(slem(np.array(a)), expected, rtol=1e-14)


@pytest.mark.parametrize("beta", [0.1, 3.0, 30.0])
def test_a_large_ring_has_the_ratio_of_bessel_functions(beta):
    angle = 2 * np.pi * np.arange(LARGE) / LARGE
    a = softmax(beta * np.cos(angle[:, None] - angle))
    assert_allclose(slem(a), ive(1, beta) / ive(0, beta), rtol=1e-12)


@pytest.mark.parametrize("beta", [0.2, 1.0, 4.0])
@pytest.mark.parametrize("kind", ["iid", "untied", "tied", "turning"])
def test_the_iteration_finds_what_all_eigenvalues_say(kind, beta, rng):
    drawn = np.stack([attention_of(rng, kind, beta) for _ in range(4)])
    assert_allclose(slem(drawn), [second(a) for a in drawn], rtol=1e-10)


def test_a_complex_pair_counts_by_its_modulus(rng):
    turn = np.kron(np.diag(np.linspace(0.2, 0.8, LARGE // 2)), [[0.6, -0.8], [0.8, 0.6]])
    basis = ortho_group.rvs(LARGE, random_state=rng)
    a = basis @ turn @ basis.T
    a += (1 - a.sum(axis=1, keepdims=True)) / LARGE
    assert np.abs(np.linalg.eigvals(a - a.mean(axis=0)).imag).max() > 0.5
    assert_allclose(slem(a), second(a), rtol=1e-11)


@pytest.mark.parametrize("gap", [1e-2, 1e-5, 1e-9, 0.0])
def test_nearly_equal_eigenvalues_are_told_apart_or_equal(gap, rng):
    value = [0.5, -0.5 * (1 - gap), 0.5 * (1 - gap), *rng.uniform(-0.4, 0.4, LARGE - 4)]
    assert_allclose(slem(with_spectrum(rng, value)), 0.5, rtol=1e-11)


def test_tokens_that_hardly_look_at_each_other_keep_a_modulus_near_one(rng):
    a = attention_of(rng, "tied", 8.0)
    # Eigenvalues crowd at one, where no iteration converges.
    assert eigen._arnoldi(a, eigen.BASIS) is None
    assert_allclose(slem(a), second(a), rtol=1e-12)
    assert 0.999 < slem(a) <= 1


def test_a_crowd_that_a_second_run_sees_otherwise_is_settled_by_all_eigenvalues(rng, monkeypatch):
    a = attention_of(rng, "iid", 1.0)
    runs = iter([np.array([0.5, 0.499]), np.array([0.6, 0.599])])
    monkeypatch.setattr(eigen, "_arnoldi", lambda a, basis: next(runs))
    assert_allclose(slem(a), second(a), rtol=1e-12)


def test_the_same_matrix_has_the_same_modulus_alone_and_among_others_every_time(rng):
    drawn = np.stack([attention_of(rng, kind, 1.0) for kind in ("iid", "untied", "iid")])
    once = slem(drawn)
    np.random.default_rng().standard_normal(3)
    assert np.array_equal(once, slem(drawn))
    assert np.array_equal(once, [slem(a) for a in drawn])
    assert np.array_equal(once[:, None], slem(drawn[:, None]))


def test_a_float32_matrix_is_iterated_in_float64(rng):
    a = attention_of(rng, "untied", 1.0).astype(np.float32)
    assert_allclose(slem(a), second(a.astype(float)), rtol=1e-10)


def test_signed_weights_may_have_a_modulus_above_one(rng):
    small = np.array([[2.0, -1.0], [-1.0, 2.0]])
    assert_allclose(slem(small), 3.0, rtol=1e-14)
    large = np.kron(np.eye(LARGE // 2), small)
    assert_allclose(slem(large), 3.0, rtol=1e-13)


def test_an_iteration_holds_less_than_another_matrix(rng):
    a = attention_of(rng, "untied", 1.0, 1024)
    slem(a[:LARGE, :LARGE])
    tracemalloc.start()
    slem(a)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < a.nbytes / 4


@pytest.mark.parametrize("beta", [0.1, 1.0, 5.0])
def test_reversible_eigenvalues_are_those_of_the_matrix(beta, rng):
    x = rng.standard_normal((3, 20, 4))
    a = attend(x, x, score="dot", kernel="softmax", mask="none", beta=beta)
    expected = np.sort(np.linalg.eigvals(a).real, axis=-1)[..., ::-1]
    assert_allclose(reversible_eigenvalues(a), expected, atol=1e-13)
    assert_allclose(reversible_eigenvalues(a)[:, 0], 1, rtol=1e-13)


@pytest.mark.parametrize("kernel", ["softmax", "sinkhorn"])
@pytest.mark.parametrize("n", [3, 70, 200])
def test_symmetric_scores_make_a_reversible_matrix_and_others_do_not(kernel, n, rng):
    s = rng.standard_normal((n, n))
    assert is_reversible(KERNELS[kernel](s + s.T))
    # A shift of rows and columns leaves softmax, or its π, but not the symmetry of scores.
    assert is_reversible(KERNELS["softmax"](s + s.T + s[:, :1] + s[1]))
    assert not is_reversible(KERNELS[kernel](s))


def test_one_flow_out_of_balance_far_from_the_first_token_is_noticed(rng):
    s = rng.standard_normal((200, 200))
    s += s.T
    s[150, 170] += 1e-6
    assert not is_reversible(softmax(s))


def test_a_matrix_with_unseen_keys_does_not_count_as_reversible():
    assert not is_reversible(np.eye(4))
