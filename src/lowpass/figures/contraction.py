"""What bounds the contraction of one layer, and how far the bounds are from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from lowpass.figures.attention import rank_middle
from lowpass.figures.marks import annotate, draw_measured, draw_replicates, draw_theory
from lowpass.figures.names import FIGURES
from lowpass.figures.palette import PAPER, Palette
from lowpass.figures.style import axis_text, canvas, end_labels, head, look
from lowpass.labels import VARIABLES

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Rungs from the measured one up: variable, name, and what kind of number it is.
CHAIN = (
    ("oscillation_gain", "tokens", "fact"),
    ("slem", "|λ₂|", "fact"),
    ("dobrushin", "τ₁", "tight"),
    ("birkhoff", "tanh(Δ/4)", "bound"),
    ("tanh_bound", "tanh α", "bound"),
)
GAINS = (
    ("hc_layer_gain", "tokens", "fact"),
    ("hc_gain", "‖CAC‖₂", "tight"),
    ("column_gain", "column sums", "bound"),
    ("ca_gain", "‖CA‖", "bound"),
    ("wang_bound", "Wang et al.", "vacuous"),
)
MEASURED = ("oscillation_gain", "hc_layer_gain")


@FIGURES.add(
    "bound-ladder",
    experiments=("bounds",),
    section="bounds",
    caption="What one layer of attention does to tokens, and what bounds it, over the inverse "
    "temperature β. Ticks are replicates, dots the one that ranks in the middle; solid lines join "
    "what is measured of tokens, dashed ones the numbers of the matrix and the bounds. (a) The "
    "factor by which the oscillation shrinks, for the feature that shrinks least, under the chain "
    "of claim A06. (b) The gain of the high-frequency component, and bounds of it; the line marks "
    "the gain above which a bound shows no contraction.",
)
def bound_ladder(shown: Mapping[str, xr.Dataset], palette: Palette = PAPER) -> Figure:
    """Draw the contraction of oscillations beside the gain of HC, each under its bounds."""
    runs = shown["bounds"]
    some = runs.isel(n_tokens=runs.sizes["n_tokens"] // 2)
    with look(palette):
        figure, (left, right) = canvas(
            "page", 2.6, palette, panels=(1, 2), gaps=(1.3, 0.72), margins={"right": 0.8}
        )
        draw_ladder(left, some, CHAIN, palette)
        draw_ladder(right, some, GAINS, palette)
        right.axhline(1, color=palette.quiet, linewidth=0.5, zorder=1)
        name_width(right, some, palette)
        left.set_ylabel(axis_text(some["oscillation_gain"]))
        right.set_ylabel(axis_text(some["hc_layer_gain"]))
        head(left, "a", "Oscillations always shrink")
        head(right, "b", "The quoted bound shows no contraction")
        for ax, rungs in ((left, CHAIN), (right, GAINS)):
            end_labels(ax, ends(some, rungs, palette))
    return figure


def draw_ladder(
    ax: Axes, runs: xr.Dataset, rungs: Sequence[tuple[str, str, str]], palette: Palette
) -> None:
    """Draw every rung over β: replicates, and a line through those in the middle."""
    beta = runs["beta"].values
    for name, _, idea in rungs:
        colour, line = hue(idea, palette), middles(runs[name])
        draw_replicates(ax, beta, runs[name].transpose("replicate", "beta").values, colour)
        if name in MEASURED:
            ax.plot(beta, line, color=colour)
        else:
            draw_theory(ax, beta, line, colour)
        draw_measured(ax, beta, line, colour)
    ax.set_xticks(beta, [f"{each:g}" for each in beta])
    ax.set_ylim(bottom=0)
    ax.set_xlabel(axis_text(beta_of(runs)))


def ends(
    runs: xr.Dataset, rungs: Sequence[tuple[str, str, str]], palette: Palette
) -> list[tuple[float, float, str, str]]:
    """Give where each rung ends, its name and its colour."""
    last = float(runs["beta"][-1])
    return [(last, middles(runs[name])[-1], text, hue(idea, palette)) for name, text, idea in rungs]


def middles(values: xr.DataArray) -> list[float]:
    """Select for every β the replicate that ranks in the middle."""
    rows = values.transpose("beta", "replicate").values
    return [float(row[rank_middle(row)]) for row in rows]


def hue(kind: str, palette: Palette) -> str:
    """Colour facts like attention, a bound that shows nothing as what fails, and others plainly."""
    plain = {"tight": palette.ink, "bound": palette.quiet}
    return {"fact": palette.attention, "vacuous": palette.fails, **plain}[kind]


def beta_of(runs: xr.Dataset) -> xr.DataArray:
    """Give the swept inverse temperatures, with their card."""
    card = VARIABLES["inverse_temperature"]
    return runs["beta"].assign_attrs(long_name=card.long_name, symbol=card.symbol, units=card.units)


def name_width(ax: Axes, runs: xr.Dataset, palette: Palette) -> None:
    """Say how many tokens the runs have."""
    first = float(runs["beta"][0])
    top = middles(runs["wang_bound"])[-1]
    annotate(ax, f"n = {int(runs['n_tokens'])}", (first, top), (4, 0), palette)
