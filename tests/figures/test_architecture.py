"""Stacks of every make, as they are stored."""

from __future__ import annotations

import numpy as np
import pytest

from lowpass.figures.architecture import collapse
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
