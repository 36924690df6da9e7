"""What an equation says of its modes, against the exponentials and steps that it describes."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import expm

from lowpass import heat_equation as equations
from lowpass.graphs import GRAPHS
from lowpass.heat_equation import HeatEquation, is_stable, log10_exact_gain, log10_step_gain, reach
from lowpass.laplacians import LAPLACIANS

from .heated import generator

EVEN = np.full(8, 1 / 8)


def ring(values: np.ndarray | None = None) -> HeatEquation:
    """Give the ring of eight tokens, whose eigenvalues end at four exactly."""
    w = GRAPHS["ring"](np.zeros((8, 1)), None, 0.0)
    return HeatEquation(LAPLACIANS["combinatorial"](w), EVEN, values)


def spread(matrix: np.ndarray) -> float:
    """Give the largest modulus of an eigenvalue, two features' constants being left out."""
    modulus = np.abs(np.linalg.eigvals(matrix))
    constant = np.sort(np.abs(np.linalg.eigvals(matrix) - 1))[:2]
    assert (constant < 1e-12).all()
    keep = np.argsort(np.abs(np.linalg.eigvals(matrix) - 1))[2:]
    return float(modulus[keep].max())


@pytest.mark.parametrize("name", ["random_walk", "signed"])
def test_gains_are_spectral_radii_of_what_a_layer_does(name, rng):
    graph = "logits" if name == "signed" else "affinity"
    laplacian, pi = generator(graph, name, rng)
    assert pi is not None
    equation = HeatEquation(laplacian, pi, rng.standard_normal((2, 2)))
    m = -0.3 * np.kron(equation.laplacian, equation.values.T)
    one = np.eye(16)
    assert_allclose(10 ** log10_exact_gain(equation, 0.3), spread(expm(m)), rtol=1e-10)
    for order, step in ((1, one + m), (3, one + m + m @ m / 2 + m @ m @ m / 6)):
        assert_allclose(10 ** log10_step_gain(equation, 0.3, order), spread(step), rtol=1e-10)


@pytest.mark.parametrize(
    ("values", "threshold"),
    [
        (None, 0.5),
        (np.array([[2.0, 0], [0, 1]]), 0.25),
        # Complex μ: τλ|μ|² ≤ 2 Re μ.
        (np.array([[1.0, 1], [-1, 1]]), 0.25),
    ],
)
def test_euler_is_stable_up_to_a_threshold(values, threshold):
    """B16 on the ring: |1 - τλμ| ≤ 1 for every mode, the threshold itself included."""
    for time, expected in (
        (threshold, True),
        (0.999 * threshold, True),
        (1.001 * threshold, False),
    ):
        assert is_stable(log10_step_gain(ring(values), time, 1)) == expected


def test_euler_is_never_stable_for_imaginary_values_although_the_flow_is():
    turning = ring(np.array([[0.0, 1.0], [-1.0, 0.0]]))
    assert is_stable(log10_exact_gain(turning, 9.0))
    for time in (1e-4, 0.1, 1.0):
        gain = log10_step_gain(turning, time, 1)
        assert not is_stable(gain)
        assert_allclose(gain, np.log10(np.hypot(1, 4 * time)), rtol=1e-12)


def test_a_flow_grows_where_values_are_negative():
    assert is_stable(log10_exact_gain(ring(), 2.0))
    assert not is_stable(log10_exact_gain(ring(-np.eye(2)), 2.0))
    assert_allclose(log10_exact_gain(ring(-np.eye(2)), 2.0), 8 / np.log(10))


def test_a_step_that_makes_all_tokens_equal_has_no_gain():
    w = np.ones((8, 8)) - np.eye(8)
    even = HeatEquation(LAPLACIANS["combinatorial"](w), EVEN)
    assert log10_step_gain(even, 0.125, 1) < -14


@pytest.mark.parametrize("mapped", [False, True])
def test_reach_and_growth_bound_the_exponent_and_its_exponential(mapped, rng):
    for graph, name in (("path", "combinatorial"), ("logits", "signed")):
        laplacian, pi = generator(graph, name, rng)
        values = rng.standard_normal((2, 2)) if mapped else None
        far, growth = reach(HeatEquation(laplacian, pi, values), 0.6)
        m = -0.6 * (np.kron(laplacian, values.T) if values is not None else laplacian)
        assert_allclose(far, np.linalg.norm(m, 2), rtol=1e-12)
        largest = max(np.linalg.norm(expm(s * m), 2) for s in np.linspace(0, 1, 9))
        assert largest <= np.exp(growth) * (1 + 1e-12)
        if values is None:
            assert_allclose(largest, np.exp(growth), rtol=1e-12)


def test_the_members_of_a_batch_have_its_gains(rng):
    laplacian, pi = generator("affinity", "random_walk", rng, 2, 3)
    batch = HeatEquation(laplacian, pi, rng.standard_normal((2, 3, 2, 2)))
    gain = log10_exact_gain(batch, 0.4)
    for index in np.ndindex(2, 3):
        assert_allclose(gain[index], log10_exact_gain(batch.member(index), 0.4), rtol=1e-10)


def test_a_layer_is_cut_where_it_would_forget_too_much():
    assert equations.pieces(ring(), 0.01) == 1
    assert equations.pieces(ring(), 7.0) == 16
    assert equations.pieces(ring(3 * np.eye(2)), 7.0) == 84
