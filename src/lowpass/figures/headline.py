"""The whole story in one row: what a person sees, what a frequency sees, how fast it goes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from lowpass.figures.attention import draw_decay
from lowpass.figures.circle import draw_response
from lowpass.figures.names import FIGURES
from lowpass.figures.palette import PAPER, Palette
from lowpass.figures.pictures import FEW_LAYERS, draw_melting, of_means
from lowpass.figures.style import canvas, head, look

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure


@FIGURES.add(
    "headline",
    experiments=("photograph", "photograph-heat", "circle", "dc-limit"),
    section="front",
    caption="Attention forgets. (a) A photograph whose patches are tokens, after some layers of "
    "attention and of heat. (b) The gain of a Fourier mode with k periods around a circle of "
    "tokens: dots are measured, dashes are the closed forms of attention (blue) and of heat "
    "(ochre). (c) The ratio of the high-frequency to the direct-current component of random "
    "tokens: dots are measured, dashes are the rate of the second eigenvalue.",
)
def headline(shown: Mapping[str, xr.Dataset], palette: Palette = PAPER) -> Figure:
    """Draw melting, response and decay side by side."""
    runs = of_means(shown)
    layers = [layer for layer in FEW_LAYERS if layer in runs["heat"]["recorded_layer"]]
    with look(palette):
        figure, (melting, response, decay) = canvas(
            "page",
            2.45,
            palette,
            panels=(1, 3),
            gaps=(0.68, 0.72),
            margins={"left": 0.2, "right": 0.52},
            ratios=(1.72, 1, 1),
        )
        draw_melting(melting, runs, layers, palette)
        head(melting, "a", "Detail melts into the mean")
        draw_response(response, shown["circle"], palette, "b")
        draw_decay(decay, shown["dc-limit"], palette, "c")
    return figure
