"""Provenance records: what made a product, in a form that can be checked.

A record holds the recipe, all parameters, the parents and the code that made a
product. It owns keys, digests of text and pixels, and where a record sits in
each kind of file; netCDF files are the store's.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import unescape

from lowpass.registry import Refusal

# Raised only when code that knows the old form would misread the new one.
SCHEMA = 1
KEY_LENGTH = 12
# More parents than this do not fit into a compact record; a table in the file lists them.
INLINE_PARENTS = 16
BLANK = "0" * 64
NAME = "$record"
FIELDS = ("key", "recipe", "parameters", "parents")
PARENT = ("path", "key", "digest")


class NewerRecord(Refusal):
    """Say that a record has a form which only later code knows."""


def canonical(thing: Any) -> str:
    """Write plain data as the one JSON text that stands for it."""
    return json.dumps(
        thing, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )


def sha256(data: bytes | str) -> str:
    """Digest bytes, or a text's UTF-8 bytes, to 64 hexadecimal digits."""
    return hashlib.sha256(data.encode() if isinstance(data, str) else data).hexdigest()


def key_of(recipe: Mapping[str, Any], parent_keys: Sequence[str]) -> str:
    """Give the key of a product: what is asked, and of which parents."""
    return sha256(canonical({"recipe": recipe, "parents": list(parent_keys)}))[:KEY_LENGTH]


def merkle(parents: Sequence[Mapping[str, str]]) -> str:
    """Digest a list of parents."""
    return sha256(canonical([dict(sorted(parent.items())) for parent in parents]))


def record_of(
    recipe: Mapping[str, Any],
    parameters: Mapping[str, Any],
    parents: Sequence[Mapping[str, str]],
    code: str,
    versions: Mapping[str, str],
    *,
    has_table: bool = True,
) -> dict[str, Any]:
    """Compose the record of a product.

    Parameters
    ----------
    recipe : mapping
        Stage, parameters that differ from their defaults, seed and block.
    parameters : mapping
        All parameters of the stage, defaults filled in.
    parents : sequence of {path, key, digest}
        What the product was made from, in the order of the key.
    code : str
        Fingerprint of the code.
    versions : mapping
        Of Python and of the libraries that compute.
    has_table : bool
        Whether the file has a table for parents that find no room in the record; without
        one the record lists them all.
    """
    few = len(parents) <= INLINE_PARENTS or not has_table
    return {
        "schema": SCHEMA,
        "key": key_of(recipe, [parent["key"] for parent in parents]),
        "recipe": recipe,
        "parameters": parameters,
        "parents": list(parents) if few else {"count": len(parents), "merkle": merkle(parents)},
        "code": code,
        "versions": dict(versions),
    }


def checked(record: Any, path: Path) -> dict[str, Any]:
    """Give back a record that has every part a reader relies on.

    Raises
    ------
    NewerRecord
        When later code wrote it, so that its parts may mean something else.
    ValueError
        When it is no record; readers say in which file.
    """
    if not isinstance(record, dict):
        raise ValueError("it is no mapping")
    check_schema(record.get("schema"), path)
    missing = [name for name in FIELDS if name not in record]
    if missing or not {"stage", "params"} <= set(record["recipe"]):
        raise ValueError(f"it lacks {', '.join(missing) or 'the recipe'}")
    parents = record["parents"]
    if isinstance(parents, list) and not all(set(PARENT) <= set(each) for each in parents):
        raise ValueError("a parent lacks its path, key or digest")
    if not isinstance(record.get("digest", ""), str):
        raise ValueError("its digest is no text")
    return record


def check_schema(schema: Any, path: Path) -> None:
    """Refuse a record of a form that is unknown here, or that states none."""
    if type(schema) is not int or schema < 1:
        stated = "states no schema" if schema is None else f"has the schema {schema!r}"
        raise ValueError(f"it {stated}, where a whole number from 1 on belongs")
    if schema > SCHEMA:
        raise NewerRecord(
            f"{path}: its record has the schema {schema} and this code knows none above {SCHEMA}, "
            f"so it would be misread; a later version of lowpass wrote it. Update lowpass, or "
            f"delete the file and run again."
        )


def seal(text: str) -> bytes:
    """Fill in the digest of a text whose record holds a blank one."""
    return text.replace(BLANK, sha256(text), 1).encode()


def text_digest(text: str, digest: str) -> str:
    """Digest a sealed text as it was before its own digest was filled in."""
    return sha256(text.replace(digest, BLANK, 1))


def image_digest(content: bytes, record: Mapping[str, Any]) -> str:
    """Digest a PNG image: its decoded pixels, and the record it carries but for the digest."""
    said = {name: value for name, value in record.items() if name != "digest"}
    return sha256(canonical([pixel_digest(content), said]))


def pixel_digest(content: bytes) -> str:
    """Digest the decoded pixels of a PNG image."""
    from PIL import Image

    with Image.open(io.BytesIO(content)) as image:
        pixels = image.convert("RGBA")
        return sha256(canonical(list(pixels.size)).encode() + pixels.tobytes())


def embedded(path: Path) -> dict[str, Any]:
    """Read the record that a JSON, SVG, PNG or PDF product carries.

    Returns
    -------
    dict
        The record, with ``digest`` where that kind of file has one.

    Raises
    ------
    Refusal
        When the file is not there, carries no record, or one that only later code can read.
    """
    readers = {".json": _in_json, ".svg": _in_svg, ".png": _in_png, ".pdf": _in_pdf}
    suffix = Path(path).suffix
    if suffix not in readers:
        raise Refusal(
            f"{path}: files ending in '{suffix}' carry no record; "
            f"trace one that ends in .nc, {', '.join(readers)}."
        )
    try:
        record = checked(readers[suffix](Path(path)), path)
        if not isinstance(record["parents"], list) or (suffix != ".pdf" and "digest" not in record):
            raise ValueError("it lacks its parents or its digest")
        return record
    except FileNotFoundError:
        raise Refusal(f"{path}: there is no such file; check the path.") from None
    except NewerRecord:
        raise
    except Exception as fault:
        # What is raised here says it in words; libraries repeat paths and bytes.
        reason = fault if type(fault) is ValueError else type(fault).__name__
        raise Refusal(
            f"{path}: carries no record of lowpass ({reason}), so it cannot be traced; "
            f"it was overwritten, or made by something else."
        ) from None


def _in_json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))[NAME]


def _in_svg(path: Path) -> Any:
    text = path.read_text(encoding="utf-8")
    found = re.search(r"<dc:description>(.*?)</dc:description>", text, flags=re.S)
    return json.loads(unescape(found[1])) if found else None


def _in_png(path: Path) -> Any:
    from PIL import Image

    with Image.open(path) as image:
        return json.loads(image.info["lowpass"])


def _in_pdf(path: Path) -> Any:
    from pypdf import PdfReader

    information = PdfReader(path).metadata
    return json.loads(information.subject) if information and information.subject else None
