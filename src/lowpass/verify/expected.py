"""The file that holds what is expected of one product.

It lies beside the configuration, below ``expected`` in a folder of the configuration's
name. It is JSON with one number on a line, and carries a seal: what is expected changes
by being accepted, never by hand.
"""

from __future__ import annotations

import json
from collections.abc import Container, Mapping
from pathlib import Path
from typing import Any

from lowpass.records import BLANK, seal, text_digest
from lowpass.registry import Refusal
from lowpass.writing import put

SCHEMA = 1
FIELDS = ("schema", "key", "recipe", "sha256", "digest", "values", "code", "versions", "numbers")
ACCEPT = "take over the results that are there with --accept"


def folder_of(config: Path) -> Path:
    """Give the folder of what a configuration's products are expected to be.

    Examples
    --------
    >>> folder_of(Path("config/smoke.yaml")).as_posix()
    'config/expected/smoke'
    """
    return config.parent / "expected" / config.stem


def strays(folder: Path, names: Container[str]) -> list[Path]:
    """List the files of a folder that expect something of what has none of some names."""
    return [path for path in sorted(folder.glob("*.json")) if path.stem not in names]


def write(contents: Mapping[Path, Mapping[str, Any]]) -> None:
    """Write what is expected of products; no file gets its name before all are on disk.

    Parameters
    ----------
    contents : mapping
        By file, everything that ``FIELDS`` names but the schema.
    """
    put({path: sealed(content) for path, content in contents.items()})


def sealed(content: Mapping[str, Any]) -> bytes:
    """Write what is expected as a text that vouches for itself."""
    whole = {"schema": SCHEMA, "seal": BLANK, **content}
    text = json.dumps(whole, indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False)
    return seal(f"{text}\n")


def read(path: Path, name: str) -> dict[str, Any]:
    """Read what is expected of a product.

    Parameters
    ----------
    path : Path
        Of the file.
    name : str
        How messages call it.

    Raises
    ------
    Refusal
        When there is no such file, it is damaged or was edited, or a newer lowpass wrote it.
    """
    try:
        text = path.read_text(encoding="utf-8")
        content = json.loads(text)
        schema = content["schema"]
        sealed = text_digest(text, content["seal"]) == content["seal"]
    except FileNotFoundError:
        raise Refusal(f"nothing is expected, since there is no {name}; {ACCEPT}.") from None
    except (OSError, ValueError, LookupError, TypeError) as fault:
        raise Refusal(
            f"{name}: holds no expected results ({type(fault).__name__}), so it was damaged; "
            f"restore it, or {ACCEPT}."
        ) from None
    if schema != SCHEMA:
        raise Refusal(
            f"{name}: has the schema {schema}, and this code knows {SCHEMA}; "
            f"use the code that it belongs to, or {ACCEPT}."
        )
    if not sealed or not set(FIELDS) <= set(content):
        raise Refusal(f"{name}: was edited by hand, so it proves nothing; restore it, or {ACCEPT}.")
    return content
