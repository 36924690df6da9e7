"""Rates, curves, two ratios and distances, as they are stored."""

import numpy as np
import pytest
from matplotlib.colors import to_hex

from lowpass.figures.attention import rank_middle
from lowpass.figures.palette import PAPER
from lowpass.figures.remedies import FIRST_LAYERS, NAMES, RATES, neutreno, remedies, two_ratios

from .exhibits import drawn, experiment, is_stored


@pytest.fixture(scope="module")
def runs(shared_laboratory):
    return experiment(shared_laboratory, "remedies")


@pytest.fixture(scope="module")
def distances(shared_laboratory):
    return experiment(shared_laboratory, "neutreno")


@pytest.fixture
def run(runs):
    return runs.isel(replicate=rank_middle(runs["slem"].isel(remedy=0, strength=0).values))


@pytest.fixture
def panels(runs):
    return remedies({"remedies": runs}, PAPER).axes


def words(ax):
    return [text.get_text() for text in ax.texts]


def test_dots_are_fitted_rates_and_dashes_predicted_ones(panels, run):
    _, *lines = panels[0].lines
    for remedy, dashes, dots in zip(run["remedy"].values, lines[::2], lines[1::2], strict=True):
        each = run.sel(remedy=remedy)
        assert (dashes.get_linestyle(), dots.get_marker()) == ("--", "o")
        for line, name in [(dashes, "predicted_rate"), (dots, "transient_rate")]:
            strength, height = drawn(line).T
            assert (each[name].sel(strength=strength).values == height).all()
        hidden = set(run["strength"].values) - set(strength)
        assert (each["predicted_rate"].sel(strength=sorted(hidden)) > RATES[1]).all()


def test_curves_are_stored_ratios_of_the_second_largest_strength(panels, run):
    plain, *lines = panels[1].lines
    ratio = run["log10_transient_ratio"]
    assert is_stored(plain, ratio.isel(remedy=0, strength=0).values)
    assert plain.get_color() == PAPER.attention
    for remedy, line in zip(run["remedy"].values, lines, strict=True):
        assert is_stored(line, ratio.sel(remedy=remedy).isel(strength=-2).values)
        assert len(drawn(line)) == FIRST_LAYERS + 1


def test_every_remedy_is_named_at_its_end(panels, runs):
    names = {NAMES[remedy] for remedy in runs["remedy"].values}
    assert names <= set(words(panels[0]))
    assert names | {"none"} <= set(words(panels[1]))


def test_a_skip_connection_has_a_colour_of_its_own(panels):
    colours = {to_hex(line.get_color()).upper() for line in panels[1].lines}
    assert colours == {PAPER.attention, PAPER.remedy, PAPER.residual}


def test_axis_text_comes_from_the_cards(runs):
    other = runs.copy()
    other["transient_rate"] = runs["transient_rate"].assign_attrs(long_name="pace", symbol="p")
    assert remedies({"remedies": other}, PAPER).axes[0].get_ylabel() == "pace  $p$"


def test_both_ratios_and_the_end_of_one_are_stored(runs):
    (ax,) = two_ratios({"remedies": runs}, PAPER).axes
    shown = runs.sel(remedy="attinv").isel(strength=-1)
    stored = np.concatenate(
        [shown[name].values for name in ("log10_transient_ratio", "log10_hc_dc_ratio")]
    )
    *lines, end = ax.lines
    assert len(lines) == 2 * (runs.sizes["replicate"] + 1)
    assert all(is_stored(line, stored) for line in lines)
    middle = shown.isel(replicate=rank_middle(shown["slem"].values))
    assert set(end.get_ydata()) == {float(middle["log10_mode_ratio"])}
    assert {"transient", "HC/DC"} <= set(words(ax))


def test_draws_are_coloured_by_what_eigenvalues_foretell(distances):
    (ax,) = neutreno({"neutreno": distances}, PAPER).axes
    leaving = (distances["predicted_stability"] > 1).mean("replicate")
    chosen = distances.isel(strength=int(np.argmin(abs(leaving - 0.5).values)))
    found = {colour: set() for colour in (PAPER.holds, PAPER.fails)}
    for line in ax.lines:
        layer, height = drawn(line).T
        every = chosen["log10_fixed_point_distance"].sel(recorded_layer=layer)
        (replicate,) = np.flatnonzero((every == height).all("recorded_layer"))
        found[line.get_color()].add(int(replicate))
    leaves = set(np.flatnonzero(chosen["predicted_stability"].values > 1))
    assert found[PAPER.fails] == leaves
    assert found[PAPER.holds] == set(range(chosen.sizes["replicate"])) - leaves
    assert {"settles", "leaves"} <= set(words(ax))
