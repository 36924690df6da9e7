"""What grows before it dies, what grows while its share dies, and what never dies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from lowpass.figures.attention import DOTS, draw_every, middle, name_at, name_powers, shades
from lowpass.figures.contraction import beta_of, middles
from lowpass.figures.marks import draw_measured, draw_replicates, draw_theory
from lowpass.figures.names import FIGURES
from lowpass.figures.palette import PAPER, Palette
from lowpass.figures.style import axis_text, canvas, end_labels, head, look

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Decades in which growth shows; what has left them is forgotten.
EARLY, KEPT = (-4.5, 1.2), (-9.5, 1.2)
# Where the lines that fall are named, and apart from the one that stays.
NAMED_AT = -5.0


@FIGURES.add(
    "hub-gain",
    experiments=("hubs",),
    section="hubs",
    caption="The largest gain of the high-frequency component in one layer, over the inverse "
    "temperature β: where each half of the queries prefers a key of its own (hubs), and for random "
    "tokens and projections. Ticks are replicates, dots the one that ranks in the middle; dashes "
    "are the root of the largest column sum of the hubs, which no gain exceeds. Above the grey "
    "line a layer can enlarge the component.",
)
def hub_gain(shown: Mapping[str, xr.Dataset], palette: Palette = PAPER) -> Figure:
    """Draw the largest gain over β, for hubs and at random."""
    runs = shown["hubs"]
    beta, ideas = runs["beta"].values, {"hubs": palette.fails, "random": palette.attention}
    with look(palette):
        figure, (ax,) = canvas("column", 2.4, palette)
        ax.set_xscale("log")
        ends = []
        for case, colour in ideas.items():
            gain = runs["hc_gain"].sel(case=case)
            draw_replicates(ax, beta, gain.transpose("replicate", "beta").values, colour)
            ax.plot(beta, middles(gain), color=colour)
            draw_measured(ax, beta, middles(gain), colour)
            ends.append((beta[-1], middles(gain)[-1], case, colour))
        draw_theory(ax, beta, middles(runs["column_gain"].sel(case="hubs")), palette.quiet)
        ax.axhline(1, color=palette.quiet, linewidth=0.5, zorder=1)
        ax.set_xticks(beta, [f"{each:g}" for each in beta])
        ax.minorticks_off()
        ax.set_ylim(bottom=0)
        ax.set_xlabel(axis_text(beta_of(runs)))
        ax.set_ylabel(axis_text(runs["hc_gain"]))
        head(ax, "", "One layer can enlarge what differs")
        end_labels(ax, ends)
    return figure


@FIGURES.add(
    "growth",
    experiments=("transient-growth", "values", "waning", "products"),
    section="transient-growth",
    caption="(a) The largest gain of the high-frequency component over layers of one random "
    "attention matrix, at several inverse temperatures β. Dots are the replicate whose |λ₂| ranks "
    "in the middle; faint lines are all replicates. (b) With values scaled so that |λ₂| is "
    "outweighed: the high-frequency component against its start, and the ratio of the transient to "
    "the stationary part. (c) The share of the component that products of different matrices keep: "
    "layers that wane to the identity, with the bound on oscillations dashed, and recomputed "
    "layers with shared and with fresh projections, whose logits stay bounded.",
)
def growth(shown: Mapping[str, xr.Dataset], palette: Palette = PAPER) -> Figure:
    """Draw what grows first, what grows for ever, and what stays."""
    with look(palette):
        figure, (first, ever, kept) = canvas(
            "page", 2.5, palette, panels=(1, 3), gaps=(1.02, 0.72), margins={"left": 0.58}
        )
        draw_powers(first, shown["transient-growth"], palette)
        draw_values(ever, shown["values"].sel(case="scaled"), palette)
        draw_products(kept, shown["waning"], shown["products"], palette)
    return figure


def draw_powers(ax: Axes, runs: xr.Dataset, palette: Palette) -> None:
    """Draw gains of powers, for every β."""
    gain, ends = runs["log10_power_gain"], []
    for beta, colour in zip(runs["beta"].values, shades(runs, palette), strict=True):
        draw_every(ax, gain.sel(beta=beta), colour)
        line = middle(runs.sel(beta=beta))[gain.name]
        draw_line(ax, line, colour)
        ends.append((int(line["layer"][-1]), float(line[-1]), f"β = {beta:g}", colour))
    ax.axhline(0, color=palette.quiet, linewidth=0.5, zorder=1)
    ax.set_ylim(*EARLY)
    ax.set_xlabel(axis_text(gain["layer"]))
    name_powers(ax, gain)
    head(ax, "a", "HC may grow at first")
    end_labels(ax, ends)


def draw_values(ax: Axes, runs: xr.Dataset, palette: Palette) -> None:
    """Draw HC itself beside its share of the tokens."""
    run, ends = middle(runs), []
    named = {"log10_hc_growth": ("HC", palette.fails)}
    named["log10_transient_ratio"] = ("ratio", palette.attention)
    for name, (text, colour) in named.items():
        draw_every(ax, runs[name], colour)
        draw_line(ax, run[name], colour)
        ends.append((int(run["layer"][-1]), float(run[name][-1]), text, colour))
    ax.axhline(0, color=palette.quiet, linewidth=0.5, zorder=1)
    ax.set_xlabel(axis_text(runs["layer"]))
    name_powers(ax, runs["log10_transient_ratio"])
    head(ax, "b", "HC grows, its share dies")
    end_labels(ax, ends)


def draw_products(ax: Axes, waning: xr.Dataset, bounded: xr.Dataset, palette: Palette) -> None:
    """Draw the share that products of layers keep."""
    stays, falls = waning["log10_hc_growth"], bounded["log10_hc_growth"]
    bound = waning["log10_oscillation_bound"].isel(replicate=0)
    draw_theory(ax, bound["layer"].values, bound.values, palette.quiet)
    one = stays.isel(replicate=0)
    draw_line(ax, one, palette.fails)
    ends = [(int(one["layer"][-1]), float(one[-1]), "waning", palette.fails)]
    ax.set_ylim(*KEPT)
    for name in bounded["projections"].values:
        draw_every(ax, falls.sel(projections=name), palette.attention)
        draw_line(ax, falls.sel(projections=name).isel(replicate=0), palette.attention)
    names = ", ".join(str(name) for name in bounded["projections"].values)
    name_at(ax, falls.isel(projections=0, replicate=0), NAMED_AT, names, palette.attention)
    ax.set_xlabel(axis_text(stays["layer"]))
    name_powers(ax, stays)
    head(ax, "c", "Waning layers keep a part")
    end_labels(ax, ends)


def draw_line(ax: Axes, line: xr.DataArray, colour: str) -> None:
    """Draw one measured line, with a few of its dots."""
    layer, some = line["layer"].values, slice(None, None, max(1, (line.size - 1) // DOTS))
    ax.plot(layer, line.values, color=colour, linewidth=0.9)
    draw_measured(ax, layer[some], line.values[some], colour)
