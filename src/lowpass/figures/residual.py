"""What a residual layer does to the rate of smoothing, and to each of its modes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from lowpass.figures.attention import rank_middle
from lowpass.figures.marks import annotate, draw_interval, draw_measured, draw_theory
from lowpass.figures.names import FIGURES
from lowpass.figures.palette import PAPER, Palette
from lowpass.figures.style import TICK, axis_text, canvas, head, look

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Rates at which a layer forgets nothing, and those that are drawn.
EVEN = 1.0
RATES = (0.5, 150.0)
# Modes of A whose measured gains are drawn, by modulus; those of the others crowd at one.
MARKED = 4
# The distribution of W_V whose modes are drawn, at its own scale.
DRAWN = {"values": "random", "value_scale": 1}


@FIGURES.add(
    "residual-rates",
    experiments=("residual", "residual-values"),
    section="residual",
    caption="Residual layers X + AXW_V. (a) W_V = μI: the factor by which one layer multiplies the "
    "transient ratio, in the replicate whose interval of sharpening (shaded) ranks in the middle. "
    "Dashes are predicted from the eigenvalues of A, dots measured on iterated layers; at μ = −1 "
    "(grey line) both are infinite. The rate of the HC/DC ratio (ochre) is one where the "
    "transient ratio grows, and the same elsewhere. "
    "(b) Random W_V: the gains of the modes of one layer in the complex plane. Dashes join those "
    "predicted for one mode of W_V and all modes of A, and ochre dashes those of (2I − τL)W_V, "
    "which meet at zero. Dots are measured, for the four modes of A with the largest |λ|; those of "
    "the others crowd at one, and are judged too.",
)
def residual(shown: Mapping[str, xr.Dataset], palette: Palette = PAPER) -> Figure:
    """Draw rates over the scale of values, and the gains of modes in the complex plane."""
    runs, modes = shown["residual"], shown["residual-values"]
    edge = runs["sharpening_edge"].isel(value_scale=0)
    run = runs.isel(replicate=rank_middle(edge.values))
    wide = modes.sel(DRAWN)
    layer = wide.isel(replicate=rank_middle(wide["predicted_rate"].values))
    with look(palette):
        figure, (rates, plane) = canvas(
            "page", 2.7, palette, panels=(1, 2), gaps=(0.8, 0.72), margins={"right": 0.3}
        )
        draw_rates(rates, run, palette)
        draw_plane(plane, layer, palette)
    return figure


def draw_rates(ax: Axes, run: xr.Dataset, palette: Palette, letter: str = "a") -> None:
    """Draw the rate of both ratios over the scale of values, and where it is infinite."""
    scale = run["value_scale"].values
    ax.set(yscale="log", ylim=RATES, xlim=(scale[0] - 0.1, scale[-1] + 0.1))
    ax.axhline(EVEN, color=palette.quiet, linewidth=0.5, zorder=1)
    edge = float(run["sharpening_edge"].isel(value_scale=0))
    draw_interval(ax, [edge, 0], RATES[0], RATES[1], palette.residual)
    rate = run["tapered_rate"].values
    for pole in scale[np.isinf(rate)]:
        ax.axvline(pole, color=palette.quiet, linewidth=0.5, zorder=1)
        annotate(ax, "infinite", (pole, RATES[1]), (4, -5), palette)
    # What is infinite is not drawn, and ends the dashes on both sides of it.
    draw_theory(ax, scale, run["predicted_rate"].values, palette.residual)
    draw_measured(ax, scale, run["hc_dc_rate"].values, palette.fails)
    seen = np.isfinite(rate)
    draw_measured(ax, scale[seen], rate[seen], palette.residual)
    name(ax, "transient ratio", (-0.65, 10.0), palette.residual)
    name(ax, "HC/DC ratio", (-1.9, 0.78), palette.fails, ha="center")
    ax.set_yticks([1, 10, 100], ["1", "10", "100"])
    ax.set_xlabel("scale μ of the values")
    ax.set_ylabel(axis_text(run["tapered_rate"]))
    head(ax, letter, "Sharpening is invisible to HC/DC")


def draw_plane(ax: Axes, layer: xr.Dataset, palette: Palette, letter: str = "b") -> None:
    """Draw the gains of one layer, one line for each mode of the values."""
    order = layer["operator_gain_real"].isel(value_mode=0).argsort().values
    marked = layer.isel(mode=slice(MARKED))
    layer = layer.isel(mode=order)
    for j in range(layer.sizes["value_mode"]):
        one = layer.isel(value_mode=j)
        for kind, colour in [("written", palette.fails), ("operator", palette.residual)]:
            real, imag = (one[f"{kind}_gain_{part}"].values for part in ("real", "imag"))
            draw_theory(ax, real, imag, colour)
        draw_measured(ax, *gains(marked.isel(value_mode=j), "layer"), palette.residual)
    name_fans(ax, layer, palette)
    ax.set_aspect("equal", adjustable="datalim")
    ax.set_xlabel("real part of the gain")
    ax.set_ylabel("imaginary part")
    head(ax, letter, "Gains fan out from one, not from zero")


def name_fans(ax: Axes, layer: xr.Dataset, palette: Palette) -> None:
    """Name the measured gains to the right of them, and those of the note at their top."""
    right = layer["layer_gain_real"].max()
    name(ax, "one layer", (float(right) + 0.12, 0.0), palette.residual)
    top = layer.isel(layer["written_gain_imag"].argmax(...))
    place = (float(top["written_gain_real"]) + 0.15, float(top["written_gain_imag"]))
    name(ax, "(2I − τL)$W_V$", place, palette.fails)


def gains(one: xr.Dataset, kind: str) -> tuple[np.ndarray, np.ndarray]:
    """Select the real and the imaginary parts of gains."""
    return one[f"{kind}_gain_real"].values, one[f"{kind}_gain_imag"].values


def name(ax: Axes, text: str, at: tuple[float, float], colour: str, ha: str = "left") -> None:
    """Write the name of what is drawn beside it, in its colour."""
    ax.annotate(text, at, color=colour, fontsize=TICK, ha=ha, va="center_baseline")
