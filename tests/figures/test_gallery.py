"""Laws of every figure that is registered."""

import re

import matplotlib
import pytest

import lowpass.figures.gallery  # noqa: F401  (registers the figures)
from lowpass.figures.names import FIGURES
from lowpass.figures.palette import NIGHT, PAPER
from lowpass.figures.saving import encode
from lowpass.figures.style import BREADTHS

from .exhibits import everything
from .inspection import assert_clean

pytestmark = pytest.mark.parametrize("name", FIGURES)


@pytest.fixture(scope="module")
def shown(shared_laboratory):
    return everything(shared_laboratory)


def test_a_figure_is_clean_by_day_and_by_night(name, shown, palette):
    assert_clean(FIGURES[name](shown, palette))


def test_a_figure_is_printed_at_its_size(name, shown):
    assert FIGURES[name](shown, PAPER).get_size_inches()[0] in BREADTHS.values()


@pytest.mark.parametrize("form", ["png", "svg"])
def test_drawing_twice_gives_the_same_bytes(name, shown, form):
    first, second = (encode(FIGURES[name](shown, PAPER), form, PAPER) for _ in range(2))
    assert first == second


def test_night_is_not_day(name, shown):
    by_day, by_night = (
        encode(FIGURES[name](shown, palette), "svg", palette) for palette in (PAPER, NIGHT)
    )
    for colour in (PAPER.ground, PAPER.ink):
        assert colour.lower().encode() in by_day
        assert colour.lower().encode() not in by_night


def test_a_figure_does_not_depend_on_the_users_settings(name, shown):
    plain = encode(FIGURES[name](shown, PAPER), "svg", PAPER)
    with matplotlib.rc_context({"axes.grid": True, "font.size": 30, "lines.linewidth": 9}):
        assert encode(FIGURES[name](shown, PAPER), "svg", PAPER) == plain


def test_a_caption_is_one_paragraph_without_a_result(name):
    caption = FIGURES.facts(name)["caption"]
    assert caption == " ".join(caption.split())
    assert caption.endswith(".")
    assert not re.search(r"\d\.\d|\d[eE][-−+]?\d|10[⁻⁰¹²³⁴-⁹]", caption)


def test_a_figure_says_where_it_stands(name):
    facts = FIGURES.facts(name)
    assert set(facts) == {"experiments", "section", "caption"}
    assert facts["section"] in (*facts["experiments"], "claims", "front")
