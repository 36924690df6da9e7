"""From a figure to a file that carries its own record.

This module owns the bytes: the same figure and record give the same file, on
any day and whatever the user's settings are.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

from lowpass.figures.palette import PAPER, Palette
from lowpass.figures.style import look
from lowpass.registry import Refusal

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Where each format keeps the record; an ordinary viewer shows all three.
RECORD_KEYS = {"svg": "Description", "png": "lowpass", "pdf": "Subject"}
# What a writer would add of its own accord: the clock, and the version of the writer.
SILENCED = {
    "svg": {"Date": None, "Creator": None},
    "png": {"Software": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}


def encode(figure: Figure, form: str, palette: Palette = PAPER, record: str | None = None) -> bytes:
    """Turn a figure into bytes that depend on nothing but the figure and its record.

    Parameters
    ----------
    figure : Figure
    form : {"svg", "png", "pdf"}
    palette : Palette
    record : str
        What is embedded: the description of an SVG (Dublin Core), the text chunk
        ``lowpass`` of a PNG, the subject of a PDF.

    Returns
    -------
    bytes
        The same for two calls.
    """
    if form not in RECORD_KEYS:
        raise Refusal(
            f"a figure cannot be written as '{form}', because that format could not carry its "
            f"record; end the file's name in {', '.join(RECORD_KEYS)}."
        )
    metadata = SILENCED[form] | ({} if record is None else {RECORD_KEYS[form]: record})
    stream = io.BytesIO()
    with look(palette):
        figure.savefig(stream, format=form, metadata=metadata)
    return stream.getvalue()


def save(
    figure: Figure, path: Path | str, palette: Palette = PAPER, record: str | None = None
) -> None:
    """Write a figure in the format that its file's name ends in; see `encode`."""
    path = Path(path)
    path.write_bytes(encode(figure, path.suffix.removeprefix("."), palette, record))
