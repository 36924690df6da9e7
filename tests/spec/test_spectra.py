"""Which measures may be asked for."""

from __future__ import annotations

import pytest

from lowpass.measures import MEASURES
from lowpass.registry import Refusal
from lowpass.spec.spectra import parse

from ..configurations import edited, planned


@pytest.mark.parametrize("measure", MEASURES)
def test_every_measure_may_be_asked_for(measure):
    assert parse({"measures": [measure]}, "here").measures == [measure]


@pytest.mark.parametrize(
    ("measures", "message"),
    [
        ("[slam]", r": no measure is called 'slam'; did you mean 'slem'\? Known: "),
        ("[slem, 3]", ": 3 is not text; write text, in quotes"),
        ("[]", r": \[\] is too short a list; write 1 or more"),
        ("[slem, slem]", ": 'slem' is named twice, and is taken once; delete one"),
        ("{slem: 1}", r": \{'slem': 1\} is not a list; write one, as \[first, second\]"),
    ],
)
def test_a_fault_of_the_measures_is_told(measures, message, tmp_path):
    with pytest.raises(
        Refusal, match=rf"^mine\.yaml: experiments\.tokens\.spectra{message}"
    ) as caught:
        planned(edited(("[slem, min_attention]", measures)), tmp_path)
    assert "\n" not in str(caught.value)
