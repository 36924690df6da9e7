"""The verdict on a temperature that is learned, and mistakes that must turn it."""

from __future__ import annotations

import pytest

from lowpass.claims.records import SHOWN
from lowpass.smoothing import expected
from lowpass.studies import pooling

from .conftest import SECTIONS

CLAIM = "K11"
SCORE, INTERIOR = expected.expected_score, pooling.interior


@pytest.fixture(scope="module")
def experiments(shared_laboratory):
    """Run the experiments that this judge looks at."""
    return {name: shared_laboratory.run(SECTIONS[name]) for name in SHOWN}


def test_the_textbooks_example_gives_the_verdict(judged, experiments):
    found = judged(CLAIM, experiments)
    assert found["verdict"] == "conditional"
    assert found["witness"] == "pooling: learned_excess at correlation 0.3 of successive errors"
    numbers = found["numbers"]
    assert numbers["average_error"]["value"] > numbers["fixed_error"]["value"]
    assert numbers["week_bandwidth"]["value"] < numbers["half_year_bandwidth"]["value"]


WRONG = {
    "scatter counted twice": (
        "expected_score",
        lambda matrix, truth, scatter: SCORE(matrix, truth, 2 * scatter),
    ),
    "scatter not counted": (
        "expected_score",
        lambda matrix, truth, scatter: SCORE(matrix, truth, 0.1 * scatter),
    ),
    "a bandwidth off by a fifth": (
        "interior",
        lambda score, low, high, name: (
            INTERIOR(score, low, high, name) * (1.2 if name == "leave-one-out" else 1)
        ),
    ),
}


@pytest.mark.parametrize("mistake", WRONG)
def test_a_mistake_turns_the_verdict(mistake, judged, rerun, experiments, monkeypatch):
    monkeypatch.setattr(pooling, *WRONG[mistake])
    spoilt = experiments | rerun("pooling")
    assert judged(CLAIM, spoilt)["verdict"] == "refuted"
