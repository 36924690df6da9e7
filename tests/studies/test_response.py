"""What acts on waves of a ring, against the matrices that act, written out."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
import xarray as xr
from numpy.testing import assert_allclose, assert_array_equal

from lowpass.domains import Bandwidths
from lowpass.impulses import impulse
from lowpass.stages.data import labelled
from lowpass.studies.response import KERNELS, LAYERS, first_zero, half_power, response

N = 40
GRID = Bandwidths(low=0.5, high=4.0, count=4)
SHAPES = {
    "gaussian": lambda u: np.exp(-(u**2) / 2),
    "laplace": lambda u: np.exp(-u),
    "triangle": lambda u: np.maximum(1 - u, 0),
    "epanechnikov": lambda u: np.maximum(1 - u**2, 0),
    "tricube": lambda u: np.maximum(1 - u**3, 0) ** 3,
    "boxcar": lambda u: (u <= 1 + 1e-9) * 1.0,
}


@pytest.fixture(scope="module")
def answers() -> xr.Dataset:
    return response(labelled(impulse(n_keys=N)), iter, bandwidths=GRID)


def wrapped(name: str, bandwidth: float) -> np.ndarray:
    """Write out a smoother on the ring, image by image."""
    apart = np.subtract.outer(np.arange(N), np.arange(N))
    weight = sum(SHAPES[name](abs(apart + N * m) / bandwidth) for m in range(-6, 7))
    return weight / weight.sum(axis=1, keepdims=True)


def laplacian() -> np.ndarray:
    """Write out the Laplacian of the ring."""
    one = np.roll(np.eye(N), 1, axis=1)
    return 2 * np.eye(N) - one - one.T


def gains(matrix: np.ndarray) -> np.ndarray:
    """Give the eigenvalues of a circulant matrix, by a sum over cosines."""
    angle = 2 * np.pi * np.outer(np.arange(N // 2 + 1), np.arange(N)) / N
    return np.cos(angle) @ matrix[:, 0]


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_smoother_has_the_eigenvalues_of_its_matrix(kernel, answers):
    for h in GRID.grid():
        one = answers.sel(smoothing_kernel=kernel, bandwidth=h)
        matrix = wrapped(kernel, h)
        assert_allclose(one["smoother_gain"], gains(matrix), atol=1e-14)
        assert_allclose(one["smoothed_value"], matrix[:, 0], atol=1e-15)
        assert one["filter_defect"] < 1e-26
        assert one["lowest_gain"] == one["smoother_gain"].min()


def test_heat_and_its_step_are_those_of_the_laplacian(answers):
    for h in GRID.grid():
        one = answers.sel(bandwidth=h)
        heat = scipy.linalg.expm(-(h**2) / 2 * laplacian())
        step = np.eye(N) - h**2 / 2 * laplacian()
        assert_allclose(one["heat_gain"], gains(heat), atol=1e-14)
        assert_allclose(one["step_gain"], gains(step), atol=1e-13)
        smoother = wrapped("gaussian", h)
        apart = heat - smoother
        assert one["heat_row_distance"] == pytest.approx(abs(apart).sum(axis=1).max(), abs=1e-13)
        assert one["heat_distance"] == pytest.approx(abs(gains(apart)).max(), abs=1e-13)
        assert one["step_distance"] == pytest.approx(abs(gains(step - smoother)).max(), abs=1e-12)


def test_measured_gains_follow_closed_forms(answers):
    gaussian = answers["smoother_gain"].sel(smoothing_kernel="gaussian")
    for measured, wanted in (
        (gaussian, answers["ring_symbol"]),
        (answers["heat_gain"], answers["heat_symbol"]),
        (answers["step_gain"], answers["step_symbol"]),
    ):
        assert_allclose(measured, wanted, atol=1e-13)


def test_layers_are_powers_of_one(answers):
    for h in GRID.grid():
        for layers in LAYERS:
            many = np.linalg.matrix_power(wrapped("gaussian", h), layers)
            apart = gains(many - wrapped("gaussian", np.sqrt(layers) * h))
            found = answers["layers_distance"].sel(smoothing_layers=layers, bandwidth=h)
            assert found == pytest.approx(abs(apart).max(), abs=1e-13)


def test_nearest_neighbours_alone_are_a_narrow_smoother(answers):
    narrow = answers.isel(bandwidth=0)
    weight = wrapped("gaussian", 0.5)
    near = np.where(abs(np.subtract.outer(np.arange(N), np.arange(N))) % (N - 1) == 1, weight, 0)
    near += np.diag(1 - near.sum(axis=1))
    near[0, -1] = near[-1, 0] = weight[0, -1]
    near[0, 0] = near[-1, -1] = near[1, 1]
    assert_allclose(narrow["neighbour_symbol"], gains(near), atol=1e-14)


def test_units_of_the_keys_do_not_matter(answers):
    other = response(
        labelled(impulse(n_keys=N, spacing=0.1)),
        iter,
        bandwidths=Bandwidths(low=0.05, high=0.4, count=4),
    )
    for name in ("relative_bandwidth", "scaled_frequency", "smoother_gain", "heat_distance"):
        assert_allclose(other[name], answers[name], atol=1e-12)
    assert_allclose(0.1 * other["half_power"], answers["half_power"], rtol=1e-10)


def test_any_values_that_miss_no_wave_show_the_same_gains(answers, rng):
    observed = labelled(impulse(n_keys=N) | {"value": rng.standard_normal(N)})
    other = response(observed, iter, bandwidths=GRID)
    assert_allclose(other["smoother_gain"], answers["smoother_gain"], atol=1e-11)
    assert_allclose(other["heat_gain"], answers["heat_gain"], atol=1e-11)


def test_every_smoother_is_handed_to_the_watch():
    seen = []

    def watch(items):
        seen.extend(items)
        return items

    response(labelled(impulse(n_keys=6)), watch, bandwidths=GRID)
    assert len(seen) == len(KERNELS) * 4


# What is particular.


def test_half_of_a_gaussians_power_passes_where_its_logarithm_says():
    frequency = np.linspace(0, 3, 31)
    gain = np.exp(-((np.array([[0.1], [0.5], [2.0]]) * frequency) ** 2) / 2)
    wanted = [np.inf, np.sqrt(np.log(2)) / 0.5, np.sqrt(np.log(2)) / 2]
    assert_allclose(half_power(frequency, gain), wanted, rtol=1e-13)


def test_the_first_zero_of_a_line_is_exact_and_rounding_is_none():
    x = np.linspace(0, 4, 9)
    gain = np.stack([1 - x / 2.2, np.maximum(1 - x, -1e-16)])
    assert_allclose(first_zero(np.stack([x, x]), gain), [2.2, np.inf])


def test_a_kernel_that_reaches_no_neighbour_changes_nothing(answers):
    for kernel in ("triangle", "epanechnikov", "tricube", "boxcar"):
        assert_array_equal(
            answers["smoothed_value"].sel(smoothing_kernel=kernel, bandwidth=0.5), np.eye(N)[0]
        )
