"""Tolerances: what rounding explains is let pass, and nothing that is larger."""

from __future__ import annotations

import math

import numpy as np
import pytest

import lowpass.measures  # noqa: F401  (its accounts stand beside its cards)
from lowpass.claims.register import REGISTER
from lowpass.labels import VARIABLES
from lowpass.rounding import (
    DECADES,
    FLOOR,
    FLOORS,
    RELATIVE,
    RESIDUE,
    ROUNDING,
    Departure,
    Fitted,
    Logarithm,
    Remainder,
    Rounding,
    account,
    largest,
)
from lowpass.spectra import rounding_floor

POWER = Logarithm(reach=DECADES, power=2)
KINDS = [Rounding(), Remainder(), Logarithm(), Logarithm(floored=True), POWER, Fitted()]
FLOAT32 = math.log10(rounding_floor("float32", 64))


# Laws.


@pytest.mark.parametrize("name", ROUNDING)
def test_an_account_is_of_a_variable_or_a_claim(name):
    word, _, claim = name.partition(" ")
    assert name in VARIABLES or (word == "claim" and claim in REGISTER)


def test_the_floor_is_a_variable():
    assert FLOOR in VARIABLES


@pytest.mark.parametrize("kind", [*KINDS, *ROUNDING.values()])
@pytest.mark.parametrize("floor", [-math.inf, -8.0])
def test_a_tolerance_is_not_negative_and_the_same_both_ways(kind, floor, rng):
    for one, other, *around in rng.normal(scale=20, size=(50, 4)):
        tolerance = kind.tolerance(one, other, around, floor)
        assert tolerance > 0
        assert kind.tolerance(other, one, around, floor) == tolerance


@pytest.mark.parametrize("kind", [*KINDS, *ROUNDING.values()])
def test_without_a_floor_an_infinite_number_is_near_no_finite_one(kind):
    for one, other in ((math.inf, 1.0), (-math.inf, 1.0), (math.inf, -math.inf)):
        assert kind.tolerance(one, other, [1.0, other]) < math.inf


# Closed forms.


def test_a_number_keeps_its_leading_digits():
    assert Rounding().tolerance(3.0, -4.0, []) == 4 * RELATIVE
    assert Rounding(relative=1e-3).tolerance(3.0, 4.0, []) == pytest.approx(4e-3, rel=1e-15)


def test_a_curve_that_is_lost_is_anywhere_and_one_that_is_near_is_not():
    kind = Departure(relative=1e-5, lost=0.1)
    assert kind.tolerance(11.4, 0.11, []) == math.inf
    assert kind.tolerance(11.4, 0.09, []) == pytest.approx(11.4e-5, rel=1e-6)
    assert not kind.arranged


def test_a_logarithm_below_its_end_is_noise_and_far_above_it_a_number():
    kind = Logarithm(end=-16)
    assert kind.tolerance(-14.5, -14.6, [0.0]) == math.inf
    assert kind.tolerance(-3.0, -3.1, [0.0]) < 1e-7
    assert not kind.arranged


def test_a_small_number_feels_the_large_ones_beside_it():
    assert Rounding().tolerance(0.0, 0.0, [5.0]) == 5 * RESIDUE
    assert Remainder(magnitude=7.0).tolerance(0.0, 0.0, [5.0]) == 7 * RESIDUE


@pytest.mark.parametrize("exponent", [0.0, 0.5, 1.0])
def test_the_error_of_a_logarithm_near_one_is_that_of_its_power(exponent):
    assert Logarithm().tolerance(exponent, exponent, []) == RELATIVE


def test_the_error_of_a_logarithm_grows_with_depth():
    assert Logarithm().tolerance(-300.0, -300.0, [300.0]) == 300 * RELATIVE


