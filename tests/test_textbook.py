"""The textbook's curve, at places where it can be checked by hand."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_allclose

from lowpass.textbook import curve, sine_and_power


def test_the_curve_is_the_textbooks():
    assert_allclose(curve(np.array([0.0, 1.0, np.pi])), [0, 2 * np.sin(1) + 1, np.pi**0.8])


def test_queries_are_the_textbooks_and_keys_are_even():
    made = sine_and_power()
    assert_allclose(made["query_position"][:, 0], np.arange(0, 5, 0.1), atol=1e-14)
    key = made["key_position"][:, 0]
    assert (key.size, made["noise"]) == (50, 0.5)
    assert_allclose(np.diff(key), 0.1, rtol=1e-12)
    assert_allclose([key[0], 5 - key[-1]], 0.05, rtol=1e-12)


def test_truth_stands_at_keys_and_queries():
    made = sine_and_power(n_keys=4, n_queries=3, noise=0.0)
    assert_allclose(made["truth"], curve(made["key_position"][:, 0]))
    assert_allclose(made["truth_at_query"], curve(made["query_position"][:, 0]))
