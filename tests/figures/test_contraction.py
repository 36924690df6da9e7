"""The ladder of bounds, as it is stored."""

import pytest
from matplotlib.colors import to_hex

from lowpass.figures.contraction import CHAIN, GAINS, MEASURED, bound_ladder, middles
from lowpass.figures.palette import PAPER

from .exhibits import drawn, experiment


@pytest.fixture(scope="module")
def runs(shared_laboratory):
    return experiment(shared_laboratory, "bounds")


@pytest.fixture
def panels(runs):
    return bound_ladder({"bounds": runs}, PAPER).axes


def some(runs):
    return runs.isel(n_tokens=runs.sizes["n_tokens"] // 2)


def heights(ax, marker):
    lines = [line for line in ax.lines if line.get_marker() == marker]
    return [drawn(line)[:, 1].tolist() for line in lines]


@pytest.mark.parametrize(("panel", "rungs"), [(0, CHAIN), (1, GAINS)])
def test_every_tick_is_a_stored_number_of_a_replicate(panels, runs, panel, rungs):
    stored = [
        run for name, *_ in rungs for run in some(runs)[name].transpose("replicate", "beta").values
    ]
    assert heights(panels[panel], "_") == [run.tolist() for run in stored]


@pytest.mark.parametrize(("panel", "rungs"), [(0, CHAIN), (1, GAINS)])
def test_every_dot_is_the_replicate_in_the_middle(panels, runs, panel, rungs):
    dots = heights(panels[panel], "o")
    assert dots == [middles(some(runs)[name]) for name, *_ in rungs]
    for (name, *_), row in zip(rungs, dots, strict=True):
        for beta, height in zip(runs["beta"].values, row, strict=True):
            values = some(runs)[name].sel(beta=beta).values
            assert height in values
            assert (values < height).sum() <= len(values) // 2 <= (values <= height).sum()


@pytest.mark.parametrize(("panel", "rungs"), [(0, CHAIN), (1, GAINS)])
def test_what_is_measured_is_solid_and_bounds_are_dashed(panels, panel, rungs):
    curves = [line for line in panels[panel].lines if len(drawn(line)) > 2]
    curves = [line for line in curves if line.get_marker() == "None"]
    styles = [line.get_linestyle() for line in curves]
    assert styles == ["-" if name in MEASURED else "--" for name, *_ in rungs]


@pytest.mark.parametrize(("panel", "rungs"), [(0, CHAIN), (1, GAINS)])
def test_every_rung_is_named_at_its_end(panels, panel, rungs):
    named = [text.get_text() for text in panels[panel].texts]
    assert len(named) >= len(rungs)
    assert {text for _, text, _ in rungs if text.isalpha()} <= set(named)


def test_the_bound_that_shows_nothing_has_the_colour_of_what_fails(panels):
    last = [line for line in panels[1].lines if line.get_marker() == "o"][-1]
    assert to_hex(last.get_color()).upper() == PAPER.fails


def test_the_panel_says_how_many_tokens_it_shows(panels, runs):
    (said,) = [text.get_text() for text in panels[1].texts if text.get_text().startswith("n =")]
    assert said == f"n = {int(some(runs)['n_tokens'])}"


def test_axis_text_comes_from_the_cards(runs):
    other = runs.copy()
    other["oscillation_gain"] = runs["oscillation_gain"].assign_attrs(long_name="sway", symbol="w")
    left, right = bound_ladder({"bounds": other}, PAPER).axes
    assert left.get_ylabel() == "sway  $w$"
    assert left.get_xlabel() == right.get_xlabel() == r"inverse temperature  $\beta$"
