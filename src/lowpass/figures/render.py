"""From stored results to a figure's files, by day and by night."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from lowpass.figures.names import FIGURES
from lowpass.figures.palette import NIGHT, PAPER
from lowpass.figures.saving import encode
from lowpass.records import BLANK, image_digest, seal


def render(
    recipe: Mapping[str, Any], shown: Mapping[str, Any], forms: Sequence[str], record: str
) -> list[bytes]:
    """Draw one figure in several forms.

    Parameters
    ----------
    recipe : mapping
        ``params`` with the name of the ``figure``.
    shown : mapping of str to Dataset or dict
        Experiments by name, or the claims.
    forms : sequence of str
        ``"svg"``, ``"png"``, ``"pdf"``, or one of them after ``"night."``.
    record : str
        JSON with a blank for the digest, embedded in every file.

    Returns
    -------
    list of bytes
        One for each form.
    """
    draw = FIGURES[recipe["params"]["figure"]]
    files = []
    for form in forms:
        night, _, kind = form.rpartition(".")
        palette = NIGHT if night else PAPER
        figure = draw(shown, palette)
        if kind == "svg":
            files.append(seal(encode(figure, kind, palette, record).decode()))
            continue
        # A PDF has no digest of its own; that of a PNG covers its pixels and its record.
        held = without_digest(record)
        if kind == "png":
            plain = encode(figure, kind, palette)
            held = record.replace(BLANK, image_digest(plain, json.loads(record)))
        files.append(encode(figure, kind, palette, held))
    return files


def without_digest(record: str) -> str:
    """Leave the blank digest out of a record."""
    return record.replace(f'"digest":"{BLANK}",', "", 1).replace(f',"digest":"{BLANK}"', "", 1)
