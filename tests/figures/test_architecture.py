"""Stacks of every make, as they are stored."""

from __future__ import annotations

import numpy as np
import pytest

from lowpass.figures.architecture import (
    MAKES,
    ROWS,
    architecture,
    collapse,
    masks,
    photograph_layers,
)
from lowpass.figures.palette import PAPER

from .exhibits import drawn, experiment, is_stored

RATIO = "log10_hc_dc_ratio"


def words(ax):
    return [text.get_text() for text in ax.texts]


def dots(ax):
    return [line for line in ax.lines if line.get_marker() == "o"]


# The collapse of recomputed attention.


@pytest.fixture(scope="module")
def shown(shared_laboratory):
    return {name: experiment(shared_laboratory, name) for name in ("recomputed", "dong-bound")}


@pytest.fixture
def panels(shown):
    return collapse(shown, PAPER).axes


def test_every_mark_of_the_collapse_is_a_stored_number(panels, shown):
    runs = shown["recomputed"]
    curves = [line for line in panels[0].lines if len(line.get_xdata()) > 2]
    assert all(is_stored(line, runs[RATIO].values) for line in curves)
    assert len(curves) == 2 * (runs.sizes["replicate"] + 2) + 1


def test_the_floor_of_one_array_is_stored(panels, shown):
    (floor,) = [line for line in panels[0].lines if len(line.get_xdata()) == 2]
    stored = shown["recomputed"]["log10_rounding_floor"].sel(arithmetic="float64")
    assert (stored == floor.get_ydata()[0]).all()
    assert "floor of float64" in words(panels[0])


def test_both_kinds_of_layers_are_named(panels):
    assert {"frozen", "recomputed"} <= set(words(panels[0]))


def test_dots_are_distances_and_dashes_are_bounds(panels, shown):
    runs, ax = shown["dong-bound"], panels[1]
    dashed = [line for line in ax.lines if line.get_linestyle() == "--"]
    assert len(dots(ax)) == len(dashed) == runs.sizes["case"]
    for distance, bound in zip(dots(ax), dashed, strict=True):
        assert is_stored(distance, runs["log10_composite_norm"].values)
        assert is_stored(bound, runs["log10_dong_bound"].values)
        assert (drawn(distance)[1:, 1] <= drawn(bound)[1:, 1]).all()


def test_heights_are_logarithms_on_a_logarithmic_axis(panels):
    for ax in panels:
        assert ax.get_yscale() == "symlog"
        low, high = ax.get_ylim()
        heights = np.concatenate([line.get_ydata() for line in ax.lines])
        assert low < heights.min() <= heights.max() < high


# Architectures.


@pytest.fixture(scope="module")
def makes(shared_laboratory):
    return experiment(shared_laboratory, "architecture")


def test_every_architecture_is_drawn_as_it_is_stored(makes):
    axes = architecture({"architecture": makes}, PAPER).axes
    for ax, (_, place) in zip(axes, MAKES, strict=True):
        stored = makes[RATIO].sel(place).values
        stored = np.where(np.isfinite(stored), stored, np.nan)
        assert len(ax.lines) == makes.sizes["value_scale"] * (makes.sizes["replicate"] + 2)
        for line in ax.lines:
            layer, heights = drawn(line).T
            series = stored.reshape(-1, stored.shape[-1])[:, layer.astype(int)]
            assert any(np.array_equal(each, heights, equal_nan=True) for each in series)


def test_architectures_have_one_scale_and_their_lines_are_named_once(makes):
    axes = architecture({"architecture": makes}, PAPER).axes
    assert len({ax.get_ylim() for ax in axes}) == 1
    assert {"$W_V = I$", "$W_V = -0.5\\,I$"} <= set(words(axes[-1]))


def test_the_words_over_the_architectures_are_true(makes):
    """What is lost, stalls, hardly falls and can rise, in decades over all layers."""
    last = makes[RATIO].isel(layer=-1)
    first = makes[RATIO].isel(layer=0)
    over = (last - first).median("replicate")
    (_, bare), (_, skip), (_, pre), (_, post) = MAKES
    assert (over.sel(bare) < -16).all()
    half = makes.sizes["layer"] // 2
    late = (last - makes[RATIO].isel(layer=half)).median("replicate")
    assert abs(late.sel({**skip, "value_scale": 1.0})) < 0.3
    assert over.sel(bare).max() < over.sel({**pre, "value_scale": 1.0}) < 0
    assert over.sel({**post, "value_scale": -0.5}) > 0 > over.sel({**post, "value_scale": 1.0})


# Masks.


@pytest.fixture(scope="module")
def masked(shared_laboratory):
    return {name: experiment(shared_laboratory, name) for name in ("causal", "window")}


def test_every_mark_under_a_mask_is_a_stored_number(masked):
    left, right = masks(masked, PAPER).axes
    stored = masked["causal"][RATIO].isel(n_tokens=-1).values
    assert len(dots(left)) == 4
    assert all(is_stored(line, stored) for line in left.lines)
    slem = masked["window"]["slem"].transpose("replicate", "kernel", "mask_width").values
    series = slem.reshape(-1, slem.shape[-1])
    for line in right.lines:
        width, heights = drawn(line).T
        assert list(width) == list(masked["window"]["mask_width"].values)
        assert (series == heights).all(axis=1).any()


def test_lines_under_a_mask_are_named(masked):
    left, right = masks(masked, PAPER).axes
    assert {"softmax", "uniform"} <= set(words(right))
    assert {"uniform", "uniform, first token zero"} <= set(words(left))


# The photograph by architecture.


@pytest.fixture(scope="module")
def pictured(shared_laboratory):
    return experiment(shared_laboratory, "photograph-layers")


def test_every_fitted_picture_is_stored_and_none_is_rescaled(pictured):
    (ax,) = photograph_layers({"photograph-layers": pictured}, PAPER).axes
    images = iter(ax.images)
    for place in ROWS.values():
        for stored in pictured["fitted_picture"].isel(replicate=0).sel(place):
            image = next(images)
            assert np.array_equal(image.get_array(), stored)
            assert image.get_clim() == (0, 1)
    assert next(images, None) is None


def test_the_correlation_below_a_picture_is_stored(pictured):
    (ax,) = photograph_layers({"photograph-layers": pictured}, PAPER).axes
    said = [text for text in words(ax) if text.startswith("r = ")]
    stored = [pictured["picture_correlation"].isel(replicate=0).sel(each) for each in ROWS.values()]
    assert said == [f"r = {value:.2f}" for each in stored for value in each.values]
    assert set(ROWS) <= set(words(ax))
