"""Which kernels are low-pass filters, and what a grid makes of those that are none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from lowpass.figures.bridge import nearest, sparse, write
from lowpass.figures.marks import draw_interval, draw_measured, draw_theory
from lowpass.figures.names import FIGURES
from lowpass.figures.palette import PAPER, Palette, tints
from lowpass.figures.style import axis_text, canvas, end_labels, head, look

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Those that are said to be low-pass, and those with lobes, the strongest of a kind last.
LOW_PASS = ("triangle", "laplace", "gaussian")
LOBED = ("tricube", "epanechnikov", "boxcar")
NAMES = {"gaussian": "Gaussian", "laplace": "Laplace", "epanechnikov": "Epanechnikov"}
# A bandwidth that is wide against the spacing, and small against the ring.
WIDE = 16.0
FASTEST, APART = {LOW_PASS: 6.9, LOBED: 9.3}, 0.35
# Where each kernel is named, in scaled frequency and gain.
PLACES = {
    "gaussian": (1.6, -0.09),
    "laplace": (2.0, 0.25),
    "triangle": (2.75, 0.6),
    "boxcar": (4.0, -0.27),
    "epanechnikov": (6.2, -0.16),
    "tricube": (3.1, 0.56),
}


@FIGURES.add(
    "lobes",
    experiments=("bridge",),
    section="bridge",
    caption="Which kernels are low-pass: the gain of a wave under smoothers with six kernels, on a "
    "ring of tokens that are D apart, over its frequency ω times the bandwidth h. Dots are "
    "measured at a bandwidth wide against D, dashes are the transform of the kernel on a line. "
    "(a) Kernels whose transform is nowhere negative. (b) Kernels with lobes below zero, where "
    "waves are turned over. (c) The lowest gain of all six over the bandwidth; dashes are what "
    "a line has.",
)
def lobes(shown: Mapping[str, xr.Dataset], palette: Palette = PAPER) -> Figure:
    """Draw the responses of six kernels, then their lowest gains over the bandwidth."""
    runs = shown["bridge"]
    with look(palette):
        figure, (passing, turning, lowest) = canvas(
            "page",
            2.5,
            palette,
            panels=(1, 3),
            gaps=(0.5, 0.72),
            margins={"left": 0.5, "right": 0.86},
            ratios=(1.1, 1.1, 1),
        )
        draw_kernels(passing, runs, LOW_PASS, palette)
        head(passing, "a", "Three kernels are low-pass")
        passing.set_ylabel(axis_text(runs["smoother_gain"]))
        draw_kernels(turning, runs, LOBED, palette)
        head(turning, "b", "Three others turn waves over")
        draw_lowest(lowest, runs, palette)
        head(lowest, "c", "A coarse grid deepens lobes, or hides them")
    return figure


def coloured(palette: Palette, kernels: tuple[str, ...]) -> dict[str, str]:
    """Give each of some kernels a tint: blue where they are low-pass, ochre where not."""
    hue = palette.holds if kernels == LOW_PASS else palette.fails
    return dict(zip(kernels, tints(hue, len(kernels), palette), strict=True))


def draw_kernels(ax: Axes, runs: xr.Dataset, kernels: tuple[str, ...], palette: Palette) -> None:
    """Draw what is left of each wave under some kernels, and fill what is below zero."""
    fastest = FASTEST[kernels]
    wide = nearest(runs, WIDE)
    wide = wide.isel(ring_wave=wide["scaled_frequency"].values <= fastest)
    x = wide["scaled_frequency"].values
    ax.axhline(0, color=palette.faint, linewidth=0.6, zorder=0)
    for place, (kernel, colour) in enumerate(coloured(palette, kernels).items()):
        run = wide.sel(smoothing_kernel=kernel)
        line = run["kernel_symbol"].values
        draw_theory(ax, x, line, colour)
        draw_interval(ax, x, np.minimum(line, 0), np.zeros_like(x), colour)
        dots = sparse(x, APART, APART * place / len(kernels))
        draw_measured(ax, x[dots], run["smoother_gain"].values[dots], colour)
        write(ax, NAMES.get(kernel, kernel), PLACES[kernel], colour)
    ax.set(xlim=(-0.025 * fastest, fastest), ylim=(-0.33, 1.06))
    ax.set_xticks(range(0, int(fastest) + 1, 3))
    ax.set_xlabel(axis_text(runs["scaled_frequency"]))


def draw_lowest(ax: Axes, runs: xr.Dataset, palette: Palette) -> None:
    """Draw the lowest gain of the kernels with lobes, and what a line would have."""
    h = runs["relative_bandwidth"].values
    ax.axhline(0, color=palette.faint, linewidth=0.6, zorder=0)
    for kernel, colour in coloured(palette, LOW_PASS).items():
        run = runs.sel(smoothing_kernel=kernel)
        ax.plot(h, run["lowest_gain"].values, color=colour, linewidth=0.8)
        draw_measured(ax, h, run["lowest_gain"].values, colour)
    ends = []
    for kernel, colour in coloured(palette, LOBED).items():
        run = runs.sel(smoothing_kernel=kernel)
        draw_theory(ax, h[[0, -1]], [float(run["lowest_symbol"])] * 2, colour)
        ax.plot(h, run["lowest_gain"].values, color=colour, linewidth=0.8)
        draw_measured(ax, h, run["lowest_gain"].values, colour)
        ends.append((h[-1], float(run["lowest_gain"][-1]), NAMES.get(kernel, kernel), colour))
    ax.set(xscale="log", xlim=(0.21, 40), ylim=(-0.37, 1.06))
    ax.set_xticks([0.25, 1, 4, 16], ["1/4", "1", "4", "16"])
    ax.minorticks_off()
    ax.set_xlabel(axis_text(runs["relative_bandwidth"]))
    ax.set_ylabel(axis_text(runs["lowest_gain"]))
    end_labels(ax, ends)
