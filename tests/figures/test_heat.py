"""Distances and spectra of heat kernels and walks, as they are stored."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.markers import TICKLEFT
from numpy.testing import assert_array_equal

from lowpass.figures.contraction import middles
from lowpass.figures.heat import FARTHEST, heat_kernel
from lowpass.figures.palette import PAPER
from lowpass.figures.walk import walk

from .exhibits import drawn, experiment


@pytest.fixture(scope="module")
def runs(shared_laboratory):
    return experiment(shared_laboratory, "heat-kernel")


@pytest.fixture(scope="module")
def spectra(shared_laboratory):
    return experiment(shared_laboratory, "random-walk")


def lines(ax, marker) -> list[np.ndarray]:
    return [drawn(line) for line in ax.lines if line.get_marker() == marker]


def heights(ax, marker) -> np.ndarray:
    return np.sort(np.concatenate([points[:, 1] for points in lines(ax, marker)]))


def stored(*values) -> np.ndarray:
    return np.sort(np.concatenate([np.ravel(each) for each in values]))


def test_ticks_and_dots_of_the_notes_gauge_are_stored(runs):
    ax = heat_kernel({"heat-kernel": runs}, PAPER).axes[0]
    kinds = [runs.sel(weights=kind) for kind in ("untied", "tied")]
    assert_array_equal(heights(ax, "_"), stored(*(one["heat_error"].values for one in kinds)))
    assert_array_equal(heights(ax, "o"), stored(*(middles(one["heat_error"]) for one in kinds)))
    dashed = [drawn(line)[:, 1] for line in ax.lines if line.is_dashed()]
    assert_array_equal(stored(*dashed), stored(*(middles(one["identity_error"]) for one in kinds)))


def test_shifts_are_those_of_one_replicate_for_each_temperature(runs):
    ax = heat_kernel({"heat-kernel": runs}, PAPER).axes[1]
    untied = runs["gauge_error"].sel(weights="untied", gauge=slice(None, FARTHEST))
    for points, beta in zip(lines(ax, "o"), runs["beta"].values, strict=True):
        assert_array_equal(points[:, 0], untied["gauge"])
        every = untied.sel(beta=beta).transpose("replicate", "gauge").values
        assert (every == points[:, 1]).all(axis=1).any()


@pytest.mark.parametrize(("panel", "kind"), [(2, "untied"), (3, "tied")])
def test_the_best_case_is_stored(panel, kind, runs):
    ax, one = heat_kernel({"heat-kernel": runs}, PAPER).axes[panel], runs.sel(weights=kind)
    best, other = one["best_gauge_error"].isel(search=0), one["symmetrised_error"]
    assert_array_equal(heights(ax, "_"), stored(best.values, other.values))
    assert_array_equal(heights(ax, "o"), stored(middles(best), middles(other)))
    assert_array_equal(heights(ax, TICKLEFT), stored(one["heat_floor"].values))


@pytest.mark.parametrize(("panel", "kind"), [(2, "untied"), (3, "tied")])
def test_each_dot_of_the_best_shifts_is_above_the_floor_of_its_own_replicate(panel, kind, runs):
    """The floors that rank in the middle would belong to other replicates."""
    spoilt = runs.sel(replicate=[0, 0, 0]).copy(deep=True).assign_coords(replicate=[0, 1, 2])
    for replicate, (best, floor) in enumerate([(0.9, 0.8), (0.6, 0.1), (0.5, 0.4)]):
        for name, value in (("best_gauge_error", best), ("heat_floor", floor)):
            spoilt[name].loc[{"weights": kind, "replicate": replicate}] = value
    ax = heat_kernel({"heat-kernel": spoilt}, PAPER).axes[panel]
    (dashed,) = [drawn(line)[:, 1] for line in ax.lines if line.is_dashed()]
    assert set(dashed) == {0.1}
    assert "least of any graph" in [text.get_text() for text in ax.texts]


def test_a_search_that_found_less_is_not_drawn(runs):
    """Only the best of the searches counts."""
    spoilt = runs.copy(deep=True)
    spoilt["best_gauge_error"][..., 1:] = 0.123
    ax = heat_kernel({"heat-kernel": spoilt}, PAPER).axes[2]
    assert 0.123 not in heights(ax, "_")


def test_every_eigenvalue_is_stored(spectra):
    signed, step = walk({"random-walk": spectra}, PAPER).axes
    mild = spectra.isel(beta=-2)
    symmetric = mild.sel(weights="symmetric")
    assert_array_equal(heights(signed, "_"), stored(symmetric["signed_eigenvalue"].values))
    both = mild["walk_eigenvalue"].sel(weights=["symmetric", "tied"])
    assert_array_equal(heights(step, "_"), stored(both.values))
    for points, kind in zip(lines(step, "o"), ("symmetric", "tied"), strict=True):
        every = both.sel(weights=kind).transpose("replicate", "mode").values
        assert (every == points[:, 1]).all(axis=1).any()


def test_axis_text_comes_from_the_cards(runs, spectra):
    other = runs.assign_coords(gauge=runs["gauge"].assign_attrs(long_name="shove", symbol="g"))
    ax = heat_kernel({"heat-kernel": other}, PAPER).axes[1]
    assert ax.get_xlabel() == "shove  $g$"
    renamed = spectra.copy()
    renamed["walk_eigenvalue"] = spectra["walk_eigenvalue"].assign_attrs(symbol=r"\ell")
    assert walk({"random-walk": renamed}, PAPER).axes[1].get_ylabel() == r"eigenvalue  $\ell$"
