"""Gains of six kernels and their lobes, as they are stored."""

import numpy as np
import pytest
from matplotlib.colors import to_hex
from numpy.testing import assert_array_equal

from lowpass.figures.bridge import nearest
from lowpass.figures.lobes import LOBED, LOW_PASS, WIDE, coloured, lobes
from lowpass.figures.palette import PAPER

from .exhibits import drawn, experiment

GROUPS = [(0, LOW_PASS), (1, LOBED)]
EVERY = [(panel, group, kernel) for panel, group in GROUPS for kernel in group]


@pytest.fixture(scope="module")
def runs(shared_laboratory):
    return experiment(shared_laboratory, "bridge")


@pytest.fixture(scope="module")
def panels(runs):
    return lobes({"bridge": runs}, PAPER).axes


def in_colour(panel, colour, marker):
    """Find the lines of a colour, dots or no dots."""
    return [
        drawn(line)
        for line in panel.lines
        if to_hex(line.get_color()).upper() == colour and line.get_marker() == marker
    ]


@pytest.mark.parametrize(("panel", "group", "kernel"), EVERY)
def test_dots_are_measured_and_dashes_the_transform(panel, group, kernel, panels, runs):
    wide = nearest(runs, WIDE).sel(smoothing_kernel=kernel)
    x = wide["scaled_frequency"].values
    for marker, name in (("o", "smoother_gain"), ("None", "kernel_symbol")):
        (line,) = in_colour(panels[panel], coloured(PAPER, group)[kernel], marker)
        place = np.searchsorted(x, line[:, 0])
        assert_array_equal(line, np.stack([x, wide[name].values], axis=1)[place])


@pytest.mark.parametrize(("panel", "group", "kernel"), EVERY)
def test_the_lowest_gains_are_stored(panel, group, kernel, panels, runs):
    run = runs.sel(smoothing_kernel=kernel)
    colour = coloured(PAPER, group)[kernel]
    (dots,) = in_colour(panels[2], colour, "o")
    h = runs["relative_bandwidth"].values
    assert_array_equal(dots, np.stack([h, run["lowest_gain"].values], axis=1))
    dashes = [line for line in in_colour(panels[2], colour, "None") if len(line) == 2]
    assert len(dashes) == (group == LOBED)
    for line in dashes:
        assert_array_equal(line[:, 1], float(run["lowest_symbol"]))
