"""Fixed names for the newest products, and the manifest of every final file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lowpass.records import BLANK, NAME, SCHEMA, key_of, seal, sha256
from lowpass.writing import put


def publish(inputs: Sequence[str], outputs: Sequence[str]) -> None:
    """Copy the paper and the claims to their fixed names, then write the manifest.

    Parameters
    ----------
    inputs : sequence of str
        Every final product, each named after its key.
    outputs : sequence of str
        Fixed names; a copy is made of the input whose name begins alike. The manifest
        comes last, so that it never names a file that is not there. A name that bears a key
        is a second manifest, the only one of its folder: while it is there, the fixed names
        stand for the products that its key was made from.
    """
    *copies, manifest = (path for path in outputs if "~" not in path)
    keyed = [path for path in outputs if "~" in path]
    # While the fixed names change hands, no manifest says what they stand for.
    for old in (Path(manifest), *(old for each in keyed for old in Path(each).parent.glob("*~*"))):
        old.unlink(missing_ok=True)
    listed = {path: sha256(Path(path).read_bytes()) for path in sorted(inputs)}
    for copy in copies:
        source = original(copy, inputs)
        put({Path(copy): Path(source).read_bytes()})
        listed[copy] = listed[source]
    recipe = publication(inputs)
    record = {
        "schema": SCHEMA,
        "key": key_of(recipe, []),
        "recipe": recipe,
        "parameters": recipe["params"],
        "parents": [],
        "digest": BLANK,
    }
    text = json.dumps({NAME: record, "sha256": listed}, indent=1) + "\n"
    for path in (manifest, *keyed):
        put({Path(path): seal(text)})


def original(copy: str, inputs: Sequence[str]) -> str:
    """Find the input whose name begins like that of its copy and ends alike."""
    stem, suffix = Path(copy).stem, Path(copy).suffix
    return next(
        path
        for path in inputs
        if Path(path).name.startswith(f"{stem}~") and Path(path).suffix == suffix
    )


def publication(finals: Sequence[str]) -> dict[str, Any]:
    """Compose the recipe of a manifest: the keys of all that the fixed names stand for."""
    keys = sorted({Path(path).name.partition("~")[2].partition(".")[0] for path in finals})
    return {"stage": "publish", "params": {"keys": keys}}
