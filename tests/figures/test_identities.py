"""Which key wins, number for number."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.patches import Circle
from numpy.testing import assert_array_equal

from lowpass.figures.identities import LARGEST, LEAST, long_keys
from lowpass.figures.palette import PAPER

from .exhibits import experiment

HEIGHTS = ["key_across", "key_across", "key_away"]
READINGS = ["of distances", "of dot products", "of dot products"]


@pytest.fixture(scope="module")
def shown(shared_laboratory):
    return {"identities": experiment(shared_laboratory, "identities")}


@pytest.fixture
def seen(shown):
    return shown["identities"].isel(replicate=0)


@pytest.fixture
def panels(shown):
    return long_keys(shown, PAPER).axes


def circles(ax) -> list[tuple]:
    return [(*each.center, each.radius) for each in ax.patches if isinstance(each, Circle)]


@pytest.mark.parametrize("panel", range(3))
def test_a_dot_is_a_key_and_its_area_the_weight(panel, panels, seen):
    (dots,) = panels[panel].collections
    stored = np.stack([seen["key_along"].values, seen[HEIGHTS[panel]].values], axis=1)
    assert_array_equal(np.asarray(dots.get_offsets()), stored)
    weight = seen["view_weights"].sel(reading=READINGS[panel]).values
    assert_array_equal(dots.get_sizes(), LEAST + LARGEST * weight)


@pytest.mark.parametrize("panel", range(3))
def test_the_rim_is_that_of_the_key_that_counts_most(panel, panels, seen):
    (dots,) = panels[panel].collections
    dark = [to_hex(each).upper() == PAPER.ink for each in dots.get_edgecolors()]
    weight = seen["view_weights"].sel(reading=READINGS[panel]).values
    assert_array_equal(np.flatnonzero(dark), weight.argmax())


@pytest.mark.parametrize("panel", range(3))
def test_the_ring_is_the_query(panel, panels, seen):
    ring = panels[panel].lines[-1]
    assert_array_equal(ring.get_xydata(), [[seen["query_norm"], 0.0]])


def test_circles_and_lines_are_stored(panels, seen):
    norm = float(seen["query_norm"])
    assert circles(panels[0]) == [(norm, 0.0, r) for r in seen["contour_radius"].values]
    lines = [line.get_xdata()[0] for line in panels[1].lines[:-1]]
    assert_array_equal(lines, seen["contour_along"].values)
    lifted = [(norm, 0.0, r) for r in seen["contour_lifted_radius"].values]
    assert circles(panels[2]) == [*lifted, (0.0, 0.0, float(seen["largest_key_norm"]))]


def test_panels_share_one_scale(panels, seen):
    reach = 1.12 * max(float(seen[name]) for name in ("largest_key_norm", "query_norm"))
    for ax in panels:
        assert ax.get_xlim() == ax.get_ylim() == (-reach, reach)
        assert ax.get_aspect() == 1


def test_axis_text_comes_from_the_cards(shown):
    other = shown["identities"].copy()
    for name in ("key_along", "key_across", "key_away"):
        other[name] = other[name].assign_attrs(long_name=f"the {name}", symbol="s")
    for ax, height in zip(long_keys({"identities": other}, PAPER).axes, HEIGHTS, strict=True):
        assert ax.get_xlabel().startswith("the key")
        assert ax.get_ylabel().startswith("the key")
        assert ax.get_ylabel().split("  ")[0].replace("−", "_") == f"the {height}"
