"""Errors, shares and biases of smoothers, as they are stored."""

import pytest
from matplotlib.colors import to_hex
from numpy.testing import assert_array_equal

from lowpass.figures.convergence import REGIMES, colours_of, convergence
from lowpass.figures.palette import PAPER

from .exhibits import drawn, experiment


@pytest.fixture(scope="module")
def runs(shared_laboratory):
    return experiment(shared_laboratory, "convergence")


@pytest.fixture
def panels(runs):
    return convergence({"convergence": runs}, PAPER).axes


def in_colour(panel, colour, marker):
    """Find a line by its colour and marker."""
    (line,) = [
        drawn(line)
        for line in panel.lines
        if to_hex(line.get_color()) == colour.lower() and line.get_marker() == marker
    ]
    return line


@pytest.mark.parametrize("place", range(3))
def test_dots_are_errors_dashes_their_leading_terms_and_shares_are_beside(place, panels, runs):
    (degree, ends, *_), colour = REGIMES[place], colours_of(PAPER)[place]
    run = runs.sel(degree=degree, ends=ends, kernel="gaussian")
    for panel, marker, name in ((0, "o", "mise"), (0, "None", "mise_leading"),
                                (1, "o", "variance_share")):  # fmt: skip
        x, y = in_colour(panels[panel], colour, marker).T
        assert_array_equal(x, run["kept_keys"])
        assert_array_equal(y, run[name])


def test_attention_is_drawn_at_its_own_bandwidth(panels, runs):
    run = runs.sel(degree=0, ends="open", kernel="gaussian")
    assert_array_equal(in_colour(panels[0], PAPER.attention, "o")[:, 1], run["mise_fixed"])


@pytest.mark.parametrize(("degree", "place"), [(1, 1), (0, 2)])
def test_biases_near_the_end_are_those_of_the_most_keys(degree, place, panels, runs):
    run = runs.sel(degree=degree, ends="open", kernel="gaussian").isel(thin=0)
    dots = in_colour(panels[2], colours_of(PAPER)[place], "o")
    assert_array_equal(dots[:, 0], run["end_distance"][::2])
    assert_array_equal(dots[:, 1], run["end_bias"][::2])


def test_axis_text_comes_from_the_cards(runs):
    spoilt = runs.copy()
    spoilt["variance_share"] = runs["variance_share"].assign_attrs(long_name="echo")
    _, shares, _ = convergence({"convergence": spoilt}, PAPER).axes
    assert shares.get_ylabel().startswith("echo")
