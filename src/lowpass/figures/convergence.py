"""How fast a smoother comes near to the truth, and where an end holds it back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from lowpass.figures.marks import annotate, draw_measured, draw_theory
from lowpass.figures.names import FIGURES
from lowpass.figures.palette import PAPER, Palette
from lowpass.figures.style import axis_text, canvas, end_labels, head, look

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Degree, ends, name at the line's end, and the power of n that it falls with.
REGIMES = (
    (0, "joined", "ring", "−4/5"),
    (1, "open", "lines", "−4/5"),
    (0, "open", "constants", "−3/4"),
)
# So many dots tell a curve from a line.
EVERY = 2
# Where, counted from the last, there is room to say why dots and dashes differ.
NAMED = 9


@FIGURES.add(
    "convergence",
    experiments=("convergence",),
    section="convergence",
    caption="The exact error of Gaussian smoothers of a wave that is observed with noise at n "
    "evenly spaced keys; nothing is drawn at random. (a) The mean integrated squared error at the "
    "best bandwidth for each n, on a ring and on an interval; dashes are the leading terms. "
    "Attention keeps its β, and its error stops at its squared bias. (b) The share of variance in "
    "the least error, which is the local slope of (a) without its sign: four fifths where the "
    "interior leads and three quarters where ends do (dashed). (c) The bias near the end of the "
    "interval for the most keys, in units of h f′ for local constants and h² f″ for local lines; "
    "dashes are its limit, from moments of the part of the kernel that has keys.",
)
def convergence(shown: Mapping[str, xr.Dataset], palette: Palette = PAPER) -> Figure:
    """Draw errors and shares over the number of keys, and the bias near the end."""
    runs = shown["convergence"].sel(kernel="gaussian")
    with look(palette):
        figure, (errors, shares, end) = canvas(
            "page",
            2.5,
            palette,
            panels=(1, 3),
            gaps=(1.18, 0.72),
            margins={"left": 0.56, "right": 0.66},
            ratios=(1.25, 0.9, 1.1),
        )
        draw_errors(errors, runs, palette)
        draw_shares(shares, runs, palette)
        draw_end(end, runs, palette)
    return figure


def colours_of(palette: Palette) -> list[str]:
    """Give every regime a colour: a ring is diffusion, averaging attention, lines repair it."""
    return [palette.diffusion, palette.remedy, palette.residual]


def draw_errors(ax: Axes, runs: xr.Dataset, palette: Palette) -> None:
    """Draw the least error of every regime on its leading terms, and that of attention."""
    ends = []
    for (degree, where, name, power), colour in zip(REGIMES, colours_of(palette), strict=True):
        run = runs.sel(degree=degree, ends=where)
        keys = run["kept_keys"].values
        draw_theory(ax, keys, run["mise_leading"].values, colour)
        draw_measured(ax, keys, run["mise"].values, colour)
        ends.append((keys[0], float(run["mise"][0]), f"{name}, {power}", colour))
    kept = runs.sel(degree=0, ends="open")
    keys = kept["kept_keys"].values
    ax.plot(keys, kept["mise_fixed"].values, color=palette.attention, linewidth=0.8)
    draw_measured(ax, keys, kept["mise_fixed"].values, palette.attention)
    ends.append((keys[0], float(kept["mise_fixed"][0]), "attention, 0", palette.attention))
    ax.set(xscale="log", yscale="log")
    ax.minorticks_off()
    ax.set_xlabel(axis_text(runs["kept_keys"]))
    ax.set_ylabel(axis_text(runs["mise"]))
    head(ax, "a", "Ends cost averages a rate; attention has none")
    end_labels(ax, ends)


def draw_shares(ax: Axes, runs: xr.Dataset, palette: Palette) -> None:
    """Draw the share of variance over the number of keys, with the two that theory has."""
    for share in (4 / 5, 3 / 4):
        ax.axhline(share, color=palette.quiet, linewidth=1.0, linestyle=(0, (4.0, 2.0)), zorder=1)
    ends = []
    for (degree, where, name, _), colour in zip(REGIMES, colours_of(palette), strict=True):
        run = runs.sel(degree=degree, ends=where)
        keys, share = run["kept_keys"].values, run["variance_share"].values
        ax.plot(keys, share, color=colour, linewidth=0.8)
        draw_measured(ax, keys, share, colour)
        ends.append((keys[0], float(share[0]), name, colour))
    ax.set_xscale("log")
    ax.minorticks_off()
    ax.set_yticks([0.75, 0.8], ["3/4", "4/5"])
    ax.set_xlabel(axis_text(runs["kept_keys"]))
    ax.set_ylabel(axis_text(runs["variance_share"]))
    head(ax, "b", "Slopes settle slowly")
    end_labels(ax, ends)


def draw_end(ax: Axes, runs: xr.Dataset, palette: Palette) -> None:
    """Draw the bias of both fits over the distance from the end."""
    ends = []
    _, lines, constants = colours_of(palette)
    ax.axhline(0, color=palette.quiet, linewidth=0.5, zorder=0.5)
    for degree, name, colour in ((1, "lines", lines), (0, "constants", constants)):
        run = runs.sel(degree=degree, ends="open").isel(thin=0)
        draw_theory(ax, run["end_distance"].values, run["end_bias_leading"].values, colour)
        dots = run.isel(end_place=slice(None, None, EVERY))
        draw_measured(ax, dots["end_distance"].values, dots["end_bias"].values, colour)
        last = run.isel(end_place=-1)
        ends.append((float(last["end_distance"]), float(last["end_bias"]), name, colour))
    ax.set_xlabel(axis_text(runs["end_distance"]))
    ax.set_ylabel(axis_text(runs["end_bias"]))
    left_over = runs.sel(degree=0, ends="open").isel(thin=0, end_place=-NAMED)
    spot = (float(left_over["end_distance"]), float(left_over["end_bias"]))
    annotate(ax, "of higher order in h", spot, (0, -18), palette)
    head(ax, "c", "Averages lean inwards at an end")
    end_labels(ax, ends)
