"""Three filters and their distances, as they are stored."""

import numpy as np
import pytest
from matplotlib.colors import to_hex
from numpy.testing import assert_array_equal

from lowpass.figures.bridge import FASTEST, FINDINGS, bridge, nearest, sparse
from lowpass.figures.palette import PAPER

from .exhibits import drawn, experiment

WAYS = {
    PAPER.attention: ("smoother_gain", "ring_symbol"),
    PAPER.diffusion: ("heat_gain", "heat_symbol"),
    PAPER.residual: ("step_gain", "step_symbol"),
}
PAIRS = {
    PAPER.attention: ("grid_distance", "grid_bound"),
    PAPER.diffusion: ("heat_distance", "heat_limit"),
    PAPER.residual: ("step_distance", None),
    PAPER.remedy: ("layers_distance", "layers_limit"),
}


@pytest.fixture(scope="module")
def runs(shared_laboratory):
    return experiment(shared_laboratory, "bridge")


@pytest.fixture(scope="module")
def panels(runs):
    return bridge({"bridge": runs}, PAPER).axes


def in_colour(panel, colour, marker):
    """Find the lines of a colour, dots or dashes."""
    return [
        drawn(line)
        for line in panel.lines
        if to_hex(line.get_color()).upper() == colour and line.get_marker() == marker
    ]


@pytest.mark.parametrize(("panel", "bandwidth"), [*enumerate(FINDINGS)])
@pytest.mark.parametrize("colour", WAYS)
def test_dots_are_measured_and_dashes_in_closed_form(panel, bandwidth, colour, panels, runs):
    one = nearest(runs, bandwidth).sel(smoothing_kernel="gaussian")
    x = one["scaled_frequency"].values
    for marker, name in zip(("o", "None"), WAYS[colour], strict=True):
        (line,) = in_colour(panels[panel], colour, marker)
        place = np.searchsorted(x, line[:, 0])
        assert_array_equal(line, np.stack([x, one[name].values], axis=1)[place])
        # A curve ends at the fastest wave, or beyond the panel.
        assert line[-1, 0] == x[-1] or line[-1, 0] > FASTEST - 0.4


@pytest.mark.parametrize("panel", range(len(FINDINGS)))
def test_the_band_is_the_gaussian_of_a_line(panel, panels, runs):
    one = nearest(runs, list(FINDINGS)[panel]).sel(smoothing_kernel="gaussian")
    (_, band) = in_colour(panels[panel], PAPER.faint, "None")
    assert_array_equal(band[:, 1], one["kernel_symbol"].values[: len(band)])


@pytest.mark.parametrize("colour", PAIRS)
def test_distances_are_stored_over_the_bandwidth(colour, panels, runs):
    two = runs.sel(smoothing_layers=2)
    for marker, name in zip(("o", "None"), PAIRS[colour], strict=True):
        lines = in_colour(panels[3], colour, marker)
        assert len(lines) == (name is not None)
        if name:
            wanted = np.stack([runs["relative_bandwidth"].values, two[name].values], axis=1)
            assert_array_equal(lines[0], wanted)


def test_dots_keep_their_distance_and_end_with_the_last():
    x = np.linspace(0, 3, 301)
    places = sparse(x, 0.5, 0.1)
    assert_array_equal(x[places[:-1]], x[np.searchsorted(x, np.arange(0.1, 2.75, 0.5))])
    assert places[-1] == 300
