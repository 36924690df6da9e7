"""Attention beside heat that has left as much: a photograph, and a record of years."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from lowpass.figures.marks import draw_field, draw_measured
from lowpass.figures.names import FIGURES
from lowpass.figures.palette import PAPER, Palette
from lowpass.figures.pictures import GAP, draw_grey, name_depths
from lowpass.figures.smoothing import name_flow
from lowpass.figures.style import NOTE, TICK, canvas, end_labels, head, look, spines

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Depths that are shown, of those that are stored, and the one of the record.
SHOWN_LAYERS = (0, 1, 4, 16)
RECORD_LAYER = 2
ROWS = {
    "attention": "picture",
    "heat": "matched_heat_picture",
    "difference": "matched_difference_picture",
}


@FIGURES.add(
    "photograph-matched",
    experiments=("photograph",),
    section="photograph",
    caption="The photograph after some layers of attention, and heat stopped where its patches "
    "differ from their mean by the same norm, after the time τ. The third row is the difference of "
    "the two, each without its mean patch: ochre where attention is brighter, blue where it is "
    "darker, and blank where they agree, with one scale throughout.",
)
def photograph_matched(shown: Mapping[str, xr.Dataset], palette: Palette = PAPER) -> Figure:
    """Draw three rows of pictures, a column for each depth."""
    run = shown["photograph"].isel(replicate=0)
    layers = [layer for layer in SHOWN_LAYERS if layer in run["recorded_layer"]]
    with look(palette):
        figure, (ax,) = canvas(
            "column", 3.02, palette, margins={"left": 0.2, "right": 0.05, "bottom": 0.26}
        )
        draw_rows(ax, run, layers, palette)
        head(ax, "", "With as much left, attention has kept the edges")
    return figure


def draw_rows(ax: Axes, run: xr.Dataset, layers: Sequence[int], palette: Palette) -> None:
    """Draw attention, heat of the same norm, and their difference."""
    spines(ax)
    step = 1 + GAP
    colours = (palette.attention, palette.diffusion, palette.ink)
    widest = float(abs(run["matched_difference_picture"]).max())
    for row, ((name, measure), colour) in enumerate(zip(ROWS.items(), colours, strict=True)):
        for column, layer in enumerate(layers):
            levels = run[measure].sel(recorded_layer=layer).values
            left, top = column * step, row * step
            if name == "difference":
                image = draw_field(ax, levels, palette, widest)
                image.set_extent((left, left + 1, top + 1, top))
                continue
            draw_grey(ax, levels, left, top)
        beside = {"rotation": 90, "ha": "right", "va": "center", "color": colour}
        ax.annotate(
            name,
            (0, row * step + 0.5),
            (-2, 0),
            textcoords="offset points",
            fontsize=TICK,
            annotation_clip=False,
            **beside,
        )
    name_depths(ax, layers, step, palette, 3 * step - GAP)
    for column, layer in enumerate(layers[1:], start=1):
        below = (column * step + 0.5, 3 * step - GAP)
        name_time(ax, run.sel(recorded_layer=layer), below, palette.diffusion)
    ax.set(xticks=[], yticks=[], aspect="equal", anchor="NW")
    ax.set(xlim=(-0.12, len(layers) * step - GAP), ylim=(3 * step + 0.12, -0.02))


def name_time(ax: Axes, run: xr.Dataset, below: tuple[float, float], colour: str) -> None:
    """Write how long heat has flowed below the depth of its column."""
    time = run["matched_heat_time"]
    ax.annotate(
        f"${time.attrs['symbol']}={float(time):.2g}$",
        below,
        (0, -15),
        textcoords="offset points",
        ha="center",
        va="top",
        fontsize=NOTE,
        color=colour,
        annotation_clip=False,
    )


@FIGURES.add(
    "nile-levels",
    experiments=("nile-levels", "nile"),
    section="nile-levels",
    caption="The annual flow of the Nile after a few layers of attention to flows (blue), and heat "
    "that flows between neighbouring years, stopped where as much is left of it (ochre). Dots are "
    "the observed flows. Attention moves a year by its flow alone, and what jumps from year to "
    "year still does; heat moves it by its neighbours, and smooths the jumps.",
)
def nile_levels(shown: Mapping[str, xr.Dataset], palette: Palette = PAPER) -> Figure:
    """Draw observed flows, attention, and heat of the same norm."""
    with look(palette):
        figure, (ax,) = canvas("column", 2.4, palette, margins={"left": 0.58, "right": 0.66})
        draw_levels(ax, shown["nile-levels"], shown["nile"], palette)
        head(ax, "", "Attention goes by the flow, heat by the year")
    return figure


def draw_levels(ax: Axes, run: xr.Dataset, observed: xr.Dataset, palette: Palette) -> None:
    """Draw both series at one depth over the years of the observations."""
    year = observed["key_position"].isel(feature=0).values
    here = run.isel(replicate=0, pixel_row=0).sel(recorded_layer=RECORD_LAYER)
    draw_measured(ax, year, observed["value"].values, palette.quiet)
    ends = []
    for name, measure, colour in (
        ("heat", "matched_heat_picture", palette.diffusion),
        ("attention", "picture", palette.attention),
    ):
        line = here[measure].values
        ax.plot(year, line, color=colour, linewidth=1.0, zorder=4)
        ends.append((year[-1], line[-1], name, colour))
    name_flow(ax, observed)
    end_labels(ax, ends)
