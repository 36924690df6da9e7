"""The record and the digest of any product, whatever kind of file it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lowpass import records
from lowpass.registry import Refusal

Parent = dict[str, str]
# By path: a record, and what that product was made from.
History = dict[str, tuple[dict[str, Any], list[Parent]]]


def record_in(path: Path) -> tuple[dict[str, Any], list[Parent]]:
    """Read a product's record and the list of its parents.

    Raises
    ------
    Refusal
        When the file is not there, carries no record, or one that only later code can read.
    """
    if path.suffix == ".nc":
        from lowpass import store

        return store.read_record(path)
    record = records.embedded(path)
    return record, record["parents"]


def history(path: str, base: Path) -> History:
    """Read the records on the way to a product, its own first.

    What was made from a product stays what it is when that is deleted, so what is no longer
    there is left out.

    Parameters
    ----------
    path : str
        Of the product, as the plan has it.
    base : Path
        Folder that it is relative to.

    Returns
    -------
    dict
        By path: the record, and what the product was made from.

    Raises
    ------
    Refusal
        When the product is not there, or a file on the way carries no record.
    """
    known = {path: record_in(base / path)}
    waiting = [path]
    while waiting:
        for parent in known[waiting.pop(0)][1]:
            file = parent["path"]
            if file not in known and (base / file).exists():
                known[file] = record_in(base / file)
                waiting.append(file)
    return known


def mismatch(known: History) -> str:
    """Say which product was not made from what is there; nothing where each of them was.

    Nothing is digested again: records are taken at their word.
    """
    for child, (_, parents) in known.items():
        for parent in parents:
            file = parent["path"]
            if file in known and known[file][0]["digest"] != parent["digest"]:
                return f"{child} was not made from {file} as it now is"
    return ""


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
            from lowpass import store

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
