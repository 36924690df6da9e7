"""The Nile as attention sees it, number for number."""

import numpy as np
import pytest
from matplotlib.colors import to_hex
from numpy.testing import assert_array_equal

from lowpass.figures.palette import PAPER
from lowpass.figures.smoothing import CRITERIA, DAM, nile

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


def test_criteria_are_stored_and_their_dots_are_their_lowest_points(panels, smoothed):
    lines = panels[1].lines
    assert len(lines) == 2 * len(CRITERIA)
    for (name, (variable, *_)), curve, dot in zip(
        CRITERIA.items(), lines[::2], lines[1::2], strict=True
    ):
        assert_array_equal(drawn(curve), stored(smoothed, "bandwidth", variable))
        chosen = smoothed.sel(bandwidth_criterion=[name])
        lowest = stored(chosen, "bandwidth_by_criterion", "error_by_criterion")
        assert_array_equal(drawn(dot), lowest)
        assert drawn(dot)[0, 1] <= drawn(curve)[:, 1].min()


def test_the_fit_has_the_bandwidth_of_the_first_dot(panels, smoothed):
    assert next(iter(CRITERIA)) == "loo"
    selected = stored(smoothed, "bandwidth_selected", "loo_score_selected")
    assert_array_equal(drawn(panels[1].lines[1]), selected)


def test_every_curve_is_named_at_its_end_in_its_colour(panels):
    names = {text.get_text(): text.get_color() for text in panels[1].texts}
    for curve, (_, words, _) in zip(panels[1].lines[::2], CRITERIA.values(), strict=True):
        assert names[words] == curve.get_color()


def test_the_dot_says_bandwidth_and_temperature(panels, smoothed):
    h, temperature = (float(smoothed[f"{name}_selected"]) for name in ("bandwidth", "temperature"))
    (note,) = [text.get_text() for text in panels[1].texts if "^*" in text.get_text()]
    assert f"h^*={h:.2f}" in note
    assert f"h^{{*2}}={temperature:.2f}" in note


def test_axis_text_comes_from_the_cards(smoothed):
    other = smoothed.copy()
    # Last of all the coordinate: assigning a variable brings its coordinates along.
    cards = {"key_position": "place", "value": "height", "bandwidth": "reach"}
    cards["error_by_criterion"] = "loss"
    for name, words in cards.items():
        other[name] = smoothed[name].assign_attrs(long_name=words, symbol="s")
    record, choice = nile({"nile": other}, PAPER).axes
    assert record.get_xlabel().startswith("place  $s$")
    assert record.get_ylabel().startswith("height  $s$")
    assert choice.get_xlabel().startswith("reach  $s$")
    assert choice.get_ylabel() == "loss  $s$"
