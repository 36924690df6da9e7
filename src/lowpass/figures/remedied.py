"""What a photograph is after some layers with each remedy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from lowpass.figures.names import FIGURES
from lowpass.figures.palette import PAPER, Palette
from lowpass.figures.pictures import GAP, draw_grey
from lowpass.figures.style import TICK, canvas, head, look, spines

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PLAIN = "attention alone"


@FIGURES.add(
    "remedied",
    experiments=("photograph-remedies",),
    section="photograph-remedies",
    caption="The photograph at the start, and after the same number of layers of one attention "
    "matrix between its patches: alone, and as the filters that remedies make of it. All keep the "
    "gain one for the mean. Nothing is rescaled; levels beyond black and white are drawn as such.",
)
def remedied(shown: Mapping[str, xr.Dataset], palette: Palette = PAPER) -> Figure:
    """Draw a row of pictures, the start first."""
    runs = shown["photograph-remedies"]
    cases = [PLAIN, *(case for case in runs["case"].values if case != PLAIN)]
    pictures = runs["picture"].isel(replicate=0)
    with look(palette):
        figure, (ax,) = canvas(
            "page", 1.72, palette, margins={"left": 0.02, "right": 0.02, "bottom": 0.2}
        )
        spines(ax)
        ax.set(xticks=[], yticks=[], aspect="equal", anchor="NW")
        start = pictures.isel(recorded_layer=0, case=0)
        draw_named(ax, start, 0, "start", palette.ink)
        for place, case in enumerate(cases, start=1):
            colour = palette.attention if case == PLAIN else palette.remedy
            draw_named(ax, pictures.sel(case=case).isel(recorded_layer=-1), place, case, colour)
        ax.set(xlim=(0, (len(cases) + 1) * (1 + GAP) - GAP), ylim=(1.0, 0.0))
        head(ax, "", "Remedies keep the picture, each another part of it")
    return figure


def draw_named(ax: Axes, picture: xr.DataArray, place: int, name: str, colour: str) -> None:
    """Draw one picture with its name below."""
    left = place * (1 + GAP)
    draw_grey(ax, picture.values, left, 0)
    ax.annotate(
        name,
        (left + 0.5, 1),
        (0, -4),
        textcoords="offset points",
        ha="center",
        va="top",
        fontsize=TICK,
        color=colour,
        annotation_clip=False,
    )
