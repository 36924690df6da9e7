"""A photograph at every depth, as attention and as heat leave it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from lowpass.figures.attention import name_powers
from lowpass.figures.marks import annotate
from lowpass.figures.names import FIGURES
from lowpass.figures.palette import PAPER, Palette, depth_colours
from lowpass.figures.style import NOTE, TICK, axis_text, canvas, head, look, spines

if TYPE_CHECKING:
    import numpy as np
    import xarray as xr
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Depths that a row of pictures shows, of those that are stored.
SHOWN_LAYERS = (0, 1, 4, 16, 64)
FEW_LAYERS = (0, 4, 24)
# A picture is one wide in the panel's own units; between two of them is this much ground.
GAP = 0.07
# The highest frequency that patches resolve along a row.
NYQUIST = 0.5
# Below the square of a double's precision a power is rounding, as a decimal logarithm.
ROUNDED = -28
MEANS = ("attention", "heat")
FINDINGS = {"attention": "All frequencies fall alike", "heat": "High ones fall first"}


@FIGURES.add(
    "photograph",
    experiments=("photograph", "photograph-heat"),
    section="photograph",
    caption="A photograph whose patches are tokens. (a) Above, attention with its patches as "
    "queries, keys and values, so that each is replaced by an average of those that look alike; "
    "below, heat that flows between neighbouring patches. Nothing is rescaled. (b), (c) The power "
    "of what differs from the mean patch, averaged over all directions at each spatial frequency "
    "of the grid of patches, at the depths of the pictures. Heat takes the high frequencies first. "
    "Attention takes all frequencies alike, since it does not know where a patch lies.",
)
def photograph(shown: Mapping[str, xr.Dataset], palette: Palette = PAPER) -> Figure:
    """Draw two rows of pictures, and the spectrum of each row by depth."""
    runs = of_means(shown)
    layers = [layer for layer in SHOWN_LAYERS if layer in runs["heat"]["recorded_layer"]]
    with look(palette):
        figure, (melting, *spectra) = canvas(
            "page",
            2.3,
            palette,
            panels=(1, 3),
            gaps=(0.58, 0.72),
            margins={"left": 0.2, "right": 0.14},
            ratios=(3.22, 1, 1),
        )
        draw_melting(melting, runs, layers, palette)
        head(melting, "a", "Attention keeps edges, heat blurs them; both forget")
        for ax, letter, name in zip(spectra, "bc", MEANS, strict=True):
            draw_power(ax, runs[name], layers, palette)
            head(ax, letter, FINDINGS[name])
        share_heights(spectra)
    return figure


def of_means(shown: Mapping[str, xr.Dataset]) -> dict[str, xr.Dataset]:
    """Name the two experiments after what mixes the patches."""
    return {"attention": shown["photograph"], "heat": shown["photograph-heat"]}


def draw_melting(
    ax: Axes, runs: Mapping[str, xr.Dataset], layers: Sequence[int], palette: Palette
) -> None:
    """Draw a row of pictures for each means, a column for each depth."""
    spines(ax)
    ax.set(xticks=[], yticks=[], aspect="equal", anchor="NW")
    step = 1 + GAP
    for row, name in enumerate(MEANS):
        pictures = runs[name]["picture"].isel(replicate=0)
        for column, layer in enumerate(layers):
            draw_grey(ax, pictures.sel(recorded_layer=layer).values, column * step, row * step)
        colour = {"attention": palette.attention, "heat": palette.diffusion}[name]
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
    name_depths(ax, layers, step, palette, 2 * step - GAP)
    ax.set(xlim=(-0.12, len(layers) * step - GAP), ylim=(2 * step + 0.12, -0.02))


def draw_grey(ax: Axes, levels: np.ndarray, left: float, top: float) -> None:
    """Draw grey levels as they are, 0 black and 1 white, in a square of side one."""
    square = (left, left + 1, top + 1, top)
    ax.imshow(levels, extent=square, cmap="gray", vmin=0, vmax=1, interpolation="none")


def name_depths(
    ax: Axes, layers: Sequence[int], step: float, palette: Palette, below: float
) -> None:
    """Write the depth of each column below it, with its dot."""
    for column, (layer, colour) in enumerate(
        zip(layers, depth_colours(layers, palette), strict=True)
    ):
        middle = column * step + 0.5
        words = f"layer {layer}" if column == 0 else str(layer)
        ax.annotate(
            words,
            (middle, below),
            (0, -5),
            textcoords="offset points",
            ha="center",
            va="top",
            fontsize=NOTE,
            color=palette.quiet,
            annotation_clip=False,
        )
        ax.plot([middle], [below + 0.055], "o", color=colour, markersize=3.6, clip_on=False)


def draw_power(ax: Axes, run: xr.Dataset, layers: Sequence[int], palette: Palette) -> None:
    """Draw the power over spatial frequency, a line for each depth in its colour."""
    power = run["log10_radial_power"].isel(replicate=0)
    power = power.sel(radial_frequency=slice(power["radial_frequency"][1].item(), NYQUIST))
    for layer, colour in zip(layers, depth_colours(layers, palette), strict=True):
        line = power.sel(recorded_layer=layer)
        ax.plot(line["radial_frequency"].values, line.values, color=colour, linewidth=0.9)
    last = power.sel(recorded_layer=layers[-1]).isel(radial_frequency=-1)
    if float(last) < ROUNDED:
        annotate(ax, "rounding", (NYQUIST, float(last)), (-2, 7), palette)
    ax.set(xlim=(0, NYQUIST), xticks=(0, NYQUIST / 2, NYQUIST))
    ax.xaxis.set_major_formatter("{x:g}")
    ax.set_xlabel(axis_text(power["radial_frequency"]))
    name_powers(ax, power)


def share_heights(axes: Sequence[Axes]) -> None:
    """Give panels side by side one scale, named at the first."""
    low = min(ax.get_ylim()[0] for ax in axes)
    high = max(ax.get_ylim()[1] for ax in axes)
    for ax in axes:
        ax.set_ylim(low, high)
    for ax in axes[1:]:
        ax.set_ylabel("")
