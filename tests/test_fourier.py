"""Gains of Fourier modes and spectra of pictures against transforms written out."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import dft

from lowpass.data import GENERATORS
from lowpass.diffusion import heat_kernel
from lowpass.fourier import (
    amplitudes,
    input_mode_gain,
    offdiagonal_energy,
    output_spectrum,
    radial_spectrum,
    radial_wave_spectrum,
    rank_correlation,
)
from lowpass.graphs import GRAPHS
from lowpass.kernels import KERNELS, attend, softmax
from lowpass.laplacians import LAPLACIANS
from lowpass.ring import bessel_gain, ring_heat_gain

EPS = np.finfo(float).eps
READS = {name: KERNELS.facts(name).get("reads") for name in KERNELS}
# These read scores that are positive, as those below are.
PRODUCTS = [name for name in KERNELS if READS[name] != "squared distance"]
SIZES = [1, 2, 3, 8, 9, 64, 97]
SHAPES = [(8, 8), (7, 7), (1, 1), (1, 6), (5, 1), (6, 9), (12, 5), (2, 3), (3, 16)]


def in_fourier_space(a: np.ndarray) -> np.ndarray:
    """Write F A F^H out."""
    f = dft(len(a), scale="sqrtn")
    return f @ a @ f.conj().T


def folded(norms: np.ndarray) -> np.ndarray:
    """Take the root mean square of the frequencies k and n - k, for k up to n // 2."""
    n = len(norms)
    k = np.arange(n // 2 + 1)
    return np.sqrt((norms[k] ** 2 + norms[-k % n] ** 2) / 2)


@pytest.mark.parametrize("n_tokens", SIZES)
def test_gains_are_column_norms_and_output_spectra_row_norms(n_tokens, rng):
    a = softmax(3 * rng.standard_normal((n_tokens, n_tokens)))
    turned = in_fourier_space(a)
    columns, rows = (folded(np.linalg.norm(turned, axis=axis)) for axis in (0, 1))
    assert_allclose(input_mode_gain(a), columns, atol=1e-14)
    assert_allclose(output_spectrum(a), rows, atol=1e-14)


@pytest.mark.parametrize("n_tokens", SIZES)
def test_a_gain_is_what_a_plane_wave_meets(n_tokens, rng):
    a = softmax(3 * rng.standard_normal((n_tokens, n_tokens)))
    for k, gain in enumerate(input_mode_gain(a)):
        wave = np.exp(2j * np.pi * k * np.arange(n_tokens) / n_tokens)
        assert_allclose(gain, np.linalg.norm(a @ wave) / np.sqrt(n_tokens), atol=1e-14)


@pytest.mark.parametrize("kernel", PRODUCTS)
def test_the_mean_passes_with_gain_one(kernel, rng):
    a = KERNELS[kernel](np.exp(rng.standard_normal((3, 9, 9))))
    assert_allclose(input_mode_gain(a)[:, 0], 1, rtol=1e-14)


@pytest.mark.parametrize("n_tokens", SIZES)
@pytest.mark.parametrize("spectrum", [input_mode_gain, output_spectrum])
def test_no_frequency_is_lost_or_counted_twice(spectrum, n_tokens, rng):
    """All n squares sum to the squared Frobenius norm of the matrix."""
    a = rng.standard_normal((n_tokens, n_tokens))
    k = np.arange(n_tokens // 2 + 1)
    twice = np.where((k == 0) | (2 * k == n_tokens), 1, 2)
    assert_allclose((twice * spectrum(a) ** 2).sum(), (a**2).sum(), rtol=1e-13)


@pytest.mark.parametrize("spectrum", [input_mode_gain, output_spectrum])
def test_the_spectra_of_a_batch_are_those_of_its_members(spectrum, rng):
    a = softmax(rng.standard_normal((2, 3, 7, 7)))
    batch = spectrum(a)
    assert batch.shape == (2, 3, 4)
    for index in np.ndindex(2, 3):
        assert_allclose(batch[index], spectrum(a[index]), rtol=1e-14)


@pytest.mark.parametrize("spectrum", [input_mode_gain, output_spectrum])
def test_starting_to_count_elsewhere_changes_no_spectrum(spectrum, rng):
    a = softmax(rng.standard_normal((9, 9)))
    assert_allclose(spectrum(np.roll(a, (4, 4), axis=(0, 1))), spectrum(a), rtol=1e-13)


@pytest.mark.parametrize("spectrum", [input_mode_gain, output_spectrum])
def test_attention_on_a_circle_has_its_bessel_gain_either_way(spectrum, rng):
    """R11; a convolution keeps waves as they are, so both spectra are its symbol."""
    x = GENERATORS["ring"](rng, n_tokens=96)
    a = attend(x, x, score="l2", kernel="softmax", mask="none", beta=8.0)
    assert_allclose(spectrum(a), bessel_gain(np.arange(49), 8.0), atol=1e-14)


@pytest.mark.parametrize("spectrum", [input_mode_gain, output_spectrum])
@pytest.mark.parametrize("n_tokens", [96, 97])
def test_diffusion_on_a_ring_has_its_heat_gain_either_way(spectrum, n_tokens):
    w = GRAPHS["ring"](np.zeros((n_tokens, 1)), None, 1.0)
    kernel = heat_kernel(LAPLACIANS["combinatorial"](w), 1.5)
    omega = 2 * np.pi * np.arange(n_tokens // 2 + 1) / n_tokens
    assert_allclose(spectrum(kernel), ring_heat_gain(omega, 1.5), atol=1e-14)


def test_one_token_seen_by_all_tells_the_two_spectra_apart():
    """Every wave has modulus one there, and what comes out is a constant."""
    a = np.zeros((16, 16))
    a[:, 5] = 1
    assert_allclose(input_mode_gain(a), 1, rtol=1e-14)
    assert_allclose(output_spectrum(a), [4, *[0] * 8], atol=1e-14)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_radial_spectrum_keeps_the_sum_of_squares(shape, rng):
    u = rng.standard_normal((3, *shape))
    frequency, power, count = radial_spectrum(u)
    assert power.shape == (3, *count.shape)
    assert frequency.shape == count.shape
    assert_allclose((count * power).sum(axis=1), np.square(u).sum(axis=(1, 2)), rtol=1e-14)


@pytest.mark.parametrize("shape", SHAPES)
def test_every_frequency_is_averaged_in_one_bin_and_every_bin_has_one(shape):
    frequency, _, count = radial_spectrum(np.zeros(shape))
    assert count.sum() == shape[0] * shape[1]
    assert (count > 0).all()
    assert count[0] == 1
    assert_allclose(np.diff(frequency), 1 / (2 * max(shape)), rtol=1e-12)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_standing_wave_lands_in_the_bin_of_its_frequency(shape):
    """Every wave of the picture, its bin found by its own distance from zero."""
    row, column = np.indices(shape)
    for p in range(shape[0]):
        for q in range(shape[1]):
            down = np.cos(np.pi * p * (row + 0.5) / shape[0])
            wave = down * np.cos(np.pi * q * (column + 0.5) / shape[1])
            frequency, power, count = radial_spectrum(wave)
            place = int(np.hypot(p / shape[0], q / shape[1]) * max(shape) + 0.5 + 1e-9)
            inside = np.arange(len(frequency)) == place
            total = np.square(wave).sum()
            assert_allclose(count * power, np.where(inside, total, 0), atol=1e-12 * total)


def test_a_wave_along_one_side_has_its_frequency_in_cycles_per_pixel():
    """An eighth of a period in each pixel: 16 half periods on 64 pixels."""
    wave = np.cos(2 * np.pi * 0.125 * (np.arange(64) + 0.5)) * np.ones((32, 1))
    frequency, power, _ = radial_spectrum(wave)
    assert frequency[np.argmax(power)] == 0.125


def test_a_slope_is_smooth_from_edge_to_edge():
    """Closed form of its cosine series; the power falls as k⁻⁴, where a jump would leave k⁻²."""
    n = 64
    _, power, count = radial_spectrum(np.arange(float(n)) * np.ones((1, 1)))
    k = np.arange(1, n, 2)
    exact = (2 / n) * (np.cos(np.pi * k / (2 * n)) / (2 * np.sin(np.pi * k / (2 * n)) ** 2)) ** 2
    assert (count == 1).all()
    assert_allclose(power[1::2], exact, rtol=1e-10)
    assert_allclose(power[2::2], 0, atol=1e-20)


def test_white_noise_is_flat(rng):
    """The mean of m squared unit normals has deviation √(2/m); m is the count, of 10 draws."""
    _, power, count = radial_spectrum(rng.standard_normal((10, 96, 80)))
    flat = power.mean(axis=0)
    assert (np.abs(flat - 1) < 5 * np.sqrt(2 / (10 * count))).all()


def test_turning_a_picture_keeps_its_radial_spectrum(rng):
    u = rng.standard_normal((9, 14))
    for turned in (u.T, u[::-1], u[:, ::-1]):
        assert_allclose(radial_spectrum(turned)[1], radial_spectrum(u)[1], rtol=1e-12)


def test_the_radial_spectra_of_a_batch_are_those_of_its_members(rng):
    u = rng.standard_normal((2, 3, 6, 5))
    frequency, power, count = radial_spectrum(u)
    for index in np.ndindex(2, 3):
        alone = radial_spectrum(u[index])
        assert np.array_equal(alone[0], frequency)
        assert_allclose(alone[1], power[index], rtol=1e-14)
        assert np.array_equal(alone[2], count)


# Coupling, order and amplitudes.


@pytest.mark.parametrize("n_tokens", SIZES)
def test_what_couples_frequencies_lies_off_the_diagonal(n_tokens, rng):
    a = softmax(3 * rng.standard_normal((n_tokens, n_tokens)))
    turned = np.abs(in_fourier_space(a)) ** 2
    share = 1 - np.diagonal(turned).sum() / turned.sum()
    assert_allclose(offdiagonal_energy(a), share, atol=1e-14)


@pytest.mark.parametrize("n_tokens", SIZES)
def test_a_circulant_matrix_couples_no_frequencies(n_tokens, rng):
    """A11; its share is the square of the rounding of a mean."""
    row = softmax(rng.standard_normal((1, n_tokens)))[0]
    assert (
        offdiagonal_energy(np.array([np.roll(row, i) for i in range(n_tokens)]))
        <= (n_tokens * EPS) ** 2
    )


def test_a_permuted_circulant_couples_them(rng):
    """A10: the same attention, with its tokens in another order."""
    p = rng.permutation(16)
    ring = (np.eye(16) + np.roll(np.eye(16), 1, 0) + np.roll(np.eye(16), -1, 0)) / 3
    assert offdiagonal_energy(ring) < 1e-30
    assert offdiagonal_energy(ring[p][:, p]) > 0.3


@pytest.mark.parametrize(
    ("gain", "expected"),
    [
        ([9, 5, 4, 3, 2], -1),
        ([0, 5, 6, 7, 9], 1),
        ([1, 2, 2, 2], 0),
        ([1, 3, 1, 2], -1 / 2),
        ([1, 2, 2, 1], -np.sqrt(3) / 2),
        ([1, 7], 0),
        ([1], 0),
    ],
)
def test_the_rank_correlation_of_a_few_gains(gain, expected):
    """Without the first one; ties share their mean rank."""
    assert_allclose(rank_correlation(np.array(gain, dtype=float)), expected, rtol=1e-14)


def test_the_rank_correlation_is_that_of_scipy(rng):
    from scipy.stats import spearmanr

    gains = np.round(rng.standard_normal((20, 9)), 1)
    slow = [spearmanr(np.arange(1, 9), gain[1:]).statistic for gain in gains]
    assert_allclose(rank_correlation(gains), slow, atol=1e-14)


@pytest.mark.parametrize("n_tokens", SIZES)
def test_amplitudes_are_sums_of_exponentials_and_lose_nothing(n_tokens, rng):
    x = rng.standard_normal((n_tokens, 2))
    full = np.abs(dft(n_tokens, scale="sqrtn") @ x)
    found = amplitudes(x)
    assert_allclose(found, full[: n_tokens // 2 + 1], atol=1e-13)
    k = np.arange(n_tokens // 2 + 1)
    twice = np.where((k == 0) | (2 * k == n_tokens), 1, 2)
    assert_allclose((twice[:, None] * found**2).sum(), (x**2).sum(), rtol=1e-13)


# Plane waves of pictures.


@pytest.mark.parametrize("shape", SHAPES)
def test_the_power_of_all_plane_waves_is_the_energy(shape, rng):
    """Every bin holds a wave, so that all of them are counted by a picture of one bright pixel."""
    picture = rng.standard_normal((3, *shape))
    point = np.zeros(shape)
    point[0, 0] = np.sqrt(point.size)
    frequency, flat = radial_wave_spectrum(point)
    assert_allclose(flat, 1, rtol=1e-13)
    _, power = radial_wave_spectrum(picture)
    count = waves_per_bin(shape, frequency)
    assert count.sum() == point.size
    assert_allclose((power * count).sum(axis=-1), (picture**2).sum(axis=(-2, -1)), rtol=1e-12)


def waves_per_bin(shape: tuple[int, int], frequency: np.ndarray) -> np.ndarray:
    """Count plane waves by the length of their wave vector, one by one."""
    found = np.zeros(len(frequency), dtype=int)
    for down in np.fft.fftfreq(shape[0]):
        for across in np.fft.fftfreq(shape[1]):
            place = np.hypot(down, across) * max(shape)
            found[int(np.floor(place + 0.5 + 1e-12))] += 1
    return found


@pytest.mark.parametrize("shape", [(8, 8), (9, 9), (6, 9)])
def test_a_plane_wave_has_its_own_frequency(shape):
    columns = np.indices(shape)[1]
    wave = np.cos(2 * np.pi * 2 * columns / shape[1])
    frequency, power = radial_wave_spectrum(wave)
    place = round(2 * max(shape) / shape[1])
    assert_allclose(frequency[place], place / max(shape), rtol=1e-15)
    assert power[place] > 1
    assert_allclose(np.delete(power, place), 0, atol=1e-25)


def test_a_ramp_is_smooth_for_cosines_and_not_for_plane_waves():
    """Why cosines are the default: opposite edges of a picture do not meet."""
    ramp = np.tile(np.linspace(-1, 1, 16), (16, 1))
    _, waves = radial_wave_spectrum(ramp)
    frequency, cosines, _ = radial_spectrum(ramp)
    nyquist = int(np.argmax(frequency >= 0.5))
    assert waves[8] / waves[1] > 10 * cosines[nyquist - 1] / cosines[1]
