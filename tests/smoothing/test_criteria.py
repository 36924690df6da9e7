"""Criteria against refits, against explicit matrices and against statsmodels."""

from __future__ import annotations

import csv
import math
import warnings
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from lowpass.registry import Refusal
from lowpass.smoothing import trials
from lowpass.smoothing.criteria import CRITERIA, corrected, curves
from lowpass.smoothing.estimators import smoother_matrix
from lowpass.smoothing.profiles import PROFILES
from lowpass.smoothing.trials import Trial, loo_residuals, trial

OPTIONS = {"folds": 5, "neighbours": 2}
DISTANCES = [name for name in PROFILES if PROFILES.facts(name)["reads"] == "squared distance"]
NILE = Path(__file__).parents[2] / "workflow" / "resources" / "nile.csv"


def score(name, key, value, bandwidth, options=OPTIONS, **smoother) -> float:
    return float(curves(key, value, [bandwidth], [name], options=options, **smoother)[name][0])


def refits(key, value, bandwidth, apart, **smoother) -> np.ndarray:
    """Predict each value by a fit to the observations that lie apart from it."""
    fits = [
        smoother_matrix(key[i : i + 1], key[kept], bandwidth, **smoother)[0] @ value[kept]
        for i, kept in enumerate(apart)
    ]
    return value - np.array(fits)


def others(n: int) -> np.ndarray:
    return ~np.eye(n, dtype=bool)


@pytest.fixture
def sample(rng) -> tuple[np.ndarray, np.ndarray]:
    """Give 24 keys on a line, two at one place and one far from all others, and values."""
    key = np.concatenate([np.sort(rng.uniform(0, 10, 22)), [5.0, 5.0, 60.0]])
    return key[:, None], rng.standard_normal(25)


@pytest.fixture(scope="module")
def nile() -> tuple[np.ndarray, np.ndarray]:
    with NILE.open() as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    return tuple(np.array([[float(row[name])] for row in rows]) for name in ("year", "flow"))


# Laws over the registry.


@pytest.mark.parametrize("degree", [0, 1])
@pytest.mark.parametrize("name", CRITERIA)
def test_a_constant_that_is_added_changes_nothing(name, degree, sample):
    key, value = sample
    one, other = (score(name, key, value + c, 2.0, degree=degree) for c in (0.0, 1e8))
    assert_allclose(other, one, rtol=1e-6)


@pytest.mark.parametrize("degree", [0, 1])
@pytest.mark.parametrize("name", CRITERIA)
def test_units_of_keys_and_values_are_units(name, degree, sample):
    """A squared error has the squared unit of a value; AICc shifts by its logarithm."""
    key, value = sample
    one = score(name, key, value, 2.0, degree=degree)
    other = score(name, 1e3 * key, 4 * value, 2e3, degree=degree)
    assert_allclose(other, one + math.log(16) if name == "aicc" else 16 * one, rtol=1e-9)


@pytest.mark.parametrize("name", CRITERIA)
def test_constant_values_are_predicted_without_error(name, sample):
    key, value = sample
    scores = [score(name, key, np.full_like(value, 7.1), h) for h in (2.0, 30.0)]
    assert scores == [-math.inf if name == "aicc" else 0.0] * 2


@pytest.mark.parametrize("name", CRITERIA)
def test_a_tile_is_only_a_way_to_compute(name, sample, monkeypatch):
    whole = score(name, *sample, 0.5)
    monkeypatch.setattr("lowpass.smoothing.trials.TILE", 70)
    assert_allclose(score(name, *sample, 0.5), whole, rtol=1e-13)


@pytest.mark.parametrize("name", CRITERIA)
def test_several_outputs_are_averaged(name, sample, rng):
    key, value = sample
    pair = np.stack([value, rng.standard_normal(25)], axis=1)
    single = [score(name, key, column, 2.0) for column in pair.T]
    if name == "aicc":
        penalty = single[0] - math.log(np.square(trial(key, value, 2.0).fitted.residual).mean())
        mean = np.exp(np.array(single) - penalty).mean()
        assert_allclose(score(name, key, pair, 2.0), math.log(mean) + penalty, rtol=1e-12)
    else:
        assert_allclose(score(name, key, pair, 2.0), np.mean(single), rtol=1e-12)


@pytest.mark.parametrize("name", CRITERIA)
def test_whole_numbers_views_and_flat_keys_are_welcome(name, rng):
    key, value = rng.permutation(40)[:30, None], rng.integers(0, 9, 30)
    one = score(name, key, value, 3)
    assert score(name, key[:, 0].astype(np.float32), value.astype(float), 3.0) == one
    frozen = value[::-1].astype(float)
    frozen.flags.writeable = False
    if name != "kfold":
        assert_allclose(score(name, key[::-1], frozen, 3.0), one, rtol=1e-12)


