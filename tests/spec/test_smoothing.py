"""Parameters of smoothing: a study, a grid that ascends, and a level that is a probability."""

from __future__ import annotations

import pytest
from numpy.testing import assert_allclose

from lowpass.domains import Bandwidths
from lowpass.registry import Refusal
from lowpass.spec.smoothing import parse

from ..configurations import edited, planned

GRID = "{low: 0.5, high: 50, count: 9}"


def test_the_band_covers_nineteen_in_twenty_unless_told_otherwise():
    spec = parse({"study": "selection", "bandwidths": {"low": 1, "high": 2, "count": 3}}, "here")
    assert (spec.study, spec.level) == ("selection", 0.95)
    assert spec.bandwidths == Bandwidths(low=1, high=2, count=3)


def test_bandwidths_rise_in_equal_ratios():
    assert_allclose(Bandwidths(low=1, high=8, count=4).grid(), [1, 2, 4, 8], rtol=1e-15)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("low: 0.5", "low: 0", r"bandwidths\.low: 0 is not above 0, .*; write a larger number"),
        ("low: 0.5", "low: -1", r"bandwidths\.low: -1 is not above 0, .*; write a larger number"),
        ("low: 0.5", "lo: 0.5", r"bandwidths\.lo: .*; did you mean 'low'\? Known here: low, hig"),
        ("low: 0.5", "low: 1e-1", r"bandwidths\.low: '1e-1' is text in YAML 1\.1; write 1\.0e-1"),
        ("high: 50", "high: .inf", r"bandwidths\.high: inf is not finite"),
        ("high: 50", "high: [5, 50]", r"bandwidths\.high: \[5, 50\] is not a number"),
        ("count: 9", "count: 2", r"bandwidths\.count: 2 is below 3, the least it can be; write 3"),
        ("low: 0.5", "low: 50", "bandwidths: low 50 is not below high 50; a grid needs two diff"),
        (GRID, GRID + ", level: 1", "level: 1 is not below 1, as it has to be; write a smaller"),
        (GRID, GRID + ", level: 0", "level: 0 is not above 0, as it has to be; write a larger"),
        (GRID, GRID + ", lvel: 0.9", r"lvel: no parameter is called 'lvel'; .* 'level'\? Known"),
        ("study: selection, ", "", r"study: is not given; name the study, as 'selection'\."),
        ("study: selection", "study: 3", r"study: 3 is no name; name the study, as 'selection'\."),
        ("study: selection", "study: slection", r"study: no study of smoothing .*'selection'\?"),
        ("study: selection", "study: [selection]", "study: cannot be swept, since each gives othe"),
        (GRID, "3", r"bandwidths: 3 is not a mapping; write names with their values, as \{name"),
    ],
)
def test_a_fault_of_the_grid_or_the_band_is_told(old, new, message, tmp_path):
    with pytest.raises(
        Refusal, match=rf"^mine\.yaml: experiments\.table\.smoothing\.{message}"
    ) as caught:
        planned(edited((old, new)), tmp_path)
    assert "\n" not in str(caught.value)


def test_cases_of_one_experiment_ask_one_study(tmp_path):
    cases = "\n    zip: {case: {label: [a, b], smoothing.study: [selection, blocking]}}"
    change = (f"{{study: selection, bandwidths: {GRID}}}", f"{{bandwidths: {GRID}}}{cases}")
    with pytest.raises(Refusal, match=r"smoothing\.study: cannot be swept, since each gives other"):
        planned(edited(change), tmp_path)
