"""Gains of a layer's modes against the whole operator, which acts on all entries at once."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from lowpass.registry import Refusal
from lowpass.residual import Modes, gain_defect, measured_gains
from lowpass.weights import VALUES

N, D = 6, 4


@pytest.fixture
def a(rng) -> np.ndarray:
    weight = np.exp(rng.standard_normal((N, N)))
    return weight / weight.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("name", VALUES)
@pytest.mark.parametrize(("skip", "step"), [(1.0, 1.0), (0.0, 2.0), (1.0, -0.3)])
def test_modes_are_eigenvectors_of_the_whole_operator(name, skip, step, a, rng):
    w, x = VALUES[name](rng, D), rng.standard_normal((N, D))
    whole = skip * np.eye(N * D) + step * np.kron(a, w.T)
    after = (whole @ x.ravel()).reshape(N, D)
    modes = Modes.of(a, w)
    gains = modes.gains(skip, step)
    for i, j in np.ndindex(N, D):
        row = np.kron(modes.left[i], modes.value_right[:, j])
        assert_allclose(row @ whole, gains[i, j] * row, atol=1e-12)
        assert_allclose(row @ x.ravel(), modes.coefficients(x)[i, j], atol=1e-13)
    assert gain_defect(modes, x, after, gains).max() < 1e-14
    # Coefficients may be small, and their ratios have fewer digits.
    assert_allclose(measured_gains(modes, x, after), gains, rtol=1e-9, atol=1e-9)


def test_the_note_is_right_for_the_identity_and_without_a_skip(a, rng):
    for skip, w in [(1.0, np.eye(D)), (0.0, VALUES["random"](rng, D))]:
        modes = Modes.of(a, w)
        assert_allclose(modes.written_gains(skip, 1.0), modes.gains(skip, 1.0), atol=1e-14)


def test_the_note_is_off_by_what_its_skip_lacks(a, rng):
    """(1 + λ)μ - (1 + λμ) = μ - 1, whatever λ is."""
    modes = Modes.of(a, VALUES["turning"](rng, D))
    off = modes.written_gains(1.0, 1.0) - modes.gains(1.0, 1.0)
    assert_allclose(off, np.tile(modes.value_eigenvalue - 1, (N, 1)), atol=1e-14)


def test_modes_come_by_decreasing_modulus_and_of_unit_length(a, rng):
    modes = Modes.of(a, VALUES["rotation"](rng, D))
    assert_allclose(modes.eigenvalue[0], 1, rtol=1e-14)
    assert (np.diff(abs(modes.eigenvalue)) <= 1e-14).all()
    assert_allclose(np.linalg.norm(modes.left, axis=1), 1, rtol=1e-14)
    assert_allclose(np.linalg.norm(modes.value_right, axis=0), 1, rtol=1e-14)


def test_a_defective_matrix_has_no_defect(rng):
    """A Jordan block: its computed eigenvectors are all but one, and solve their equation."""
    block, x = np.eye(N) + np.diag(np.ones(N - 1), 1), rng.standard_normal((N, D))
    modes = Modes.of(block, np.eye(D))
    defect = gain_defect(modes, x, x + block @ x, modes.gains(1.0, 1.0))
    assert defect.max() < 1e-14


def test_gains_that_are_off_have_a_defect(a, rng):
    x, modes = rng.standard_normal((N, D)), Modes.of(a, VALUES["random"](rng, D))
    after = x + a @ x @ VALUES["graded"](rng, D)
    assert gain_defect(modes, x, after, modes.gains(1.0, 1.0)).max() > 1e-2


def test_no_tokens_have_no_defect(a):
    modes, nothing = Modes.of(a, np.eye(D)), np.zeros((N, D))
    assert gain_defect(modes, nothing, nothing, modes.gains(1.0, 1.0)).max() == 0


def test_tokens_without_a_mode_show_no_gain_of_it(rng):
    a, x = np.full((N, N), 1 / N), rng.standard_normal((N, D))
    x -= x.mean(axis=0)
    expected = r"^the tokens of layer 0 hold mode 0 .* with a share of \S+ only, .* every mode\.$"
    with pytest.raises(Refusal, match=expected):
        measured_gains(Modes.of(a, np.eye(D)), x, a @ x)
