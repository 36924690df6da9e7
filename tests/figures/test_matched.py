"""Attention and heat of the same norm, pixel for pixel and year for year."""

import numpy as np
import pytest
from matplotlib.colors import to_hex
from numpy.testing import assert_array_equal

from lowpass.figures.matched import (
    RECORD_LAYER,
    ROWS,
    SHOWN_LAYERS,
    nile_levels,
    photograph_matched,
)
from lowpass.figures.palette import NIGHT, PAPER

from .exhibits import drawn, experiment


@pytest.fixture(scope="module")
def shown(shared_laboratory):
    return {
        name: experiment(shared_laboratory, name) for name in ("photograph", "nile-levels", "nile")
    }


@pytest.fixture(scope="module")
def layers(shown):
    return [layer for layer in SHOWN_LAYERS if layer in shown["photograph"]["recorded_layer"]]


def test_every_picture_is_stored_and_none_is_rescaled(shown, layers):
    (panel,) = photograph_matched(shown, PAPER).axes
    run = shown["photograph"].isel(replicate=0)
    widest = float(abs(run["matched_difference_picture"]).max())
    images = iter(panel.images)
    for row, (name, measure) in enumerate(ROWS.items()):
        for column, layer in enumerate(layers):
            image = next(images)
            assert_array_equal(image.get_array(), run[measure].sel(recorded_layer=layer))
            assert image.get_clim() == ((-widest, widest) if name == "difference" else (0, 1))
            left, _, _, top = image.get_extent()
            assert (left, top) == pytest.approx((1.07 * column, 1.07 * row))
    assert next(images, None) is None


@pytest.mark.parametrize("palette", [PAPER, NIGHT], ids=["paper", "night"])
def test_no_difference_has_the_colour_of_the_ground(palette, shown, layers):
    (panel,) = photograph_matched(shown, palette).axes
    image = panel.images[2 * len(layers)]
    assert to_hex(image.cmap(image.norm(0.0))).upper() == palette.ground.upper()


def test_heat_bears_the_time_that_is_stored(shown, layers):
    (panel,) = photograph_matched(shown, PAPER).axes
    words = {text.get_text() for text in panel.texts}
    time = shown["photograph"]["matched_heat_time"].isel(replicate=0)
    for layer in layers[1:]:
        assert f"$\\tau={float(time.sel(recorded_layer=layer)):.2g}$" in words


def test_rows_bear_the_colours_of_their_ideas(shown):
    (panel,) = photograph_matched(shown, PAPER).axes
    colours = {text.get_text(): text.get_color() for text in panel.texts}
    assert colours["attention"] == PAPER.attention
    assert colours["heat"] == PAPER.diffusion


def test_lines_over_the_years_are_stored(shown):
    (panel,) = nile_levels(shown, PAPER).axes
    dots, *lines = (drawn(line) for line in panel.lines)
    year = shown["nile"]["key_position"].values[:, 0]
    run = shown["nile-levels"].isel(replicate=0, pixel_row=0).sel(recorded_layer=RECORD_LAYER)
    stored = [shown["nile"]["value"], run["matched_heat_picture"], run["picture"]]
    for line, values in zip([dots, *lines], stored, strict=True):
        assert_array_equal(line[:, 0], year)
        assert_array_equal(line[:, 1], values)


def test_both_lines_are_named_in_their_colours(shown):
    (panel,) = nile_levels(shown, PAPER).axes
    colours = {text.get_text(): text.get_color() for text in panel.texts}
    assert colours["attention"] == PAPER.attention
    assert colours["heat"] == PAPER.diffusion


def jumps(values) -> float:
    """Give the mean jump from one year to the next."""
    return float(abs(values.diff("pixel_column")).mean())


def test_the_words_over_the_record_are_true(shown):
    """Attention orders years as their flows do and keeps their jumps; heat keeps few of them."""
    run = shown["nile-levels"].isel(replicate=0, pixel_row=0)
    flow, now = (run["picture"].sel(recorded_layer=layer) for layer in (0, RECORD_LAYER))
    heat = run["matched_heat_picture"].sel(recorded_layer=RECORD_LAYER)
    order = np.argsort(flow.values)
    assert (np.diff(now.values[order]) >= 0).all()
    assert jumps(now) > 5 * jumps(heat)
