"""Layers as steps along the heat equation, short ones and long ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from lowpass.figures.attention import name_powers
from lowpass.figures.marks import annotate, draw_measured, draw_replicates, draw_theory
from lowpass.figures.names import FIGURES
from lowpass.figures.palette import PAPER, Palette, tints
from lowpass.figures.style import axis_text, canvas, end_labels, head, look

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Eigenvalues of the map of values, as a label.
SPECTRA = {"identity": "μ = 1", "oblique": "μ at ±60°", "quarter_turn": "μ = ±i"}


@FIGURES.add(
    "heat-orders",
    experiments=("heat-orders",),
    section="heat-orders",
    caption="The error of a Taylor polynomial of the heat kernel, of order p, for L = D − W of the "
    "affinity W = exp(S̃), over the diffusion time in units of the fastest mode. Dots are the first "
    "replicate; dashes are the first term that is left out, for p = 1 τ²‖L²‖/2.",
)
def heat_orders(shown: Mapping[str, xr.Dataset], palette: Palette = PAPER) -> Figure:
    """Draw the errors of Taylor polynomials."""
    runs = shown["heat-orders"].sel(graph="affinity").isel(replicate=0)
    with look(palette):
        figure, (ax,) = canvas("column", 2.8, palette, margins={"right": 0.5})
        draw_errors(ax, runs, palette)
    return figure


def draw_errors(ax: Axes, runs: xr.Dataset, palette: Palette) -> None:
    """Draw error and first omitted term of each order over τλ."""
    reach, ends = runs["heat_reach"].values, []
    error = runs["log10_taylor_error"]
    low, high = float(error.min()) - 1, float(error.max()) + 1.5
    orders = runs["taylor_power"].values
    for order, colour in zip(orders, tints(palette.diffusion, len(orders), palette), strict=True):
        one = runs.sel(taylor_power=order)
        draw_theory(ax, reach, one["log10_taylor_lead"].values, colour)
        draw_measured(ax, reach, one["log10_taylor_error"].values, colour)
        ends.append((reach[-1], float(one["log10_taylor_error"][-1]), f"p = {order}", colour))
    ax.set(xscale="log", ylim=(low, high))
    ax.set_xlabel(axis_text(runs["heat_reach"]))
    name_powers(ax, error)
    annotate(ax, "rounding", (reach[0], float(error.min())), (2, 12), palette)
    head(ax, "", "A longer sum helps only where none is needed")
    end_labels(ax, ends)


@FIGURES.add(
    "stability",
    experiments=("stability",),
    section="stability",
    caption="Explicit Euler steps of the heat equation on a ring, whose Laplacian has eigenvalues "
    "up to four. (a) The gain of a wave with k periods along the tokens in one step of the time τ; "
    "dots are measured, dashes 1 − τλ. (b) The factor by which a layer multiplies what differs "
    "between tokens, in the end, for maps of values with eigenvalues μ of modulus one; ticks are "
    "replicates, dots the first of them, dashes join the predicted largest |1 − τλμ|, and the "
    "grey line is one.",
)
def stability(shown: Mapping[str, xr.Dataset], palette: Palette = PAPER) -> Figure:
    """Draw gains of one step, and the growth under many."""
    runs = shown["stability"]
    with look(palette):
        figure, (gains, growth) = canvas(
            "page", 2.5, palette, panels=(1, 2), gaps=(1.3, 0.5), margins={"right": 0.8}
        )
        draw_gains(gains, runs.sel(values="identity"), palette)
        draw_growth(growth, runs, palette)
    return figure


def draw_gains(ax: Axes, runs: xr.Dataset, palette: Palette) -> None:
    """Draw the gain of each frequency for each time."""
    ends, k, times = [], runs["frequency"].values, runs["diffusion_time"].values
    ax.axhline(0, color=palette.quiet, linewidth=0.5, zorder=1)
    for time, colour in zip(times, tints(palette.diffusion, len(times), palette), strict=True):
        run = runs.sel(diffusion_time=time).isel(replicate=0)
        draw_theory(ax, k, run["ring_step_gain"].values, colour)
        draw_measured(ax, k, run["wave_gain"].values, colour)
        ends.append((k[-1], float(run["wave_gain"][-1]), f"τ = {time:g}", colour))
    ax.set_xlabel(axis_text(runs["frequency"]))
    ax.set_ylabel(axis_text(runs["wave_gain"]))
    head(ax, "a", "A long step turns the fastest waves over, and a longer one enlarges them")
    end_labels(ax, ends)


def draw_growth(ax: Axes, runs: xr.Dataset, palette: Palette) -> None:
    """Draw the growth of each map of values over the time of a step."""
    colours = {
        "identity": palette.diffusion,
        "oblique": palette.residual,
        "quarter_turn": palette.remedy,
    }
    ends, time = [], runs["diffusion_time"].values
    ax.axhline(1, color=palette.quiet, linewidth=0.5, zorder=1)
    for values, colour in colours.items():
        each = runs.sel(values=values).transpose("replicate", ..., "diffusion_time", "frequency")
        grown, gain = each["transient_growth"].values, each["mode_gain"].isel(replicate=0).values
        draw_theory(ax, time, gain, colour)
        draw_replicates(ax, time, grown, colour)
        draw_measured(ax, time, grown[0], colour)
        ends.append((time[-1], grown[0, -1], SPECTRA[values], colour))
    ax.set_xlabel(axis_text(runs["diffusion_time"]))
    ax.set_ylabel(axis_text(runs["transient_growth"]))
    head(ax, "b", "Complex values need shorter steps, and imaginary ones grow at any")
    end_labels(ax, ends)
