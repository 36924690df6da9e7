"""Heat in cosine modes, and when it has a given norm, against the exponential of a Laplacian."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import expm

from lowpass.graphs import GRAPHS
from lowpass.laplacians import LAPLACIANS
from lowpass.matching import grid_modes, heat_on_grid, matched_time

SHAPES = [(4, 6), (1, 7), (5, 1), (3, 3)]


def laplacian(shape: tuple[int, int]) -> np.ndarray:
    """Build the Laplacian of a grid token by token."""
    place = np.argwhere(np.ones(shape))
    x = np.zeros((len(place), 1))
    return LAPLACIANS["combinatorial"](GRAPHS["grid"](x, place, 0.0))


def centred(x: np.ndarray) -> np.ndarray:
    return x - x.mean(axis=(-2, -1), keepdims=True)


@pytest.mark.parametrize("shape", SHAPES)
def test_heat_on_a_grid_is_the_exponential_of_its_laplacian(shape, rng):
    start = rng.standard_normal((2, *shape))
    times = np.array([0.0, 0.3, 4.0])
    found = heat_on_grid(grid_modes(start), times, np.zeros(3))
    for time, heat in zip(times, found, strict=True):
        direct = expm(-time * laplacian(shape)) @ centred(start).reshape(2, -1).T
        assert_allclose(heat.reshape(2, -1).T, direct, rtol=0, atol=1e-13)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_time_of_a_norm_is_the_time_it_was_taken_at(shape, rng):
    """From the exponential of the Laplacian."""
    start = rng.standard_normal((2, *shape))
    start[..., 0, 0] = 1.0
    times = np.array([1e-6, 0.02, 1.0, 7.0])
    norms = [
        np.linalg.norm(expm(-time * laplacian(shape)) @ centred(start).reshape(2, -1).T)
        for time in times
    ]
    # A tiny time is told from none by what is left of 1e-16 / 1e-6.
    assert_allclose(matched_time(grid_modes(start), np.log(norms)), times, rtol=1e-8)


def test_one_mode_alone_has_its_time_in_closed_form():
    """λ = 2 - 2 cos(2π/5) for the second mode of a path of five."""
    mode = np.cos(np.pi * 2 * (np.arange(5) + 0.5) / 5)[None, None]
    lam = 2 - 2 * np.cos(2 * np.pi / 5)
    log_norm = np.log(np.linalg.norm(mode)) - np.array([1e-3, 2.0, 1500.0])
    # What rounding leaves of the slower mode outlives this one after some 36/λ.
    assert_allclose(matched_time(grid_modes(mode), log_norm)[:2], [1e-3 / lam, 2 / lam], rtol=1e-10)


def test_norms_far_below_the_smallest_float_have_a_time_and_a_picture(rng):
    """After long only the slowest mode is left, at unit norm in units of what is left."""
    start = rng.standard_normal((1, 1, 6))
    log_norm = np.array([-2000.0])
    modes = grid_modes(start)
    time = matched_time(modes, log_norm)
    slowest = np.cos(np.pi * (np.arange(6) + 0.5) / 6) / np.sqrt(3)
    amplitude = float(slowest @ start[0, 0])
    lam = 2 - 2 * np.cos(np.pi / 6)
    assert_allclose(time, (np.log(abs(amplitude)) + 2000) / lam, rtol=1e-12)
    heat = heat_on_grid(modes, time, log_norm)[0, 0, 0]
    assert_allclose(heat, np.sign(amplitude) * slowest, rtol=1e-10)


def test_nothing_lost_takes_no_time_and_nothing_left_for_ever(rng):
    modes = grid_modes(rng.standard_normal((1, 3, 4)))
    start = np.log(np.linalg.norm(modes.amplitude))
    log_norm = np.array([start + 1.0, start, -np.inf])
    assert matched_time(modes, log_norm).tolist() == [0.0, 0.0, np.inf]
    assert (heat_on_grid(modes, np.array([np.inf]), np.array([-np.inf])) == 0).all()


def test_a_start_of_one_level_has_nothing_to_lose():
    modes = grid_modes(np.full((2, 3, 4), 0.5))
    assert matched_time(modes, np.array([-np.inf])).tolist() == [0.0]


def test_many_starts_are_matched_one_by_one(rng):
    starts = rng.standard_normal((3, 2, 4, 5))
    log_norm = rng.uniform(-3, 0, (3, 4))
    together = matched_time(grid_modes(starts), log_norm)
    for start, asked, found in zip(starts, log_norm, together, strict=True):
        assert_allclose(matched_time(grid_modes(start), asked), found, rtol=1e-12)
