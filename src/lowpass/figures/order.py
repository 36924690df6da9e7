"""The gain of every frequency, for tokens in an order that means something or nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from lowpass.figures.marks import annotate, draw_measured, draw_replicates
from lowpass.figures.names import FIGURES
from lowpass.figures.palette import PAPER, Palette
from lowpass.figures.style import axis_text, canvas, head, look

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@FIGURES.add(
    "order",
    experiments=("order-tokens", "order-circle", "order-neighbours"),
    section="order-tokens",
    caption="The gain of a Fourier mode with k periods along the tokens under one layer of "
    "attention. Ticks are replicates; dots are the first of them, or the only one. (a) Independent "
    "tokens, whose numbers mean nothing. (b) Features that are sums of the longest waves along a "
    "ring. (c) Tokens on a circle, in order (dots) and numbered at random (ticks): one attention "
    "matrix, renamed. (d) Every token attends to its two neighbours on a ring. Frequency zero, the "
    "mean, has the gain one everywhere.",
)
def order(shown: Mapping[str, xr.Dataset], palette: Palette = PAPER) -> Figure:
    """Draw four responses, of which one is a low-pass filter."""
    tokens, circle = shown["order-tokens"], shown["order-circle"]
    near = shown["order-neighbours"]
    panels = [
        ("Without order there is no frequency", tokens.sel(case="independent"), None),
        ("Smooth features keep their long waves", tokens.sel(case="smooth"), None),
        (
            "Renumbered, a low-pass is none",
            circle.sel(case="in order"),
            circle.sel(case="renumbered"),
        ),
        ("The highest passes like the lowest", near, None),
    ]
    with look(palette):
        figure, axes = canvas(
            "page", 2.3, palette, panels=(1, 4), gaps=(0.32, 0.72), margins={"right": 0.12}
        )
        for ax, letter, (sentence, runs, others) in zip(axes, "abcd", panels, strict=True):
            draw_gains(ax, runs if others is None else others, palette, first=others is None)
            if others is not None:
                draw_first(ax, runs, palette)
            head(ax, letter, sentence)
        for ax in axes:
            ax.set_xlabel(axis_text(tokens["frequency"]))
        axes[0].set_ylabel(axis_text(tokens["input_mode_gain"]))
        for ax in axes[1:]:
            ax.set_yticklabels([])
        last = near.isel(replicate=0, frequency=-1)
        annotate(axes[3], "Nyquist", point(last), (-1, 8), palette)
    return figure


def draw_gains(ax: Axes, runs: xr.Dataset, palette: Palette, *, first: bool) -> None:
    """Draw the gains of all replicates, and of the first one."""
    gain = runs["input_mode_gain"].transpose("replicate", "frequency")
    k = runs["frequency"].values
    ax.set(ylim=(-0.04, 1.14), xlim=(-1, k[-1] + 1), yticks=[0, 0.5, 1])
    if runs.sizes["replicate"] > 1:
        draw_replicates(ax, k, gain.values, palette.attention)
    if first:
        draw_first(ax, runs, palette)


def draw_first(ax: Axes, runs: xr.Dataset, palette: Palette) -> None:
    """Draw the gains of the first replicate as dots."""
    one = runs.isel(replicate=0)
    draw_measured(ax, one["frequency"].values, one["input_mode_gain"].values, palette.attention)


def point(run: xr.Dataset) -> tuple[float, float]:
    """Give frequency and gain of one mode."""
    return float(np.asarray(run["frequency"])), float(run["input_mode_gain"])
