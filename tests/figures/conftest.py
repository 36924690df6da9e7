"""One figure that uses every part of the style."""

import numpy as np
import pytest

from lowpass.figures.marks import draw_measured, draw_theory
from lowpass.figures.palette import NIGHT, PAPER, depth_colours
from lowpass.figures.style import canvas, depth_axis, end_labels, head, look

LAYERS = [0, 1, 2, 4, 8, 16, 64, 400]


@pytest.fixture(params=[PAPER, NIGHT], ids=lambda palette: palette.name)
def palette(request):
    return request.param


@pytest.fixture
def demo(palette):
    """Draw five decays that end close together, and eight responses coloured by depth."""
    with look(palette):
        figure, (decay, response) = canvas("page", 2.5, palette, panels=(1, 2))
        _draw_decay(decay, palette)
        _draw_response(response, palette)
    return figure


def _draw_decay(ax, palette):
    colours = [palette.attention, palette.diffusion, palette.residual, palette.remedy, palette.ink]
    rates = [0.55, 0.6, 0.9, 0.92, 0.58]
    names = ["attention", "diffusion", "residual", "λ̃ = 2", "|λ₂|ᵗ"]
    layer = np.arange(41)
    for rate, colour in zip(rates, colours, strict=True):
        draw_theory(ax, layer, rate**layer, colour)
        draw_measured(ax, layer[::8], rate ** layer[::8], colour)
    ax.set_yscale("log")
    ax.set_xlabel("layer  $t$")
    ax.set_ylabel("transient ratio")
    head(ax, "a", "Only the mean survives, at the rate of the second eigenvalue λ₂")
    ends = [(40, rate**40, *pair) for rate, *pair in zip(rates, names, colours, strict=True)]
    end_labels(ax, ends)


def _draw_response(ax, palette):
    frequency = np.linspace(0, np.pi, 60)
    for layer, colour in zip(LAYERS, depth_colours(LAYERS, palette), strict=True):
        ax.plot(frequency, np.exp(-(frequency**2) * layer / 8), color=colour)
    ax.set_ylim(0, 1.4)
    ax.set_xlabel(r"frequency  $\omega$")
    ax.set_ylabel("gain")
    head(ax, "b", "Depth is a narrower filter")
    depth_axis(ax, LAYERS, palette)
