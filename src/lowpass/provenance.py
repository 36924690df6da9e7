"""The record and the digest of any product, whatever kind of file it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lowpass import records, store
from lowpass.registry import Refusal

Parent = dict[str, str]


def record_in(path: Path) -> tuple[dict[str, Any], list[Parent]]:
    """Read a product's record and the list of its parents.

    Raises
    ------
    Refusal
        When the file is not there, carries no record, or one that only later code can read.
    """
    if path.suffix == ".nc":
        return store.read_record(path)
    record = records.embedded(path)
    return record, record["parents"]


def digest_of(path: Path, record: dict[str, Any]) -> str:
    """Compute a product's digest from its content.

    A PDF cannot hold its own digest; that of the whole file stands for it.

    Raises
    ------
    Refusal
        When the content cannot be decoded, although the record can.
    """
    try:
        if path.suffix == ".nc":
            return store.digest(path)
        content = path.read_bytes()
        if path.suffix == ".png":
            return records.image_digest(content, record)
        if path.suffix == ".pdf":
            return records.sha256(content)
        return records.text_digest(content.decode("utf-8"), record["digest"])
    except Exception as fault:
        raise Refusal(
            f"{path}: its content cannot be decoded ({type(fault).__name__}); it was damaged "
            f"after it was written. Delete it and run again."
        ) from None


def parent_of(path: str) -> Parent:
    """Describe a parent for the record of its child, after checking that it is whole.

    Raises
    ------
    Refusal
        When its content differs from its own record.
    """
    record, _ = record_in(Path(path))
    digest = digest_of(Path(path), record)
    if digest != record.get("digest", digest):
        raise Refusal(
            f"{path}: content differs from its own record; it was edited after it was written. "
            f"Delete it and run again."
        )
    return {"path": str(path), "key": record["key"], "digest": digest}
