"""Attention over a real record, and how its temperature is chosen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from lowpass.figures.marks import annotate, draw_interval, draw_measured
from lowpass.figures.names import FIGURES
from lowpass.figures.palette import PAPER, Palette
from lowpass.figures.style import axis_text, canvas, end_labels, head, look

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# When building began at Aswan; cobb1978 takes the fall of the flow as a changepoint there.
DAM = 1899


@FIGURES.add(
    "nile",
    experiments=("nile",),
    section="nile",
    caption="The annual flow of the Nile at Aswan as attention sees it: years are keys, flows are "
    "values, and every year is also a query. (a) Dots are the observed flows, the line is the "
    "output of attention, and the band is a confidence interval, year by year. The flow "
    "falls where the first dam was begun (Cobb, 1978), which a smoother can only bend around. "
    "(b) What criteria expect of the error of predicting a year, over bandwidths, and the lowest "
    "point of each: leaving out the year alone (CV), or with one more on either side; generalised "
    "cross-validation (GCV); and Akaike's criterion with its correction for small samples (AICc), "
    "as exp(AICc - 1). The dot with a number is the bandwidth of (a): a Gaussian bandwidth h and a "
    "softmax temperature T are one choice, T = h².",
)
def nile(shown: Mapping[str, xr.Dataset], palette: Palette = PAPER) -> Figure:
    """Draw the fit with its band, and the criterion that chose the temperature."""
    with look(palette):
        figure, (record, choice) = canvas(
            "page",
            2.6,
            palette,
            panels=(1, 2),
            gaps=(0.75, 0.72),
            margins={"left": 0.58, "right": 1.05},
            ratios=(1.7, 1),
        )
        draw_record(record, shown["nile"], palette)
        draw_criteria(choice, shown["nile"], palette)
    return figure


def draw_record(ax: Axes, smoothed: xr.Dataset, palette: Palette) -> None:
    """Draw observations, fit and band over the years."""
    year = smoothed["key_position"].isel(feature=0).values
    draw_interval(ax, year, smoothed["lower"].values, smoothed["upper"].values, palette.attention)
    draw_measured(ax, year, smoothed["value"].values, palette.ink)
    ax.plot(year, smoothed["fit"].values, color=palette.attention, zorder=4)
    ax.axvline(DAM, color=palette.quiet, linewidth=0.5, zorder=0.5)
    annotate(ax, "Aswan dam works begin, 1899", (DAM, ax.get_ylim()[1]), (4, -4), palette)
    name_flow(ax, smoothed)
    head(ax, "a", "Attention over years smooths the Nile")


def name_flow(ax: Axes, smoothed: xr.Dataset) -> None:
    """Say what keys and values of the record are."""
    ax.set_xlabel(f"{axis_text(smoothed['key_position'])}:  year")
    ax.set_ylabel(f"{axis_text(smoothed['value'])}:  annual flow  ($10^8$ m$^3$)")


# Criteria with their variable, how a label calls them, and the role of their colour.
CRITERIA = {
    "loo": ("loo_score", "CV", "attention"),
    "gcv": ("gcv_score", "GCV", "quiet"),
    "blocked": ("blocked_score", "CV, neighbours out", "remedy"),
    "aicc": ("aicc_error", "AICc", "ink"),
}


def draw_criteria(ax: Axes, smoothed: xr.Dataset, palette: Palette) -> None:
    """Draw what criteria expect over bandwidths, and mark the lowest point of each."""
    from matplotlib.ticker import MaxNLocator

    lowest = [smoothed[name] for name in ("bandwidth_by_criterion", "error_by_criterion")]
    bandwidth, ends = smoothed["bandwidth"].values, []
    ax.set_xscale("log")
    for name, (variable, words, role) in CRITERIA.items():
        if name == "aicc":
            # It rises without limit where the others level off.
            ax.margins(y=0.18)
            ax.set_ylim(ax.get_ylim())
        colour, score = getattr(palette, role), smoothed[variable].values
        ax.plot(bandwidth, score, color=colour, linewidth=0.9)
        h, error = (each.sel(bandwidth_criterion=[name]).values for each in lowest)
        draw_measured(ax, h, error, colour)
        ends.append((bandwidth[-1], score[-1], words, colour))
    say_selected(ax, smoothed, palette)
    ax.yaxis.set_major_locator(MaxNLocator(nbins=4, steps=[1, 2, 4, 5, 10]))
    ax.xaxis.set_major_formatter("{x:g}")
    ax.set_xlabel(f"{axis_text(smoothed['bandwidth'])}  (years)")
    ax.set_ylabel(axis_text(smoothed["error_by_criterion"]))
    head(ax, "b", "Its temperature is a bandwidth; who is left out decides which")
    end_labels(ax, ends)


def say_selected(ax: Axes, smoothed: xr.Dataset, palette: Palette) -> None:
    """Say beside its dot what bandwidth, and what temperature, the fit has."""
    chosen = {name: smoothed[f"{name}_selected"] for name in ("bandwidth", "temperature")}
    words = [f"${each.attrs['symbol']}={float(each):.2f}$" for each in chosen.values()]
    at = float(chosen["bandwidth"]), float(smoothed["loo_score_selected"])
    annotate(ax, ",  ".join(words), at, (3, -10), palette)
