"""How fast attention mixes between its two bounds, and what a layer can enlarge."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from lowpass.figures.attention import name_powers, rank_middle, shades
from lowpass.figures.marks import draw_interval, draw_measured, draw_replicates
from lowpass.figures.names import FIGURES
from lowpass.figures.palette import PAPER, Palette
from lowpass.figures.style import axis_text, canvas, end_labels, head, look

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DOTS = 12


@FIGURES.add(
    "mixing",
    experiments=("mixing",),
    section="mixing",
    caption="(a) The largest total-variation distance of a token's distribution after t layers "
    "from the stationary one, for reversible softmax attention at several inverse temperatures β; "
    "dots are the replicate whose |λ₂| ranks in the middle, fills reach from its lower to its "
    "upper bound. (b) The largest factor by which one layer enlarges the high-frequency component, "
    "over all starts, for softmax and for Sinkhorn attention of the same scores; ticks are "
    "replicates, dots the one that ranks in the middle, and the grey line is one.",
)
def mixing(shown: Mapping[str, xr.Dataset], palette: Palette = PAPER) -> Figure:
    """Draw envelopes, and gains of two kernels."""
    runs = shown["mixing"]
    with look(palette):
        figure, (envelope, gains) = canvas(
            "page", 2.5, palette, panels=(1, 2), gaps=(0.95, 0.5), margins={"left": 0.58}
        )
        draw_envelope(envelope, runs.sel(kernel="softmax"), palette)
        draw_gains(gains, runs, palette)
    return figure


def draw_envelope(ax: Axes, runs: xr.Dataset, palette: Palette, letter: str = "a") -> None:
    """Draw the distance of one replicate for each β, between its bounds."""
    layer, ends = runs["layer"].values, []
    some = slice(None, None, max(1, (len(layer) - 1) // DOTS))
    for beta, colour in zip(runs["beta"].values, shades(runs, palette), strict=True):
        run = runs.sel(beta=beta)
        run = run.isel(replicate=rank_middle(run["slem"].values))
        distance = run["log10_mixing_distance"].values
        low, high = run["log10_mixing_lower"].values, run["log10_mixing_upper"].values
        draw_interval(ax, layer, low, high, colour)
        draw_measured(ax, layer[some], distance[some], colour)
        ends.append((layer[-1], distance[-1], f"β = {beta:g}", colour))
    ax.set_xlabel(axis_text(runs["layer"]))
    name_powers(ax, runs["log10_mixing_distance"])
    head(ax, letter, "Two numbers bound how fast tokens mix")
    end_labels(ax, ends)


def draw_gains(ax: Axes, runs: xr.Dataset, palette: Palette, letter: str = "b") -> None:
    """Draw the gains of every replicate, kernel beside kernel."""
    colours = {"softmax": palette.fails, "sinkhorn": palette.holds}
    kernels = [name for name in colours if name in runs["kernel"].values]
    ax.axhline(1, color=palette.quiet, linewidth=0.5, zorder=1)
    for place, kernel in enumerate(kernels):
        at = len(runs["beta"]) * place + np.arange(len(runs["beta"]))
        gain = runs["hc_gain"].sel(kernel=kernel).transpose("replicate", "beta").values
        draw_replicates(ax, at, gain, colours[kernel])
        middle = [column[rank_middle(column)] for column in gain.T]
        draw_measured(ax, at, middle, colours[kernel])
    every = [(kernel, beta) for kernel in kernels for beta in runs["beta"].values]
    names = [f"{kernel.capitalize()}\nβ = {beta:g}" for kernel, beta in every]
    ax.set_xticks(range(len(every)), names)
    ax.set_xlim(-0.6, len(every) - 0.4)
    ax.set_ylabel(axis_text(runs["hc_gain"]))
    head(ax, letter, "Sinkhorn attention enlarges nothing")
