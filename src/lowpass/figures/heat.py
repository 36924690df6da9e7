"""How near heat kernels come to attention, in the gauge of the note and in others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from lowpass.figures.attention import rank_middle
from lowpass.figures.contraction import beta_of, middles
from lowpass.figures.marks import annotate, draw_measured, draw_replicates, draw_theory
from lowpass.figures.names import FIGURES
from lowpass.figures.palette import PAPER, Palette, tints
from lowpass.figures.style import TICK, axis_text, canvas, end_labels, head, look

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# What a distance is of differs from line to line, and its unit does not.
DISTANCE = r"distance  $\|A-E\|\,/\,\|A-J\|$"
# J itself, which every approximation has to beat.
UNIFORM = 1.0
# Beyond this shift every line is at J.
FARTHEST = 4.0
# Left of the shift of zero the temperatures are named.
ROOM = 1.3
# A factor between the first temperature and the axis, where there are ticks to the left of it.
ASIDE = 1.2
# The last of the shifts without which some mode may grow.
DAMPED = 1.0
KINDS = {"untied": "independent", "tied": "equal"}


@FIGURES.add(
    "heat-kernel",
    experiments=("heat-kernel",),
    section="heat-kernel",
    caption="Distances of softmax attention A of {heat-kernel.data.n_tokens} tokens from matrices "
    "E, in units of its distance from J, which knows nothing of the tokens. Ticks are replicates, "
    "dots the one that ranks in the middle. (a) From the heat kernel of note 1 at its best time, "
    "over the inverse temperature, for queries and keys whose projections are independent or "
    "equal; dashed is the distance from the identity I, the heat kernel of no time at all. (b) The "
    "same for independent projections after a constant is added to all logits, which attention "
    "does not see, for several β; to the right of the grey line every mode is damped. (c) "
    "Independent projections, after the best time and the best shift of every row (ochre) and of "
    "the random walk along exp(S̃) (blue). Black ticks, to the left, are the least distance of each "
    "replicate from the heat kernel of any graph; dashes join those of the replicates whose best "
    "shifts are dots. No replicate's shifts go below its own; the walk may, which is no heat "
    "kernel. (d) The same for equal projections, where that walk is attention itself.",
)
def heat_kernel(shown: Mapping[str, xr.Dataset], palette: Palette = PAPER) -> Figure:
    """Draw the note's gauge, constant shifts, and the best of all shifts for two kinds."""
    runs = shown["heat-kernel"]
    with look(palette):
        figure, (written, shifts, free, tied) = canvas(
            "page", 4.7, palette, panels=(2, 2), gaps=(1.36, 0.85), margins={"right": 0.96}
        )
        draw_as_written(written, runs, palette)
        draw_shifts(shifts, runs.sel(weights="untied"), palette)
        draw_best(free, runs.sel(weights="untied"), palette)
        head(free, "c", "No heat kernel of any graph comes near")
        draw_best(tied, runs.sel(weights="tied"), palette)
        head(tied, "d", "With equal projections some shifts do")
        for ax, kind in ((free, "untied"), (tied, "tied")):
            end_labels(ax, best_ends(runs.sel(weights=kind), palette))
    return figure


def draw_as_written(ax: Axes, runs: xr.Dataset, palette: Palette, letter: str = "a") -> None:
    """Draw the distance from the note's heat kernel for each kind of projections."""
    beta, ends = runs["beta"].values, []
    ax.set(xscale="log", yscale="log")
    draw_uniform(ax, palette)
    colours = tints(palette.diffusion, len(KINDS), palette)
    for (kind, name), colour in zip(KINDS.items(), reversed(colours), strict=True):
        one = runs.sel(weights=kind)
        found = middles(one["heat_error"])
        draw_replicates(ax, beta, one["heat_error"].transpose("replicate", "beta").values, colour)
        draw_theory(ax, beta, middles(one["identity_error"]), colour)
        draw_measured(ax, beta, found, colour)
        ends.append((beta[-1], found[-1], name, colour))
    ends.append((beta[-1], UNIFORM, "J", palette.quiet))
    name_temperatures(ax, runs)
    name_distances(ax)
    head(ax, letter, "At its best, the heat kernel is nearly I")
    end_labels(ax, ends)


