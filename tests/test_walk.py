"""Attention of symmetric logits is a walk; that of others is not."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from lowpass.kernels import softmax
from lowpass.symmetrised import symmetric_part
from lowpass.walk import (
    balance_defect,
    degrees,
    energy_defect,
    spectrum_defect,
    step_defect,
    walk_eigenvalues,
)

N, D = 9, 4


@pytest.fixture
def tokens(rng):
    return rng.standard_normal((3, N, D))


@pytest.fixture
def symmetric(rng):
    return symmetric_part(2 * rng.standard_normal((3, N, N)))


def test_attention_of_symmetric_logits_is_a_step_of_the_walk(symmetric, tokens):
    attention = softmax(symmetric)
    assert (step_defect(attention, symmetric) < 1e-15).all()
    assert (balance_defect(attention, symmetric) < 1e-16).all()
    assert (spectrum_defect(attention, symmetric) < 1e-14).all()
    assert (energy_defect(attention, symmetric, tokens) < 1e-14).all()


def test_attention_of_other_logits_fails_every_one_of_these(rng, tokens):
    logits = rng.standard_normal((3, N, N))
    attention, symmetric = softmax(logits), symmetric_part(logits)
    for defect in (step_defect, balance_defect, spectrum_defect):
        assert (defect(attention, symmetric) > 1e-3).all()
    assert (energy_defect(attention, symmetric, tokens) > 1e-6).all()


def test_degrees_are_left_alone_by_a_step(symmetric):
    pi = degrees(symmetric)
    assert_allclose((pi[:, None] @ softmax(symmetric))[:, 0], pi, rtol=1e-14)
    assert_allclose(pi.sum(axis=-1), 1, rtol=1e-15)


def test_the_spectrum_of_the_walk_lies_below_two(symmetric):
    value = walk_eigenvalues(symmetric)
    assert (value[:, 0] == 0).all()
    assert ((value >= 0) & (value < 2)).all()
    assert value.max() > 1


def test_queries_that_are_keys_never_overshoot(tokens):
    """exp of a Gram matrix, entry by entry, is positive semidefinite; so is D^{-1/2} W D^{-1/2}."""
    value = walk_eigenvalues(tokens @ tokens.swapaxes(-1, -2))
    assert ((value >= 0) & (value <= 1 + 1e-14)).all()


def test_two_tokens_have_a_walk_in_closed_form():
    """W = [[1, w], [w, 1]]: the eigenvalues of the Laplacian are 0 and 2w/(1 + w)."""
    w = 0.3
    value = walk_eigenvalues(np.log(np.array([[1, w], [w, 1]])))
    assert_allclose(value, [0, 2 * w / (1 + w)], rtol=1e-14)


def test_a_shift_of_all_logits_changes_nothing(symmetric):
    assert_allclose(walk_eigenvalues(symmetric + 5), walk_eigenvalues(symmetric), atol=1e-14)
