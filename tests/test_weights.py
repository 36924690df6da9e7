"""Projections by the spectra that they are drawn for."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_allclose

from lowpass.weights import VALUES


def test_turning_values_have_eigenvalues_of_real_part_one(rng):
    w = VALUES["turning"](rng, 40)
    value = np.linalg.eigvals(w)
    assert_allclose(value.real, 1, rtol=1e-13)
    # The semicircle of a skew matrix with entries of variance 1/d ends at 2.
    assert 1.5 < abs(value.imag).max() < 2.5
    assert_allclose(w @ w.T, w.T @ w, atol=1e-13)
