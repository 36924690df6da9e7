"""Judges bear names that no recipe of another judgement holds."""

import pytest

import lowpass.claims.judges  # noqa: F401  (registers the judges)
from lowpass.claims.names import CLAIMS
from lowpass.claims.register import REGISTER


@pytest.mark.parametrize("judge", CLAIMS)
def test_a_judge_is_named_after_its_one_claim(judge):
    claim = CLAIMS.facts(judge)["claim"]
    assert judge == f"judge of {claim}"
    assert claim in REGISTER
    assert judge not in REGISTER