@pytest.mark.parametrize("decades", [4.0, 6.0, 8.0])
def test_above_the_floor_a_ratio_may_be_off_by_a_number_of_floors(decades):
    """Two ratios that many floors apart are just within the tolerance of their logarithms."""
    high = FLOAT32 + decades
    low = math.log10(10**high - FLOORS * 10**FLOAT32)
    tolerance = Logarithm(floored=True).tolerance(high, low, [1.0], FLOAT32)
    assert tolerance - RELATIVE * max(1.0, abs(low)) == pytest.approx(high - low, rel=1e-6)


@pytest.mark.parametrize("found", [-math.inf, FLOAT32 - 5, FLOAT32, FLOAT32 + 2.9])
def test_below_a_few_floors_all_ratios_are_noise(found):
    kind = Logarithm(floored=True)
    assert kind.tolerance(FLOAT32 + 1, found, [1.0], FLOAT32) == math.inf
    assert kind.tolerance(FLOAT32 + 3.1, found, [1.0], FLOAT32) < 1


def test_in_split_form_nothing_is_noise():
    assert Logarithm(floored=True).tolerance(-276.0, -276.0, [1.0]) == 276 * RELATIVE
    assert Fitted(off=0.5).tolerance(0.9, 0.9, []) == 0.9 * RELATIVE


def test_what_is_fitted_to_noise_is_compared_loosely():
    assert Fitted(off=0.5).tolerance(0.9, 0.9, [], FLOAT32) == pytest.approx(0.5, rel=1e-6)


def test_float32_in_another_order_stays_within_the_tolerance(rng):
    """Iterate one matrix with its sums taken forwards and backwards, down to the floor."""
    kind = Logarithm(floored=True)
    for _ in range(5):
        scores = np.exp(rng.normal(size=(64, 64)))
        a = (scores / scores.sum(axis=1, keepdims=True)).astype(np.float32)
        x = y = rng.normal(size=(64, 8)).astype(np.float32)
        for _layer in range(30):
            x, y = a @ x, a[:, ::-1] @ y[::-1]
            one, other = (float(np.log10(ratio(each))) for each in (x, y))
            assert abs(one - other) <= kind.tolerance(one, other, [1.0], FLOAT32)
        assert one < FLOAT32 + 3  # The noise was reached.


def test_a_spectrum_in_another_order_stays_within_the_tolerance(rng):
    """A bump whose spectrum falls below what float64 holds: FFT and matrix differ down there."""
    x = np.exp(-((np.arange(64) - 31.7) ** 2) / 24)
    turn = np.exp(-2j * np.pi * np.outer(np.arange(33), np.arange(64)) / 64)
    spectra = [np.fft.rfft(x), turn @ x, turn[:, ::-1] @ (x[::-1] + 1e-16 * rng.normal(size=64))]
    one, *others = (2 * np.log10(abs(each) + 1e-99) for each in spectra)
    for other in others:
        off = [POWER.tolerance(a, b, one) for a, b in zip(one, other, strict=True)]
        assert (abs(one - other) <= off).all()
        assert abs(one - other).max() > 0.1  # The noise was reached.
    assert min(off) < 1e-7


def test_the_square_of_an_amplitude_is_off_by_twice_its_decades():
    high = -20.0
    amplitude = 10 ** (high / 2)
    low = 2 * math.log10(amplitude - FLOORS * 10**-DECADES)
    tolerance = POWER.tolerance(high, low, [0.0, high])
    assert tolerance - RELATIVE * abs(low) == pytest.approx(high - low, rel=1e-6)


def ratio(x: np.ndarray) -> float:
    """Compare what differs between tokens with their mean."""
    mean = x.astype(float).mean(axis=0)
    return np.linalg.norm(x - mean) / np.linalg.norm(np.broadcast_to(mean, x.shape))


# What is particular.


def test_an_account_that_nobody_gave_is_the_default():
    assert account("row_sum_defect", Rounding()) == Remainder()
    assert account("no such variable", Rounding(relative=1.0)) == Rounding(relative=1.0)


def test_the_largest_of_numbers_is_finite():
    assert largest(-3.0, 2.0, math.inf, -math.inf) == 3.0
    assert largest(math.inf) == largest() == 0.0
