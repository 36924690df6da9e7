"""Every judged claim against its tolerance."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from lowpass.figures.names import FIGURES
from lowpass.figures.palette import PAPER, Palette
from lowpass.figures.style import BREADTHS, NOTE, canvas, head, look, spines
from lowpass.figures.typesetting import broken, typeset

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Points: a row, what lies above the rows and below them, and a line of the ids at the bottom.
ROW, ABOVE, BELOW, LINE = 13.0, 26.0, 40.0, 10.0
# Points that all rows may take of a printed page; they move together where they would take more.
PAGE = 550.0
# Inches: room for a claim's name and words, and for its verdict.
LEFT, RIGHT = 2.75, 0.78
EDGE, ID = 8.0, 22.0
# On a coarse screen type is up to a tenth wider than it is measured.
HINTED = 0.9
UNEXAMINED = "not examined"


@FIGURES.add(
    "verdicts",
    experiments=(),
    section="claims",
    caption="What was computed for every claim that has a judge. A mark is the distance between "
    "the claim and the computation in units of the claim's tolerance, which is the vertical line: "
    "left of it the claim holds, right of it it fails. Filled dots are the claim as written, "
    "open dots the claim under its condition, diamonds the trend of an asymptotic claim; an arrow "
    "is a distance of zero. The words on the right are the verdict. The claims at the bottom "
    "have no judge yet.",
)
def verdicts(shown: Mapping[str, Any], palette: Palette = PAPER) -> Figure:
    """Draw one row for every judged claim, and list the others."""
    claims = {name: claim for name, claim in shown["claims"].items() if not name.startswith("$")}
    judged = {name: c for name, c in claims.items() if c["verdict"] != UNEXAMINED}
    others = [name for name, claim in claims.items() if claim["verdict"] == UNEXAMINED]
    sentence = f"Not examined: {', '.join(others)}." if others else ""
    lines = broken(sentence, NOTE, HINTED * (BREADTHS["page"] * 72 - 2 * EDGE))
    below = BELOW + LINE * len(lines)
    # Without a claim there is still an axis, a row high.
    height = (ABOVE + min(ROW * max(len(judged), 1), PAGE) + below) / 72
    margins = {"left": LEFT, "right": RIGHT, "bottom": below / 72, "top": ABOVE / 72}
    with look(palette):
        figure, (ax,) = canvas("page", height, palette, margins=margins)
        draw_rows(ax, judged, palette)
        for number, line in enumerate(lines):
            place = (EDGE, EDGE + LINE * (len(lines) - 1 - number))
            write(ax, line, place, palette.quiet, xycoords="figure points", va="baseline")
    return figure


def draw_rows(ax: Axes, judged: Mapping[str, Any], palette: Palette) -> None:
    """Draw the claims from top to bottom."""
    ax.set(xscale="log", ylim=(max(len(judged), 1) - 0.5, -0.5), yticks=[])
    ax.axvline(1, color=palette.ink, linewidth=0.6, zorder=1)
    for row, (name, claim) in enumerate(judged.items()):
        ax.axhline(row, color=palette.faint, linewidth=0.4, zorder=0.5)
        draw_claim(ax, row, claim, palette)
        name_claim(ax, row, name, claim, palette)
    ax.margins(x=0.04)
    spines(ax, "bottom")
    ax.set_xlabel("distance, in units of its tolerance")
    head(ax, "", "Left of the line a claim holds")


def draw_claim(ax: Axes, row: int, claim: Mapping[str, Any], palette: Palette) -> None:
    """Draw a claim's distances, each in units of the tolerance that it has."""
    marks = [
        ("as_written", "tolerance", {"marker": "o"}),
        ("under_condition", "tolerance", {"marker": "o", "markerfacecolor": palette.ground}),
        ("trend", "trend_tolerance", {"marker": "D", "markersize": 3.0}),
    ]
    for name, limit, mark in marks:
        if claim[name] is None:
            continue
        colour = palette.holds if claim[name] <= claim[limit] else palette.fails
        place = {"color": colour, "linestyle": "none", "zorder": 3} | mark
        if claim[name] == 0:
            # Zero has no place on a logarithmic axis; an arrow points to where it would be.
            above = ax.get_yaxis_transform()
            ax.plot([0.01], [row], transform=above, **place | {"marker": "<"})
        else:
            ax.plot([claim[name] / claim[limit]], [row], **place)


def name_claim(ax: Axes, row: int, name: str, claim: Mapping[str, Any], palette: Palette) -> None:
    """Write a claim's name and words to the left of its row, and its verdict to the right."""
    colour = palette.fails if claim["verdict"] == "refuted" else palette.holds
    beside = {"xycoords": ("figure points", "data"), "va": "center_baseline"}
    write(ax, name, (EDGE, row), palette.ink, weight="bold", **beside)
    write(ax, typeset(claim["title"]), (EDGE + ID, row), palette.ink, **beside)
    beside["xycoords"] = ("axes fraction", "data")
    write(ax, claim["verdict"], (1, row), colour, xytext=(6, 0), **beside)


def write(ax: Axes, text: str, place: tuple[float, float], colour: str, **more: Any) -> None:
    """Write a note at a place."""
    shifted = {"textcoords": "offset points"} if "xytext" in more else {}
    ax.annotate(text, place, color=colour, fontsize=NOTE, annotation_clip=False, **shifted, **more)
