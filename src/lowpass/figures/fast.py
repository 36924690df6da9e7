"""Fast attention: what its features err by, and where it stands among other shortcuts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from lowpass.figures.attention import name_powers, plain_text, rank_middle, typeset_power
from lowpass.figures.marks import annotate, draw_measured, draw_replicates, draw_theory, name_point
from lowpass.figures.names import FIGURES
from lowpass.figures.palette import PAPER, Palette, tints
from lowpass.figures.style import axis_text, canvas, end_labels, head, look

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# From a point to its name, in points.
BELOW = (3, -8)
# Shorter names for the ends of lines.
NAMES = {
    "fewer keys": "fewer keys",
    "landmarks": "landmarks",
    "independent features": "FAVOR+",
    "trigonometric features": "cosines",
    "elu + 1": "elu + 1",
}


@FIGURES.add(
    "feature-errors",
    experiments=("random-features",),
    section="random-features",
    caption="(a) Mean squared error of m positive random features (FAVOR+), relative to the square "
    "of the similarity they stand in for, at several lengths of the tokens. Ticks are independent "
    "replicates, each of many thousand draws, dots those that rank in the middle, and dashed lines "
    "the closed form. At the longest pair few replicates reach their own mean: what carries it is "
    "rarer than what was drawn. (b) How often the estimate of trigonometric features, which is of "
    "a positive number, is negative. Positive features never are.",
)
def feature_errors(shown: Mapping[str, xr.Dataset], palette: Palette = PAPER) -> Figure:
    """Draw errors over the number of terms, and the share of negative estimates."""
    runs = shown["random-features"]
    with look(palette):
        figure, (error, negative) = canvas(
            "page", 2.6, palette, panels=(1, 2), gaps=(1.45, 0.72), margins={"left": 0.58}
        )
        draw_errors(error, runs.sel(random_feature="independent"), palette)
        draw_negative(negative, runs.sel(random_feature="trigonometric"), palette)
    return figure


def draw_errors(ax: Axes, runs: xr.Dataset, palette: Palette, letter: str = "a") -> None:
    """Draw the measured error of every length beside its closed form."""
    terms, ends = runs["n_terms"].values, []
    norms = runs["squared_norm"].values
    for norm, colour in zip(norms, tints(palette.attention, len(norms), palette), strict=True):
        run = runs.sel(squared_norm=norm)
        error = run["feature_error"].transpose("replicate", "n_terms").values
        law = run["feature_error_predicted"].isel(replicate=0).values
        draw_theory(ax, terms, law, colour)
        draw_replicates(ax, terms, error, colour)
        draw_measured(ax, terms, middles(error), colour)
        ends.append((terms[-1], law[-1], rf"$\|q+k\|^2={norm:g}$", colour))
    ax.set(xscale="log", yscale="log")
    ax.set_xticks(terms, [f"{m}" for m in terms])
    ax.minorticks_off()
    ax.set_xlabel(axis_text(runs["n_terms"]))
    ax.set_ylabel(axis_text(runs["feature_error"]))
    head(ax, letter, "Length decides what features err by")
    end_labels(ax, ends)


def draw_negative(ax: Axes, runs: xr.Dataset, palette: Palette, letter: str = "b") -> None:
    """Draw the share of negative estimates over the length, for each number of terms."""
    norms, ends = runs["squared_norm"].values, []
    terms = runs["n_terms"].values
    for m, colour in zip(terms, tints(palette.fails, len(terms), palette), strict=True):
        share = (
            runs["negative_estimates"].sel(n_terms=m).transpose("replicate", "squared_norm").values
        )
        ax.plot(norms, middles(share), color=colour, linewidth=0.7, zorder=2)
        draw_replicates(ax, norms, share, colour)
        draw_measured(ax, norms, middles(share), colour)
        ends.append((norms[-1], middles(share)[-1], f"$m={m}$", colour))
    ax.set_xscale("log", base=2)
    ax.set_xticks(norms, [f"{norm:g}" for norm in norms])
    ax.set_xlabel(r"squared distance of query and key  $\|q-k\|^2$")
    ax.set_ylabel(axis_text(runs["negative_estimates"]))
    head(ax, letter, "Cosines make similarities negative")
    end_labels(ax, ends)


def middles(values: np.ndarray) -> np.ndarray:
    """Select, point by point, the replicate (replicate, point) that ranks in the middle."""
    return np.array([column[rank_middle(column)] for column in values.T])


@FIGURES.add(
    "fast-attention",
    experiments=("fast-attention",),
    section="fast-attention",
    caption="Error over operations of smoothing at the bandwidth of attention, in few and in many "
    "dimensions. Each line is one kind of shortcut, with four times as many terms from dot to "
    "dot; ticks are replicates, dots those that rank in the middle. Errors are in units of that "
    "of the mean of all values, the grey line, which costs next to nothing. The dashed upright "
    "is the cost of all pairs, which is exact; in one and two dimensions, so are Fourier sums on "
    "a grid. An operation is a multiply-add, and an exponential counts as fifty.",
)
def fast_attention(shown: Mapping[str, xr.Dataset], palette: Palette = PAPER) -> Figure:
    """Draw one panel for every number of features of a key, for the most keys."""
    runs = shown["fast-attention"].isel(n_keys=-1).sel(value_noise=0)
    sentences = (
        "On a line, a grid wins by far",
        "In the plane too",
        "In 16 dimensions few keys beat features",
        "In 64, features stay behind the mean",
    )
    rows = (runs.sizes["n_features"] + 1) // 2
    with look(palette):
        figure, axes = canvas(
            "page",
            2.35 * rows,
            palette,
            panels=(rows, 2),
            gaps=(1.3, 0.95),
            margins={"left": 0.58},
        )
        for ax, letter, d, sentence in zip(
            axes, "abcd", runs["n_features"].values, sentences, strict=False
        ):
            draw_race(ax, runs.sel(n_features=d), palette)
            annotate(ax, f"d = {d}", (ax.get_xlim()[0], ax.get_ylim()[1]), (3, -5), palette)
            head(ax, letter, sentence)
    return figure


def draw_race(ax: Axes, runs: xr.Dataset, palette: Palette) -> None:
    """Draw error over operations, kind by kind."""
    colours = (palette.ink, palette.residual, palette.attention, palette.fails, palette.remedy)
    ends = []
    ax.axhline(0, color=palette.quiet, linewidth=0.5, zorder=0.5)
    for kind, colour in zip(NAMES, colours, strict=True):
        run = runs.sel(approximation=kind)
        cost = run["log10_operations"].isel(replicate=0).values
        error = run["log10_relative_error"].transpose("replicate", "n_terms").values
        ax.plot(cost, middles(error), color=colour, linewidth=0.8, zorder=2)
        draw_replicates(ax, cost, error, colour)
        draw_measured(ax, cost, middles(error), colour)
        end = (cost[-1], middles(error)[-1])
        if cost[0] == cost[-1]:
            name_point(ax, NAMES[kind], end, BELOW, colour)
        else:
            ends.append((*end, NAMES[kind], colour))
    draw_series(ax, runs, palette)
    ends.append(draw_all_pairs(ax, runs, palette))
    name_powers(ax, runs["log10_relative_error"])
    ax.set_xlabel(plain_text(runs["log10_operations"]))
    ax.xaxis.set_major_formatter(lambda value, _: typeset_power(round(value)))
    ax.set_xticks(range(int(ax.get_xlim()[0]) + 1, int(ax.get_xlim()[1]) + 1))
    end_labels(ax, ends)


def draw_series(ax: Axes, runs: xr.Dataset, palette: Palette) -> None:
    """Draw what Fourier sums on a grid cost, where there is one."""
    cost = runs["log10_series_operations"].values
    if not np.isfinite(cost).all():
        return
    error = runs["log10_series_error"].values
    draw_replicates(ax, cost[:1], error[:, None], palette.quiet)
    at = rank_middle(error)
    draw_measured(ax, cost[at], error[at], palette.quiet)
    name_point(ax, "grid", (cost[at], error[at]), (5, 0), palette.quiet)


def draw_all_pairs(ax: Axes, runs: xr.Dataset, palette: Palette) -> tuple[float, float, str, str]:
    """Mark what exact attention costs, and give the end of the line."""
    everything = float(runs["log10_exact_operations"].isel(replicate=0))
    low, high = ax.get_ylim()
    draw_theory(ax, [everything] * 2, [low, high], palette.quiet)
    ax.set_ylim(low, high)
    return everything, low, "all pairs", palette.quiet
