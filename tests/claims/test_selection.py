"""The verdict on bandwidth selection, and mistakes that must turn it."""

from __future__ import annotations

import numpy as np
import pytest

from lowpass.smoothing import criteria, refits, trials

from .conftest import SECTIONS

NILE = "nile"


@pytest.fixture(scope="module")
def experiments(shared_laboratory):
    """Run the one experiment that the judge reads."""
    return {NILE: shared_laboratory.run(SECTIONS[NILE])}


def test_the_shortcut_fails_and_a_logit_repairs_it(judged, experiments):
    said = judged("K08", experiments)
    assert said["verdict"] == "conditional"
    assert said["as_written"] == 1.0
    assert said["under_condition"] < 1e-13
    assert said["witness"] == "nile: shortcut_lost at bandwidth 0.1"


def keep_itself(tried):
    """Leave nothing out."""
    return tried.fitted.residual


def halfway(tried):
    """Take the shortcut for every point."""
    return refits.shortcut(tried.key, tried.value, tried.sample.bandwidth)[0]


def hide_a_neighbour_too(tried):
    """Leave out the next key with each."""
    n = len(tried.key)
    near = abs(np.subtract.outer(np.arange(n), np.arange(n))) <= 1
    return tried.unseen(lambda rows: near[rows])


RIGHT = {"gcv": criteria.CRITERIA["gcv"], "refitted": refits.refitted}
WRONG = {
    "an observation that stays": (trials, "loo_residuals", keep_itself),
    "the shortcut for every point": (trials, "loo_residuals", halfway),
    "a neighbour left out, too": (trials, "loo_residuals", hide_a_neighbour_too),
    "refits of another bandwidth": (
        refits,
        "refitted",
        lambda k, v, h, **smoother: RIGHT["refitted"](k, v, 1.01 * h, **smoother),
    ),
    "a shortcut without its divisor": (
        refits,
        "shortcut",
        lambda k, v, h, **smoother: (
            trials.trial(k, v, h, **smoother).fitted.residual,
            0.1 + 0 * v,
        ),
    ),
}


@pytest.mark.parametrize("mistake", WRONG)
def test_a_mistake_turns_the_verdict(mistake, judged, rerun, monkeypatch):
    module, name, wrong = WRONG[mistake]
    monkeypatch.setattr(module, name, wrong)
    assert judged("K08", rerun(NILE))["verdict"] == "refuted"


def test_another_trace_turns_the_verdict(judged, rerun, monkeypatch):
    """GCV with 1.001 times the trace."""

    def slipped(tried):
        spare = 1 - 1.001 * (1 - tried.fitted.spare.mean())
        return float(np.square(tried.fitted.residual / spare).mean())

    monkeypatch.setitem(criteria.CRITERIA._things, "gcv", slipped)
    assert judged("K08", rerun(NILE))["verdict"] == "refuted"


def test_where_no_point_is_isolated_no_condition_is_needed(judged, rerun):
    probes = {"low": 0.8, "high": 12.8, "count": 5}
    said = judged("K08", rerun(NILE, smoothing={"probes": probes}))
    assert said["verdict"] == "holds"


def test_bandwidths_of_all_criteria_are_handed_to_the_paper(judged, experiments):
    numbers = judged("K08", experiments)["numbers"]
    nile = experiments[NILE]
    for name in ("loo", "gcv", "aicc", "kfold", "blocked"):
        value = float(nile["bandwidth_by_criterion"].sel(bandwidth_criterion=name))
        assert numbers[name] == {"value": value, "low": value, "high": value}
    assert numbers["narrow"]["value"] == pytest.approx(0.1)
    assert numbers["lost"]["value"] == 1.0
    assert numbers["valleys"]["value"] == 2.0
