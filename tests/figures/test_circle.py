"""Gains on a circle, as they are stored."""

import numpy as np
import pytest
from matplotlib.colors import to_hex
from numpy.testing import assert_array_equal

from lowpass.figures.circle import response
from lowpass.figures.palette import PAPER

from .exhibits import drawn, experiment


@pytest.fixture(scope="module")
def runs(shared_laboratory):
    return experiment(shared_laboratory, "circle")


@pytest.fixture
def panel(runs):
    (ax,) = response({"circle": runs}, PAPER).axes
    return ax


def lines_of(panel, style, colour=None):
    found = [line for line in panel.lines if line.get_linestyle() == style]
    return [line for line in found if colour in (None, to_hex(line.get_color()).upper())]


def stored(runs, name):
    return runs[name].isel(replicate=0).values


@pytest.mark.parametrize(
    ("name", "style", "heat"),
    [
        ("input_mode_gain", "None", False),
        ("bessel_gain", "--", False),
        ("gaussian_gain", "--", True),
    ],
)
def test_dots_are_measured_and_dashes_are_closed_forms(name, style, heat, panel, runs):
    found = lines_of(panel, style)
    found = [
        line for line in found if (to_hex(line.get_color()).upper() == PAPER.diffusion) == heat
    ]
    assert len(found) == runs.sizes["beta"]
    for line, series in zip(found, stored(runs, name), strict=True):
        k, gain = drawn(line).T
        assert_array_equal(k, np.arange(len(k)))
        assert_array_equal(gain, series[: len(k)])


def test_frequencies_that_alias_are_left_out(panel):
    (longest,) = {len(drawn(line)) for line in panel.lines}
    assert longest == 24 // 4 + 1


def test_each_curve_is_named_by_its_temperature(panel, runs):
    words = {text.get_text() for text in panel.texts}
    assert {f"β = {beta:g}" for beta in runs["beta"].values} | {"heat"} <= words


def test_axis_text_comes_from_the_cards(runs):
    other = runs.copy()
    other["input_mode_gain"] = runs["input_mode_gain"].assign_attrs(long_name="echo")
    (ax,) = response({"circle": other}, PAPER).axes
    assert ax.get_ylabel().startswith("echo")
