"""What stacks do that are no repetition of one bare matrix."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from lowpass.figures.attention import (
    draw_every,
    name_powers,
    plain_text,
    rank_middle,
    typeset_power,
)
from lowpass.figures.marks import draw_measured, draw_replicates, draw_theory
from lowpass.figures.names import FIGURES
from lowpass.figures.palette import PAPER, Palette, tints
from lowpass.figures.pictures import draw_grey, name_depths
from lowpass.figures.style import NOTE, TICK, axis_text, canvas, end_labels, head, look, spines

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# The axis of a logarithm is linear within one decade of one, and logarithmic beyond.
LINEAR = 1.0
# Architectures, each with what is seen of it.
MAKES = (
    ("Bare, all is lost", {"skip": 0, "norm": "none"}),
    ("A skip makes it stall", {"skip": 1, "norm": "none"}),
    ("Pre-norm hardly falls", {"skip": 1, "norm": "pre"}),
    ("Post-norm can rise", {"skip": 1, "norm": "post"}),
)
# The ratios of all of them fit between, as decimal logarithms.
HEIGHTS = (-4e8, 12.0)
# One of so many layers has a dot.
SPARSE = 4
# Dots of a run; between them the eye follows the line.
DOTS = 10
# What a line's name adds for each start.
STARTS = {"tokens": "", "no_stationary": ", first token zero"}
# Rows of pictures, from the top.
ROWS = {
    "bare": {"skip": 0, "norm": "none"},
    "skip": {"skip": 1, "norm": "none"},
    "pre-norm, skip": {"skip": 1, "norm": "pre"},
    "post-norm, skip": {"skip": 1, "norm": "post"},
}
# A picture is one wide and high; between columns is ground, and between rows a line of words.
COLUMN, ROW = 1.05, 1.2


@FIGURES.add(
    "collapse",
    experiments=("recomputed", "dong-bound"),
    section="recomputed",
    caption="Decades on a logarithmic axis: equal steps downwards multiply the number of decades "
    "that are lost. (a) The HC/DC ratio over layers, for one matrix repeated and for a new matrix "
    "in each layer, from the same tokens and projections. Dots are the replicate whose |λ₂| ranks "
    "in the middle, faint lines are all of them; the dark line is the same replicate of the "
    "recomputed stack in one array of double precision, as long as its tokens differ, and the "
    "grey line is the floor of such an array. (b) The distance R from equal rows in the "
    "composite norm (dots), and the bound of Dong et al. on it (dashes), for the replicate whose "
    "distance ranks in the middle at the last layer.",
)
def collapse(shown: Mapping[str, xr.Dataset], palette: Palette = PAPER) -> Figure:
    """Draw a collapse that triples its decades, and the bound that says so."""
    with look(palette):
        figure, (left, right) = canvas(
            "page",
            2.6,
            palette,
            panels=(1, 2),
            gaps=(1.45, 0.9),
            margins={"left": 0.62, "right": 0.78},
        )
        draw_collapse(left, shown["recomputed"], palette)
        draw_bounds(right, shown["dong-bound"], palette)
    return figure


def draw_collapse(ax: Axes, runs: xr.Dataset, palette: Palette) -> None:
    """Draw repeated and recomputed attention, and where one array stops following."""
    ratio, layer = runs["log10_hc_dc_ratio"], runs["layer"].values
    slem = runs["slem"].sel(arithmetic="split", layers="frozen")
    split = ratio.sel(arithmetic="split")
    run = ratio.isel(replicate=rank_middle(slem.values))
    pale, full = tints(palette.attention, 2, palette)
    ends = []
    for name, colour in (("frozen", pale), ("recomputed", full)):
        draw_every(ax, split.sel(layers=name), colour)
        heights = run.sel(arithmetic="split", layers=name).values
        ax.plot(layer, heights, color=colour, linewidth=0.8)
        draw_measured(ax, layer, heights, colour)
        ends.append((layer[-1], heights[-1], name, colour))
    plain = run.sel(arithmetic="float64", layers="recomputed")
    seen = plain.isel(layer=np.flatnonzero(np.isfinite(plain.values)))
    ax.plot(seen["layer"].values, seen.values, color=palette.ink, linewidth=0.9, zorder=2.5)
    floor = float(runs["log10_rounding_floor"].sel(arithmetic="float64").min())
    ax.axhline(floor, color=palette.quiet, linewidth=0.5, zorder=1)
    ends.append((layer[-1], floor, "floor of float64", palette.quiet))
    ax.set_xlabel(axis_text(runs["layer"]))
    name_decades(ax, ratio)
    head(ax, "a", "Recomputed, each layer triples the decades")
    end_labels(ax, ends)


def draw_bounds(ax: Axes, runs: xr.Dataset, palette: Palette) -> None:
    """Draw how far tokens are from equal rows, and the bound, for each case."""
    layer, ends = runs["layer"].values, []
    distance, bound = runs["log10_composite_norm"], runs["log10_dong_bound"]
    shades = tints(palette.attention, runs.sizes["case"], palette)
    for case, colour in zip(runs["case"].values, reversed(shades), strict=True):
        last = distance.sel(case=case).isel(recorded_layer=-1)
        at = {"case": case, "replicate": runs["replicate"].values[rank_middle(last.values)]}
        draw_theory(ax, layer, bound.sel(at).values, colour)
        draw_measured(ax, distance["recorded_layer"].values, distance.sel(at).values, colour)
        ends.append((layer[-1], float(bound.sel(at)[-1]), "bound", colour))
        ends.append((layer[-1], float(distance.sel(at)[-1]), case, colour))
    ax.set_xlabel(axis_text(runs["layer"]))
    name_decades(ax, distance)
    head(ax, "b", "The bound holds, even where it rises")
    end_labels(ax, ends)


def name_decades(ax: Axes, variable: xr.DataArray) -> None:
    """Read an axis of stored decimal logarithms as powers of ten, spaced by their exponents."""
    from matplotlib.ticker import SymmetricalLogLocator

    ax.set_yscale("symlog", linthresh=LINEAR, linscale=1.0)
    ax.yaxis.set_major_locator(SymmetricalLogLocator(base=10, linthresh=LINEAR))
    ax.yaxis.set_major_formatter(lambda value, _: typeset_power(round(value)))
    ax.set_ylabel(plain_text(variable))
    # Autoscaling would leave decades of decades empty.
    heights = np.concatenate([line.get_ydata() for line in ax.lines])
    ax.set_ylim(1.6 * np.nanmin(heights), max(1.6 * np.nanmax(heights), LINEAR))


@FIGURES.add(
    "architecture",
    experiments=("architecture",),
    section="architecture",
    caption="The HC/DC ratio over layers that compute their attention anew, with and without a "
    "skip connection and layer norm, for two multiples of the identity as W_V. Beyond one decade "
    "of one the axis is logarithmic in the number of decades. Dots are the replicate whose ratio "
    "ranks in the middle at the last layer drawn, faint lines are all of them; a line ends where "
    "its exponent leaves the integers that hold it.",
)
def architecture(shown: Mapping[str, xr.Dataset], palette: Palette = PAPER) -> Figure:
    """Draw one panel for each architecture, on one scale."""
    runs = shown["architecture"]
    ratio = runs["log10_hc_dc_ratio"]
    with look(palette):
        figure, panels = canvas(
            "page",
            2.6,
            palette,
            panels=(1, 4),
            gaps=(0.2, 0.9),
            margins={"left": 0.78, "right": 0.84},
        )
        for ax, letter, (finding, place) in zip(panels, "abcd", MAKES, strict=True):
            draw_make(ax, ratio.sel(place), palette, named=ax is panels[-1])
            head(ax, letter, finding)
            if ax is not panels[0]:
                ax.set_ylabel("")
                ax.tick_params("y", labelleft=False)
    return figure


def draw_make(ax: Axes, ratio: xr.DataArray, palette: Palette, *, named: bool) -> None:
    """Draw one architecture, for every multiple of the identity as W_V."""
    layer, ends = ratio["layer"].values, []
    scales = ratio["value_scale"].values
    shades = tints(palette.residual, len(scales) + 1, palette)[1:]
    for scale, colour in zip(scales, shades, strict=True):
        every = ratio.sel(value_scale=scale)
        draw_every(ax, every.where(np.isfinite(every)), colour)
        some = np.flatnonzero(np.isfinite(every.values).all(axis=every.get_axis_num("replicate")))
        drawn = every.isel(layer=some)
        run = drawn.isel(replicate=rank_middle(drawn.isel(layer=-1).values)).values
        ax.plot(layer[some], run, color=colour, linewidth=0.8)
        draw_measured(ax, layer[some][::SPARSE], run[::SPARSE], colour)
        ends.append((layer[some][-1], run[-1], value_text(scale), colour))
    ax.set_xlabel(axis_text(ratio["layer"]))
    ax.set_xlim(0, layer[-1])
    name_decades(ax, ratio)
    ax.set_ylim(*HEIGHTS)
    if named:
        end_labels(ax, ends)


def value_text(scale: float) -> str:
    """Name a multiple of the identity."""
    return "$W_V = I$" if scale == 1 else f"$W_V = {scale:g}\\,I$"


@FIGURES.add(
    "masks",
    experiments=("causal", "window"),
    section="causal",
    caption="(a) The HC/DC ratio over layers under a causal mask, for softmax and for equal "
    "weights. The upper two lines start from tokens whose first one is zero, and level off; the "
    "lower two fall for ever. Dots are the replicate whose |λ₂| under softmax ranks in the middle. "
    "(b) |λ₂| of attention that reaches so many tokens to both sides; ticks are replicates, dots "
    "are the one that ranks in the middle.",
)
def masks(shown: Mapping[str, xr.Dataset], palette: Palette = PAPER) -> Figure:
    """Draw what a causal mask leaves, and what a window costs."""
    with look(palette):
        figure, (left, right) = canvas(
            "page", 2.4, palette, panels=(1, 2), gaps=(1.75, 0.9), margins={"left": 0.62}
        )
        draw_causal(left, shown["causal"], palette)
        draw_windows(right, shown["window"]["slem"], palette)
    return figure


def draw_causal(ax: Axes, runs: xr.Dataset, palette: Palette) -> None:
    """Draw the ratio from both starts, for both kernels, of the longest sequence."""
    runs = runs.isel(n_tokens=-1)
    ratio, layer, ends = runs["log10_hc_dc_ratio"], runs["layer"].values, []
    slem = runs["slem"].sel(kernel="softmax", start="tokens")
    run = ratio.isel(replicate=rank_middle(slem.values))
    some = slice(None, None, max(1, (len(layer) - 1) // DOTS))
    for kernel, colour in kernel_colours(palette).items():
        for start, words in STARTS.items():
            heights = run.sel(kernel=kernel, start=start).values
            ax.plot(layer, heights, color=colour, linewidth=0.8)
            draw_measured(ax, layer[some], heights[some], colour)
            ends.append((layer[-1], heights[-1], f"{kernel}{words}", colour))
    ax.set_xlabel(axis_text(runs["layer"]))
    name_powers(ax, ratio)
    head(ax, "a", "Only the first token survives")
    end_labels(ax, ends)


def draw_windows(ax: Axes, slem: xr.DataArray, palette: Palette) -> None:
    """Draw |λ₂| over the width of the window, for both kernels."""
    width, ends = slem["mask_width"].values, []
    for kernel, colour in kernel_colours(palette).items():
        every = slem.sel(kernel=kernel).transpose("replicate", "mask_width")
        run = every.isel(replicate=rank_middle(every.isel(mask_width=-1).values)).values
        draw_replicates(ax, width, every.values, colour)
        ax.plot(width, run, color=colour, linewidth=0.8)
        draw_measured(ax, width, run, colour)
        ends.append((width[-1], run[-1], kernel, colour))
    ax.set_xscale("log", base=2)
    ax.set_xticks(width)
    ax.xaxis.set_major_formatter("{x:g}")
    ax.set_xlabel("width of the window  $b$  (tokens)")
    ax.set_ylabel(axis_text(slem))
    head(ax, "b", "A narrow window hardly forgets")
    end_labels(ax, ends)


def kernel_colours(palette: Palette) -> dict[str, str]:
    """Give softmax the colour of attention, and equal weights the ink."""
    return {"softmax": palette.attention, "uniform": palette.ink}


@FIGURES.add(
    "photograph-layers",
    experiments=("photograph-layers",),
    section="photograph-layers",
    caption="The photograph under attention that is computed anew in each layer, by architecture "
    "(rows) and depth (columns). Layer norm leaves no grey level as it was: every picture is shown "
    "with the one brightness and contrast that bring it nearest to the photograph, so that grey "
    "levels tell what a picture shares with it. Below each is its correlation with the photograph.",
)
def photograph_layers(shown: Mapping[str, xr.Dataset], palette: Palette = PAPER) -> Figure:
    """Draw a row of pictures for each architecture."""
    runs = shown["photograph-layers"].isel(replicate=0)
    depths = [int(layer) for layer in runs["recorded_layer"].values]
    with look(palette):
        margins = {"left": 0.24, "right": 0.04, "bottom": 0.24}
        figure, (ax,) = canvas("column", 4.2, palette, margins=margins)
        spines(ax)
        ax.set(xticks=[], yticks=[], aspect="equal", anchor="NW")
        for row, (name, place) in enumerate(ROWS.items()):
            draw_row(ax, runs.sel(place), row * ROW, name, palette)
        name_depths(ax, depths, COLUMN, palette, len(ROWS) * ROW - 0.02)
        right = len(depths) * COLUMN
        ax.set(xlim=(0, right - COLUMN + 1), ylim=(len(ROWS) * ROW + 0.12, -0.02))
        head(ax, "", "Skips keep the regions, layer norm the texture")
    return figure


def draw_row(ax: Axes, run: xr.Dataset, top: float, name: str, palette: Palette) -> None:
    """Draw one architecture's pictures, with the correlation of each below it."""
    beside = {"fontsize": TICK, "annotation_clip": False, "textcoords": "offset points"}
    for column, layer in enumerate(run["recorded_layer"].values):
        left = column * COLUMN
        at = run.sel(recorded_layer=layer)
        draw_grey(ax, at["fitted_picture"].values, left, top)
        said = f"r = {float(at['picture_correlation']):.2f}"
        below = {**beside, "ha": "center", "va": "top", "fontsize": NOTE, "color": palette.quiet}
        ax.annotate(said, (left + 0.5, top + 1), (0, -1), **below)
    turned = {"rotation": 90, "ha": "right", "va": "center", "color": palette.residual}
    ax.annotate(name, (0, top + 0.5), (-3, 0), **beside, **turned)
