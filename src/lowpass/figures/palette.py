"""The colours of ideas.

One idea has one colour in every figure, once on paper and once at night. This
module owns those colours; it never draws.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from lowpass.registry import Refusal


@dataclass(frozen=True)
class Palette:
    """Give every idea its colour, as ``#RRGGBB``.

    Any two of the four ideas (attention, diffusion, residual, remedy) stay
    apart for normal, protan, deutan and tritan sight. ``faint`` never carries
    meaning alone.
    """

    name: str
    attention: str
    diffusion: str
    residual: str
    remedy: str
    ink: str
    quiet: str
    faint: str
    ground: str
    depth_map: tuple[str, ...]
    signed_map: tuple[str, ...]

    @property
    def holds(self) -> str:
        """Colour a verdict that holds like attention."""
        return self.attention

    @property
    def fails(self) -> str:
        """Colour a verdict that fails like diffusion."""
        return self.diffusion


PAPER = Palette(
    name="paper",
    attention="#3064BA",
    diffusion="#D16719",
    residual="#13A2A6",
    remedy="#7C3763",
    ink="#1F2328",
    quiet="#6E7781",
    faint="#D5D9DE",
    ground="#FFFFFF",
    # Warm at layer 0, cold at the last; lightness falls evenly, so it survives greyscale.
    depth_map=("#F0BA5F", "#E4844B", "#C2575B", "#8F3A67", "#542862", "#1F174A"),
    # The ground at zero, because zero is what forgetting looks like.
    signed_map=("#234F8F", "#7FA6D6", "#FFFFFF", "#EBA778", "#A84C0E"),
)

NIGHT = Palette(
    name="night",
    attention="#5886E0",
    diffusion="#E79B2F",
    residual="#4DC6C1",
    remedy="#D15484",
    ink="#E6E8EB",
    quiet="#98A1AB",
    faint="#343A42",
    ground="#0D1117",
    # The hues of the paper, lifted so that the last layer still shows on a dark ground.
    depth_map=("#FDC76C", "#FD9B62", "#E7787A", "#BD6491", "#8B569C", "#534B97"),
    signed_map=("#7FA6D6", "#234F8F", "#0D1117", "#A84C0E", "#EBA778"),
)


def tints(colour: str, n: int, palette: Palette = PAPER) -> list[str]:
    """Give an ordered parameter ``n`` tints of one idea's hue.

    Parameters
    ----------
    colour : str
        The idea's colour, which the largest value keeps.
    n : int
        How many values the parameter takes.
    palette : Palette
        The tints fade towards its ground.

    Returns
    -------
    list of str
        From the faintest tint to the colour itself, in even steps.
    """
    if n < 1:
        raise Refusal(f"{n} tints were asked for; an ordered parameter has at least one value.")
    # Half of the colour is the least whose label can still be read on either ground.
    strengths = [1.0] if n == 1 else [0.5 + 0.5 * i / (n - 1) for i in range(n)]
    return [_between(palette.ground, colour, strength) for strength in strengths]


def depth_colours(layers: Sequence[int], palette: Palette = PAPER) -> list[str]:
    """Colour layers from warm at layer 0 to cold at the last, logarithmically.

    Parameters
    ----------
    layers : (layer,) int
        Non-negative; the largest one takes the cold end.

    Returns
    -------
    list of str
        One colour per layer, at ``log(1 + layer) / log(1 + last)`` of the map.
    """
    if any(layer < 0 for layer in layers):
        raise Refusal(
            f"layers {list(layers)} include a negative one; depth is counted from 0, the input."
        )
    deepest = math.log1p(max(layers, default=0)) or 1.0
    return [_along(palette.depth_map, math.log1p(layer) / deepest) for layer in layers]


def _along(stops: Sequence[str], position: float) -> str:
    """Interpolate evenly spaced stops at a position between 0 and 1."""
    place = position * (len(stops) - 1)
    start = min(int(place), len(stops) - 2)
    return _between(stops[start], stops[start + 1], place - start)


def _between(start: str, end: str, share: float) -> str:
    """Mix two colours channel by channel, as the screen does."""
    pairs = ((int(start[i : i + 2], 16), int(end[i : i + 2], 16)) for i in (1, 3, 5))
    return "#" + "".join(f"{round(a + (b - a) * share):02X}" for a, b in pairs)
