"""Verdicts that lie where their distances say."""

from dataclasses import asdict

import numpy as np
import pytest
from matplotlib.colors import to_hex
from numpy.testing import assert_allclose

from lowpass.claims.judge import verdict
from lowpass.claims.names import Measured
from lowpass.claims.register import REGISTER
from lowpass.figures.palette import PAPER
from lowpass.figures.typesetting import typeset
from lowpass.figures.verdicts import verdicts

from .exhibits import drawn, everything
from .inspection import assert_clean

DISTANCES = ("as_written", "under_condition", "trend")


@pytest.fixture(scope="module")
def claims(shared_laboratory):
    return everything(shared_laboratory)["claims"]


@pytest.fixture
def judged(claims):
    return {name: claim for name, claim in claims.items() if "as_written" in claim}


def panel(claims):
    (ax,) = verdicts({"claims": claims}, PAPER).axes
    return ax


def marks(ax):
    return [line for line in ax.lines if line.get_marker() in "oD<"]


def words(ax):
    return " ".join(text.get_text() for text in ax.texts)


def claim(name, measured, trend_tolerance=None):
    """Judge made-up distances of a claim of the register."""
    return {name: {**asdict(REGISTER[name]), **asdict(measured),
                   **verdict(measured, 1e-6, trend_tolerance)}}  # fmt: skip


def test_every_mark_is_a_stored_distance_in_units_of_its_tolerance(claims, judged):
    expected = [
        (entry[name] / entry["trend_tolerance" if name == "trend" else "tolerance"], row)
        for row, entry in enumerate(judged.values())
        for name in DISTANCES
        if entry[name]
    ]
    on_scale = [drawn(line)[0] for line in marks(panel(claims)) if line.get_marker() != "<"]
    assert_allclose(sorted(map(tuple, on_scale)), sorted(expected), rtol=1e-15)


def test_one_mark_of_each_row_lies_as_far_as_its_margin_says(claims, judged):
    """The judge has said by how many decades it decided; the drawing agrees."""
    shown = marks(panel(claims))
    places = [drawn(line)[0] for line in shown]
    arrows = {drawn(line)[0][1] for line in shown if line.get_marker() == "<"}
    for row, entry in enumerate(judged.values()):
        if 0 in (entry["as_written"], entry["under_condition"]):
            assert row in arrows
            continue
        decades = [-np.log10(x) for x, y in places if y == row]
        assert min(abs(entry["margin_decades"] - each) for each in decades) < 1e-12


def test_colour_is_the_side_of_the_tolerance(claims):
    for line in marks(panel(claims)):
        idea = PAPER.holds if drawn(line)[0, 0] <= 1 else PAPER.fails
        assert to_hex(line.get_color()).upper() == idea


def test_every_judged_claim_has_its_name_and_its_verdict(claims, judged):
    text = words(panel(claims))
    assert all(f"{name} " in text for name in judged)
    for word in {entry["verdict"] for entry in judged.values()}:
        assert word in text


def test_claims_without_a_judge_are_listed_once(claims, judged):
    text = words(panel(claims))
    assert "record" not in text
    for name in REGISTER:
        assert text.split().count(f"{name},") + text.split().count(f"{name}.") == (
            name not in judged
        )


@pytest.fixture(scope="module")
def whole_register():
    """Judge every statement, at distances below and above its tolerance."""
    entries = {}
    for place, name in enumerate(REGISTER):
        entries |= claim(name, Measured(10.0 ** (place % 9 - 10), 1e-9))
    return entries


def test_the_figure_grows_by_a_row_for_each_claim(whole_register):
    few, more = (
        verdicts({"claims": dict(list(whole_register.items())[:count])}, PAPER)
        for count in (10, 15)
    )
    assert_allclose((more.get_size_inches() - few.get_size_inches()) * 72, [0, 5 * 13.0])


def test_every_statement_of_the_register_fits_a_printed_page(whole_register, palette):
    figure = verdicts({"claims": whole_register}, palette)
    assert_clean(figure)
    assert figure.get_size_inches()[1] < 9.5


def test_the_three_kinds_of_distance_have_their_own_marks():
    ax = panel(claim("A05", Measured(1.0, 1e-3, 1e-4), trend_tolerance=1e-2))
    written, conditional, trend = marks(ax)
    assert [line.get_marker() for line in marks(ax)] == ["o", "o", "D"]
    assert to_hex(written.get_markerfacecolor()).upper() == PAPER.fails
    assert to_hex(conditional.get_markerfacecolor()).upper() == PAPER.ground
    assert to_hex(trend.get_color()).upper() == PAPER.holds


def test_a_distance_of_zero_is_an_arrow_at_the_left_edge():
    ax = panel(claim("A06", Measured(0.0)) | claim("A07", Measured(1.0)))
    (arrow,) = [line for line in marks(ax) if line.get_marker() == "<"]
    assert (
        ax.transAxes.inverted().transform(arrow.get_transform().transform(drawn(arrow)[0]))[0]
        < 0.05
    )
    assert to_hex(arrow.get_color()).upper() == PAPER.holds


def test_a_refuted_claim_is_said_in_the_colour_of_failing():
    ax = panel(claim("A07", Measured(1.0)))
    (said,) = [text for text in ax.texts if text.get_text() == "refuted"]
    assert to_hex(said.get_color()).upper() == PAPER.fails


def test_a_row_bears_the_title_of_its_claim():
    ax = panel(claim("A01", Measured(1e-9)))
    assert typeset(REGISTER["A01"].title) in [text.get_text() for text in ax.texts]


def test_without_a_judged_claim_there_is_still_a_figure(palette):
    listed = {name: {**asdict(REGISTER[name]), "verdict": "not examined"} for name in REGISTER}
    figure = verdicts({"claims": {"$record": {}, **listed}}, palette)
    assert_clean(figure)
    (ax,) = figure.axes
    assert not marks(ax)
    assert all(name in words(ax) for name in REGISTER)
