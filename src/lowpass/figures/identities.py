"""Which key wins: by distance, along the query, and by distance again on a sphere."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from lowpass.figures.names import FIGURES
from lowpass.figures.palette import PAPER, Palette, tints
from lowpass.figures.style import axis_text, canvas, head, look

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# A key with all the weight would be a dot of so many square points; one with none is still seen.
LARGEST, LEAST = 400.0, 3.0
# The frame is so much larger than what it holds.
ROOM = 1.12


@FIGURES.add(
    "long-keys",
    experiments=("identities",),
    section="identities",
    caption="One query (open ring) and the same keys three times. Coordinates are turned so that "
    "the query lies on the first axis; the area of a dot is the weight of a key, the key that "
    "counts most has a dark rim, and from line to line weights fall by a factor e. (a) A Gaussian "
    "smoother of bandwidth √T is constant on circles around the query. (b) Attention at the "
    "temperature T is constant on lines across the query, however far they lie from it. (c) Every "
    "key is lifted in one feature more until it is as long as the longest. Drawn by its way along "
    "the query and its distance from the query's axis, to the side on which it was, it lies on one "
    "circle with all others, which circles of the Gaussian around the query meet on the lines of "
    "(b): the weights are those of (b).",
)
def long_keys(shown: Mapping[str, xr.Dataset], palette: Palette = PAPER) -> Figure:
    """Draw one query and its keys under two smoothers, then the second as one of the first."""
    seen = shown["identities"].isel(replicate=0)
    with look(palette):
        figure, (circles, lines, sphere) = canvas(
            "page",
            2.6,
            palette,
            panels=(1, 3),
            gaps=(0.5, 0.72),
            margins={"left": 0.5, "right": 0.12},
        )
        draw_circles(circles, seen.sel(reading="of distances"), palette)
        draw_lines(lines, seen.sel(reading="of dot products"), palette)
        draw_sphere(sphere, seen.sel(reading="of dot products"), palette)
    return figure


def draw_circles(ax: Axes, seen: xr.Dataset, palette: Palette) -> None:
    """Draw keys weighed by their distance from the query."""
    circle_query(ax, seen["contour_radius"], seen, palette.diffusion, palette)
    draw_keys(ax, seen["key_across"], seen, palette.diffusion, palette)
    frame(ax, seen, seen["key_across"])
    head(ax, "a", "Gaussian: the nearest wins")


def draw_lines(ax: Axes, seen: xr.Dataset, palette: Palette) -> None:
    """Draw keys weighed by how far they lie along the query."""
    for along, colour in zip(
        seen["contour_along"].values, fading(seen, palette.attention, palette), strict=True
    ):
        ax.axvline(along, color=colour, linewidth=0.7, zorder=1)
    draw_keys(ax, seen["key_across"], seen, palette.attention, palette)
    frame(ax, seen, seen["key_across"])
    head(ax, "b", "Attention: the farthest along wins")


def draw_sphere(ax: Axes, seen: xr.Dataset, palette: Palette) -> None:
    """Draw lifted keys, whose distance from the query is the way they lie along it."""
    circle_query(ax, seen["contour_lifted_radius"], seen, palette.attention, palette)
    draw_circle(ax, (0.0, 0.0), float(seen["largest_key_norm"]), palette.ink)
    draw_keys(ax, seen["key_away"], seen, palette.attention, palette)
    frame(ax, seen, seen["key_away"])
    head(ax, "c", "Lifted, it is the nearest again")


def circle_query(
    ax: Axes, radii: xr.DataArray, seen: xr.Dataset, colour: str, palette: Palette
) -> None:
    """Draw circles around the query, fainter as weights fall."""
    centre = (float(seen["query_norm"]), 0.0)
    for radius, tint in zip(radii.values, fading(seen, colour, palette), strict=True):
        draw_circle(ax, centre, float(radius), tint)


def draw_circle(ax: Axes, centre: tuple[float, float], radius: float, colour: str) -> None:
    """Draw a thin circle in data coordinates."""
    from matplotlib.patches import Circle

    ax.add_patch(Circle(centre, radius, fill=False, edgecolor=colour, linewidth=0.7, zorder=1))


def fading(seen: xr.Dataset, colour: str, palette: Palette) -> list[str]:
    """Give every contour a tint, the strongest first."""
    return tints(colour, seen.sizes["contour"], palette)[::-1]


def draw_keys(
    ax: Axes, height: xr.DataArray, seen: xr.Dataset, colour: str, palette: Palette
) -> None:
    """Draw each key as a dot of its weight, and the query as a ring."""
    weight = seen["view_weights"].values
    rims = [palette.ink if each == weight.max() else palette.ground for each in weight]
    ax.scatter(
        seen["key_along"].values,
        height.values,
        s=LEAST + LARGEST * weight,
        color=colour,
        edgecolors=rims,
        linewidths=0.6,
        zorder=3,
        clip_on=False,
    )
    ax.plot(
        [float(seen["query_norm"])],
        [0.0],
        "o",
        color=palette.ground,
        markeredgecolor=palette.ink,
        markeredgewidth=1.0,
        markersize=4.6,
        zorder=4,
        clip_on=False,
    )


def frame(ax: Axes, seen: xr.Dataset, height: xr.DataArray) -> None:
    """Show the plane as far as its points lie from the origin, at one scale both ways."""
    reach = ROOM * max(float(seen["largest_key_norm"]), float(seen["query_norm"]))
    ax.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal", anchor="SW")
    ax.set(xticks=[-2, 0, 2], yticks=[-2, 0, 2])
    ax.set_xlabel(axis_text(seen["key_along"]))
    ax.set_ylabel(axis_text(height), labelpad=0)
