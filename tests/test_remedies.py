"""Filters against the matrices that their papers write down."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from numpy.testing import assert_allclose

from lowpass.kernels import KERNELS
from lowpass.remedies import REMEDIES, Filter
from lowpass.spec.attention import Attention

N_TOKENS = 6


@pytest.fixture
def attention(rng) -> np.ndarray:
    """Draw two reversible matrices, whose eigenvalues are real."""
    s = rng.standard_normal((2, N_TOKENS, N_TOKENS))
    return KERNELS["softmax"](s + np.swapaxes(s, -1, -2))


# Laws.


@pytest.mark.parametrize("name", REMEDIES)
def test_a_strength_of_zero_is_neutral(name, attention):
    assert_allclose(REMEDIES[name](0.0).matrix(attention), attention, atol=1e-15)


@pytest.mark.parametrize("name", REMEDIES)
def test_the_rows_of_a_filter_sum_to_its_constant_gain(name, attention):
    made = REMEDIES[name](0.4)
    assert_allclose(made.matrix(attention).sum(axis=-1), made.constant_gain, rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("name", REMEDIES)
def test_the_gains_are_the_eigenvalues_of_the_filter(name, attention):
    """All of them: g(λ) for every mode but the constant one, whose own gain stands aside."""
    made = REMEDIES[name](0.4)
    for a in attention:
        eigenvalue = np.sort(np.linalg.eigvals(a).real)
        predicted = np.append(made.gain(eigenvalue[:-1]), made.constant_gain)
        measured = np.linalg.eigvals(made.matrix(a))
        assert_allclose(measured.imag, 0, atol=1e-12)
        assert_allclose(np.sort(measured.real), np.sort(predicted), atol=1e-13)


@pytest.mark.parametrize("name", REMEDIES)
def test_a_batch_is_its_members(name, attention):
    made = REMEDIES[name](0.4)
    assert_allclose(made.matrix(attention)[1], made.matrix(attention[1]), rtol=1e-15)


@pytest.mark.parametrize("name", REMEDIES)
def test_a_remedy_does_not_know_the_order_of_tokens(name, attention, rng):
    order = rng.permutation(N_TOKENS)
    made, a = REMEDIES[name](0.4), attention[0]
    moved = made.matrix(a[np.ix_(order, order)])
    assert_allclose(moved, made.matrix(a)[np.ix_(order, order)], rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("name", REMEDIES)
def test_every_knob_is_a_parameter_of_the_configuration_with_the_same_default(name):
    given = inspect.signature(REMEDIES[name]).parameters
    knobs = REMEDIES.facts(name)["knobs"]
    assert list(given) == ["strength", *knobs]
    for knob in knobs:
        assert given[knob].default == Attention.model_fields[knob].default


# As their papers write them.

EYE, J = np.eye(N_TOKENS), np.full((N_TOKENS, N_TOKENS), 1 / N_TOKENS)
C = EYE - J
FORMULAS = {
    "attnscale": lambda a: J + 1.4 * (a - J),
    "featscale": lambda a: (0.9 * J + 1.4 * C) @ a,
    "gfsa": lambda a: 0.2 * EYE + 0.7 * a + 0.4 * (a + 3 * (a @ a - a)),
    "neutreno": lambda a: a - 0.4 * EYE,
    "attinv": lambda a: a + 0.8 * (EYE - a),
    "highpass": lambda a: a + 0.4 * (EYE - 2 * a),
    "residual": lambda a: a + 0.4 * EYE,
    "laplacian": lambda a: a - 0.4 * EYE,
    "centring": lambda a: a - 0.4 * J,
    "none": lambda a: a,
}
KNOBS = {
    "featscale": {"featscale_dc": -0.1},
    "gfsa": {"gfsa_w0": 0.2, "gfsa_w1": 0.7, "gfsa_order": 4},
}


@pytest.mark.parametrize("name", REMEDIES)
def test_a_filter_is_the_matrix_of_its_paper(name, attention):
    made = REMEDIES[name](0.4, **KNOBS.get(name, {}))
    assert_allclose(made.matrix(attention[0]), FORMULAS[name](attention[0]), atol=1e-15)


def test_the_inverted_filter_and_the_high_pass_are_reached_at_strength_one(attention):
    a = attention[0]
    assert_allclose(REMEDIES["attinv"](1.0).matrix(a), 2 * EYE - a, atol=1e-15)
    assert_allclose(REMEDIES["highpass"](1.0).matrix(a), EYE - a, atol=1e-15)
    assert_allclose(REMEDIES["centring"](1.0).matrix(a), a - J, atol=1e-15)
    assert_allclose(REMEDIES["laplacian"](1.0).matrix(a), -(EYE - a), atol=1e-15)


def test_only_neutreno_goes_back_to_the_first_layer():
    sources = {name: REMEDIES[name](0.3).source for name in REMEDIES}
    assert {name for name, source in sources.items() if source} == {"neutreno"}
    assert sources["neutreno"] == 0.3


def test_a_filter_of_nothing_is_attention():
    assert Filter() == REMEDIES["none"](0.0)
