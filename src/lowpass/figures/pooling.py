"""A textbook's attention pooling, with its errors in expectation."""

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

# Rules that are drawn as curves; the learned bandwidth and the best one cannot be told apart.
RULES = {"average": "average", "fixed": "$h=1$", "learned": "learned"}


@FIGURES.add(
    "pooling",
    experiments=("pooling",),
    section="pooling",
    caption="Attention pooling as a textbook introduces it, on a design that is fixed, so that "
    "nothing is drawn at random. (a) The truth (dashed), and the expected output of averaging, of "
    "the fixed bandwidth, and of the bandwidth that is learned by predicting each value from the "
    "others. (b) Expected squared error over bandwidths (blue), the sum of squared bias and "
    "variance (grey); dots mark the fixed and the learned bandwidth, and the orange ticks lie "
    "where gradient descent, as the textbook runs it, ends from ten starts. (c) The error "
    "(blue), and the criterion that learns from other observations (orange), where errors are "
    "independent (pale) and where they resemble their neighbours; dots in these colours mark the "
    "smallest, and black ones the error of what is learned.",
)
def pooling(shown: Mapping[str, xr.Dataset], palette: Palette = PAPER) -> Figure:
    """Draw the fits, their errors, and what correlated errors do."""
    runs = shown["pooling"]
    with look(palette):
        figure, (fits, errors, misled) = canvas(
            "page",
            2.7,
            palette,
            panels=(1, 3),
            gaps=(0.98, 0.72),
            margins={"left": 0.45, "right": 0.72, "top": 0.5},
        )
        draw_fits(fits, runs.isel(correlation=0), palette)
        draw_errors(errors, runs.isel(correlation=0), palette)
        draw_misled(misled, runs, palette)
    return figure


def draw_fits(ax: Axes, run: xr.Dataset, palette: Palette) -> None:
    """Draw the truth, and what every rule gives on average."""
    place = run["query_position"].isel(feature=0).values
    draw_theory(ax, place, run["truth_at_query"].values, palette.ink)
    colours = {
        "average": palette.quiet,
        "fixed": palette.fails,
        "learned": palette.attention,
    }
    ends = []
    for rule, name in RULES.items():
        fit = run["rule_fit"].sel(pooling_rule=rule).values
        ax.plot(place, fit, color=colours[rule])
        ends.append((place[-1], fit[-1], name, colours[rule]))
    ax.set_xlabel(axis_text(run["query_position"]))
    ax.set_ylabel(axis_text(run["rule_fit"]))
    head(ax, "a", "A learned bandwidth finds the curve")
    end_labels(ax, ends)


def draw_errors(ax: Axes, run: xr.Dataset, palette: Palette) -> None:
    """Draw bias, variance and their sum, with the rules upon it."""
    h, error = run["bandwidth"].values, run["expected_error"].values
    parts = {"squared_bias": "bias²", "fit_variance": "variance"}
    ends = [(h[-1], error[-1], "error", palette.attention)]
    for name, word in parts.items():
        ax.plot(h, run[name].values, color=palette.quiet, linewidth=0.7)
        ends.append((h[-1], run[name].values[-1], word, palette.quiet))
    ax.plot(h, error, color=palette.attention, zorder=3)
    ax.plot(
        run["trained_bandwidth"].values,
        run["trained_error"].values,
        "|",
        color=palette.fails,
        markersize=7,
        zorder=4,
    )
    chosen = run.sel(pooling_rule=["fixed", "learned"])
    draw_measured(ax, chosen["rule_bandwidth"].values, chosen["rule_error"].values, palette.ink)
    for rule, shift in (("fixed", (-4, 4)), ("learned", (0, 14))):
        one = run.sel(pooling_rule=rule)
        at = float(one["rule_bandwidth"]), float(one["rule_error"])
        annotate(ax, RULES[rule], at, shift, palette)
    ax.set(xscale="log", yscale="log", ylim=(1e-3, 2))
    ax.set_xlabel(axis_text(run["bandwidth"]))
    ax.set_ylabel(axis_text(run["expected_error"]))
    head(ax, "b", "The textbook's few steps overshoot it")
    end_labels(ax, ends)


def draw_misled(ax: Axes, runs: xr.Dataset, palette: Palette) -> None:
    """Draw error and criterion for independent and for correlated errors."""
    h, ends = runs["bandwidth"].values, []
    for place, strength in enumerate((0.45, 1.0)):
        run = runs.isel(correlation=place)
        for name, word, colour in (
            ("expected_loo", "criterion", palette.fails),
            ("expected_error", "error", palette.attention),
        ):
            ax.plot(h, run[name].values, color=colour, alpha=strength)
            ends.append((h[-1], run[name].values[-1], word, colour))
        learned, best = run.sel(pooling_rule="learned"), run.sel(pooling_rule="best")
        at = [float(learned["rule_bandwidth"])]
        draw_measured(ax, at, [float(run["learned_score"])], palette.fails)
        draw_measured(ax, at, [float(learned["rule_error"])], palette.ink)
        draw_measured(
            ax, [float(best["rule_bandwidth"])], [float(best["rule_error"])], palette.attention
        )
    ax.set(xscale="log", yscale="log")
    ax.set_xlabel(axis_text(runs["bandwidth"]))
    ax.set_ylabel("expected squared error")
    head(ax, "c", "Errors that are alike mislead it")
    end_labels(ax, ends[-2:])
