"""The response of attention on a circle beside that of heat."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from lowpass.figures.attention import shades, typeset_power
from lowpass.figures.marks import annotate, draw_measured, draw_theory
from lowpass.figures.names import FIGURES
from lowpass.figures.palette import PAPER, Palette
from lowpass.figures.style import TICK, axis_text, canvas, head, look

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Below a quarter of the number of tokens aliasing does not reach.
SHARE = 4
LEAST, MOST = 3e-18, 3.0
# Where each curve is named: high enough to be drawn there, low enough to be apart.
NAMED_AT, HEAT_NAMED_AT = 1e-8, 1e-12


@FIGURES.add(
    "response",
    experiments=("circle",),
    section="circle",
    caption="The gain of a Fourier mode with k periods under one layer of attention between tokens "
    "on a circle, at several inverse temperatures β. Dots are measured; blue dashes are the ratio "
    "of Bessel functions that a dense circle has; ochre dashes are the heat equation after the "
    "time 1/(2β), which attention tends to as β grows. Rounding ends what can be measured.",
)
def response(shown: Mapping[str, xr.Dataset], palette: Palette = PAPER) -> Figure:
    """Draw measured gains on their two closed forms."""
    with look(palette):
        figure, (ax,) = canvas("column", 2.4, palette, margins={"left": 0.58, "right": 0.12})
        draw_response(ax, shown["circle"], palette)
    return figure


def draw_response(ax: Axes, runs: xr.Dataset, palette: Palette, letter: str = "") -> None:
    """Draw the gains of the frequencies that do not alias."""
    few = runs.isel(replicate=0, frequency=slice(runs.sizes["frequency"] * 2 // SHARE + 1))
    k = few["frequency"].values
    ax.set(yscale="log", ylim=(LEAST, MOST), xlim=(-0.4, k[-1] + 0.4))
    ax.yaxis.set_major_formatter(lambda value, _: typeset_power(round(np.log10(value))))
    for beta, colour in zip(few["beta"].values, shades(few, palette), strict=True):
        run = few.sel(beta=beta)
        draw_theory(ax, k, run["gaussian_gain"].values, palette.diffusion)
        draw_theory(ax, k, run["bessel_gain"].values, colour)
        draw_measured(ax, k, run["input_mode_gain"].values, colour)
        name_curve(ax, run, f"β = {beta:g}", colour)
    name_heat(ax, few, palette)
    ax.set_xlabel(axis_text(few["frequency"]))
    ax.set_ylabel(axis_text(few["input_mode_gain"]))
    head(ax, letter, "A sharper softmax is nearer to heat")


def name_curve(ax: Axes, run: xr.Dataset, text: str, colour: str) -> None:
    """Write a curve's name to the right of where it passes a height, or of its end."""
    gain = run["bessel_gain"].values
    last = np.flatnonzero(gain >= NAMED_AT)[-1]
    ends = last == len(gain) - 1
    ax.annotate(
        text,
        (run["frequency"].values[last], gain[last]),
        (3, 8) if ends else (5, 2),
        textcoords="offset points",
        color=colour,
        fontsize=TICK,
        ha="right" if ends else "left",
        va="bottom" if ends else "center_baseline",
        annotation_clip=False,
    )


def name_heat(ax: Axes, runs: xr.Dataset, palette: Palette) -> None:
    """Name the closed form of heat to the left of its first curve, where nothing else is."""
    run = runs.isel(beta=0)
    last = np.flatnonzero(run["gaussian_gain"].values >= HEAT_NAMED_AT)[-1]
    ax.annotate(
        "heat",
        (float(run["frequency"][last]), float(run["gaussian_gain"][last])),
        (-2, -2),
        textcoords="offset points",
        color=palette.diffusion,
        fontsize=TICK,
        ha="right",
        va="center_baseline",
    )
    noise = float(runs["input_mode_gain"].isel(beta=0, frequency=-1))
    annotate(ax, "rounding", (float(runs["frequency"][-1]), noise), (-2, 6), palette)
