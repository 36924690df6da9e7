"""Generators on a ring and their errors, as they are stored."""

import numpy as np
import pytest
from matplotlib.colors import to_hex
from numpy.testing import assert_array_equal

from lowpass.figures.continuum import FINDINGS, NAMES, colour_of, continuum
from lowpass.figures.palette import PAPER

from .exhibits import drawn, experiment


@pytest.fixture(scope="module")
def runs(shared_laboratory):
    return experiment(shared_laboratory, "continuum")


@pytest.fixture
def panels(runs):
    return continuum({"continuum": runs}, PAPER).axes


@pytest.fixture
def shown(runs):
    """Take the uneven ring at the narrowest bandwidth."""
    return runs.sel(modulation=0.5).isel(replicate=0)


def in_colour(panel, drift, marker):
    """Find the line of an operator or kernel, by its colour."""
    wanted = colour_of(PAPER)[drift].lower()
    (line,) = [
        drawn(line)
        for line in panel.lines
        if to_hex(line.get_color()) == wanted and line.get_marker() == marker
    ]
    return line


@pytest.mark.parametrize(("drift", "kernel"), [*zip(colour_of(PAPER), FINDINGS, strict=True)])
def test_dots_are_a_kernel_and_dashes_its_operator(drift, kernel, panels, shown):
    sharp = shown.isel(beta=-1, feature=0).sel(kernel=kernel)
    angle = sharp["angle"].values
    for marker, stored in (
        ("o", sharp["layer_generator"].values),
        ("None", sharp["limit_generator"].sel(drift=drift).values),
    ):
        x, y = in_colour(panels[0], drift, marker).T
        place = np.searchsorted(angle, x)
        assert_array_equal(angle[place], x)
        assert_array_equal(stored[place], y)
        assert (x > 0).all()


@pytest.mark.parametrize("panel", range(3))
def test_errors_are_stored_over_the_bandwidth(panel, panels, shown):
    run = shown.sel(kernel=list(FINDINGS)[panel])
    for drift in colour_of(PAPER):
        for marker in ("o", "None"):
            line = in_colour(panels[panel + 1], drift, marker)
            assert_array_equal(line[:, 0], run["kernel_width"])
            assert_array_equal(line[:, 1], run["generator_error"].sel(drift=drift))


def test_the_bandwidth_shrinks_to_the_right_on_one_scale(panels):
    for panel in panels[1:]:
        left, right = panel.get_xlim()
        assert left > right
        assert panel.get_ylim() == panels[1].get_ylim()


def test_kernels_and_operators_are_named_in_their_colours(panels):
    words = {text.get_text(): text.get_color() for text in panels[0].texts}
    for name, colour in zip(NAMES.values(), colour_of(PAPER).values(), strict=True):
        assert words[name] == colour
    for panel in panels[1:]:
        ends = {text.get_text(): text.get_color() for text in panel.texts}
        assert {f"c = {drift:g}": ends.get(f"c = {drift:g}") for drift in (2, 1, 0)} == {
            f"c = {drift:g}": colour for drift, colour in colour_of(PAPER).items()
        }


def test_axis_text_comes_from_the_cards(runs):
    spoilt = runs.copy()
    spoilt["generator_error"] = runs["generator_error"].assign_attrs(long_name="echo")
    _, first, *_ = continuum({"continuum": spoilt}, PAPER).axes
    assert first.get_ylabel().startswith("echo")
