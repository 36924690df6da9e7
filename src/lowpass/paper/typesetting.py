"""From results to the bytes of the paper.

This module owns the call of the compiler: a folder that holds nothing but the
template and what it may show, and no clock, font or path of this machine.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lowpass.paper.values import compose
from lowpass.project import TEXTS
from lowpass.registry import Refusal
from lowpass.writing import refusing

TEMPLATE, BIBLIOGRAPHY, VALUES = "paper.typ", "references.bib", "values.json"


def typeset(
    recipe: Mapping[str, Any], inputs: Sequence[str], texts: Mapping[str, bytes], record: str
) -> bytes:
    """Typeset the paper.

    Parameters
    ----------
    recipe : mapping
        ``params`` with the canonical section of every experiment and the reason ``why`` it
        exists; ``seed`` where anything was drawn at random.
    inputs : sequence of str
        Claims (JSON), figures (PDF) and experiments (netCDF).
    texts : mapping
        The template, its sections and the bibliography, by their paths below their folder.
    record : str
        JSON, which becomes the description of the document.

    Returns
    -------
    bytes
        A PDF that depends on nothing but the arguments and the files they name.

    Raises
    ------
    Refusal
        When a text quotes a number that was not measured, or the template is at fault.
    """
    paths, bibliography = [Path(path) for path in inputs], texts[BIBLIOGRAPHY].decode()
    values = compose(recipe, paths, bibliography, record)
    files = {path.name: path.read_bytes() for path in paths if path.suffix == ".pdf"}
    files[VALUES] = json.dumps(values, ensure_ascii=False, allow_nan=False).encode()
    return compiled({**files, **texts})


def compiled(files: Mapping[str, bytes]) -> bytes:
    """Compile the template among its files, by their paths in one folder."""
    import typst

    with tempfile.TemporaryDirectory() as room:
        for path, content in ((Path(room, name), content) for name, content in files.items()):
            # Named, since this disk may be full while that of the results is not.
            with refusing(path, path):
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
        try:
            return typst.compile(
                str(Path(room, TEMPLATE)), root=room, ignore_system_fonts=True, timestamp=0
            )
        except typst.TypstError as fault:
            what = fault.message.replace(f"{room}{os.sep}", f"{TEXTS}/")
            place = place_of(fault.diagnostic, Path(room).name)
            raise Refusal(
                f"{TEXTS}/{place}: {what}; the paper was not typeset, so correct the template "
                f"there."
            ) from None


def place_of(diagnostic: str, room: str) -> str:
    """Find the file and the line that a compiler's first complaint is about.

    >>> called = "error: panicked\\n ┌─ ../room/parts.typ:9:3\\n ┌─ ../room/sections/heat.typ:5:8"
    >>> place_of(called, "room")
    'sections/heat.typ:5'
    """
    first = diagnostic.partition("\nerror: ")[0]
    places = re.findall(rf"{re.escape(room)}[/\\](.+?:\d+)", first)
    # Who panics complains of its caller.
    asked = 1 if first.startswith("error: panicked") else 0
    return next(iter(places[asked:]), next(iter(places), TEMPLATE))
