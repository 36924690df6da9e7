"""Laws of every figure that is registered."""

import re
from collections.abc import Callable
from functools import cache

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


@pytest.fixture(scope="module")
def drawn(shown) -> Callable[[str], bytes]:
    """Draw a figure by day, once."""
    return cache(lambda name: encode(FIGURES[name](shown, PAPER), "svg", PAPER))


def test_a_figure_is_clean_and_printed_at_its_size_by_day_and_by_night(name, shown, palette):
    figure = FIGURES[name](shown, palette)
    assert figure.get_size_inches()[0] in BREADTHS.values()
    assert_clean(figure)


def test_night_is_not_day(name, shown, drawn):
    by_night = encode(FIGURES[name](shown, NIGHT), "svg", NIGHT)
    for colour in (PAPER.ground, PAPER.ink):
        assert colour.lower().encode() in drawn(name)
        assert colour.lower().encode() not in by_night


def test_drawing_twice_gives_the_same_bytes_whatever_the_users_settings(name, shown, drawn):
    with matplotlib.rc_context({"axes.grid": True, "font.size": 30, "lines.linewidth": 9}):
        assert encode(FIGURES[name](shown, PAPER), "svg", PAPER) == drawn(name)


def test_a_caption_is_one_paragraph_without_a_result(name):
    caption = FIGURES.facts(name)["caption"]
    assert caption == " ".join(caption.split())
    assert caption.endswith(".")
    assert not re.search(r"\d\.\d|\d[eE][-−+]?\d|10[⁻⁰¹²³⁴-⁹]", caption)


def test_a_figure_says_where_it_stands(name):
    facts = FIGURES.facts(name)
    assert set(facts) == {"experiments", "section", "caption"}
    assert facts["section"] in (*facts["experiments"], "claims", "front")
