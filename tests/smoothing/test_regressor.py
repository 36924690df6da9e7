"""The estimator by scikit-learn's own checks, in its company, and without it."""

from __future__ import annotations

import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, LeaveOneOut
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from lowpass.registry import Refusal
from lowpass.smoothing.estimators import smooth
from lowpass.smoothing.regressor import KernelRegressor

SOURCE = Path(__file__).parents[2] / "src"


@pytest.fixture
def wave(rng) -> tuple[np.ndarray, np.ndarray]:
    """Give 40 noisy observations of a wave over one of two features."""
    key = rng.uniform(0, 6, (40, 2))
    return key, np.sin(key[:, 0]) + 0.2 * rng.standard_normal(40)


# By other hands.


@pytest.mark.parametrize(
    "model",
    [KernelRegressor(), KernelRegressor(0.7, kernel="tricube"), KernelRegressor(2.0, degree=1)],
    ids=["chosen bandwidth", "compact kernel", "local planes"],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_the_conventions_of_scikit_learn_are_kept(model):
    with warnings.catch_warnings():
        # Its data are noise in part, which is best predicted by its mean.
        warnings.simplefilter("ignore", ConvergenceWarning)
        results = check_estimator(model, on_skip=None, on_fail=None)
    failed = [
        (each["check_name"], each["exception"]) for each in results if each["status"] == "failed"
    ]
    assert failed == []
    assert sum(each["status"] == "passed" for each in results) > 40


def test_a_grid_search_over_single_observations_scores_as_leaving_one_out_does(wave):
    key, value = wave
    grid = [0.3, 1.2]
    search = GridSearchCV(
        KernelRegressor(), {"bandwidth": grid}, cv=LeaveOneOut(), scoring="neg_mean_squared_error"
    ).fit(key, value)
    for h, score in zip(grid, search.cv_results_["mean_test_score"], strict=True):
        left = [
            value[i] - smooth(key[[i]], np.delete(key, i, 0), np.delete(value, i), h)[0]
            for i in range(40)
        ]
        assert_allclose(-score, np.mean(np.square(left)), rtol=1e-12)


def test_a_pipeline_smooths_what_was_scaled(wave):
    key, value = wave
    piped = make_pipeline(StandardScaler(), KernelRegressor(0.4)).fit(key, value).predict(key)
    assert_allclose(piped, smooth(key, key, value, 0.4 * key.std(axis=0)), rtol=1e-10)


def test_a_clone_asks_for_the_same_and_knows_nothing(wave):
    model = KernelRegressor(0.4, kernel="laplace", degree=1, beyond="nan").fit(*wave)
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    assert not hasattr(copy, "bandwidth_")


# What is predicted.


@pytest.mark.parametrize("degree", [0, 1])
def test_a_prediction_is_a_fit(degree, wave, rng):
    key, value = wave
    asked = {"kernel": "laplace", "degree": degree, "period": [6.0, np.inf]}
    weight = rng.uniform(0, 2, 40)
    model = KernelRegressor([0.5, 2.0], **asked).fit(key, value, sample_weight=weight)
    fit = smooth(key[:9] + 0.1, key, value, [0.5, 2.0], weight=weight, **asked)
    assert_allclose(model.predict(key[:9] + 0.1), fit, rtol=1e-12)


def test_several_outputs_are_predicted_together(wave):
    key, value = wave
    both = KernelRegressor(0.5).fit(key, np.c_[value, -value]).predict(key)
    assert both.shape == (40, 2)
    assert_allclose(both[:, 0], KernelRegressor(0.5).fit(key, value).predict(key), rtol=1e-13)


def test_out_of_reach_is_a_choice(wave):
    model = KernelRegressor(0.5, kernel="boxcar", beyond="nan").fit(*wave)
    assert np.isnan(model.predict([[100.0, 0.0]])).all()


# Which bandwidth is chosen.


def left_out(key, value, bandwidth) -> float:
    """Predict what was observed at each place from all others, in a loop."""
    error = []
    for i in range(len(key)):
        others = (key != key[i]).any(axis=1)
        error.append(value[i] - smooth(key[[i]], key[others], value[others], bandwidth)[0])
    return float(np.mean(np.square(error)))


def test_no_multiple_of_the_standard_deviations_predicts_other_places_better(wave):
    """Six observations were made twice, and must not predict each other."""
    key, value = (np.concatenate([each, each[:6]]) for each in wave)
    value[40:] += 0.1
    best = KernelRegressor().fit(key, value).bandwidth_
    assert_allclose(best / key.std(axis=0), best[0] / key[:, 0].std(), rtol=1e-12)
    score = left_out(key, value, best)
    assert all(left_out(key, value, best * c) > score for c in (0.2, 0.5, 0.8, 1.2, 2.0, 5.0))


def test_features_have_no_unit(wave):
    key, value = wave
    model, other = KernelRegressor().fit(key, value), KernelRegressor().fit(1e4 * key, value)
    assert_allclose(other.bandwidth_, 1e4 * model.bandwidth_, rtol=1e-5)


def test_an_end_of_the_bracket_is_told():
    """Values that alternate are predicted best by their mean, at the largest bandwidth of all."""
    key = np.arange(40.0)[:, None]
    with pytest.warns(
        ConvergenceWarning, match=r"^the best bandwidth, .* lies at the high end of .* selection_"
    ):
        model = KernelRegressor().fit(key, np.arange(40) % 2)
    assert model.selection_.place == "high end"


@pytest.mark.parametrize("value", [[4.0], [4.0, 4.0, 7.0]])
def test_a_single_place_needs_no_bandwidth(value):
    model = KernelRegressor().fit(np.full((len(value), 2), 3.0), value)
    assert model.bandwidth_.tolist() == [1.0, 1.0]
    assert_allclose(model.predict([[3.0, 3.0], [-9.0, 4.0]]), np.mean(value), rtol=1e-15)


def test_a_constant_feature_has_no_say(wave):
    key, value = wave
    model = KernelRegressor().fit(key, value)
    wider = KernelRegressor().fit(np.c_[key, np.full(40, 5.0)], value)
    assert_allclose(wider.predict(np.c_[key, np.full(40, 5.0)]), model.predict(key), rtol=1e-9)


# Refusals.


def test_a_bandwidth_that_is_none_is_refused(wave):
    with pytest.raises(Refusal, match=r"^bandwidth \[0\] is 0; "):
        KernelRegressor(0.0).fit(*wave)


def test_an_unknown_kernel_is_refused(wave):
    with pytest.raises(Refusal, match=r"^no smoothing kernel is called 'gauss'; did you mean"):
        KernelRegressor(kernel="gauss").fit(*wave)


def test_without_scikit_learn_one_line_says_what_to_install():
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); sys.modules['sklearn'] = None\n"
        "import lowpass.smoothing\n"
        "try:\n    import lowpass.smoothing.regressor\n"
        "except ModuleNotFoundError as missing:\n    print(missing)"
    )
    said = subprocess.run(
        [sys.executable, "-c", code, SOURCE], capture_output=True, text=True, check=True
    ).stdout
    assert said.startswith("there is no module 'sklearn")
    assert said.endswith("Install it: pip install scikit-learn.\n")
    assert said.count("\n") == 1
