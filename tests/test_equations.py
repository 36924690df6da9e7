"""Flows of attention against exponentials of large matrices, and against many digits."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import expm
from scipy.special import ive

from lowpass.equations import Equation, Softmax, exponential_action, relative_distance
from lowpass.kernels import KERNELS
from lowpass.remedies import REMEDIES, Filter

N_TOKENS, D_MODEL = 4, 3
ROTATION = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.5]])
DEFECTIVE = np.array([[0.5, 1.0, 0.0], [0.0, 0.5, 1.0], [0.0, 0.0, 0.5]])


def attention(rng: np.random.Generator) -> np.ndarray:
    """Draw attention that is not reversible."""
    return KERNELS["softmax"](2 * rng.standard_normal((N_TOKENS, N_TOKENS)))


def kronecker(matrix: np.ndarray, values: np.ndarray, x: np.ndarray, time: float) -> np.ndarray:
    """Exponentiate M ⊗ Wᵀ as one matrix: the oracle."""
    return (expm(time * np.kron(matrix, values.T)) @ x.ravel()).reshape(x.shape)


# One matrix.


@pytest.mark.parametrize("time", [0.0, 1e-9, 0.25, 2.0, -1.0])
@pytest.mark.parametrize(
    "values", [np.eye(3), -0.7 * np.eye(3), ROTATION, DEFECTIVE], ids=["I", "-I", "i", "Jordan"]
)
def test_the_action_is_that_of_the_exponential_of_a_kronecker_product(values, time, rng):
    """For complex, negative and defective spectra of W alike."""
    a, x = attention(rng), rng.standard_normal((N_TOKENS, D_MODEL))
    for matrix in (a, a - np.eye(N_TOKENS), np.triu(a)):
        found = exponential_action(matrix, values, x, time)
        assert_allclose(found, kronecker(matrix, values, x, time), rtol=1e-12, atol=1e-13)


def test_the_action_has_the_digits_of_a_long_sum(rng):
    """Two tokens of one feature, in fifty digits."""
    with mpmath.workdps(50):
        m = mpmath.matrix([["-0.75", "0.75"], ["0.25", "-0.25"]])
        exact = mpmath.expm(6 * m) * mpmath.matrix(["1", "-3"])
        found = exponential_action(
            np.array([[-0.75, 0.75], [0.25, -0.25]]), np.eye(1), np.array([[1.0], [-3.0]]), 6.0
        )
        assert_allclose(found[:, 0], [float(each) for each in exact], rtol=1e-14)


def test_times_follow_each_other(rng):
    a, x = attention(rng), rng.standard_normal((N_TOKENS, D_MODEL))
    flow = Equation(REMEDIES["laplacian"](1.0), ROTATION, a)
    along = list(flow.solution(x, [0.0, 0.5, 1.5, 1.0]))
    for each, time in zip(along, (0.0, 0.5, 1.5, 1.0), strict=True):
        assert_allclose(
            each, kronecker(a - np.eye(N_TOKENS), ROTATION, x, time), rtol=1e-12, atol=1e-14
        )


def test_a_multiple_of_the_identity_for_values_takes_its_reaction_out_of_the_flow(rng):
    """For W = μI the flows of A and of A - I differ by the factor exp(μt), which no ratio sees."""
    a, x = attention(rng), rng.standard_normal((N_TOKENS, D_MODEL))
    for mu in (0.6, -1.1):
        own, note = (
            next(Equation(each, mu * np.eye(D_MODEL), a).solution(x, [1.7]))
            for each in (Filter(), REMEDIES["laplacian"](1.0))
        )
        assert_allclose(own, np.exp(1.7 * mu) * note, rtol=1e-12)


# Attention computed from tokens.


@pytest.mark.parametrize("penalty", [0.0, 1.3])
def test_attention_of_tokens_is_that_of_their_logits(penalty, rng):
    """Products, or squared distances, which differ by a constant of each row."""
    x, w_q, w_k = (rng.standard_normal(shape) for shape in ((4, 3), (3, 2), (3, 2)))
    q, k = x @ w_q, x @ w_k
    logits = 1.3 * q @ k.T
    if penalty:
        logits = -1.3 / 2 * ((q[:, None] - k[None, :]) ** 2).sum(axis=-1)
    weight = np.exp(logits)
    found = Softmax(w_q, w_k, 1.3, penalty)(x)
    assert_allclose(found, weight / weight.sum(axis=-1, keepdims=True), rtol=1e-12)


def test_a_flow_that_recomputes_attention_has_the_digits_of_its_taylor_series():
    """Two tokens of one feature and tied projections, solved in more digits by mpmath."""
    beta = 0.8
    start = [0.9, -0.4]

    def rate(_, y):
        rows = []
        for one in y:
            weight = [mpmath.exp(beta * one * other) for other in y]
            mean = mpmath.fdot(weight, y) / mpmath.fsum(weight)
            rows.append(-1.2 * (mean - one))
        return rows

    with mpmath.workdps(17):
        exact = mpmath.odefun(rate, 0, [mpmath.mpf(str(each)) for each in start])(0.25)
    flow = Equation(
        REMEDIES["laplacian"](1.0), np.array([[-1.2]]), Softmax(np.eye(1), np.eye(1), beta, 0.0)
    )
    found = next(flow.solution(np.array(start)[:, None], [0.25]))
    assert_allclose(found[:, 0], [float(each) for each in exact], rtol=1e-12)


@pytest.mark.parametrize("penalty", [0.0, 5.0])
def test_a_circle_that_recomputes_attention_stays_one_and_its_radius_has_an_equation(penalty):
    r"""On the radius r the gain is I₁(βr²)/I₀(βr²), so that ṙ = -(1 - I₁/I₀) r."""
    angle = 2 * np.pi * np.arange(64) / 64
    x = np.stack([np.cos(angle), np.sin(angle)], axis=-1)
    flow = Equation(
        REMEDIES["laplacian"](1.0), np.eye(2), Softmax(np.eye(2), np.eye(2), 5.0, penalty)
    )
    found = next(flow.solution(x, [1.5]))
    radius, steps = 1.0, 1000
    for _ in range(steps):
        stages = [radius]
        slopes = []
        for share in (0.5, 0.5, 1.0, 0.0):
            at = 5.0 * stages[-1] ** 2
            slopes.append(-(1 - ive(1, at) / ive(0, at)) * stages[-1])
            stages.append(radius + share * 1.5 / steps * slopes[-1])
        radius += 1.5 / steps * (slopes[0] + 2 * slopes[1] + 2 * slopes[2] + slopes[3]) / 6
    assert_allclose(found, radius * x, rtol=1e-10, atol=1e-12)


# Distances.


def test_a_distance_is_relative_to_what_is_compared_with():
    assert relative_distance(np.array([[3.0, 4.0]]), np.array([[0.0, 4.0]])) == 0.75
    assert relative_distance(np.zeros((2, 2)), np.zeros((2, 2))) == 0
    assert relative_distance(np.ones((2, 2)), np.zeros((2, 2))) == np.inf
