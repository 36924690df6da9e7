"""Gains, growth and what is kept, as they are stored."""

import numpy as np
import pytest

from lowpass.figures.attention import middle
from lowpass.figures.contraction import middles
from lowpass.figures.growth import KEPT, growth, hub_gain
from lowpass.figures.palette import PAPER

from .exhibits import drawn, experiment, is_stored

NAMES = ("transient-growth", "values", "waning", "products")


@pytest.fixture(scope="module")
def shown(shared_laboratory):
    return {name: experiment(shared_laboratory, name) for name in (*NAMES, "hubs")}


@pytest.fixture(scope="module")
def panels(shown):
    return growth(shown, PAPER).axes


def curves(ax):
    """Give the lines that run along the layers; the one at zero has two points."""
    return [line for line in ax.lines if len(drawn(line)) > 2]


def dots(ax):
    return [line for line in ax.lines if line.get_marker() == "o"]


def words(ax):
    return [text.get_text() for text in ax.texts]


def test_every_mark_of_the_powers_is_stored_and_the_middle_replicate_is_in_front(panels, shown):
    runs, ax = shown["transient-growth"], panels[0]
    stored = runs["log10_power_gain"].transpose("beta", "replicate", "layer").values
    assert len(curves(ax)) == runs.sizes["beta"] * (runs.sizes["replicate"] + 2)
    assert all(is_stored(line, stored) for line in curves(ax))
    for line, beta in zip(dots(ax), runs["beta"].values, strict=True):
        assert is_stored(line, middle(runs.sel(beta=beta))["log10_power_gain"].values)
        assert f"β = {beta:g}" in words(ax)


def test_hc_and_its_share_are_drawn_of_the_same_scaled_run(panels, shown):
    runs, ax = shown["values"].sel(case="scaled"), panels[1]
    run = middle(runs)
    both = ("log10_hc_growth", "log10_transient_ratio")
    for line, name in zip(dots(ax), both, strict=True):
        assert is_stored(line, run[name].values)
    stored = np.concatenate([runs[name].values for name in both])
    assert all(is_stored(line, stored) for line in curves(ax))
    assert {"HC", "ratio"} <= set(words(ax))


def test_products_are_drawn_beside_the_bound_on_oscillations(panels, shown):
    waning, bounded, ax = shown["waning"], shown["products"], panels[2]
    names = ("log10_hc_growth", "log10_oscillation_bound")
    stored = np.concatenate(
        [waning[name].values for name in names]
        + [bounded["log10_hc_growth"].sel(projections=p).values for p in ("fresh", "shared")]
    )
    assert all(is_stored(line, stored) for line in curves(ax))
    dashed = [line for line in ax.lines if line.get_linestyle() == "--"]
    assert len(dashed) == 1
    assert is_stored(dashed[0], waning["log10_oscillation_bound"].values)
    assert ax.get_ylim() == KEPT
    assert "waning" in words(ax)


def test_axis_text_of_the_powers_comes_from_the_card(shown):
    other = shown["transient-growth"].copy()
    other["log10_power_gain"] = other["log10_power_gain"].assign_attrs(
        long_name="decimal logarithm of the lift", symbol=r"\log_{10}l"
    )
    ax = growth({**shown, "transient-growth": other}, PAPER).axes[0]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("layer  $t$", "lift  $l$")


def test_gains_of_hubs_and_at_random_are_stored(shown):
    runs = shown["hubs"]
    (ax,) = hub_gain(shown, PAPER).axes
    for line, case in zip(dots(ax), ("hubs", "random"), strict=True):
        assert drawn(line)[:, 1].tolist() == middles(runs["hc_gain"].sel(case=case))
        assert drawn(line)[:, 0].tolist() == runs["beta"].values.tolist()
    ticks = [drawn(line)[:, 1].tolist() for line in ax.lines if line.get_marker() == "_"]
    stored = runs["hc_gain"].transpose("case", "replicate", "beta").values.reshape(len(ticks), -1)
    assert ticks == stored.tolist()
    dashed = [line for line in ax.lines if line.get_linestyle() == "--"]
    bound = middles(runs["column_gain"].sel(case="hubs"))
    assert [drawn(line)[:, 1].tolist() for line in dashed] == [bound]
    assert {"hubs", "random"} <= set(words(ax))
