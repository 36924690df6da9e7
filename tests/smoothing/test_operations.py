"""Counts against loops that count."""

from __future__ import annotations

import math

import pytest

from lowpass.smoothing import operations
from lowpass.smoothing.operations import Operations, Problem

SMALL = Problem(queries=5, keys=7, features=3, outputs=2)


def tally(rows: int, columns: int, *, score: int, exponentials: int, read: int) -> Operations:
    """Count the entries of a (row, column) array one by one."""
    adds = exps = 0
    for _ in range(rows):
        for _ in range(columns):
            adds += score + read
            exps += exponentials
    return Operations(adds, exps)


def test_the_textbook_formula_takes_every_pair():
    # Three products and the key's own term; two values and the normaliser.
    assert operations.all_pairs(SMALL) == tally(5, 7, score=4, exponentials=1, read=3)


def test_fewer_keys_take_fewer_pairs():
    assert operations.fewer_keys(SMALL, 4) == tally(5, 4, score=4, exponentials=1, read=3)
    assert operations.fewer_keys(SMALL, 7) == operations.all_pairs(SMALL)


def test_features_are_taken_of_queries_and_keys():
    assert operations.positive(SMALL, 4) == tally(5 + 7, 4, score=4, exponentials=1, read=3)
    assert operations.trigonometric(SMALL, 4) == tally(5 + 7, 4, score=3, exponentials=2, read=6)


def test_orthogonal_directions_cost_a_decomposition_of_every_block():
    free, paid = operations.positive(SMALL, 4), operations.orthogonal(SMALL, 4)
    assert paid.exponentials == free.exponentials
    assert paid.multiply_adds - free.multiply_adds == pytest.approx(2 * 4 / 3 * 27)


def test_linear_attention_has_as_many_features_as_a_key():
    adds, exps = operations.linear(SMALL)
    assert adds == (5 + 7) * 3 * 4
    assert exps == (5 + 7) * 3 / 2


def test_landmarks_cost_a_factor_beside_the_kernel():
    adds, exps = operations.landmarks(SMALL, 4)
    among = tally(5 + 7 + 4, 4, score=4, exponentials=1, read=3)
    assert exps == among.exponentials
    assert adds == pytest.approx(among.multiply_adds + 64 / 6 + 16 * 3)


def test_a_series_costs_windows_transforms_and_what_is_left():
    """Two columns share a transform: 12 points, a window of 16 places, and 18 of them in all."""
    line = Problem(queries=5, keys=7, features=1, outputs=1)
    adds, exps = operations.series(line, (9,), left=2)
    windows = 12 * (16 + 2 * 16 + 16 * 16)
    transforms = 2 * 5 / 2 * 18 * math.log2(18)
    assert adds == pytest.approx(windows + transforms + 2 * 7 * (1 + 1 + 2))
    assert exps == 2 * 9 + 2 * 7
    plane = operations.series(line._replace(features=2), (9, 9), left=0)
    assert plane.multiply_adds > 16 * windows / 8


def test_an_exponential_has_a_price():
    assert Operations(10, 3).priced(50) == 160
