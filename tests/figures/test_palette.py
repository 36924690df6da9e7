"""Colours that every reader can tell apart."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose

from lowpass.figures.palette import NIGHT, PAPER, depth_colours, tints
from lowpass.registry import Refusal

IDEAS = ["attention", "diffusion", "residual", "remedy"]

# machado2009, table 1, severity 1, for linear RGB.
SIGHT = {
    "normal": np.eye(3),
    "protan": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "deutan": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
    "tritan": np.array(
        [
            [1.255528, -0.076749, -0.178779],
            [-0.078411, 0.930809, 0.147602],
            [0.004733, 0.691367, 0.303900],
        ]
    ),
}
# Ottosson 2020: linear RGB to cone responses, and their cube roots to OKLab.
TO_CONES = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
TO_OKLAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)
LUMINANCE = np.array([0.2126, 0.7152, 0.0722])


def linear(colour):
    """Undo the transfer function of sRGB."""
    channels = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)


def oklab(colour, sight="normal"):
    """Give lightness and the two opponent axes, as one kind of sight has them."""
    return TO_OKLAB @ np.cbrt(TO_CONES @ np.clip(SIGHT[sight] @ linear(colour), 0, 1))


def contrast(one, other):
    """Give the contrast ratio of the Web Content Accessibility Guidelines."""
    dark, light = sorted(LUMINANCE @ linear(colour) for colour in (one, other))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("sight", SIGHT)
@pytest.mark.parametrize(("one", "other"), list(itertools.combinations(IDEAS, 2)))
def test_two_ideas_stay_apart_for_every_sight(palette, sight, one, other):
    gap = oklab(getattr(palette, one), sight) - oklab(getattr(palette, other), sight)
    assert 100 * np.linalg.norm(gap) >= 13


@pytest.mark.parametrize("role", [*IDEAS, "ink", "quiet"])
def test_what_carries_meaning_stands_out_from_the_ground(palette, role):
    assert contrast(getattr(palette, role), palette.ground) >= 3


def test_lightness_of_the_depth_map_falls_evenly(palette):
    lightness = np.array([oklab(stop)[0] for stop in palette.depth_map])
    # Stops are rounded to 8 bits, about 0.002 in lightness.
    assert_allclose(np.diff(lightness), np.diff(lightness).mean(), atol=0.003)
    assert lightness[-1] < lightness[0] - 0.3


def test_every_layer_shows_on_its_ground(palette):
    assert min(contrast(stop, palette.ground) for stop in palette.depth_map) > 1.7


def test_the_signed_map_is_the_ground_at_zero_and_cold_below(palette):
    below, _, zero, _, above = palette.signed_map
    assert zero == palette.ground
    assert oklab(below)[2] < 0 < oklab(above)[2]


def test_a_palette_has_one_colour_per_role(palette):
    roles = [*IDEAS, "ink", "quiet", "faint", "ground"]
    assert len({getattr(palette, role) for role in roles}) == len(roles)
    assert (palette.holds, palette.fails) == (palette.attention, palette.diffusion)


def test_white_is_white_and_grey_stays_grey():
    """The matrices keep the neutral axis, which a mistyped digit would not."""
    assert_allclose(oklab("#FFFFFF"), [1, 0, 0], atol=1e-7)
    for matrix in SIGHT.values():
        assert_allclose(matrix.sum(axis=1), 1, atol=2e-6)  # six digits are published
    assert contrast("#000000", "#FFFFFF") == pytest.approx(21)


def test_depth_is_logarithmic_and_ends_at_the_stops():
    # log(1 + layer) of these is evenly spaced, as the six stops are.
    layers = [2**k - 1 for k in range(6)]
    assert depth_colours(layers) == list(PAPER.depth_map)
    assert depth_colours(layers, NIGHT) == list(NIGHT.depth_map)
    assert depth_colours([0]) == [PAPER.depth_map[0]]
    assert depth_colours([]) == []


def test_tints_are_even_steps_from_the_ground_to_the_colour(palette):
    shades = np.array([[int(t[i : i + 2], 16) for i in (1, 3, 5)] for t in _five(palette)])
    ground = np.array([int(palette.ground[i : i + 2], 16) for i in (1, 3, 5)])
    steps = np.diff(shades, axis=0)
    assert _five(palette)[-1] == palette.attention
    assert np.abs(steps - steps.mean(axis=0)).max() <= 1  # 8-bit rounding
    assert (np.diff(np.linalg.norm(shades - ground, axis=1)) > 0).all()


def _five(palette):
    return tints(palette.attention, 5, palette)


def test_a_single_value_keeps_the_colour():
    assert tints(PAPER.remedy, 1) == [PAPER.remedy]


def test_refuses_no_tints():
    with pytest.raises(Refusal, match="0 tints were asked for"):
        tints(PAPER.ink, 0)


def test_refuses_layers_before_the_input():
    with pytest.raises(Refusal, match=r"layers \[0, -1\] include a negative one"):
        depth_colours([0, -1])
