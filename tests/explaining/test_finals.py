"""What claims, figures and paper show, and how that came to differ."""

from __future__ import annotations

from typing import Any

import pytest

from lowpass.explaining.finals import differences
from lowpass.project import TEXTS

from ..configurations import TEXT, edited, planned

SECTION = {"data": {"d_model": 4}, "spectra": ["slem"], "replicates": 2}
TYPED = {"paper.typ": "1"}
SPECS: dict[str, Any] = {"one": {"data": None}, "two": {"data": None}}


def claims(**params: Any) -> dict[str, Any]:
    """Compose the recipe of a judgement."""
    said = {"judged": {"A01": "judge of A01"}, "register": ["A01", "A02"]}
    shown = {"experiments": {"one": SECTION}}
    return {"stage": "claims", "params": {**said, **shown, **params}, "seed": 7}


def paper(**params: Any) -> dict[str, Any]:
    """Compose the recipe of a paper."""
    said = {"figures": ["first"], "why": {"one": "Because."}, "sha256": TYPED}
    shown = {"experiments": {"one": SECTION}}
    return {"stage": "paper", "params": {**said, **shown, **params}, "seed": 7}


BOTH = {"one": SECTION, "two": SECTION}
TWO_JUDGES = {"A01": "judge of A01", "A02": "judge of A02"}


@pytest.mark.parametrize(
    ("before", "now", "deep", "said"),
    [
        (claims(), claims(), True, []),
        (claims(), claims(judged=TWO_JUDGES), True, ["judge of A02 is new"]),
        (claims(judged=TWO_JUDGES), claims(), True, ["judge of A02 was taken out"]),
        (claims(), claims(register=["A01"]), True, ["statement A02 was taken out"]),
        # An experiment that was there, and that nobody judged.
        (
            claims(),
            claims(judged=TWO_JUDGES, experiments=BOTH),
            True,
            ["judge of A02 is new"],
        ),
        # It is made anew, which is said of it and not of what judges it.
        (claims(), claims(judged=TWO_JUDGES, experiments=BOTH), False, []),
        # It is planned still, but nothing judges it any more.
        (
            claims(judged=TWO_JUDGES, experiments=BOTH),
            claims(),
            True,
            ["judge of A02 was taken out"],
        ),
        (
            claims(judged=TWO_JUDGES, experiments={"one": SECTION, "three": SECTION}),
            claims(),
            True,
            ["experiment three was taken out"],
        ),
        (claims(), {**claims(), "seed": 8}, True, ["seed 8 instead of 7"]),
        (claims(), {**claims(), "seed": 8}, False, []),
        (paper(), paper(figures=["first", "second"]), True, ["figure second is new"]),
        (paper(), paper(experiments=BOTH), True, ["experiment two is new"]),
        (paper(), paper(experiments=BOTH), False, []),
        (paper(), paper(why={"one": "For."}), False, ["the reason for one changed"]),
        (paper(), paper(sha256={"paper.typ": "2"}), False, [f"{TEXTS}/paper.typ changed"]),
        (paper(), paper(sha256={**TYPED, "a.typ": "1"}), False, [f"{TEXTS}/a.typ is new"]),
        (paper(sha256={**TYPED, "a.typ": "1"}), paper(), False, [f"{TEXTS}/a.typ was taken out"]),
    ],
)
def test_a_difference_is_said_once(before, now, deep, said):
    found = differences(before, now, SPECS, deep=deep)
    assert [cause.text for cause in found] == said


@pytest.mark.parametrize("deep", [True, False])
def test_experiments_are_looked_into_where_none_is_made_anew(deep, tmp_path):
    """A switch back to experiments that are there leaves only what shows them to be made."""
    plans = [planned(text, tmp_path) for text in (TEXT, edited(("[1, 3]", "[1, 3, 9]")))]
    before, now = (next(point.recipe for point in plan if point.stage == "paper") for plan in plans)
    specs = {name: cells[0][0].specs for name, cells in plans[1].cells.items()}
    texts = [cause.text for cause in differences(before, now, specs, deep=deep)]
    assert texts == (["beta 9 is new in tokens"] if deep else [])
