"""How every figure looks.

Type, sizes, margins, heads and labels are decided here once, so that a figure
decides only what to show. Nothing here knows a dataset or writes a file.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal

from lowpass.figures.palette import PAPER, Palette, depth_colours
from lowpass.figures.spreading import spread
from lowpass.figures.typesetting import broken, typeset, width
from lowpass.registry import Refusal

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Inches, exactly as printed; a figure is never rescaled.
BREADTHS = {"column": 3.35, "page": 7.0}
MARGINS = {"left": 0.52, "right": 0.62, "bottom": 0.42, "top": 0.36}
# Points.
LABEL, TICK, NOTE = 8.5, 7.5, 7.0
LINE, LABEL_GAP = 10.5, 9.0


@contextmanager
def look(palette: Palette = PAPER) -> Iterator[None]:
    """Draw and save in the house style, whatever the user's own settings are.

    Examples
    --------
    >>> with look():
    ...     figure, (ax,) = canvas("column", 2.4)
    ...     head(ax, "a", "Only the mean survives")
    >>> ax.spines["top"].get_visible(), figure.get_size_inches().tolist()
    (False, [3.35, 2.4])
    """
    import matplotlib.style

    with matplotlib.style.context(["default", {**type_and_lines(), **colours(palette)}]):
        yield


def type_and_lines() -> dict[str, Any]:
    """Set what is the same by day and by night."""
    rc: dict[str, Any] = {
        "font.family": "STIXGeneral",
        "font.size": LABEL,
        "mathtext.fontset": "stix",
        "axes.labelsize": LABEL,
        "axes.labelpad": 3.0,
        "axes.linewidth": 0.6,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.xmargin": 0.02,
        "lines.linewidth": 1.1,
        "lines.markersize": 3.4,
        "patch.linewidth": 0.6,
        "figure.dpi": 72,  # One pixel is one point while a figure is laid out.
        "savefig.dpi": 300,
        "svg.hashsalt": "lowpass",
        "svg.fonttype": "path",  # STIX is on few readers' machines.
        "pdf.fonttype": 42,
    }
    for axis in ("xtick", "ytick"):
        rc |= {f"{axis}.labelsize": TICK, f"{axis}.major.width": 0.6, f"{axis}.minor.width": 0.4}
        rc |= {f"{axis}.major.size": 2.6, f"{axis}.minor.size": 1.4, f"{axis}.major.pad": 2.2}
    return rc


def colours(palette: Palette) -> dict[str, str]:
    """Set the colours of ground, ink and frame."""
    return {
        "axes.edgecolor": palette.quiet,
        "axes.labelcolor": palette.ink,
        "axes.facecolor": palette.ground,
        "text.color": palette.ink,
        "xtick.color": palette.quiet,
        "ytick.color": palette.quiet,
    }


def canvas(
    breadth: Literal["column", "page"],
    height: float,
    palette: Palette = PAPER,
    *,
    panels: tuple[int, int] = (1, 1),
    gaps: tuple[float, float] = (1.1, 0.72),
    margins: dict[str, float] | None = None,
    ratios: Sequence[float] | None = None,
) -> tuple[Figure, list[Axes]]:
    """Lay out panels in inches.

    Parameters
    ----------
    breadth : {"column", "page"}
        3.35 or 7.0 inches.
    height : float
        Inches; 2.2 to 2.8 for one row of panels.
    palette : Palette
    panels : (rows, columns)
    gaps : (across, down)
        Inches between panels; the default leaves room for end labels and a head.
    margins : dict
        Inches that differ from `MARGINS`, by side.
    ratios : (columns,) float
        Relative widths of the columns; equal where omitted.

    Returns
    -------
    figure : Figure
    axes : list of Axes
        Row by row.
    """
    from matplotlib.figure import Figure

    if breadth not in BREADTHS:
        raise Refusal(f"no breadth is called '{breadth}'; a figure is a 'column' or a 'page' wide.")
    place = gridding((BREADTHS[breadth], height), panels, gaps, MARGINS | (margins or {}))
    with look(palette):
        figure = Figure(figsize=(BREADTHS[breadth], height), facecolor=palette.ground)
        grid = figure.add_gridspec(*panels, width_ratios=ratios, **place)
        cells = [grid[r, c] for r in range(panels[0]) for c in range(panels[1])]
        return figure, [figure.add_subplot(cell) for cell in cells]


def gridding(
    size: tuple[float, float],
    panels: tuple[int, int],
    gaps: tuple[float, float],
    edge: dict[str, float],
) -> dict[str, float]:
    """Turn inches into the fractions that a grid of panels wants."""
    (rows, columns), (width, height) = panels, size
    across = (width - edge["left"] - edge["right"] - (columns - 1) * gaps[0]) / columns
    down = (height - edge["bottom"] - edge["top"] - (rows - 1) * gaps[1]) / rows
    if min(across, down) <= 0:
        raise Refusal(
            f"{rows} x {columns} panels do not fit {width:g} x {height:g} inches; "
            "take fewer panels, a page, or smaller gaps."
        )
    return {
        "left": edge["left"] / width,
        "right": 1 - edge["right"] / width,
        "bottom": edge["bottom"] / height,
        "top": 1 - edge["top"] / height,
        "wspace": gaps[0] / across,
        "hspace": gaps[1] / down,
    }


def spines(ax: Axes, *sides: Literal["left", "bottom"]) -> None:
    """Keep only the named spines, and no ticks where a spine is gone."""
    for side, spine in ax.spines.items():
        spine.set_visible(side in sides)
    ax.tick_params("x", which="both", bottom="bottom" in sides)
    ax.tick_params("y", which="both", left="left" in sides)


def head(ax: Axes, letter: str, sentence: str) -> None:
    """Head a panel with its letter and the sentence that is its finding.

    The sentence breaks into lines no wider than the panel, which grow upwards.
    """
    indent = width(letter, LABEL, weight="bold") + 4.0 if letter else 0.0
    lines = broken(sentence, LABEL, ax.get_window_extent().width * 72 / ax.figure.dpi - indent)
    place: dict[str, Any] = {"xycoords": "axes fraction", "textcoords": "offset points"}
    place |= {"va": "baseline", "fontsize": LABEL, "annotation_clip": False}
    top = 7.0 + (len(lines) - 1) * LINE
    if letter:
        ax.annotate(letter, (0, 1), (0, top), weight="bold", **place)
    for number, line in enumerate(lines):
        ax.annotate(line, (0, 1), (indent, top - number * LINE), **place)


def end_labels(
    ax: Axes, ends: Sequence[tuple[float, float, str, str]], gap: float = LABEL_GAP
) -> None:
    """Write each line's name at its end, in its colour, none over another.

    Call it last: it fixes the limits, because a label is placed for them.

    Parameters
    ----------
    ends : list of (x, y, text, colour)
        The last point of each line in data coordinates.
    gap : float
        The least distance of two labels, in points.
    """
    ax.set(xlim=ax.get_xlim(), ylim=ax.get_ylim())
    scale = 72 / ax.figure.dpi
    frame = ax.get_window_extent()
    floor, ceiling = frame.y0 * scale, frame.y1 * scale
    points = [ax.transData.transform(end[:2]) * scale for end in ends]
    order = sorted(range(len(ends)), key=lambda end: points[end][1])
    # A line that has left the panel is labelled where it left.
    wanted = [min(max(points[end][1], floor), ceiling) for end in order]
    heights = spread(wanted, gap, floor, ceiling)
    # A label that had to move is tied to its line, which takes room.
    moved = any(abs(height - y) > 2 for height, y in zip(heights, wanted, strict=True))
    column = max((points[end][0] for end in order), default=frame.x1 * scale) + (9 if moved else 4)
    for end, y, height in zip(order, wanted, heights, strict=True):
        *_, text, colour = ends[end]
        tie = {"arrowstyle": "-", "color": colour, "linewidth": 0.5, "relpos": (0, 0.5)}
        ax.annotate(
            typeset(text),
            (points[end][0], y),
            (column, height),
            "figure points",
            color=colour,
            fontsize=TICK,
            va="center_baseline",
            annotation_clip=False,
            arrowprops=tie | {"shrinkA": 1, "shrinkB": 2} if abs(height - y) > 2 else None,
        )


def depth_axis(
    ax: Axes,
    layers: Sequence[int],
    palette: Palette = PAPER,
    *,
    at: tuple[float, float] = (1.0, 0.94),
) -> None:
    """Show depth as one row of dots with layer numbers.

    Parameters
    ----------
    layers : (layer,) int
        In order; their colours are those of `depth_colours`.
    at : (x, y)
        Where the last dot lies, as fractions of the panel.
    """
    from matplotlib.transforms import ScaledTranslation

    step = 5.0 + 3.6 * max((len(str(layer)) for layer in layers), default=1)
    place: dict[str, Any] = {"xycoords": "axes fraction", "textcoords": "offset points"}
    place |= {"fontsize": NOTE, "color": palette.quiet, "annotation_clip": False}
    dot: dict[str, Any] = {"markersize": 4.6, "markeredgecolor": palette.ground}
    dot |= {"markeredgewidth": 0.4, "clip_on": False}
    for number, colour in enumerate(depth_colours(layers, palette)):
        left = step * (number - len(layers) + 1)
        where = ax.transAxes + ScaledTranslation(left / 72, 0, ax.figure.dpi_scale_trans)
        ax.plot([at[0]], [at[1]], "o", color=colour, transform=where, **dot)
        ax.annotate(str(layers[number]), at, (left, -4.0), ha="center", va="top", **place)
    words = (2.0 - step * len(layers), 0.0)
    ax.annotate("layer", at, words, ha="right", va="center_baseline", **place)


def axis_text(variable: xr.DataArray) -> str:
    """Name an axis from the card of what it shows: long name, symbol, units."""
    card = variable.attrs
    if not card.get("long_name"):
        raise Refusal(
            f"the variable '{variable.name}' has no long_name; axis text comes from its card, "
            "so give it one in labels.py."
        )
    words = [typeset(card["long_name"])]
    if card.get("symbol"):
        words.append(f"${card['symbol']}$")
    if card.get("units", "1") not in ("", "1", "dimensionless"):
        words.append(f"({typeset(card['units'])})")
    return "  ".join(words)
