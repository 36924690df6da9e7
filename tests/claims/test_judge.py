"""Verdicts that are arithmetic: four words, decided by which distance is small enough first."""

from __future__ import annotations

import json
import math
from dataclasses import asdict

import numpy as np
import pytest

from lowpass.claims.judge import LEAST, judge, verdict
from lowpass.claims.names import CLAIMS, Measured
from lowpass.claims.register import REGISTER

TOLERANCE, TREND = 1e-9, 5e-3
ABOVE, BELOW = math.nextafter(TOLERANCE, 1), math.nextafter(TOLERANCE, 0)
TREND_ABOVE = math.nextafter(TREND, 1)


def word(*distances) -> str:
    return verdict(Measured(*distances), TOLERANCE, TREND)["verdict"]


@pytest.mark.parametrize(
    ("distances", "said"),
    [
        ((0.0,), "holds"),
        ((BELOW,), "holds"),
        ((TOLERANCE,), "holds"),
        ((ABOVE,), "refuted"),
        ((ABOVE, TOLERANCE), "conditional"),
        ((ABOVE, ABOVE), "refuted"),
        ((ABOVE, None, TREND), "asymptotic"),
        ((ABOVE, None, TREND_ABOVE), "refuted"),
        ((ABOVE, ABOVE, TREND), "asymptotic"),
        ((ABOVE, ABOVE, TREND_ABOVE), "refuted"),
        ((1e300, 1e300, 1e300), "refuted"),
    ],
)
def test_a_distance_decides_at_its_tolerance(distances, said):
    assert word(*distances) == said


@pytest.mark.parametrize("condition", [None, 0.0, 1.0])
@pytest.mark.parametrize("trend", [None, 0.0, 1.0])
def test_what_holds_as_written_needs_no_condition(condition, trend):
    assert word(TOLERANCE, condition, trend) == "holds"


@pytest.mark.parametrize("trend", [None, 0.0, 1.0])
def test_a_condition_that_suffices_needs_no_trend(trend):
    assert word(1.0, TOLERANCE, trend) == "conditional"


def test_a_trend_has_a_tolerance_of_its_own():
    wide = Measured(1.0, trend=2 * TREND)
    assert verdict(wide, 3 * TREND, TREND)["verdict"] == "refuted"
    assert verdict(wide, TOLERANCE, 2 * TREND)["verdict"] == "asymptotic"


@pytest.mark.parametrize("place", ["as_written", "under_condition", "trend", "repaired_distance"])
@pytest.mark.parametrize("distance", [math.nan, math.inf, -math.inf, -1e-300])
def test_what_is_no_distance_is_refused(distance, place):
    """Even where an earlier distance would have decided."""
    measured = Measured(**{"as_written": 0.0, place: distance})
    with pytest.raises(
        ValueError, match=f"a distance must be finite and not negative.* {distance}"
    ):
        verdict(measured, TOLERANCE, TREND)


# Margins.


@pytest.mark.parametrize(
    ("distances", "decades"),
    [
        ((1e-12,), 3.0),
        ((1e-9,), 0.0),
        ((1e-7,), -2.0),
        ((1.0, 1e-10), 1.0),
        ((1.0, 1.0, 5e-4), 1.0),
        # Refuted: the statement as written decides, by how far it is off.
        ((1e-6, 1.0, 1.0), -3.0),
    ],
)
def test_a_margin_counts_decades_to_the_tolerance_that_decides(distances, decades):
    margin = verdict(Measured(*distances), TOLERANCE, TREND)["margin_decades"]
    assert math.isclose(margin, decades, rel_tol=1e-12, abs_tol=1e-12)


def test_the_sign_of_a_margin_is_the_verdict(rng):
    for distances in 10 ** rng.uniform(-14, 0, (200, 3)):
        said = verdict(Measured(*distances.tolist()), TOLERANCE, TREND)
        assert (said["margin_decades"] >= 0) == (said["verdict"] != "refuted")


def test_an_exact_statement_has_a_finite_margin():
    margin = verdict(Measured(0.0), TOLERANCE)["margin_decades"]
    assert math.isclose(margin, math.log10(TOLERANCE / LEAST))


def test_a_repaired_statement_is_a_line_of_its_own():
    for distance, holds in [(TOLERANCE, True), (ABOVE, False)]:
        said = verdict(Measured(1.0, repaired_distance=distance), TOLERANCE)
        assert said["verdict"] == "refuted"
        assert said["repaired_holds"] is holds
    assert "repaired_holds" not in verdict(Measured(1.0), TOLERANCE)


# All claims together.


def recipe(*claims: str) -> dict:
    judges = {CLAIMS.facts(name)["claim"]: name for name in CLAIMS}
    asked = {claim: judges[claim] for claim in claims}
    return {"params": {"register": list(REGISTER), "judged": asked}}


@pytest.fixture(scope="module")
def verdicts(experiments):
    return judge(recipe(*(CLAIMS.facts(name)["claim"] for name in CLAIMS)), experiments)


def test_every_statement_has_its_line_in_the_order_of_the_register(verdicts):
    assert list(verdicts) == list(REGISTER)
    for claim, said in verdicts.items():
        assert {name: said[name] for name in asdict(REGISTER[claim])} == asdict(REGISTER[claim])


def test_a_statement_without_a_judge_is_visibly_not_examined(verdicts):
    judges = {CLAIMS.facts(name)["claim"] for name in CLAIMS}
    silent = {claim for claim in verdicts if verdicts[claim]["verdict"] == "not examined"}
    assert silent == {*REGISTER} - judges
    assert all("as_written" not in verdicts[claim] for claim in silent)


def test_each_judge_judges_a_claim_of_its_own():
    claims = [CLAIMS.facts(name)["claim"] for name in CLAIMS]
    assert len({*claims}) == len(claims)
    assert {*claims} <= {*REGISTER}


def test_a_judged_claim_tells_its_numbers_and_where_they_come_from(verdicts, experiments):
    for name in CLAIMS:
        facts = CLAIMS.facts(name)
        said = verdicts[facts["claim"]]
        assert said["experiments"] == list(facts["experiments"])
        assert said["tolerance"] == facts["tolerance"]
        experiment, _, rest = said["witness"].partition(": ")
        assert experiment in facts["experiments"]
        assert rest.split(" ")[0] in experiments[experiment]


def test_verdicts_are_plain_numbers_and_texts(verdicts):
    assert json.loads(json.dumps(verdicts, allow_nan=False)) == verdicts


def test_a_judge_sees_only_what_is_stored(verdicts, experiments):
    """The same experiments give the same verdicts, one claim asked or all."""
    for name in CLAIMS:
        claim = CLAIMS.facts(name)["claim"]
        before = {key: each.copy(deep=True) for key, each in experiments.items()}
        alone = judge(recipe(claim), experiments)
        assert alone[claim] == verdicts[claim]
        assert [key for key in alone if alone[key]["verdict"] != "not examined"] == [claim]
        assert all(before[key].identical(each) for key, each in experiments.items())


def test_replicates_may_come_in_any_order(verdicts, experiments):
    turned = {
        key: each.isel(replicate=np.arange(each.sizes["replicate"])[::-1])
        if "replicate" in each.dims
        else each
        for key, each in experiments.items()
    }
    again = judge(recipe(*(CLAIMS.facts(name)["claim"] for name in CLAIMS)), turned)
    for claim, said in verdicts.items():
        for name in ("verdict", "as_written", "under_condition", "trend", "numbers"):
            assert again[claim].get(name) == said.get(name)
