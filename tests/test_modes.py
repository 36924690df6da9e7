"""Modes of Laplacians against closed forms, to relative precision."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from lowpass.graphs import GRAPHS
from lowpass.laplacians import LAPLACIANS, stationary_of
from lowpass.modes import changing_modes, eigenvalues
from lowpass.registry import Refusal

CONSTANT = [name for name in LAPLACIANS if LAPLACIANS.facts(name)["constant_mode"]]


def drawn(name: str, rng: np.random.Generator, *shape: int) -> tuple[np.ndarray, np.ndarray]:
    """Give a dense Laplacian with its stationary weights."""
    s = rng.standard_normal(shape)
    s = s + np.swapaxes(s, -1, -2)
    w = np.exp(s) if LAPLACIANS.facts(name)["positive"] else s
    return LAPLACIANS[name](w), stationary_of(w, name)


def graph_laplacian(graph: str, n_tokens: int, place: np.ndarray | None = None) -> np.ndarray:
    return LAPLACIANS["combinatorial"](GRAPHS[graph](np.zeros((n_tokens, 1)), place, 1.0))


@pytest.mark.parametrize("name", CONSTANT)
def test_modes_are_eigenvectors_without_a_mean(name, rng):
    laplacian, pi = drawn(name, rng, 3, 9, 9)
    modes = changing_modes(laplacian, pi)
    assert modes.vector.shape == (3, 9, 8)
    scale = np.abs(laplacian).max()
    stretched = modes.vector * modes.eigenvalue[:, None, :]
    assert_allclose(laplacian @ modes.vector, stretched, atol=1e-13 * scale * np.sqrt(1 / pi.min()))
    assert_allclose(pi[:, None, :] @ modes.vector, 0, atol=1e-14)
    inner = np.swapaxes(modes.vector, 1, 2) @ (pi[:, :, None] * modes.vector)
    assert_allclose(inner, np.broadcast_to(np.eye(8), inner.shape), atol=1e-13)
    assert (np.diff(modes.eigenvalue) >= 0).all()


@pytest.mark.parametrize("name", CONSTANT)
def test_eigenvalues_are_those_of_the_matrix_and_zero_is_exact(name, rng):
    laplacian, pi = drawn(name, rng, 3, 9, 9)
    ours = eigenvalues(laplacian, pi)
    expected = np.sort(np.linalg.eigvals(laplacian).real, axis=-1)
    assert_allclose(ours, expected, atol=1e-13 * np.abs(laplacian).max())
    assert ((ours == 0).sum(axis=-1) == 1).all()


def test_the_normalised_laplacian_has_the_eigenvalues_of_the_random_walk(rng):
    s = rng.standard_normal((9, 9))
    w = np.exp(s + s.T)
    walk = eigenvalues(LAPLACIANS["random_walk"](w), stationary_of(w, "random_walk"))
    assert_allclose(eigenvalues(LAPLACIANS["normalised"](w)), walk, atol=1e-14)


@pytest.mark.parametrize("n_tokens", [2, 3, 40, 301])
def test_a_path_has_the_spectrum_of_a_cosine_transform(n_tokens):
    """4 sin²(πk/2n), each to 1e-12 of itself although λ₂ is 1e5 times smaller than the last."""
    expected = 4 * np.sin(np.pi * np.arange(n_tokens) / (2 * n_tokens)) ** 2
    laplacian = graph_laplacian("path", n_tokens)
    assert_allclose(eigenvalues(laplacian), expected, rtol=1e-12)
    modes = changing_modes(laplacian, np.full(n_tokens, 1 / n_tokens))
    k, i = np.arange(1, n_tokens), np.arange(n_tokens)[:, None]
    cosine = np.sqrt(2) * np.cos(np.pi * k * (i + 0.5) / n_tokens)
    assert_allclose(np.abs((cosine * modes.vector).mean(axis=0)), 1, rtol=1e-11)


def test_a_grid_adds_the_spectra_of_its_sides():
    place = np.array([[row, column] for row in range(5) for column in range(7)])
    rows, columns = (4 * np.sin(np.pi * np.arange(n) / (2 * n)) ** 2 for n in (5, 7))
    expected = np.sort(np.add.outer(rows, columns).ravel())
    ours = eigenvalues(graph_laplacian("grid", 35, place))
    assert_allclose(ours, expected, rtol=1e-13, atol=1e-29)


def test_a_star_has_three_eigenvalues():
    w = np.zeros((8, 8))
    w[0, 1:] = w[1:, 0] = 1
    assert_allclose(eigenvalues(LAPLACIANS["combinatorial"](w)), [0, *[1] * 6, 8], rtol=1e-14)
    walk = eigenvalues(LAPLACIANS["random_walk"](w), stationary_of(w, "random_walk"))
    assert_allclose(walk, [0, *[1] * 6, 2], rtol=1e-14)


@pytest.mark.parametrize("bridge", [1e-3, 1e-12, 1e-18])
def test_a_weak_bridge_has_a_small_eigenvalue_with_all_its_digits(bridge):
    """Two pairs joined by weight ε: λ₂ solves λ² - (2 + 2ε)λ + 2ε = 0 (modes odd in the bridge)."""
    w = np.zeros((4, 4))
    w[0, 1] = w[1, 0] = w[2, 3] = w[3, 2] = 1
    w[1, 2] = w[2, 1] = bridge
    expected = 2 * bridge / (1 + bridge + np.sqrt(1 + bridge**2))
    assert_allclose(eigenvalues(LAPLACIANS["combinatorial"](w))[1], expected, rtol=1e-13)


def test_a_graph_in_two_parts_keeps_two_modes():
    w = np.kron(np.eye(2), np.ones((3, 3)))
    assert_allclose(eigenvalues(LAPLACIANS["combinatorial"](w)), [0, 0, 3, 3, 3, 3], atol=1e-29)


def test_modes_stay_apart_from_a_constant_that_is_all_in_one_token():
    """A hub that hardly ever lets go: the others weigh 1e-14 together."""
    w = np.zeros((8, 8))
    w[0, 1:] = w[1:, 0] = 1
    w[0, 0] = 1e15
    laplacian, pi = LAPLACIANS["random_walk"](w), stationary_of(w, "random_walk")
    modes = changing_modes(laplacian, pi)
    assert_allclose(modes.eigenvalue, 1, rtol=1e-13)
    inner = modes.vector.T @ (pi[:, None] * modes.vector)
    assert_allclose(inner, np.eye(7), atol=1e-13)
    assert_allclose(pi @ modes.vector, 0, atol=1e-15)


@pytest.mark.parametrize("name", CONSTANT)
def test_the_modes_of_a_batch_are_those_of_its_members(name, rng):
    laplacian, pi = drawn(name, rng, 2, 3, 7, 7)
    batch = changing_modes(laplacian, pi)
    for index in np.ndindex(2, 3):
        alone = changing_modes(laplacian[index], pi[index])
        assert_allclose(batch.eigenvalue[index], alone.eigenvalue, rtol=1e-12)


def test_modes_that_are_not_real_are_refused(rng):
    laplacian, pi = drawn("random_walk", rng, 5, 5)
    with pytest.raises(
        Refusal, match=r"^the Laplacian, balanced by .* apart; .* 'stationary_of', or a"
    ):
        eigenvalues(laplacian)
    with pytest.raises(Refusal, match=r"^the stationary weight of token \[2\] is 0; "):
        eigenvalues(laplacian, np.where(np.arange(5) == 2, 0.0, pi))


def test_a_laplacian_with_a_hole_is_refused():
    with pytest.raises(Refusal, match=r"^the Laplacian's entry \[1, 0\] is nan; .* finite numbers"):
        eigenvalues(np.array([[1.0, -1.0], [np.nan, 1.0]]))


def test_changing_modes_need_a_constant_beside_them(rng):
    w = np.exp(np.add.outer(np.arange(4.0), np.arange(4.0)) / 4)
    with pytest.raises(Refusal, match=r"^row \[0\] of the Laplacian sums to .* 'random_walk'"):
        changing_modes(LAPLACIANS["normalised"](w), np.full(4, 0.25))
    with pytest.raises(Refusal, match=r"^there is one token; .* Give two tokens or more\.$"):
        changing_modes(np.zeros((1, 1)), np.ones(1))
