"""The spectrum of the note's Laplacian beside that of a random walk."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from lowpass.figures.attention import rank_middle
from lowpass.figures.marks import annotate, draw_interval, draw_measured, draw_replicates
from lowpass.figures.names import FIGURES
from lowpass.figures.palette import PAPER, Palette, tints
from lowpass.figures.style import axis_text, canvas, end_labels, head, look

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Of a layer I − L the factor of a mode is 1 − λ: beyond one it turns, beyond two it grows.
TURNS, GROWS = 1.0, 2.0
KINDS = {"symmetric": "symmetric", "tied": "equal"}


@FIGURES.add(
    "walk-spectrum",
    experiments=("random-walk",),
    section="random-walk",
    caption="Eigenvalues of two Laplacians of the same symmetric logits, in ascending order, at "
    "the largest inverse temperature but one. Ticks are replicates, dots the one whose largest "
    "ranks in the middle. (a) L = D − S̃ of note 1, in units of its largest modulus: modes in the "
    "tinted half grow under exp(−τL). (b) The random-walk Laplacian of exp(S̃), for which attention "
    "is I − L: a mode is multiplied by 1 − λ, so that it changes its sign above the lower grey "
    "line and would grow above the upper one. Where projections of queries and keys are equal "
    "no mode changes its sign.",
)
def walk(shown: Mapping[str, xr.Dataset], palette: Palette = PAPER) -> Figure:
    """Draw an indefinite spectrum beside one that lies within its interval."""
    runs = shown["random-walk"].isel(beta=-2).sel(weights=[*KINDS])
    with look(palette):
        figure, (signed, step) = canvas(
            "page", 2.6, palette, panels=(1, 2), gaps=(1.15, 0.72), margins={"right": 0.85}
        )
        draw_signed(signed, runs.sel(weights="symmetric"), palette)
        draw_step(step, runs, palette)
    return figure


def draw_signed(ax: Axes, runs: xr.Dataset, palette: Palette, letter: str = "a") -> None:
    """Draw the eigenvalues of the note's Laplacian, the half below zero tinted."""
    value = runs["signed_eigenvalue"]
    mode = value["mode"].values
    ax.set(ylim=(-1.12, 1.12), yticks=[-1, 0, 1])
    draw_interval(ax, [mode[0] - 1, mode[-1] + 1], -1.12, 0, palette.fails)
    draw_spectrum(ax, value, palette.fails)
    annotate(ax, "grows", (mode[-1], -0.9), (-2, 0), palette)
    ax.set_xlabel(axis_text(value["mode"]))
    ax.set_ylabel(r"eigenvalue  $" + value.attrs["symbol"] + "$")
    head(ax, letter, "The note lets modes grow")


def draw_step(ax: Axes, runs: xr.Dataset, palette: Palette, letter: str = "b") -> None:
    """Draw the eigenvalues of the walk for logits of both kinds."""
    ends, value = [], runs["walk_eigenvalue"]
    mode = value["mode"].values
    for line in (TURNS, GROWS):
        ax.axhline(line, color=palette.quiet, linewidth=0.5, zorder=1)
    colours = reversed(tints(palette.attention, len(KINDS), palette))
    for (kind, name), colour in zip(KINDS.items(), colours, strict=True):
        middle = draw_spectrum(ax, value.sel(weights=kind), colour)
        ends.append((mode[-1], middle[-1], name, colour))
    annotate(ax, "grows", (mode[0], GROWS), (2, 6), palette)
    annotate(ax, "turns", (mode[0], TURNS), (2, 6), palette)
    ax.set(ylim=(-0.08, 2.3), yticks=[0, 1, 2])
    ax.set_xlabel(axis_text(value["mode"]))
    ax.set_ylabel(r"eigenvalue  $" + value.attrs["symbol"] + "$")
    head(ax, letter, "No mode of the walk can grow")
    end_labels(ax, ends)


def draw_spectrum(ax: Axes, value: xr.DataArray, colour: str) -> list[float]:
    """Draw the eigenvalues of all replicates, and of the one whose largest ranks in the middle."""
    every = value.transpose("replicate", "mode").values
    mode = value["mode"].values
    draw_replicates(ax, mode, every, colour)
    middle = every[rank_middle(every[:, -1])]
    draw_measured(ax, mode, middle, colour)
    return middle.tolist()
