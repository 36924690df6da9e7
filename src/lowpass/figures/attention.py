"""What attention forgets, how fast, and from where it never does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from lowpass.figures.marks import annotate, draw_measured, draw_theory
from lowpass.figures.names import FIGURES
from lowpass.figures.palette import PAPER, Palette, tints
from lowpass.figures.style import LABEL, TICK, axis_text, canvas, end_labels, head, look
from lowpass.figures.typesetting import typeset

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# The second panel ends a few decades below what one array of doubles can hold.
NEAR = (-21.5, 1.5)
NEAR_LAYERS = 100
# Between the floors of single and double precision a line's name has room.
BETWEEN = -11.5
LOG = r"\log_{10}"
# Dots of a run; between them the eye follows the dashes.
DOTS = 10
# The axis reaches down to where a ratio would be that forgets.
FORGOTTEN = -2.2


@FIGURES.add(
    "decay",
    experiments=("dc-limit",),
    section="dc-limit",
    caption="The ratio of the high-frequency to the direct-current component over layers, for one "
    "attention matrix repeated, at several inverse temperatures β. (a) The components are kept in "
    "two arrays, so that rounding ends neither. Dots are measured in one replicate, the one whose "
    "|λ₂| ranks in the middle; dashed lines are the prediction c|λ₂|ᵗ for the same replicate; "
    "faint lines are all replicates. (b) The first layers again. Lines are the same replicates "
    "in one array of single or double precision, and split in two arrays; grey lines are the "
    "floor u/√(2n), the smallest ratio that one array of n tokens with unit roundoff u can hold.",
)
def decay(shown: Mapping[str, xr.Dataset], palette: Palette = PAPER) -> Figure:
    """Draw the decay far below rounding, and where plain arithmetic stops following it."""
    runs = shown["dc-limit"]
    with look(palette):
        figure, (deep, near) = canvas(
            "page", 2.6, palette, panels=(1, 2), gaps=(1.16, 0.72), margins={"left": 0.58}
        )
        draw_decay(deep, runs, palette)
        draw_floors(near, runs, palette)
    return figure


def draw_decay(ax: Axes, runs: xr.Dataset, palette: Palette, letter: str = "a") -> None:
    """Draw the split form for every β, with its prediction."""
    layer = runs["layer"].values
    split = runs.sel(arithmetic="split")
    ends = []
    for beta, colour in zip(runs["beta"].values, shades(runs, palette), strict=True):
        draw_every(ax, split["log10_hc_dc_ratio"].sel(beta=beta), colour)
        run = middle(split.sel(beta=beta))
        ratio = run["log10_hc_dc_ratio"].values
        some = slice(None, None, max(1, (len(layer) - 1) // DOTS))
        draw_theory(ax, layer, run["log10_predicted_ratio"].values, colour)
        draw_measured(ax, layer[some], ratio[some], colour)
        ends.append((layer[-1], ratio[-1], f"β = {beta:g}", colour))
    ax.set_xlabel(axis_text(runs["layer"]))
    name_powers(ax, runs["log10_hc_dc_ratio"])
    head(ax, letter, "Only the mean survives, at the rate of λ₂")
    end_labels(ax, ends)


def draw_every(ax: Axes, ratio: xr.DataArray, colour: str) -> None:
    """Draw all replicates faintly."""
    each = ratio.transpose("layer", "replicate").values
    ax.plot(ratio["layer"].values, each, color=colour, linewidth=0.3, alpha=0.5, zorder=1.5)


def draw_floors(ax: Axes, runs: xr.Dataset, palette: Palette) -> None:
    """Draw the first layers in every arithmetic, with the floors of one array."""
    first = runs.sel(layer=slice(None, NEAR_LAYERS))
    layer = first["layer"].values
    ax.set(xlim=(0, layer[-1]), ylim=NEAR)
    betas = runs["beta"].values
    for beta, colour in zip(betas, shades(runs, palette), strict=True):
        run = middle(first.sel(beta=beta))["log10_hc_dc_ratio"]
        ax.plot(layer, run.transpose("layer", "arithmetic").values, color=colour, linewidth=0.9)
        # The first line has room on its left, and leaves that on its right to the second.
        aside = -1 if beta == betas[0] else 1
        name_at(ax, run.sel(arithmetic="split"), BETWEEN, f"β = {beta:g}", colour, aside)
    fastest = middle(first.isel(beta=0))
    ratio, ends = fastest["log10_hc_dc_ratio"], []
    for name in [each for each in runs["arithmetic"].values if each != "split"]:
        floor = float(fastest["log10_rounding_floor"].sel(arithmetic=name))
        ax.axhline(floor, color=palette.quiet, linewidth=0.5, zorder=1)
        stall = float(ratio.sel(arithmetic=name).isel(layer=-1))
        ends.append((layer[-1], stall, name, palette.ink))
        ends.append((layer[-1], floor, "floor", palette.quiet))
    name_at(ax, ratio.sel(arithmetic="split"), NEAR[0] + 1.5, "split", palette.ink)
    ax.set_xlabel(axis_text(runs["layer"]))
    name_powers(ax, runs["log10_hc_dc_ratio"])
    head(ax, "b", "One array stops where rounding begins")
    end_labels(ax, ends)


def name_at(
    ax: Axes, ratio: xr.DataArray, height: float, text: str, colour: str, aside: int = 1
) -> None:
    """Write a falling line's name to the right of its last point above a height, or (-1) left."""
    last = ratio.isel(layer=np.flatnonzero(ratio.values >= height)[-1])
    ax.annotate(
        typeset(text),
        (float(last["layer"]), float(last)),
        (5 * aside, 2 * aside),
        textcoords="offset points",
        ha="left" if aside > 0 else "right",
        color=colour,
        fontsize=TICK,
        va="center_baseline",
        annotation_clip=False,
    )


