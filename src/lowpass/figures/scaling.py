"""The second eigenvalue of long sequences beside what it tends to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from lowpass.figures.attention import rank_middle, shades
from lowpass.figures.marks import draw_measured, draw_replicates
from lowpass.figures.names import FIGURES
from lowpass.figures.palette import PAPER, Palette
from lowpass.figures.style import axis_text, canvas, end_labels, head, look

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@FIGURES.add(
    "long-sequences",
    experiments=("scaling", "independent-logits"),
    section="scaling",
    caption="The second eigenvalue of one attention matrix, relative to what theory expects of "
    "many tokens, over the number of tokens n, at several inverse temperatures β. Dots are the "
    "middle one of the draws, which ticks show; the dashed line is the limit. The first panels "
    "are Gaussian tokens of d features, whose limit (β/√d) ρ(W_K W_Qᵀ) is computed from the "
    "projections alone; the last is independent normal logits, with the limit √((exp(β²) − 1)/n).",
)
def long_sequences(shown: Mapping[str, xr.Dataset], palette: Palette = PAPER) -> Figure:
    """Draw |λ₂| over its prediction, for every width and for independent logits."""
    every = [
        *(
            (f"With d = {each}, projections set the rate", run)
            for each, run in widths(shown["scaling"])
        ),
        ("Independent logits leave it to n", shown["independent-logits"]),
    ]
    with look(palette):
        figure, axes = canvas(
            "page", 2.4, palette, panels=(1, len(every)), gaps=(1.08, 0.72), margins={"left": 0.5}
        )
        for ax, letter, (sentence, runs) in zip(axes, "abcdefgh", every, strict=False):
            draw_collapse(ax, runs, palette)
            head(ax, letter, sentence)
    return figure


def widths(runs: xr.Dataset) -> list[tuple[int, xr.Dataset]]:
    """Take the numbers of features one by one."""
    return [(int(d), runs.sel(d_model=d)) for d in runs["d_model"].values]


def draw_collapse(ax: Axes, runs: xr.Dataset, palette: Palette) -> None:
    """Draw every draw as a tick, and the middle one as a dot, for each β."""
    name = next(each for each in runs.data_vars if str(each).startswith("slem_over_"))
    n_tokens = runs["n_tokens"].values
    ends = []
    ax.axhline(1.0, color=palette.quiet, linewidth=1.0, linestyle=(0, (4.0, 2.0)), zorder=1)
    for beta, colour in zip(runs["beta"].values, shades(runs, palette), strict=True):
        ratio = runs[name].sel(beta=beta).transpose("n_tokens", "replicate").values
        middle = np.array([each[rank_middle(each)] for each in ratio])
        ax.plot(n_tokens, middle, color=colour, linewidth=0.7, zorder=2)
        draw_replicates(ax, n_tokens, ratio.T, colour)
        draw_measured(ax, n_tokens, middle, colour)
        ends.append((n_tokens[-1], middle[-1], f"β = {beta:g}", colour))
    ax.set_xscale("log", base=2)
    ax.set_xticks(n_tokens, [f"{n}" for n in n_tokens])
    ax.set_xlabel("number of tokens,  $n$")
    ax.set_ylabel(axis_text(runs[name]))
    ax.set_ylim(bottom=0)
    end_labels(ax, ends)
