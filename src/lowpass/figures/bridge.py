"""Where both notes meet: one filter in three ways, and how far they part."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from lowpass.figures.marks import annotate, draw_measured, draw_theory
from lowpass.figures.names import FIGURES
from lowpass.figures.palette import PAPER, Palette
from lowpass.figures.style import TICK, axis_text, canvas, head, look
from lowpass.figures.typesetting import typeset

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Bandwidths, in spacings, of which the responses are drawn, and what they show.
FINDINGS = {
    0.5: "h = D/2: three ways, three filters",
    1.0: "h = D: one step turns waves over",
    4.0: "h = 4D: heat and the smoother agree",
}
# Scaled frequencies of the responses, and how far apart the dots of a curve lie on them.
FASTEST, APART = 4.3, 0.33
# What a second vertical axis takes of the figure's width.
WIDER = 0.045


@FIGURES.add(
    "bridge",
    experiments=("bridge",),
    section="bridge",
    caption="What is left of a wave on a ring of tokens that are D apart, over its frequency ω "
    "times a bandwidth h, by a Gaussian smoother of that bandwidth (attention, blue), by heat for "
    "the time τ = h²/2 (ochre), and by one step I − τL of it (green). Dots are measured, dashes "
    "are closed forms, and the grey band is the Gaussian exp(−h²ω²/2) that a line has. A curve "
    "ends at the fastest wave, which alternates from token to token. (a) to (c) Bandwidths below, "
    "at and above the spacing. (d) Largest distances over all waves: heat, and one step, from the "
    "smoother; the smoother from the Gaussian; and two layers of smoothing from one that is √2 "
    "times as wide. Dashes are the predicted leading terms, and a bound for the third.",
)
def bridge(shown: Mapping[str, xr.Dataset], palette: Palette = PAPER) -> Figure:
    """Draw three filters at three bandwidths, then the distances between them."""
    runs = shown["bridge"]
    with look(palette):
        figure, (*responses, apart) = canvas(
            "page",
            2.6,
            palette,
            panels=(1, 4),
            gaps=(0.3, 0.72),
            margins={"left": 0.5, "right": 0.14},
            ratios=(1, 1, 1, 1.42),
        )
        for ax, letter, bandwidth in zip(responses, "abc", FINDINGS, strict=True):
            draw_three(ax, nearest(runs, bandwidth), palette)
            head(ax, letter, FINDINGS[bandwidth])
        responses[0].set_ylabel(axis_text(runs["smoother_gain"]))
        for ax in responses[1:]:
            ax.set_yticklabels([])
        name_ways(responses, palette)
        draw_distances(apart, runs, palette)
        # The last panel has a scale of its own.
        place = apart.get_position()
        apart.set_position((place.x0 + WIDER, place.y0, place.width - WIDER, place.height))
        name_distances(apart, palette)
        head(apart, "d", "Above D, heat is D²/h² off and the smoother exact")
    return figure


def nearest(runs: xr.Dataset, bandwidth: float) -> xr.Dataset:
    """Select the run whose bandwidth, in spacings, is nearest."""
    away = abs(runs["relative_bandwidth"].values - bandwidth)
    return runs.isel(bandwidth=int(away.argmin()))


def sparse(x: np.ndarray, apart: float, first: float) -> np.ndarray:
    """Choose places along ascending numbers that lie so far apart, and the last."""
    wanted = np.arange(first, x[-1] - apart / 2, apart)
    return np.unique([*np.searchsorted(x, wanted), len(x) - 1])


def draw_three(ax: Axes, run: xr.Dataset, palette: Palette) -> None:
    """Draw what one step, heat and a smoother leave of each wave, on what a line has."""
    one = run.sel(smoothing_kernel="gaussian")
    one = one.isel(ring_wave=one["scaled_frequency"].values <= FASTEST + APART)
    x = one["scaled_frequency"].values
    ax.axhline(0, color=palette.faint, linewidth=0.6, zorder=0)
    band = {"color": palette.faint, "linewidth": 4.5, "solid_capstyle": "butt", "zorder": 0.5}
    ax.plot(x, one["kernel_symbol"].values, **band)
    ways = (
        ("step_symbol", "step_gain", palette.residual),
        ("heat_symbol", "heat_gain", palette.diffusion),
        ("ring_symbol", "smoother_gain", palette.attention),
    )
    for place, (theory, measured, colour) in enumerate(ways):
        draw_theory(ax, x, one[theory].values, colour)
        dots = sparse(x, APART, APART * place / len(ways))
        draw_measured(ax, x[dots], one[measured].values[dots], colour)
    ax.set(xlim=(-0.12, FASTEST), ylim=(-1.14, 1.1))
    ax.set_xlabel(axis_text(run["scaled_frequency"]))


def name_ways(panels: list[Axes], palette: Palette) -> None:
    """Name each way beside its curve where curves are apart, and the band where it is bare."""
    write(panels[1], "one step", (2.5, -0.54), palette.residual)
    write(panels[1], "heat", (2.3, 0.3), palette.diffusion)
    write(panels[1], "smoother", (2.3, -0.1), palette.attention)
    annotate(panels[0], "Gaussian", (1.36, 0.3), (-1, -8), palette)
    annotate(panels[0], "fastest wave", (1.57, 0.56), (6, 0), palette)


def draw_distances(ax: Axes, runs: xr.Dataset, palette: Palette) -> None:
    """Draw the largest distance of each pair over the bandwidth, on what is predicted."""
    h = runs["relative_bandwidth"].values
    two = runs.sel(smoothing_layers=2)
    for measured, theory, colour in (
        ("heat_distance", "heat_limit", palette.diffusion),
        ("grid_distance", "grid_bound", palette.attention),
        ("layers_distance", "layers_limit", palette.remedy),
    ):
        draw_theory(ax, h, two[theory].values, colour)
        draw_measured(ax, h, two[measured].values, colour)
    draw_measured(ax, h, runs["step_distance"].values, palette.residual)
    ax.set(xscale="log", yscale="log", ylim=(1e-6, 30), xlim=(0.21, 40))
    ax.set_xticks([0.25, 1, 4, 16], ["1/4", "1", "4", "16"])
    ax.set_yticks([1, 1e-2, 1e-4, 1e-6])
    ax.minorticks_off()
    ax.set_xlabel(axis_text(runs["relative_bandwidth"]))
    ax.set_ylabel(axis_text(runs["heat_distance"]))


def name_distances(ax: Axes, palette: Palette) -> None:
    """Name each pair beside its dots."""
    write(ax, "one step", (3.4, 7.0), palette.residual)
    write(ax, "heat", (6.0, 6e-3), palette.diffusion)
    write(ax, "Gaussian", (1.9, 6e-6), palette.attention)
    write(ax, "2 layers", (0.9, 6e-6), palette.remedy, "right")
    write(ax, "2D²/3e²h²", (1.9, 1.5e-4), palette.quiet)


def write(ax: Axes, text: str, at: tuple[float, float], colour: str, side: str = "left") -> None:
    """Write a name into a panel, in the colour of what it names."""
    ax.text(*at, typeset(text), color=colour, fontsize=TICK, ha=side, va="center_baseline")
