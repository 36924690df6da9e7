"""The Nile as attention sees it, number for number."""

import numpy as np
import pytest
from matplotlib.colors import to_hex
from numpy.testing import assert_array_equal

from lowpass.figures.palette import PAPER
from lowpass.figures.smoothing import DAM, nile

from .exhibits import drawn, experiment


@pytest.fixture(scope="module")
def smoothed(shared_laboratory):
    return experiment(shared_laboratory, "nile")


@pytest.fixture
def panels(smoothed):
    return nile({"nile": smoothed}, PAPER).axes


def stored(smoothed, x, y):
    return np.stack([smoothed[x].values.ravel(), smoothed[y].values.ravel()], axis=1)


def test_dots_are_observations_and_the_line_is_the_fit(panels, smoothed):
    dots, line, _ = panels[0].lines
    assert dots.get_marker() == "o"
    assert_array_equal(drawn(dots), stored(smoothed, "key_position", "value"))
    assert_array_equal(drawn(line), stored(smoothed, "key_position", "fit"))


def test_the_band_is_a_light_fill_between_its_stored_ends(panels, smoothed):
    (band,) = panels[0].collections
    corners = {tuple(corner) for corner in band.get_paths()[0].vertices}
    ends = np.concatenate([stored(smoothed, "key_position", end) for end in ("lower", "upper")])
    assert corners == set(map(tuple, ends))
    assert band.get_alpha() == 0.15
    assert to_hex(band.get_facecolor()[0]).upper() == PAPER.attention


def test_the_line_at_the_dam_lies_where_the_record_falls(panels, smoothed):
    mark = panels[0].lines[-1]
    flow = smoothed["value"].values
    before = smoothed["key_position"].values.ravel() < DAM
    assert_array_equal(mark.get_xdata(), DAM)
    assert flow[before].mean() > flow[~before].mean()


def test_the_criterion_is_stored_and_its_dot_is_the_selected_bandwidth(panels, smoothed):
    curve, dot = panels[1].lines
    assert_array_equal(drawn(curve), stored(smoothed, "bandwidth", "loo_score"))
    assert_array_equal(drawn(dot), stored(smoothed, "bandwidth_selected", "loo_score_selected"))
    assert drawn(dot)[0, 1] == drawn(curve)[:, 1].min()


def test_the_dot_says_bandwidth_and_temperature(panels, smoothed):
    h, temperature = (float(smoothed[f"{name}_selected"]) for name in ("bandwidth", "temperature"))
    (note,) = [text.get_text() for text in panels[1].texts if "^*" in text.get_text()]
    assert f"h^*={h:.2f}" in note
    assert f"h^{{*2}}={temperature:.2f}" in note


def test_axis_text_comes_from_the_cards(smoothed):
    other = smoothed.copy()
    # Last of all the coordinate: assigning a variable brings its coordinates along.
    cards = {"key_position": "place", "value": "height", "loo_score": "loss", "bandwidth": "reach"}
    for name, words in cards.items():
        other[name] = smoothed[name].assign_attrs(long_name=words, symbol="s")
    record, choice = nile({"nile": other}, PAPER).axes
    assert record.get_xlabel().startswith("place  $s$")
    assert record.get_ylabel().startswith("height  $s$")
    assert choice.get_xlabel().startswith("reach  $s$")
    assert choice.get_ylabel() == "loss  $s$"
