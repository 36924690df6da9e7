"""What stacks do that are no repetition of one bare matrix."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from lowpass.figures.attention import draw_every, plain_text, rank_middle, typeset_power
from lowpass.figures.marks import draw_measured, draw_theory
from lowpass.figures.names import FIGURES
from lowpass.figures.palette import PAPER, Palette, tints
from lowpass.figures.style import axis_text, canvas, end_labels, head, look

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# The axis of a logarithm is linear within one decade of one, and logarithmic beyond.
LINEAR = 1.0


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

    ax.set_yscale("symlog", linthresh=LINEAR, linscale=0.5)
    ax.yaxis.set_major_locator(SymmetricalLogLocator(base=10, linthresh=LINEAR))
    ax.yaxis.set_major_formatter(lambda value, _: typeset_power(round(value)))
    ax.set_ylabel(plain_text(variable))
    # Autoscaling would leave decades of decades empty.
    heights = np.concatenate([line.get_ydata() for line in ax.lines])
    ax.set_ylim(1.6 * heights.min(), max(1.6 * heights.max(), LINEAR))
