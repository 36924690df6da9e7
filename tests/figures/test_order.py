"""Gains of frequencies, as they are stored."""

import pytest

from lowpass.figures.order import order
from lowpass.figures.palette import PAPER

from .exhibits import drawn, experiment

SHOWN = ("order-tokens", "order-circle", "order-neighbours")


@pytest.fixture(scope="module")
def shown(shared_laboratory):
    return {name: experiment(shared_laboratory, name) for name in SHOWN}


@pytest.fixture
def panels(shown):
    return order(shown, PAPER).axes


def lines_of(ax, marker):
    return [drawn(line) for line in ax.lines if line.get_marker() == marker]


def test_every_mark_is_a_stored_gain(panels, shown):
    circle = shown["order-circle"]["input_mode_gain"]
    dots = [
        shown["order-tokens"]["input_mode_gain"].sel(case="independent", replicate=0),
        shown["order-tokens"]["input_mode_gain"].sel(case="smooth", replicate=0),
        circle.sel(case="in order", replicate=0),
        shown["order-neighbours"]["input_mode_gain"].sel(replicate=0),
    ]
    for ax, stored in zip(panels, dots, strict=True):
        (line,) = lines_of(ax, "o")
        assert line.T.tolist() == [stored["frequency"].values.tolist(), stored.values.tolist()]
    ticks = [line[:, 1].tolist() for line in lines_of(panels[2], "_")]
    assert ticks == circle.sel(case="renumbered").values.tolist()


def test_panels_share_their_scale(panels):
    assert len({ax.get_ylim() for ax in panels}) == 1


def test_axis_text_comes_from_the_cards(shown):
    other = shown["order-tokens"].copy()
    other["input_mode_gain"] = other["input_mode_gain"].assign_attrs(long_name="echo")
    assert order({**shown, "order-tokens": other}, PAPER).axes[0].get_ylabel().startswith("echo")