@FIGURES.add(
    "counterexamples",
    experiments=("counterexamples",),
    section="counterexamples",
    caption="The same ratio over layers, for two starts that have no stationary part (the second "
    "mode of attention; a signal without a mean, under doubly stochastic attention) and two "
    "attention matrices with zeros (two blocks; two tokens that swap). Dots are measured in one "
    "replicate, the one whose |λ₂| ranks in the middle; faint lines are all replicates. "
    "Without a mean the ratio is infinite at every layer, and is drawn above the axis.",
)
def counterexamples(shown: Mapping[str, xr.Dataset], palette: Palette = PAPER) -> Figure:
    """Draw ratios that stay where they start."""
    runs = shown["counterexamples"]
    ratio, layer = runs["log10_hc_dc_ratio"], runs["layer"].values
    lines = {case: middle(runs.sel(case=case))[ratio.name].values for case in runs["case"].values}
    endless = [case for case, line in lines.items() if np.isposinf(line).all()]
    with look(palette):
        figure, (ax,) = canvas("column", 2.4, palette, margins={"left": 0.58, "right": 0.86})
        for case in [case for case in lines if case not in endless]:
            draw_every(ax, ratio.sel(case=case), palette.fails)
        name_powers(ax, ratio)
        above = room_above(ax, palette) if endless else 0.0
        for case in endless:
            lines[case] = np.full(len(layer), above)
        for line in lines.values():
            draw_flat(ax, layer, line, palette.fails)
        ax.set_xlabel(axis_text(runs["layer"]))
        annotate(
            ax,
            "a ratio that forgets falls through here",
            (layer[len(layer) // 2], FORGOTTEN / 2),
            (0, 2),
            palette,
        )
        head(ax, "", "Four starts that never forget")
        end_labels(ax, [(layer[-1], line[-1], case, palette.fails) for case, line in lines.items()])
    return figure


def draw_flat(ax: Axes, layer: np.ndarray, ratio: np.ndarray, colour: str) -> None:
    """Draw a measured line that stays where it is, with a few of its dots."""
    some = slice(None, None, max(1, (len(layer) - 1) // DOTS))
    ax.plot(layer, ratio, color=colour, linewidth=0.8)
    draw_measured(ax, layer[some], ratio[some], colour)


def room_above(ax: Axes, palette: Palette) -> float:
    """Break the axis above the finite ratios, and give the height that stands for infinity."""
    low, high = ax.get_ylim()
    low, broken, top = min(low, FORGOTTEN), high + 0.15, high + 0.75
    ax.set_ylim(low, top + 0.2)
    ax.set_yticks([tick for tick in ax.get_yticks() if low <= tick <= broken])
    ax.spines["left"].set_bounds(low, broken)
    place = {"xycoords": ax.get_yaxis_transform(), "textcoords": "offset points"}
    place |= {"ha": "right", "va": "center_baseline", "annotation_clip": False}
    ax.annotate("∞", (0, top), (-4.8, 0), color=palette.quiet, fontsize=LABEL, **place)
    return top


def shades(runs: xr.Dataset, palette: Palette) -> list[str]:
    """Give each β a tint of attention; the faintest of one more would not carry a label."""
    return tints(palette.attention, runs.sizes["beta"] + 1, palette)[1:]


def middle(runs: xr.Dataset) -> xr.Dataset:
    """Select the replicate whose |λ₂| ranks in the middle."""
    slem = runs["slem"]
    if "arithmetic" in slem.dims:
        slem = slem.sel(arithmetic="split")
    return runs.isel(replicate=rank_middle(slem.values))


def rank_middle(values: Sequence[float] | np.ndarray) -> int:
    """Find the place of the value that ranks in the middle."""
    return int(np.argsort(values, kind="stable")[len(values) // 2])


def name_powers(ax: Axes, variable: xr.DataArray) -> None:
    """Read an axis of stored decimal logarithms as powers of ten of what its card names."""
    from matplotlib.ticker import MaxNLocator

    ax.yaxis.set_major_locator(MaxNLocator(nbins=5, steps=[1, 2, 5, 10], integer=True))
    ax.yaxis.set_major_formatter(lambda value, _: typeset_power(round(value)))
    ax.set_ylabel(plain_text(variable))


def plain_text(variable: xr.DataArray) -> str:
    """Name the number whose decimal logarithm is stored."""
    card = variable.attrs
    plain = {
        "long_name": card["long_name"].removeprefix("decimal logarithm of the "),
        "symbol": card["symbol"].removeprefix(LOG),
    }
    return axis_text(variable.assign_attrs(plain))


def typeset_power(exponent: int) -> str:
    """Write a power of ten, the first two as plain numbers."""
    return {0: "1", 1: "10"}.get(exponent, f"$10^{{{exponent}}}$")
