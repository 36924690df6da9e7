"""What remedies do to the rate of smoothing, what Wang's ratio shows of it, and what settles."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from lowpass.figures.attention import draw_every, name_powers, rank_middle
from lowpass.figures.marks import annotate, draw_measured, draw_theory
from lowpass.figures.names import FIGURES
from lowpass.figures.palette import PAPER, Palette
from lowpass.figures.style import axis_text, canvas, end_labels, head, look

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# As people write them.
NAMES = {
    "attinv": "AttInv",
    "attnscale": "AttnScale",
    "centring": "centring",
    "featscale": "FeatScale",
    "gfsa": "GFSA",
    "highpass": "high-pass",
    "residual": "residual",
}
FIRST_LAYERS, NEAR_LAYERS, DOTS = 24, 40, 8
RATES = (0.55, 7.0)
# Rates at which a layer forgets nothing.
EVEN = 1.0
# Below this distance to a fixed point there is nothing but rounding.
ROUNDING = -14.0


@FIGURES.add(
    "remedies",
    experiments=("remedies",),
    section="remedies",
    caption="Filters of one attention matrix, the replicate whose |λ₂| ranks in the middle. (a) "
    "The factor by which one layer multiplies the transient ratio, over the remedy's strength. "
    "Dashes join predictions from the eigenvalues of plain attention, dots are fitted to iterated "
    "layers; above the grey line a layer sharpens. Where nothing of the constant mode is left the "
    "factor is infinite, and not drawn. (b) The transient ratio over the first layers, at the "
    "second-largest strength of (a), and without a remedy (blue).",
)
def remedies(shown: Mapping[str, xr.Dataset], palette: Palette = PAPER) -> Figure:
    """Draw rates over strengths, and the first layers at one of them."""
    runs = shown["remedies"]
    plain = runs["slem"].isel(remedy=0, strength=0)
    run = runs.isel(replicate=rank_middle(plain.values))
    with look(palette):
        figure, (rates, curves) = canvas(
            "page", 2.7, palette, panels=(1, 2), gaps=(1.35, 0.85), margins={"left": 0.55}
        )
        draw_rates(rates, run, palette)
        draw_curves(curves, run, palette)
    return figure


def colour_of(remedy: str, palette: Palette) -> str:
    """Give the skip connection its own colour, and all other remedies theirs."""
    return palette.residual if remedy == "residual" else palette.remedy


def draw_rates(ax: Axes, run: xr.Dataset, palette: Palette, letter: str = "a") -> None:
    """Draw the rate of every remedy over its strength, predicted and measured."""
    strength, ends = run["strength"].values, []
    ax.set(yscale="log", ylim=RATES, xlim=(-0.02 * strength[-1], 1.02 * strength[-1]))
    ax.axhline(EVEN, color=palette.quiet, linewidth=0.5, zorder=1)
    for remedy in run["remedy"].values:
        each, colour = run.sel(remedy=remedy), colour_of(remedy, palette)
        foretold, found = each["predicted_rate"].values, each["transient_rate"].values
        seen = np.flatnonzero(foretold <= RATES[1])
        draw_theory(ax, strength[seen], foretold[seen], colour)
        draw_measured(ax, strength[seen], found[seen], colour)
        ends.append((strength[seen[-1]], foretold[seen[-1]], NAMES[remedy], colour))
    ticks = [0.6, 1, 2, 4]
    ax.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    ax.set_yticks([], minor=True)
    ax.set_xlabel("strength of the remedy")
    ax.set_ylabel(axis_text(run["transient_rate"]))
    head(ax, letter, "Eigenvalues foretell every remedy")
    end_labels(ax, ends)


def draw_curves(ax: Axes, run: xr.Dataset, palette: Palette, letter: str = "b") -> None:
    """Draw the first layers of every remedy at one strength, and those of plain attention."""
    first = run["log10_transient_ratio"].sel(layer=slice(None, FIRST_LAYERS))
    layer = first["layer"].values
    plain = first.isel(remedy=0, strength=0).values
    ax.plot(layer, plain, color=palette.attention, linewidth=1.1)
    ends = [(layer[-1], plain[-1], "none", palette.attention)]
    for remedy in run["remedy"].values:
        ratio, colour = (
            first.sel(remedy=remedy).isel(strength=-2).values,
            colour_of(remedy, palette),
        )
        ax.plot(layer, ratio, color=colour, linewidth=0.9)
        ends.append((layer[-1], ratio[-1], NAMES[remedy], colour))
    ax.set_xlabel(axis_text(run["layer"]))
    name_powers(ax, run["log10_transient_ratio"])
    head(ax, letter, "Most of them drive tokens apart")
    end_labels(ax, ends)


@FIGURES.add(
    "two-ratios",
    experiments=("remedies",),
    section="remedies",
    caption="Two ratios over the first layers of the inverted filter 2I − A, which sharpens: of "
    "the transient to the stationary part of attention, and of HC to DC. Dots are the replicate "
    "whose |λ₂| ranks in the middle, faint lines are all replicates; dashed is the HC/DC ratio of "
    "the mode of largest gain.",
)
def two_ratios(shown: Mapping[str, xr.Dataset], palette: Palette = PAPER) -> Figure:
    """Draw a ratio that grows for ever beside one that does not show it."""
    runs = shown["remedies"].sel(remedy="attinv").isel(strength=-1)
    runs = runs.sel(layer=slice(None, NEAR_LAYERS))
    run = runs.isel(replicate=rank_middle(runs["slem"].values))
    layer, ends = runs["layer"].values, []
    some = slice(None, None, max(1, (len(layer) - 1) // DOTS))
    with look(palette):
        figure, (ax,) = canvas("column", 2.4, palette, margins={"left": 0.58, "right": 0.72})
        for name, text, colour in [
            ("log10_transient_ratio", "transient", palette.remedy),
            ("log10_hc_dc_ratio", "HC/DC", palette.fails),
        ]:
            ratio = run[name].values
            draw_every(ax, runs[name], colour)
            draw_measured(ax, layer[some], ratio[some], colour)
            ends.append((layer[-1], ratio[-1], text, colour))
        end = float(run["log10_mode_ratio"])
        draw_theory(ax, layer[[0, -1]], [end, end], palette.fails)
        ax.set_xlabel(axis_text(runs["layer"]))
        name_powers(ax, runs["log10_transient_ratio"])
        ax.set_ylabel("ratio of two norms")
        head(ax, "", "The mean hides what sharpens")
        end_labels(ax, ends)
    return figure


@FIGURES.add(
    "neutreno",
    experiments=("neutreno",),
    section="neutreno",
    caption="The distance of tokens to the fixed point of NeuTRENO, relative to it, for every "
    "replicate at the strength where draws differ most. Blue lines are draws whose eigenvalues "
    "foretell that they settle, ochre lines those that are to leave; dots are recorded layers of "
    "one of each.",
)
def neutreno(shown: Mapping[str, xr.Dataset], palette: Palette = PAPER) -> Figure:
    """Draw distances, coloured by what eigenvalues foretell."""
    runs = shown["neutreno"]
    leaving = (runs["predicted_stability"] > EVEN).mean("replicate").values
    runs = runs.isel(strength=int(np.argmin(abs(leaving - 0.5))))
    distance, layer = runs["log10_fixed_point_distance"], runs["recorded_layer"].values
    ends = []
    with look(palette):
        figure, (ax,) = canvas("column", 2.4, palette, margins={"left": 0.58, "right": 0.72})
        for leaves, text, colour in [
            (False, "settles", palette.holds),
            (True, "leaves", palette.fails),
        ]:
            chosen = np.flatnonzero((runs["predicted_stability"].values > EVEN) == leaves)
            if len(chosen) == 0:
                continue
            each = distance.isel(replicate=chosen).transpose("recorded_layer", "replicate").values
            ax.plot(layer, each, color=colour, linewidth=0.5, alpha=0.7)
            one = each[:, rank_middle(each[-1])]
            draw_measured(ax, layer, one, colour)
            ends.append((layer[-1], one[-1], text, colour))
        ax.set_xlabel(axis_text(runs["recorded_layer"]))
        name_powers(ax, distance)
        if (lowest := float(distance.min())) < ROUNDING:
            annotate(ax, "rounding", (layer[-1], lowest), (-2, 5), palette)
        head(ax, "", "Eigenvalues say which draws settle")
        end_labels(ax, ends)
    return figure
