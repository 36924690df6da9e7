"""Marks that show numbers as they are stored."""

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.markers import TICKLEFT
from numpy.testing import assert_array_equal

from lowpass.figures.marks import (
    annotate,
    draw_field,
    draw_interval,
    draw_measured,
    draw_replicates,
    draw_theory,
)
from lowpass.figures.palette import PAPER
from lowpass.figures.saving import RECORD_KEYS, encode
from lowpass.figures.style import canvas, head, look
from lowpass.registry import Refusal

from .inspection import assert_clean


@pytest.fixture
def ax(palette):
    with look(palette):
        _, (ax,) = canvas("column", 2.4, palette)
        yield ax


@pytest.mark.parametrize("draw", [draw_theory, draw_measured])
def test_every_mark_is_a_stored_number(ax, rng, draw):
    x, y = rng.normal(size=(2, 7))
    draw(ax, x, y, PAPER.attention)
    assert_array_equal(ax.lines[0].get_xydata(), np.stack([x, y], axis=1))
    assert ax.lines[0].get_color() == PAPER.attention


def test_theory_is_dashed_and_measurement_is_not_joined(ax):
    draw_theory(ax, [0, 1], [0, 1], PAPER.ink)
    draw_measured(ax, [0, 1], [0, 1], PAPER.ink)
    theory, measured = ax.lines
    assert (theory.get_marker(), theory.get_linestyle()) == ("None", "--")
    assert (measured.get_marker(), measured.get_linestyle()) == ("o", "None")
    assert 0.9 <= theory.get_linewidth() <= 1.1
    assert theory.get_zorder() < measured.get_zorder()


def test_dots_stand_off_in_the_colour_of_the_ground(ax, palette):
    draw_measured(ax, [0], [0], palette.remedy)
    assert ax.lines[0].get_markersize() == 3.4
    assert to_hex(ax.lines[0].get_markeredgecolor()).upper() == palette.ground


def test_every_replicate_is_drawn(ax, rng):
    y = rng.normal(size=(5, 3))
    draw_replicates(ax, [1, 2, 4], y, PAPER.attention)
    assert_array_equal([line.get_ydata() for line in ax.lines], y)


def test_ticks_to_the_left_end_at_their_points(ax):
    draw_replicates(ax, [1.0], [[2.0], [3.0]], PAPER.ink, side="left")
    for line in ax.lines:
        assert (line.get_marker(), line.get_linestyle()) == (TICKLEFT, "None")


def test_an_interval_is_a_light_fill_between_its_ends(ax):
    draw_interval(ax, [0, 1], [2, 3], [4, 6], PAPER.diffusion)
    (fill,) = ax.collections
    assert fill.get_alpha() == 0.15
    corners = {tuple(corner) for corner in fill.get_paths()[0].vertices}
    assert corners == {(0, 2), (1, 3), (0, 4), (1, 6)}


def test_a_field_is_ground_at_zero_and_symmetric(ax, palette):
    image = draw_field(ax, np.array([[-1.0, 0.0, 2.0]]), palette)
    assert image.get_clim() == (-2, 2)
    colours = [to_hex(image.cmap(image.norm(value))).upper() for value in (-2, 0, 2)]
    assert colours == list(palette.signed_map[::2])


def test_fields_that_share_a_limit_share_their_colours(ax):
    assert draw_field(ax, np.array([[0.1]]), limit=3.0).get_clim() == (-3, 3)
    assert draw_field(ax, np.zeros((2, 2))).get_clim() == (-1, 1)


@pytest.mark.parametrize("form", RECORD_KEYS)
def test_a_field_is_saved_the_same_twice(ax, rng, palette, form):
    draw_field(ax, rng.normal(size=(16, 9)), palette)
    assert encode(ax.figure, form, palette) == encode(ax.figure, form, palette)


@pytest.mark.parametrize("shift", [(6, 0), (-6, 0), (0, 6), (0, -6)])
def test_notes_on_every_side_leave_their_point_free(ax, palette, shift):
    ax.set(xlim=(0, 1), ylim=(0, 1))
    head(ax, "a", "A visible disagreement")
    annotate(ax, "aliasing at n₂", (0.5, 0.5), shift, palette)
    assert_clean(ax.figure)
    point = ax.transData.transform((0.5, 0.5))
    assert not ax.texts[-1].get_window_extent().contains(*point)


def test_refuses_a_field_without_an_end(ax):
    with pytest.raises(Refusal, match="a field that reaches nan has no colours"):
        draw_field(ax, np.array([[1.0, np.nan]]))
