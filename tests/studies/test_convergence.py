"""The study of rates, against dense weights and refusals."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr
from numpy.testing import assert_allclose

from lowpass.designs import wave
from lowpass.labels import VARIABLES
from lowpass.registry import Refusal
from lowpass.smoothing.errors import pointwise_errors
from lowpass.studies.convergence import convergence

FITS = [{"degree": degree, "ends": ends} for degree in (0, 1) for ends in ("joined", "open")]


def observed(n_keys: int, **settings: float) -> xr.Dataset:
    """Label a wave as the stage of data does."""
    made = wave(n_keys=n_keys, **settings)
    return xr.Dataset({name: (VARIABLES[name].dims, each) for name, each in made.items()})


@pytest.mark.parametrize("fit", FITS)
def test_the_least_error_is_least_and_flat(fit):
    found = convergence(observed(135), iter, beta=400.0, **fit)
    truth, h = observed(135)["truth"].values, float(found["mise_bandwidth"])
    around = [pointwise_errors(truth, each * h, **fit).integrated(0.5) for each in (0.99, 1, 1.01)]
    assert float(found["mise"]) == pytest.approx(around[1], rel=1e-12)
    assert around[1] < min(around[0], around[2]) < 1.001 * around[1]


@pytest.mark.parametrize("fit", FITS)
def test_thinned_keys_are_fewer_keys(fit):
    thin = convergence(observed(405), iter, beta=400.0, thin=9, **fit)
    few = convergence(observed(45), iter, beta=400.0, **fit)
    xr.testing.assert_allclose(thin, few, rtol=1e-9)
    assert int(thin["kept_keys"]) == 45


@pytest.mark.parametrize("fit", FITS)
def test_the_share_of_variance_is_the_local_slope(fit):
    """At the best bandwidth d log E / d log n is that of the variance alone."""
    few, many = (convergence(observed(3645), iter, beta=400.0, thin=thin, **fit) for thin in (3, 1))
    slope = float(np.log(many["mise"] / few["mise"]) / np.log(3))
    shares = [float(each["variance_share"]) for each in (few, many)]
    assert -slope == pytest.approx(np.mean(shares), abs=2e-4)


def test_errors_without_noise_are_those_of_the_curve():
    """What is left at the fixed bandwidth is attention's: rows of a softmax, and the truth."""
    data = observed(135)
    found = convergence(data, iter, beta=100.0)
    place, truth = data["key_position"].values, data["truth"].values
    logits = -100.0 * (place - place.T) ** 2 / 2
    weights = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    bias = np.mean((weights @ truth - truth) ** 2)
    assert float(found["bias_fixed"]) == pytest.approx(bias, rel=1e-12)
    variance = 0.25 * np.square(weights).sum(axis=1).mean()
    assert float(found["mise_fixed"]) == pytest.approx(bias + variance, rel=1e-12)
    assert float(found["attention_gap"]) < 1e-14


@pytest.mark.parametrize("fit", FITS)
def test_the_bias_near_the_end_tends_to_its_limit(fit):
    found = convergence(observed(10935), iter, beta=400.0, kernel="epanechnikov", **fit)
    near = found["end_distance"].values < 1
    gap = np.abs(found["end_bias"] - found["end_bias_leading"]).values[near]
    # What is left is of first order in h, which is a twentieth.
    assert gap.max() < 0.11 * np.abs(found["end_bias_leading"]).max()


def test_somebody_may_count_the_bandwidths():
    seen: list[float] = []

    def watch(items):
        for each in items:
            seen.append(each)
            yield each

    convergence(observed(45), watch, beta=400.0)
    assert_allclose(np.diff(np.log(seen)), np.log(seen[1] / seen[0]))


# Refusals.


@pytest.mark.parametrize("thin", [2, 7, 9])
def test_only_odd_divisors_that_leave_enough_keep_the_design(thin):
    with pytest.raises(Refusal, match=f"thin is {thin} for 90 keys; one key of an odd number"):
        convergence(observed(90), iter, beta=400.0, thin=thin)


def test_keys_elsewhere_are_refused():
    data = observed(45)
    data["key_position"] = data["key_position"] ** 2
    with pytest.raises(Refusal, match=r"key_position is not \(i \+ 1/2\)/n"):
        convergence(data, iter, beta=400.0)


def test_noise_that_drowns_the_curve_has_no_best_bandwidth():
    with pytest.raises(Refusal, match=r"least at bandwidth 0.6, an end of \S+ ... 0.6; it may"):
        convergence(observed(45, noise=300.0), iter, beta=400.0)