# Leaving out is refitting.


@pytest.mark.parametrize("degree", [0, 1])
@pytest.mark.parametrize("bandwidth", [1e-3, 0.05, 0.5, 5.0, 500.0])
@pytest.mark.parametrize("kernel", DISTANCES)
def test_leaving_one_out_is_as_many_refits(kernel, bandwidth, degree, sample):
    """Two keys at one place, one far from all, from bandwidths that see nothing on."""
    key, value = sample
    direct = refits(key, value, bandwidth, others(25), kernel=kernel, degree=degree)
    left = loo_residuals(trial(key, value, bandwidth, kernel=kernel, degree=degree))[:, 0]
    # A local line through few keys carries the rounding of their values far.
    assert_allclose(left, direct, rtol=1e-9, atol=1e-11 * abs(direct).max())


@pytest.mark.parametrize("degree", [0, 1])
def test_leaving_one_out_in_the_plane_and_on_a_circle(degree, rng):
    key, value = rng.standard_normal((30, 2)), rng.standard_normal(30)
    for smoother in ({}, {"period": [4.0, np.inf]}):
        direct = refits(key, value, [0.4, 0.9], others(30), degree=degree, **smoother)
        left = loo_residuals(trial(key, value, [0.4, 0.9], degree=degree, **smoother))[:, 0]
        assert_allclose(left, direct, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("degree", [0, 1])
@pytest.mark.parametrize("bandwidth", [0.2, 0.3, 0.5])
def test_leaving_one_out_on_a_circle_leaves_out_all_images(bandwidth, degree, rng):
    """At 0.3 circumferences a line has another height at the next image: no shortcut."""
    key = rng.uniform(0, 1, 20)[:, None]
    value = np.sin(2 * np.pi * key[:, 0]) + 0.2 * rng.standard_normal(20)
    left = loo_residuals(trial(key, value, bandwidth, degree=degree, period=1.0))[:, 0]
    refit = refits(key, value, bandwidth, others(20), degree=degree, period=1.0)
    assert_allclose(left, refit, atol=1e-11)


@pytest.mark.parametrize("degree", [0, 1])
@pytest.mark.parametrize("bandwidth", [0.05, 0.3, 1.7, 40.0])
def test_the_nile_is_refitted_a_hundred_times(bandwidth, degree, nile):
    key, flow = nile
    direct = refits(key, flow[:, 0], bandwidth, others(100), degree=degree)
    found = score("loo", key, flow, bandwidth, degree=degree)
    assert_allclose(found, np.square(direct).mean(), rtol=1e-12)


@pytest.mark.parametrize("degree", [0, 1])
def test_folds_are_refits_without_them(degree, sample):
    key, value = sample
    for folds in (2, 5, list(range(25)), [3] * 10 + [1] * 15):
        label = np.arange(25) % folds if isinstance(folds, int) else np.array(folds)
        direct = refits(key, value, 2.0, label[:, None] != label, degree=degree)
        found = score("kfold", key, value, 2.0, {"folds": folds}, degree=degree)
        assert_allclose(found, np.square(direct).mean(), rtol=1e-9)


@pytest.mark.parametrize("degree", [0, 1])
def test_blocks_are_refits_without_what_is_near(degree, sample):
    key, value = sample
    rank = np.argsort(np.argsort(key[:, 0], kind="stable"))
    for options, apart in (
        ({"window": 1.5}, abs(key - key.T) > 1.5),
        ({"neighbours": 3}, abs(rank[:, None] - rank) > 3),
    ):
        direct = refits(key, value, 2.0, apart, degree=degree)
        found = score("blocked", key, value, 2.0, options, degree=degree)
        assert_allclose(found, np.square(direct).mean(), rtol=1e-9)


def test_as_many_folds_as_observations_and_no_neighbours_leave_one_out(sample):
    one = score("loo", *sample, 0.7)
    assert_allclose(score("kfold", *sample, 0.7, {"folds": 25}), one, rtol=1e-12)
    assert_allclose(score("blocked", *sample, 0.7, {"neighbours": 0}), one, rtol=1e-12)


@pytest.mark.parametrize("options", [{"window": 2.0}, {"neighbours": 2}])
def test_a_window_goes_around_a_circle(options, monkeypatch):
    """Of twelve hours, eleven o'clock is two hours from one."""
    hidden = []
    monkeypatch.setattr(Trial, "unseen", lambda tried, away: hidden.append(away) or tried.value)
    CRITERIA["blocked"](trial(np.arange(12.0), np.arange(12.0), 3.0, period=12.0), **options)
    assert np.flatnonzero(hidden[0](slice(1, 2))).tolist() == [0, 1, 2, 3, 11]


# Closed forms.


@pytest.mark.parametrize("degree", [0, 1])
def test_criteria_of_a_projection_are_those_of_regression(degree, sample):
    """So wide a kernel weighs all alike: the mean, or the regression line."""
    key, value = sample
    design = np.stack([np.ones(25), key[:, 0]][: degree + 1], axis=1)
    hat = design @ np.linalg.pinv(design)
    residual, n, p = value - hat @ value, 25, degree + 1
    square = residual @ residual
    found = {name: score(name, key, value, 1e7, degree=degree) for name in ("loo", "gcv", "aicc")}
    press = np.square(residual / (1 - np.diag(hat))).mean()
    aicc = math.log(square / n) + 1 + 2 * (p + 1) / (n - p - 2)
    expected = {"loo": press, "gcv": n * square / (n - p) ** 2, "aicc": aicc}
    assert found == pytest.approx(expected, rel=1e-9)


def test_two_keys_predict_each_other():
    """With v = ±1 and A_ii = a: r = ±2 (1 - a), so that CV = GCV = 4 whatever the bandwidth."""
    for bandwidth in (0.1, 1.0, 10.0):
        for name in ("loo", "gcv"):
            found = score(name, np.array([0.0, 1.0]), np.array([1.0, -1.0]), bandwidth)
            assert_allclose(found, 4, rtol=1e-14)


@pytest.mark.parametrize("bandwidth", [1.0, 3.0, 20.0])
@pytest.mark.parametrize("degree", [0, 1])
def test_criteria_are_their_formulas_written_with_matrices(degree, bandwidth, sample):
    key, value = sample
    a = smoother_matrix(key, key, bandwidth, degree=degree)
    residual, trace = value - a @ value, np.trace(a)
    gcv = 25 * (residual @ residual) / (25 - trace) ** 2
    assert_allclose(score("gcv", key, value, bandwidth, degree=degree), gcv, rtol=1e-10)
    aicc = math.log(residual @ residual / 25) + (1 + trace / 25) / (1 - (trace + 2) / 25)
    assert_allclose(score("aicc", key, value, bandwidth, degree=degree), aicc, rtol=1e-10)


def test_the_shortcut_agrees_where_no_point_is_isolated(nile):
    """K08: rᵢ/(1 - Aᵢᵢ), and at a narrow bandwidth it is 0/0."""
    key, flow = nile
    for bandwidth, agrees in ((5.0, True), (0.3, True), (0.1, False)):
        a = smoother_matrix(key, key, bandwidth)
        with np.errstate(divide="ignore", invalid="ignore"):
            shortcut = (flow - a @ flow)[:, 0] / (1 - np.diag(a))
        left = loo_residuals(trial(key, flow, bandwidth))[:, 0]
        assert np.isfinite(left).all()
        assert bool(np.allclose(shortcut, left, rtol=1e-8)) is agrees


# What is particular.


def test_an_isolated_point_is_predicted_by_its_nearest_neighbour():
    key, value = np.array([[0.0], [0.1], [50.0]]), np.array([1.0, 2.0, 9.0])
    for kernel in DISTANCES:
        left = loo_residuals(trial(key, value, 1e-3, kernel=kernel))[:, 0]
        assert_allclose(left, [-1.0, 1.0, 7.0], rtol=1e-12)


def test_generalised_cross_validation_keeps_its_digits_at_narrow_bandwidths():
    """On an even grid, to exp(-1/2h²): r = e (2 vᵢ - vᵢ₋₁ - vᵢ₊₁), 1 - A = 2e, on a circle."""
    value = np.array([1.0, 3.0, -2.0, 0.5, 4.0, 1.5, -1.0, 2.0])
    bend = 2 * value - np.roll(value, 1) - np.roll(value, -1)
    for bandwidth in (0.15, 0.05, 0.03):
        found = score("gcv", np.arange(8.0), value, bandwidth, period=8.0)
        assert_allclose(found, np.square(bend / 2).mean(), rtol=1e-8)


def test_where_every_value_fits_itself_no_trace_decides(nile):
    assert score("gcv", *nile, 0.01) == math.inf
    assert [score("aicc", *nile, h) for h in (0.01, 0.3)] == [math.inf, math.inf]
    assert math.isfinite(score("loo", *nile, 0.01))


def test_the_corrected_criterion_ends_two_parameters_before_interpolation():
    """At tr A = n - 2 the formula's denominator vanishes; beyond, it would reward the fit."""
    key, value = np.arange(9.0), np.sin(np.arange(9.0))
    for bandwidth in np.geomspace(0.2, 2, 25):
        trace = np.trace(smoother_matrix(key, key, bandwidth))
        assert (score("aicc", key, value, bandwidth) == math.inf) == (trace >= 7)


def test_curves_share_what_they_can(sample, monkeypatch):
    """Three criteria cost one matrix, and the rows of isolated points."""
    asked = []

    def counted(sample, **kwargs):
        asked.append(len(sample.query))
        return matrix_of(sample, **kwargs)

    matrix_of = trials.matrix_of
    monkeypatch.setattr(trials, "matrix_of", counted)
    curves(*sample, [50.0, 100.0])
    assert asked == [25, 25]


# Statsmodels, on the same data.


@pytest.fixture(scope="module", params=["lc", "ll"])
def theirs(request, nile):
    """Give the regression of statsmodels, local constant or linear, and our degree."""
    from statsmodels.nonparametric.kernel_regression import KernelReg

    year, flow = nile
    regression = KernelReg(flow[:, 0], year[:, 0], "c", reg_type=request.param, bw=[1.0], rng=0)
    return regression, {"lc": 0, "ll": 1}[request.param]


@pytest.mark.parametrize("bandwidth", [1.0, 1.7, 12.0])
def test_leaving_one_out_is_that_of_statsmodels(bandwidth, theirs, nile):
    regression, degree = theirs
    loss = regression.cv_loo(np.array([bandwidth]), regression.est[regression.reg_type])
    assert_allclose(score("loo", *nile, bandwidth, degree=degree), np.ravel(loss)[0], rtol=1e-12)


@pytest.mark.parametrize("bandwidth", [1.0, 12.0])
def test_the_corrected_criterion_is_that_of_statsmodels(bandwidth, theirs, nile):
    """Theirs takes the trace of the local constant for a local line too."""
    regression, degree = theirs
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        loss = float(np.ravel(regression.aic_hurvich(np.array([bandwidth])))[0])
    left, constant = (trial(*nile, bandwidth, degree=each).fitted for each in (degree, 0))
    variance = float(np.square(left.residual).mean())
    ours = corrected(variance, float(constant.spare.sum()), 100)
    assert_allclose(ours, loss, rtol=1e-12)
    if degree == 0:
        assert_allclose(score("aicc", *nile, bandwidth), loss, rtol=1e-12)
    else:
        assert score("aicc", *nile, bandwidth, degree=1) > loss + 0.01


# Refusals.


@pytest.mark.parametrize("name", CRITERIA)
def test_a_criterion_needs_two_places(name):
    with pytest.raises(Refusal, match=r"^the 3 keys are all the same; .* two distinct keys"):
        score(name, np.zeros(3), np.arange(3.0), 1.0)


@pytest.mark.parametrize(
    ("folds", "said"), [(1, "1 folds"), (0, "0 folds"), (26, "26 folds"), ([1, 2], r"folds of .*")]
)
def test_folds_that_do_not_divide_are_refused(folds, said, sample):
    with pytest.raises(Refusal, match=rf"^{said} cannot divide 25 observations"):
        score("kfold", *sample, 1.0, {"folds": folds})


@pytest.mark.parametrize(
    "options", [{}, {"window": 1.0, "neighbours": 2}, {"window": -1.0}, {"neighbours": -2}]
)
def test_a_block_is_given_once(options, sample):
    with pytest.raises(Refusal, match=r"^window is .* and neighbours is .* Give one of them"):
        score("blocked", *sample, 1.0, options)


def test_a_block_that_leaves_nothing_is_refused(sample):
    with pytest.raises(Refusal, match=r"^nothing is left to predict the value of key \[0\] from"):
        score("blocked", *sample, 1.0, {"window": 100.0})


def test_neighbours_are_counted_along_one_feature(rng):
    with pytest.raises(Refusal, match=r"^keys have 2 features and no order"):
        score("blocked", rng.standard_normal((9, 2)), np.arange(9.0), 1.0, {"neighbours": 1})


def test_an_unknown_criterion_is_answered_with_the_nearest(sample):
    with pytest.raises(Refusal, match=r"no bandwidth criterion is called 'look'; did you mean"):
        score("look", *sample, 1.0)
