"""Distances of layers from equations, as they are stored."""

import numpy as np
import pytest
from matplotlib.markers import TICKLEFT
from numpy.testing import assert_array_equal

from lowpass.claims.steps import QUARTER, at_matched_time
from lowpass.figures.palette import PAPER
from lowpass.figures.steps import steps

from .exhibits import drawn, experiment

NAMES = ("euler-step", "euler", "to-continuum")


@pytest.fixture(scope="module")
def shown(shared_laboratory):
    return {name: experiment(shared_laboratory, name) for name in NAMES}


@pytest.fixture(scope="module")
def panels(shown):
    return steps(shown, PAPER).axes


def curves(shown) -> list[dict]:
    """Give what each panel shows, by name: (place, replicate)."""
    one = shown["euler-step"].sel(layers="recomputed", values="random").isel(recorded_layer=-1)
    plain = one.sel(strength=0)
    many = shown["euler"].sel(layers="recomputed").isel(recorded_layer=-1)
    circle = at_matched_time(shown["to-continuum"], QUARTER).isel(sublayers=-1)
    frozen, moving = (circle.sel(layers=name) for name in ("frozen", "recomputed"))
    few, most = (f"n = {n}" for n in circle["n_tokens"].values)
    every = [
        {
            "note": plain["note_flow_error"].sel(integrator="euler"),
            "quotient": plain["quotient_error"].sel(integrator="dop853"),
            "own flow": plain["flow_error"].sel(integrator="euler"),
        },
        {
            "note": many["note_flow_error"].sel(strength=0),
            "remedied, note": many["note_flow_error"].sel(strength=1),
            "own flow": many["flow_error"].sel(strength=0),
        },
        {
            few: frozen["heat_equation_error"].isel(n_tokens=0),
            most: frozen["heat_equation_error"].isel(n_tokens=-1),
            "recomputed, heat": moving["heat_equation_error"].isel(n_tokens=-1),
            "recomputed, curve": moving["curve_shortening_error"].isel(n_tokens=-1),
        },
    ]
    axes = ("step", "sublayers", "beta")
    return [
        {name: values.transpose(axis, "replicate") for name, values in each.items()}
        for each, axis in zip(every, axes, strict=True)
    ]


def test_ticks_are_replicates_and_dots_are_the_middle_ones(panels, shown):
    for ax, lines in zip(panels, curves(shown), strict=True):
        dots = [drawn(line) for line in ax.lines if line.get_marker() == "o"]
        ticks = {
            tuple(drawn(line)[:, 1]) for line in ax.lines if line.get_marker() in ("_", TICKLEFT)
        }
        middle = {
            tuple(np.sort(values, axis=1)[:, values.shape[1] // 2]) for values in lines.values()
        }
        assert {tuple(dot[:, 1]) for dot in dots} == middle
        assert ticks == {tuple(column) for each in lines.values() for column in each.values.T}


def test_each_line_is_named_at_its_thinnest_layers(panels, shown):
    for ax, lines in zip(panels, curves(shown), strict=True):
        assert set(lines) <= {text.get_text() for text in ax.texts}
        across = next(iter(lines.values()))
        for line in ax.lines:
            assert_array_equal(drawn(line)[:, 0], across[across.dims[0]].values)
    assert panels[0].xaxis_inverted()


def test_one_kind_of_replicates_stands_to_the_left_of_the_others(panels, shown):
    left = {tuple(drawn(line)[:, 1]) for line in panels[1].lines if line.get_marker() == TICKLEFT}
    assert left == {tuple(column) for column in curves(shown)[1]["own flow"].values.T}


def test_one_colour_is_one_thing(panels):
    named = [{text.get_text(): text.get_color() for text in ax.texts} for ax in panels]
    assert named[0]["own flow"] == named[1]["own flow"]
    assert named[0]["note"] == named[1]["note"]
    assert PAPER.ink not in [line.get_color() for ax in panels[1:] for line in ax.lines]


def test_fewer_tokens_that_are_nearer_to_heat_are_said_to_be_so_by_accident(shown):
    circle = shown["to-continuum"].copy(deep=True)
    for factor, notes in ((1e-3, 1), (1e3, 0)):
        spoilt = circle.copy(deep=True)
        spoilt["heat_equation_error"][{"n_tokens": 0}] *= factor
        ax = steps({**shown, "to-continuum": spoilt}, PAPER).axes[2]
        texts = [text for text in ax.texts if text.get_text() == "errors cancel"]
        assert len(texts) == notes
        dots = np.concatenate([drawn(line) for line in ax.lines if line.get_marker() == "o"])
        if notes:
            assert_array_equal(texts[0].xy, dots[dots[:, 1].argmin()])


def test_axis_text_comes_from_the_cards(panels):
    assert panels[0].get_xlabel() == "step of a layer  $h$"
    assert panels[2].get_xlabel().startswith("inverse temperature")


def test_other_times_leave_the_circle_out(shown):
    """A configuration may stop before the time at which circles are compared."""
    short = shown["to-continuum"].isel(recorded_layer=slice(2))
    ax = steps({**shown, "to-continuum": short}, PAPER).axes[2]
    assert len(ax.lines) == 0
