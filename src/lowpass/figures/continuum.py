"""What one layer generates as its bandwidth shrinks, beside the equations it may tend to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from lowpass.figures.marks import draw_measured, draw_theory
from lowpass.figures.names import FIGURES
from lowpass.figures.palette import PAPER, Palette
from lowpass.figures.style import axis_text, canvas, end_labels, head, look
from lowpass.figures.typesetting import typeset

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# So many of the tokens on half a circle are drawn as dots.
DOTS = 14
FINDINGS = {
    "softmax": "Softmax drifts twice",
    "sinkhorn": "Sinkhorn drifts once",
    "density_corrected": "Corrected for density: heat",
}
NAMES = {"softmax": "softmax", "sinkhorn": "Sinkhorn", "density_corrected": "corrected"}


@FIGURES.add(
    "continuum",
    experiments=("continuum",),
    section="continuum",
    caption="One layer of attention between tokens on a circle that are denser around θ = 0. "
    "(a) What it changes of f = cos θ, divided by h²/2, at the smallest bandwidth h: dots are "
    "attention under three normalisations, dashes the operators f″ + c (log p)′ f′ with c = 2, 1 "
    "and 0 for a density p. (b) to (d) The relative distance of each from each operator, over the "
    "bandwidth. That of its own falls as h², the two others stay.",
)
def continuum(shown: Mapping[str, xr.Dataset], palette: Palette = PAPER) -> Figure:
    """Draw three generators over the circle, and their errors over the bandwidth."""
    runs = shown["continuum"]
    runs = runs.sel(modulation=runs["modulation"].max()).isel(replicate=0)
    with look(palette):
        figure, (field, *errors) = canvas(
            "page",
            2.35,
            palette,
            panels=(1, 4),
            gaps=(0.5, 0.72),
            margins={"left": 0.56, "right": 0.4},
            ratios=(1.75, 1, 1, 1),
        )
        draw_generators(field, runs, palette)
        for ax, letter, kernel in zip(errors, "bcd", FINDINGS, strict=True):
            draw_errors(ax, runs.sel(kernel=kernel), palette)
            head(ax, letter, FINDINGS[kernel])
        for ax in errors[1:]:
            ax.set(ylabel="", yticklabels=[])
    return figure


def colour_of(palette: Palette) -> dict[float, str]:
    """Map the weight of a drift to a colour, which is also that of the kernel that has it."""
    return {2.0: palette.attention, 1.0: palette.remedy, 0.0: palette.diffusion}


def draw_generators(ax: Axes, runs: xr.Dataset, palette: Palette) -> None:
    """Draw what each kernel makes of cos θ on its operator, from θ = 0 to π."""
    sharp = runs.isel(beta=-1, feature=0)
    half = sharp.isel(token=sharp["angle"].isel(kernel=0).values > 0)
    ends = []
    some = half.isel(token=slice(None, None, max(1, half.sizes["token"] // DOTS)))
    for kernel, (drift, colour) in zip(FINDINGS, colour_of(palette).items(), strict=True):
        line = half["limit_generator"].sel(drift=drift).isel(kernel=0)
        draw_theory(ax, half["angle"].isel(kernel=0).values, line.values, colour)
        dots = some.sel(kernel=kernel)
        draw_measured(ax, dots["angle"].values, dots["layer_generator"].values, colour)
        last = half.sel(kernel=kernel).isel(token=-1)
        ends.append((float(last["angle"]), float(last["layer_generator"]), NAMES[kernel], colour))
    ax.set_xlabel(axis_text(sharp["angle"]))
    ax.set_xticks([0, np.pi / 2, np.pi], ["0", "π/2", "π"])
    # Beyond π there is room for names.
    ax.set_xlim(-0.06, 1.42 * np.pi)
    ax.set_ylabel(axis_text(sharp["layer_generator"]))
    head(ax, "a", "Three kernels make three equations of one circle")
    end_labels(ax, ends)


def draw_errors(ax: Axes, run: xr.Dataset, palette: Palette) -> None:
    """Draw the distance from each operator over the bandwidth, which shrinks to the right."""
    width = run["kernel_width"].values
    ends = []
    for drift, colour in colour_of(palette).items():
        error = run["generator_error"].sel(drift=drift)
        ax.plot(width, error.values, color=colour, linewidth=0.8)
        draw_measured(ax, width, error.values, colour)
        ends.append((width[-1], float(error[-1]), typeset(f"c = {drift:g}"), colour))
    ax.set(xscale="log", yscale="log", xlim=(width.max() * 1.2, width.min() / 1.2))
    ax.set_ylim(5e-4, 1.4)
    ax.set_xticks(width, [f"{each:g}".removeprefix("0") for each in width])
    ax.minorticks_off()
    ax.set_xlabel(axis_text(run["kernel_width"]))
    ax.set_ylabel(axis_text(run["generator_error"]))
    end_labels(ax, ends)
