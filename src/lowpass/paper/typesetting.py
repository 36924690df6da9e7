"""From results to the bytes of the paper.

This module owns the call of the compiler: a folder that holds nothing but the
template and what it may show, and no clock, font or path of this machine.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lowpass.paper.values import compose
from lowpass.registry import Refusal
from lowpass.writing import refusing

TEMPLATE, BIBLIOGRAPHY, VALUES = "paper.typ", "references.bib", "values.json"


def typeset(recipe: Mapping[str, Any], inputs: Sequence[str], folder: Path, record: str) -> bytes:
    """Typeset the paper.

    Parameters
    ----------
    recipe : mapping
        ``params`` with the canonical section of every experiment and the reason ``why`` it
        exists; ``seed`` where anything was drawn at random.
    inputs : sequence of str
        Claims (JSON), figures (PDF) and experiments (netCDF).
    folder : Path
        Holds the template and the bibliography.
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
    bibliography = (folder / BIBLIOGRAPHY).read_bytes()
    values = compose(recipe, [Path(path) for path in inputs], bibliography.decode(), record)
    files = {path.name: path.read_bytes() for path in map(Path, inputs) if path.suffix == ".pdf"}
    files[BIBLIOGRAPHY] = bibliography
    files[VALUES] = json.dumps(values, ensure_ascii=False, allow_nan=False).encode()
    files[TEMPLATE] = (folder / TEMPLATE).read_bytes()
    return compiled(files)


def compiled(files: Mapping[str, bytes]) -> bytes:
    """Compile the template among its files, by their names."""
    import typst

    with tempfile.TemporaryDirectory() as room:
        for path, content in ((Path(room, name), content) for name, content in files.items()):
            # Named, since this disk may be full while that of the results is not.
            with refusing(path, path):
                path.write_bytes(content)
        try:
            return typst.compile(
                str(Path(room, TEMPLATE)), root=room, ignore_system_fonts=True, timestamp=0
            )
        except typst.TypstError as fault:
            place = re.search(rf"({re.escape(TEMPLATE)}:\d+)", fault.diagnostic)
            raise Refusal(
                f"workflow/paper/{place[1] if place else TEMPLATE}: {fault.message}; "
                f"the paper was not typeset, so correct the template there."
            ) from None