def draw_shifts(ax: Axes, runs: xr.Dataset, palette: Palette, letter: str = "b") -> None:
    """Draw the distance over constant shifts, one replicate for each temperature."""
    runs = runs.sel(gauge=slice(None, FARTHEST))
    gauge, top = runs["gauge"].values, UNIFORM
    ax.set(yscale="log")
    draw_uniform(ax, palette)
    ax.axvline(DAMPED, color=palette.quiet, linewidth=0.5, zorder=1)
    colours = tints(palette.diffusion, runs.sizes["beta"], palette)
    for beta, colour in zip(runs["beta"].values, colours, strict=True):
        one = runs.sel(beta=beta)
        one = one.isel(replicate=rank_middle(one["heat_error"].values))
        error = one["gauge_error"].values
        ax.plot(gauge, error, color=colour, linewidth=0.9)
        draw_measured(ax, gauge, error, colour)
        name = {"xytext": (-5, 0), "textcoords": "offset points", "fontsize": TICK}
        ax.annotate(
            f"β = {beta:g}", (gauge[0], error[0]), ha="right", va="center", color=colour, **name
        )
        top = max(top, error[0])
    ax.set(xlim=(-ROOM, FARTHEST), xticks=range(int(FARTHEST) + 1))
    annotate(ax, "every mode damped", (DAMPED, top), (4, 0), palette)
    ax.set_xlabel(axis_text(runs["gauge"]))
    name_distances(ax)
    head(ax, letter, "A shift that attention cannot see decides")
    end_labels(ax, [(gauge[-1], UNIFORM, "J", palette.quiet)])


def draw_best(ax: Axes, runs: xr.Dataset, palette: Palette) -> None:
    """Draw the best gauge, the floor under all heat kernels, and the walk."""
    beta = runs["beta"].values
    ax.set(xscale="log")
    draw_uniform(ax, palette)
    every = runs["heat_floor"].transpose("replicate", "beta").values
    draw_replicates(ax, beta, every, palette.ink, side="left")
    for values, colour in (
        (runs["best_gauge_error"].isel(search=0), palette.diffusion),
        (runs["symmetrised_error"], palette.attention),
    ):
        draw_replicates(ax, beta, values.transpose("replicate", "beta").values, colour)
        draw_measured(ax, beta, middles(values), colour)
    draw_theory(ax, beta, floors(runs), palette.ink)
    ax.set_xlim(left=beta[0] / ASIDE)
    ax.set_ylim(-0.04, 1.1)
    name_temperatures(ax, runs)
    ax.set_ylabel(DISTANCE)


def floors(runs: xr.Dataset) -> list[float]:
    """Select for every β the floor of the replicate whose best shifts rank in the middle."""
    best = runs["best_gauge_error"].isel(search=0).transpose("beta", "replicate").values
    floor = runs["heat_floor"].transpose("beta", "replicate").values
    return [float(row[rank_middle(found)]) for row, found in zip(floor, best, strict=True)]


def best_ends(runs: xr.Dataset, palette: Palette) -> list[tuple[float, float, str, str]]:
    """Give where each of the lines ends, its name and its colour."""
    last = float(runs["beta"][-1])
    best = middles(runs["best_gauge_error"].isel(search=0))[-1]
    return [
        (last, UNIFORM, "J", palette.quiet),
        (last, best, "best shifts", palette.diffusion),
        (last, floors(runs)[-1], "least of any graph", palette.ink),
        (last, middles(runs["symmetrised_error"])[-1], "walk", palette.attention),
    ]


def draw_uniform(ax: Axes, palette: Palette) -> None:
    """Mark the distance of J."""
    ax.axhline(UNIFORM, color=palette.quiet, linewidth=0.5, zorder=1)


def name_temperatures(ax: Axes, runs: xr.Dataset) -> None:
    """Tick an axis where there are runs."""
    beta = runs["beta"].values
    ax.set_xticks(beta, [f"{each:g}" for each in beta])
    ax.set_xticks([], minor=True)
    ax.set_xlabel(axis_text(beta_of(runs)))


def name_distances(ax: Axes) -> None:
    """Tick a logarithmic axis of distances with plain numbers."""
    ticks = [1, 3, 10, 30]
    ax.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    ax.set_yticks([], minor=True)
    ax.set_ylabel(DISTANCE)
