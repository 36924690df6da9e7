"""Real records smoothed by attention: weeks that resemble their neighbours, and penguins."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from lowpass.figures.marks import draw_interval, draw_measured
from lowpass.figures.names import FIGURES
from lowpass.figures.palette import PAPER, Palette
from lowpass.figures.style import NOTE, axis_text, canvas, end_labels, head, look

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Years on either side of a week that are left out with it.
ALONE, AROUND = 0.0, 0.5
# So many bandwidths from every bird, a fit says nothing of birds.
FAR = 2.5
# Grams between two contours, and between two that are labelled.
STEP, LABELLED = 500, 1000


@FIGURES.add(
    "records",
    experiments=("co2", "penguins", "penguins-2d"),
    section="co2",
    caption="Bandwidths that real records ask for. (a) Weekly carbon dioxide at Mauna Loa (dots), "
    "with the output of attention at the bandwidth that is best at predicting a week from all "
    "others (orange), and at the one that is best where half a year on either side is left out "
    "with it (blue). (b) The squared error of these predictions, and of one that leaves out a year "
    "on either side; dots mark the smallest. (c) Body mass of penguins over the length of a "
    "flipper, which is measured in whole millimetres: many birds share a key. The band is a "
    "confidence interval at every flipper. (d) Body mass over two features of the bill, each with "
    "a bandwidth of its own: contours in kilograms, dots are birds, and where no bird is near "
    "nothing is drawn.",
)
def records(shown: Mapping[str, xr.Dataset], palette: Palette = PAPER) -> Figure:
    """Draw two records and two choices."""
    with look(palette):
        figure, (record, choice, ties, field) = canvas(
            "page",
            5.0,
            palette,
            panels=(2, 2),
            gaps=(1.25, 0.8),
            margins={"left": 0.55, "right": 0.75},
        )
        draw_weeks(record, shown["co2"], palette)
        draw_windows(choice, shown["co2"], palette)
        draw_ties(ties, shown["penguins"], palette)
        draw_plane(field, shown["penguins-2d"], palette)
    return figure


def draw_weeks(ax: Axes, smoothed: xr.Dataset, palette: Palette) -> None:
    """Draw weekly values under the fits of two windows."""
    year = smoothed["key_position"].isel(window=0, feature=0).values
    ax.plot(year, smoothed["value"].isel(window=0).values, ".", color=palette.faint, markersize=2.5)
    ends = []
    for window, colour, name in (
        (ALONE, palette.fails, "one week"),
        (AROUND, palette.attention, "½ year"),
    ):
        fit = smoothed["fit"].sel(window=window).values
        width = {ALONE: 0.4, AROUND: 1.1}[window]
        ax.plot(year, fit, color=colour, linewidth=width, zorder=3 + (window == AROUND))
        ends.append((year[-1], fit[-1], name, colour))
    ax.set_xlabel(f"{axis_text(smoothed['key_position'])}:  year")
    ax.set_ylabel(f"{axis_text(smoothed['value'])}:  CO$_2$  (ppm)")
    head(ax, "a", "What is left out decides what is noise")
    end_labels(ax, ends)


def draw_windows(ax: Axes, smoothed: xr.Dataset, palette: Palette) -> None:
    """Draw the criterion of every window, its minimum marked."""
    score, ends = smoothed["blocked_score"], []
    names = {ALONE: "one week", AROUND: "½ year", 1.0: "1 year"}
    shades = {ALONE: palette.fails, AROUND: palette.attention, 1.0: palette.remedy}
    for window in score["window"].values:
        one = smoothed.sel(window=window)
        colour = shades[window]
        ax.plot(one["bandwidth"].values, one["blocked_score"].values, color=colour)
        least = one["bandwidth_selected"].values, one["blocked_score_selected"].values
        draw_measured(ax, [least[0]], [least[1]], colour)
        last = one["bandwidth"].values[-1], one["blocked_score"].values[-1]
        ends.append((*last, names[window], colour))
    ax.set(xscale="log", yscale="log")
    ax.set_xlabel(f"{axis_text(smoothed['bandwidth'])}  (years)")
    ax.set_ylabel(r"squared error  $CV_w$  (ppm$^2$)")
    head(ax, "b", "A neighbour betrays the error of a week")
    end_labels(ax, ends)


def draw_ties(ax: Axes, smoothed: xr.Dataset, palette: Palette) -> None:
    """Draw birds, and the fit with its band in the order of the flippers."""
    order = smoothed["key_position"].isel(feature=0).argsort().values
    flipper = smoothed["key_position"].isel(feature=0).values[order]
    mass, fit = smoothed["value"].values[order], smoothed["fit"].values[order]
    lower, upper = smoothed["lower"].values[order], smoothed["upper"].values[order]
    ax.plot(flipper, mass, ".", color=palette.quiet, markersize=2.2, alpha=0.6)
    draw_interval(ax, flipper, lower, upper, palette.attention)
    ax.plot(flipper, fit, color=palette.attention, zorder=4)
    ax.set_xlabel(f"{axis_text(smoothed['key_position'])}:  flipper  (mm)")
    ax.set_ylabel(f"{axis_text(smoothed['value'])}:  body mass  (g)")
    head(ax, "c", "Birds that share a key share a fit")


def draw_plane(ax: Axes, smoothed: xr.Dataset, palette: Palette) -> None:
    """Draw the fit over two features where birds are near."""
    from matplotlib.colors import LinearSegmentedColormap

    near = smoothed["plane_fit"].where(smoothed["plane_reach"] <= FAR)
    across, up = near["abscissa"].values, near["ordinate"].values
    shades = LinearSegmentedColormap.from_list("mass", [palette.ground, palette.attention])
    levels = range(2500, 6501, STEP)
    ax.contourf(across, up, near.values, levels=levels, cmap=shades, alpha=0.75)
    lines = ax.contour(
        across, up, near.values, levels=levels, colors=palette.ink, linewidths=0.4, zorder=2
    )
    named = [level for level in levels if level % LABELLED == 0]
    ax.clabel(lines, named, fontsize=NOTE, fmt=lambda mass: f"{mass / 1000:g}")
    place = smoothed["key_position"].values
    ax.plot(*place.T, ".", color=palette.ink, markersize=1.6, zorder=3)
    ax.set_xlabel("key position  $k_1$:  bill length  (mm)")
    ax.set_ylabel("key position  $k_2$:  bill depth  (mm)")
    head(ax, "d", "Two features want two temperatures")
