"""What theory, measurement and doubt look like.

This module owns the marks inside a panel: dashes are predicted, dots are
measured, ticks are replicates, fills are intervals. It computes nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from lowpass.figures.palette import PAPER, Palette
from lowpass.figures.style import NOTE
from lowpass.figures.typesetting import typeset
from lowpass.registry import Refusal

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.image import AxesImage

Side = Literal["both", "left"]


def draw_theory(ax: Axes, x: Any, y: Any, colour: str) -> None:
    """Draw what is predicted, dashed."""
    ax.plot(x, y, color=colour, linewidth=1.0, linestyle=(0, (4.0, 2.0)), zorder=2)


def draw_measured(ax: Axes, x: Any, y: Any, colour: str) -> None:
    """Draw what is measured, as dots that stand off from what lies under them."""
    ground = ax.get_facecolor()
    ax.plot(x, y, "o", color=colour, markeredgecolor=ground, markeredgewidth=0.5, zorder=3)


def draw_replicates(ax: Axes, x: Any, y: Any, colour: str, *, side: Side = "both") -> None:
    """Draw every replicate as a tick.

    Parameters
    ----------
    ax : Axes
    x : (point,) float
    y : (replicate, point) float
    colour : str
    side : {"both", "left"}
        Where a tick lies beside its point, so that those of two kinds stay apart.
    """
    from matplotlib.markers import TICKLEFT

    marker, size = {"both": ("_", 4.0), "left": (TICKLEFT, 4.5)}[side]
    look: dict[str, Any] = {
        "markersize": size,
        "markeredgewidth": 0.4,
        "linestyle": "none",
        "zorder": 1.5,
    }
    for replicate in np.atleast_2d(y):
        ax.plot(x, replicate, marker=marker, color=colour, **look)


def draw_interval(ax: Axes, x: Any, low: Any, high: Any, colour: str) -> None:
    """Fill an interval lightly, so that what lies within stays readable."""
    ax.fill_between(x, low, high, color=colour, alpha=0.15, linewidth=0, zorder=1)


def draw_field(
    ax: Axes, values: Any, palette: Palette = PAPER, limit: float | None = None
) -> AxesImage:
    """Draw a signed field, with the ground's colour at zero.

    Parameters
    ----------
    ax : Axes
    values : (row, column) float
        Row 0 is on top; row and column numbers are the data coordinates.
    palette : Palette
    limit : float
        The magnitude that takes the ends of the map; the largest one where omitted.

    Returns
    -------
    AxesImage
        Panels that share a limit can be compared.
    """
    from matplotlib.colors import LinearSegmentedColormap

    reach = float(np.max(np.abs(values))) if limit is None else limit
    if not np.isfinite(reach):
        raise Refusal(f"a field that reaches {reach} has no colours; select where it is finite.")
    # An odd number of colours has one in the middle: zero is exactly the ground.
    signed = LinearSegmentedColormap.from_list("signed", palette.signed_map, N=257)
    reach = reach or 1.0  # A field of zeros is all ground.
    return ax.imshow(
        values, cmap=signed, vmin=-reach, vmax=reach, aspect="auto", interpolation="none"
    )


def annotate(
    ax: Axes,
    text: str,
    at: tuple[float, float],
    shift: tuple[float, float] = (0.0, 5.0),
    palette: Palette = PAPER,
) -> None:
    """Say beside a point what a reader should not miss, such as a disagreement.

    Parameters
    ----------
    ax : Axes
    text : str
    at : (x, y)
        In data coordinates.
    shift : (right, up)
        From the point to the text, in points.
    palette : Palette
    """
    text_beside(ax, text, at, shift, palette.quiet, fontstyle="italic")


def name_point(
    ax: Axes, text: str, at: tuple[float, float], shift: tuple[float, float], colour: str
) -> None:
    """Name a point that no line leads away from, in its colour.

    Parameters
    ----------
    ax, text, at, shift
        As for :func:`annotate`.
    colour : str
    """
    text_beside(ax, text, at, shift, colour)


def text_beside(
    ax: Axes,
    text: str,
    at: tuple[float, float],
    shift: tuple[float, float],
    colour: str,
    **look: Any,
) -> None:
    """Set a text at some points from a place in data coordinates, aligned away from it."""
    aside = "left" if shift[0] > 0 else "right" if shift[0] < 0 else "center"
    ax.annotate(
        typeset(text),
        at,
        shift,
        textcoords="offset points",
        ha=aside,
        va="center_baseline" if shift[0] else "bottom" if shift[1] > 0 else "top",
        fontsize=NOTE,
        color=colour,
        **look,
    )
