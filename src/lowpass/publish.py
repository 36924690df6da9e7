"""Fixed names for the newest paper and claims, and the manifest of every final file."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from lowpass.records import BLANK, NAME, SCHEMA, seal, sha256


def publish(inputs: Sequence[str], outputs: Sequence[str]) -> None:
    """Copy the paper and the claims to their fixed names, then write the manifest.

    Parameters
    ----------
    inputs : sequence of str
        Every final product, each named after its key.
    outputs : sequence of str
        Fixed names; a copy is made of the input whose name begins alike. The manifest
        comes last, so that it never names a file that is not there.
    """
    *copies, manifest = outputs
    listed = {path: sha256(Path(path).read_bytes()) for path in sorted(inputs)}
    for copy in copies:
        stem, suffix = Path(copy).stem, Path(copy).suffix
        source = next(
            path
            for path in inputs
            if Path(path).name.startswith(f"{stem}~") and Path(path).suffix == suffix
        )
        part = Path(f"{copy}.part")
        shutil.copyfile(source, part)
        os.replace(part, copy)
        listed[copy] = listed[source]
    keys = sorted({Path(path).name.partition("~")[2].partition(".")[0] for path in inputs})
    record = {
        "schema": SCHEMA,
        "key": "manifest",
        "recipe": {"stage": "publish", "params": {"keys": keys}},
        "parameters": {"keys": keys},
        "parents": [],
        "digest": BLANK,
    }
    text = json.dumps({NAME: record, "sha256": listed}, indent=1) + "\n"
    part = Path(f"{manifest}.part")
    part.write_bytes(seal(text))
    os.replace(part, manifest)
