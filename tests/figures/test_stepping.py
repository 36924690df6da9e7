"""Errors, gains and growth, as they are stored."""

import pytest

from lowpass.figures.palette import PAPER
from lowpass.figures.stepping import heat_orders, stability

from .exhibits import drawn, experiment


@pytest.fixture(scope="module")
def shown(shared_laboratory):
    return {name: experiment(shared_laboratory, name) for name in ("heat-orders", "stability")}


def lines_of(ax, marker):
    return [drawn(line) for line in ax.lines if line.get_marker() == marker]


def test_errors_and_what_is_left_out_first_are_stored(shown):
    (ax,) = heat_orders(shown, PAPER).axes
    runs = shown["heat-orders"].sel(graph="affinity").isel(replicate=0)
    for line, order in zip(lines_of(ax, "o"), runs["taylor_power"].values, strict=True):
        one = runs.sel(taylor_power=order)
        assert line[:, 0].tolist() == one["heat_reach"].values.tolist()
        assert line[:, 1].tolist() == one["log10_taylor_error"].values.tolist()
    leads = [line[:, 1].tolist() for line in lines_of(ax, "None")]
    stored = runs["log10_taylor_lead"].transpose("taylor_power", "diffusion_time").values
    assert leads == stored.tolist()


def test_gains_of_one_step_are_stored(shown):
    ax = stability(shown, PAPER).axes[0]
    runs = shown["stability"].sel(values="identity").isel(replicate=0)
    dots = [line[:, 1].tolist() for line in lines_of(ax, "o")]
    assert dots == runs["wave_gain"].transpose("diffusion_time", "frequency").values.tolist()


def test_growth_is_stored_beside_its_prediction(shown):
    ax = stability(shown, PAPER).axes[1]
    runs = shown["stability"]
    order = ["identity", "oblique", "quarter_turn"]
    first = runs.isel(replicate=0).sel(values=order).transpose("values", "diffusion_time", ...)
    dots = [line[:, 1].tolist() for line in lines_of(ax, "o")]
    assert dots == first["transient_growth"].values.tolist()
    dashes = [line[:, 1].tolist() for line in lines_of(ax, "None") if len(line) > 2]
    assert dashes == first["mode_gain"].values.tolist()


def test_axis_text_comes_from_the_cards(shown):
    other = shown["stability"].copy()
    other["wave_gain"] = other["wave_gain"].assign_attrs(long_name="echo")
    assert stability({"stability": other}, PAPER).axes[0].get_ylabel().startswith("echo")
