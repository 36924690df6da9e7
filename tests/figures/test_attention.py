"""Decay and its counterexamples, as they are stored."""

import numpy as np
import pytest
from matplotlib.colors import to_hex
from numpy.testing import assert_array_equal

from lowpass.figures.attention import counterexamples, decay, middle, typeset_power
from lowpass.figures.palette import PAPER

from .exhibits import drawn, experiment, is_stored
from .inspection import assert_clean

RATIO = "log10_hc_dc_ratio"


@pytest.fixture(scope="module")
def runs(shared_laboratory):
    return experiment(shared_laboratory, "dc-limit")


@pytest.fixture(scope="module")
def cases(shared_laboratory):
    return experiment(shared_laboratory, "counterexamples")


@pytest.fixture
def panels(runs):
    return decay({"dc-limit": runs}, PAPER).axes


@pytest.fixture
def flat(cases):
    (ax,) = counterexamples({"counterexamples": cases}, PAPER).axes
    return ax


def dots(ax):
    return [line for line in ax.lines if line.get_marker() == "o"]


def words(ax):
    return [text.get_text() for text in ax.texts]


def relabelled(dataset, name, **card):
    """Give a variable another card."""
    other = dataset.copy()
    other[name] = dataset[name].assign_attrs(card)
    return other


def test_every_mark_of_the_decay_is_a_stored_number(panels, runs):
    deep, _ = panels
    split = runs.sel(arithmetic="split")
    stored = np.concatenate([split[RATIO].values, split["log10_predicted_ratio"].values])
    assert len(deep.lines) == runs.sizes["beta"] * (runs.sizes["replicate"] + 2)
    assert all(is_stored(line, stored) for line in deep.lines)


def test_dots_are_measured_and_dashes_are_predicted(panels, runs):
    deep, _ = panels
    split = runs.sel(arithmetic="split")
    dashed = [line for line in deep.lines if line.get_linestyle() == "--"]
    assert len(dots(deep)) == len(dashed) == runs.sizes["beta"]
    assert all(is_stored(line, split[RATIO].values) for line in dots(deep))
    assert all(is_stored(line, split["log10_predicted_ratio"].values) for line in dashed)


def test_dots_and_dashes_are_of_the_replicate_in_the_middle(panels, runs):
    deep, _ = panels
    for dot, beta in zip(dots(deep), runs["beta"].values, strict=True):
        run = middle(runs.sel(beta=beta))
        others = runs["slem"].sel(arithmetic="split", beta=beta).values
        assert (others < float(run["slem"].sel(arithmetic="split"))).sum() == len(others) // 2
        assert is_stored(dot, run[RATIO].sel(arithmetic="split").values)


def test_every_arithmetic_of_the_near_panel_is_stored(panels, runs):
    _, near = panels
    curves = [line for line in near.lines if len(line.get_xdata()) > 2]
    assert len(curves) == runs.sizes["beta"] * runs.sizes["arithmetic"]
    assert all(is_stored(line, runs[RATIO].values) for line in curves)


def test_each_precision_has_its_stored_floor(panels, runs):
    _, near = panels
    stored = np.unique(runs["log10_rounding_floor"].values)
    floors = [line for line in near.lines if len(line.get_xdata()) == 2]
    heights = sorted(line.get_ydata()[0] for line in floors)
    assert_array_equal(heights, stored[np.isfinite(stored)])
    assert words(near).count("floor") == len(heights) == 2


def test_a_floor_lies_below_what_its_precision_reaches(runs):
    """The figure draws it as a bound; the data must obey it."""
    naive = runs.sel(arithmetic=["float32", "float64"])
    assert (naive[RATIO] > naive["log10_rounding_floor"]).all()


def test_lines_are_named_at_their_ends(panels, runs):
    deep, near = panels
    names = {f"β = {beta:g}" for beta in runs["beta"].values}
    assert names <= set(words(deep))
    assert names | {"float32", "float64", "split"} <= set(words(near))


def test_an_ordered_parameter_takes_tints_of_one_idea(panels):
    deep, near = panels
    colours = [to_hex(line.get_color()) for line in dots(deep)]
    assert len(set(colours)) == len(colours)
    assert colours[-1].upper() == PAPER.attention
    assert set(colours) == {to_hex(line.get_color()) for line in near.lines if len(drawn(line)) > 2}


@pytest.mark.parametrize("panel", [0, 1])
def test_axis_text_comes_from_the_cards(runs, panel):
    other = relabelled(runs, "layer", long_name="storey")
    other = relabelled(
        other, RATIO, long_name="decimal logarithm of the share", symbol=r"\log_{10}s"
    )
    ax = decay({"dc-limit": other}, PAPER).axes[panel]
    assert ax.get_xlabel() == "storey  $t$"
    assert ax.get_ylabel() == "share  $s$"


def test_stored_logarithms_are_read_as_powers_of_ten(panels):
    labels = [panels[0].yaxis.get_major_formatter()(value, 0) for value in (0.0, 1.0, -20.0)]
    assert labels == ["1", "10", "$10^{-20}$"] == [typeset_power(i) for i in (0, 1, -20)]


def test_every_finite_mark_of_the_counterexamples_is_a_stored_number(flat, cases):
    finite = cases[RATIO].values[np.isfinite(cases[RATIO].values).all(axis=(1, 2))]
    beyond = flat.get_ylim()[1] - 0.2
    within = [line for line in flat.lines if line.get_ydata()[0] < beyond - 1e-9]
    assert len(within) == len(finite) * (cases.sizes["replicate"] + 2)
    assert all(is_stored(line, finite) for line in within)


def test_an_infinite_ratio_lies_above_a_broken_axis(flat, cases):
    infinite = np.isposinf(cases[RATIO].values).all(axis=(1, 2)).sum()
    finite = cases[RATIO].values[np.isfinite(cases[RATIO].values)]
    _, broken = flat.spines["left"].get_bounds()
    above = [line for line in flat.lines if line.get_ydata()[0] > broken]
    assert infinite == 1
    assert finite.max() < broken
    assert len(above) == 2
    assert max(flat.get_yticks()) <= broken
    assert "∞" in words(flat)


def test_every_case_is_named(flat, cases):
    assert set(cases["case"].values) <= set(words(flat))


def test_counterexamples_without_an_infinite_one_keep_their_axis_whole(cases):
    finite = cases.sel(case=["two blocks", "second mode"])
    figure = counterexamples({"counterexamples": finite}, PAPER)
    assert_clean(figure)
    assert figure.axes[0].spines["left"].get_bounds() is None
    assert "∞" not in words(figure.axes[0])


def test_axis_text_of_the_counterexamples_comes_from_the_cards(cases):
    other = relabelled(cases, RATIO, long_name="share", symbol="s")
    (ax,) = counterexamples({"counterexamples": other}, PAPER).axes
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("layer  $t$", "share  $s$")
