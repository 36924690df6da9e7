"""What thinner layers tend to, and what they do not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from lowpass.claims.steps import QUARTER, at_matched_time
from lowpass.figures.attention import rank_middle
from lowpass.figures.contraction import beta_of
from lowpass.figures.marks import Side, annotate, draw_measured, draw_replicates
from lowpass.figures.names import FIGURES
from lowpass.figures.palette import PAPER, Palette, tints
from lowpass.figures.style import axis_text, canvas, end_labels, head, look
from lowpass.labels import VARIABLES

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

End = tuple[float, float, str, str]
# A share of a panel's height that leaves room for a note under the lowest dot.
ROOM = 0.1
# A factor between the first of a sweep and the axis, where there are ticks to the left of it.
ASIDE = 1.3


@FIGURES.add(
    "layer-steps",
    experiments=("euler-step", "euler", "to-continuum"),
    section="euler",
    caption="Relative distances of residual layers from differential equations. Ticks are "
    "replicates, dots the one that ranks in the middle; in (a) and (b) attention is recomputed and "
    "W_V is random. (a) After one layer, over its step: a layer from its own flow and from the "
    "flow −(I − A)XW_V of note 1, and the difference quotient of a layer that is the flow itself "
    "from the right-hand side. (b) After a fixed time, over the number of thinner layers that a "
    "layer is made of: layers from their own flow (ticks to the left) and from that of note 1, and "
    "remedied layers, which add h(A − I)XW_V, from that of note 1. (c) Tokens on a circle, over "
    "the inverse temperature β, after one matched time of the heat equation: frozen attention from "
    "the heat equation, for two numbers n of tokens (blue); recomputed attention, with the larger "
    "n, from the heat equation and from the flow by which a curve shortens. A wide kernel forgets "
    "waves faster than heat does and few tokens forget them more slowly: where fewer tokens come "
    "nearer, the two errors cancel.",
)
def steps(shown: Mapping[str, xr.Dataset], palette: Palette = PAPER) -> Figure:
    """Draw errors over the step, over thinner layers, and over β."""
    with look(palette):
        figure, (one, many, circle) = canvas(
            "page",
            2.5,
            palette,
            panels=(1, 3),
            gaps=(1.04, 0.72),
            margins={"left": 0.58, "right": 0.92},
        )
        draw_step(one, shown["euler-step"].sel(layers="recomputed", values="random"), palette)
        draw_time(many, shown["euler"].sel(layers="recomputed"), palette)
        draw_circle(circle, shown["to-continuum"], palette)
        one.set_ylabel("relative distance")
    return figure


def draw_step(ax: Axes, runs: xr.Dataset, palette: Palette) -> None:
    """Draw the error of one layer, and of its difference quotient."""
    last = runs.isel(recorded_layer=-1)
    layer, flow = (last.sel(integrator=each, strength=0) for each in ("euler", "dop853"))
    lines = [
        (flow["quotient_error"], "quotient", palette.ink),
        (layer["note_flow_error"], "note", palette.fails),
        (layer["flow_error"], "own flow", palette.attention),
    ]
    ends = [draw_line(ax, values, "step", text, colour) for values, text, colour in lines]
    ax.set_xlabel(axis_text(step_of(runs)))
    ax.invert_xaxis()
    head(ax, "a", "Only the error of one step is of order two")
    end_labels(ax, ends)


def draw_time(ax: Axes, runs: xr.Dataset, palette: Palette) -> None:
    """Draw the error after a fixed time."""
    last = runs.isel(recorded_layer=-1)
    plain, remedied = last.sel(strength=0), last.sel(strength=1)
    lines = [
        (plain["note_flow_error"], "note", palette.fails),
        (remedied["note_flow_error"], "remedied, note", palette.remedy),
        (plain["flow_error"], "own flow", palette.attention),
    ]
    sides = ("both", "both", "left")
    ends = [
        draw_line(ax, values, "sublayers", text, colour, side=side)
        for (values, text, colour), side in zip(lines, sides, strict=True)
    ]
    ax.set_xlim(left=float(runs["sublayers"][0]) / ASIDE)
    ax.set_xlabel("thinner layers in a layer")
    head(ax, "b", "Layers tend to their own flow")
    end_labels(ax, ends)


def draw_circle(ax: Axes, runs: xr.Dataset, palette: Palette) -> None:
    """Draw the distance from two flows of a circle, at one time of the heat equation."""
    late = at_matched_time(runs, QUARTER)
    if late is None:
        return
    thin = late.isel(sublayers=-1)
    few, many = (thin.isel(n_tokens=place) for place in (0, -1))
    scarce, heat = (each["heat_equation_error"].sel(layers="frozen") for each in (few, many))
    moving, pale = many.sel(layers="recomputed"), tints(palette.attention, 2, palette)[0]
    lines = [
        (scarce, count(few), pale),
        (moving["heat_equation_error"], "recomputed, heat", palette.fails),
        (moving["curve_shortening_error"], "recomputed, curve", palette.residual),
        (heat, count(many), palette.attention),
    ]
    ends = [draw_line(ax, values, "beta", text, colour) for values, text, colour in lines]
    mark_accident(ax, scarce, heat, palette)
    ax.set_xlabel(axis_text(beta_of(runs)))
    head(ax, "c", "Only many tokens tend to heat")
    end_labels(ax, ends)


def mark_accident(ax: Axes, few: xr.DataArray, many: xr.DataArray, palette: Palette) -> None:
    """Say of fewer tokens that are nearer to heat by chance what they are."""
    scarce, plenty = middle(few, "beta"), middle(many, "beta")
    place = int(np.argmin(scarce))
    if scarce[place] < plenty[place]:
        ax.margins(y=ROOM)
        annotate(ax, "errors cancel", (few["beta"].values[place], scarce[place]), (0, -4), palette)


def middle(values: xr.DataArray, dim: str) -> np.ndarray:
    """Select along a sweep the replicate that ranks in the middle."""
    rows = values.transpose(dim, "replicate").values
    return np.array([row[rank_middle(row)] for row in rows])


def draw_line(
    ax: Axes, values: xr.DataArray, dim: str, text: str, colour: str, *, side: Side = "both"
) -> End:
    """Draw one distance along a sweep, and give where its line ends, with its name."""
    across, line = values[dim].values, middle(values, dim)
    draw_replicates(ax, across, values.transpose("replicate", dim).values, colour, side=side)
    ax.plot(across, line, color=colour, linewidth=0.9)
    draw_measured(ax, across, line, colour)
    ax.set_xscale("log", base=2)
    ax.set_yscale("log")
    ticks = across[:: max(1, len(across) // 3)]
    ax.set_xticks(ticks, [axis_number(each) for each in ticks])
    ax.minorticks_off()
    # The end is where layers are thinnest, which is the smallest of the steps.
    end = 0 if dim == "step" else -1
    return float(across[end]), float(line[end]), text, colour


def axis_number(value: float) -> str:
    """Write a number from one up as it is, and one below as a power of two."""
    return f"{value:g}" if value >= 1 else f"$2^{{{round(np.log2(value))}}}$"


def count(runs: xr.Dataset) -> str:
    """Say how many tokens there are."""
    return f"n = {int(runs['n_tokens'])}"


def step_of(runs: xr.Dataset) -> xr.DataArray:
    """Give the swept steps, with their card."""
    card = VARIABLES["step_size"]
    return runs["step"].assign_attrs(long_name=card.long_name, symbol=card.symbol, units=card.units)
