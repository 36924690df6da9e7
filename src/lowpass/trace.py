"""Where a product comes from, verified: back to its parameters, seed and code.

Every product on the way is checked against its own record, its parents, the
code on disk and the configuration; the first trouble found is its status.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lowpass.fingerprint import Code
from lowpass.fingerprint.inventory import KEPT, changes_since
from lowpass.plan.code import inventory_of
from lowpass.plan.complete import complete
from lowpass.provenance import Parent, digest_of, record_in
from lowpass.records import NewerRecord, key_of, sha256
from lowpass.registry import Refusal
from lowpass.writing import PART

OK = "ok"
MANIFEST = "results/manifest.json"


@dataclass
class Node:
    """Hold one product: its record, its status and why, and what it was made from."""

    path: Path
    record: dict[str, Any]
    status: str = OK
    why: str = ""
    parents: list[Node] = field(default_factory=list)

    def walk(self) -> Iterator[Node]:
        """Iterate over this product and everything it was made from, each once."""
        seen: set[Path] = set()
        waiting = [self]
        while waiting:
            node = waiting.pop(0)
            if node.path not in seen:
                seen.add(node.path)
                yield node
                waiting += node.parents


class Tracer:
    """Trace products against the code and the plan of one project.

    Parameters
    ----------
    root : Path
        Folder of the project, which holds the code and the data files.
    planned : collection of str, optional
        Keys that the configuration plans; None where no configuration can be read.
    """

    def __init__(self, root: Path, planned: Collection[str] | None) -> None:
        self._root = root
        self._planned = planned
        self._code = Code.read(root / "src")
        self._known: dict[Path, Node] = {}

    def trace(self, path: Path, base: Path | None = None) -> Node:
        """Trace one product.

        Parameters
        ----------
        path : Path
            The file, which may have left the project.
        base : Path, optional
            Folder that recorded paths are relative to; found from the path where omitted.

        Raises
        ------
        NewerRecord
            When later code wrote it, or something it was made from.
        """
        base = base if base is not None else base_of(path)
        if path not in self._known:
            try:
                record, parents = record_in(path)
            except NewerRecord:
                raise  # Nothing true can be said of it here: it is neither whole nor tampered.
            except Refusal as refusal:
                status = "tampered" if path.exists() else "missing"
                node = Node(path, {}, status, str(refusal).removeprefix(f"{path}: "))
                return self._known.setdefault(path, node)
            node = self._known[path] = Node(path, record)
            node.parents = [self.trace(base / each["path"], base) for each in parents]
            node.status, node.why = self._judge(node, parents, base)
        return self._known[path]

    def _judge(self, node: Node, parents: list[Parent], base: Path) -> tuple[str, str]:
        checks = {
            "tampered": lambda: tampering(node, parents, base),
            "stale parent": lambda: self._stale_parent(node, parents),
            "stale code": lambda: stale_code(node.record, self._code, base),
            "orphan": lambda: self._orphan(node.record),
        }
        for status, check in checks.items():
            why = check()
            if why:
                return status, why
        return OK, ""

    def _stale_parent(self, node: Node, parents: list[Parent]) -> str:
        for stated, parent in zip(parents, node.parents, strict=True):
            if parent.record and content_of(parent) != stated["digest"]:
                return f"{stated['path']} is not what this was made from"
        mark = node.record["parameters"].get("sha256")
        if node.record["recipe"]["stage"] == "data" and mark:
            source = self._root / node.record["parameters"]["path"]
            if not source.exists() or sha256(source.read_bytes()) != mark:
                return f"{node.record['parameters']['path']} is not what this was made from"
        return ""

    def _orphan(self, record: dict[str, Any]) -> str:
        if self._planned is None or record["recipe"]["stage"] == "publish":
            return ""
        if record["key"] in self._planned:
            return ""
        return "the configuration plans no product with this key; --configfile names another"


def stale_code(record: dict[str, Any], code: Code, base: Path) -> str:
    """Say why the code that is here is not the code that a record names; nothing where it is.

    Parameters
    ----------
    record : dict
        Of a product.
    code : Code
        The sources that are here.
    base : Path
        The folder that holds ``results``, where inventories of earlier code lie.
    """
    if record["recipe"]["stage"] == "publish":
        return ""
    here = ".".join(map(str, sys.version_info[:2]))
    if not record["versions"]["python"].startswith(f"{here}."):
        return (
            f"made with Python {record['versions']['python']}, here {here}; fingerprints "
            f"compare within one minor version only"
        )
    try:
        now = inventory_of(code, record["recipe"])
    except Refusal as refusal:
        return f"the code here cannot make it: {refusal}"
    if now.fingerprint == record["code"]:
        return ""
    changes = changes_since(record["code"], now, base / KEPT)
    return f"made by {record['code']}, the code here is {now.fingerprint}: {changes}"


def tampering(node: Node, parents: list[Parent], base: Path) -> str:
    """Compare a product with its own record, and with the manifest of its folder."""
    record, recipe = node.record, node.record["recipe"]
    content = content_of(node)
    if not content or content != record.get("digest", content):
        return "content differs from its own record; it was edited after it was written"
    if recipe["stage"] == "publish":
        return unlisted(node.path, base)
    key = key_of(recipe, [parent["key"] for parent in parents])
    if record["key"] != key:
        return f"its recipe and parents have the key {key}, but it states {record['key']}"
    _, mark, rest = node.path.name.partition("~")
    if mark and not rest.startswith(f"{key}."):
        return f"it bears another product's name; its own key is {key}"
    try:
        if complete(recipe) != record["parameters"]:
            return "its parameters are not those of its recipe"
    except Refusal:
        pass  # The code here no longer knows the recipe, which is said as stale code.
    return changed_since_manifest(node.path, base)


def content_of(node: Node) -> str:
    """Digest a product's content; nothing where it cannot be decoded."""
    try:
        return digest_of(node.path, node.record)
    except Refusal:
        return ""


def changed_since_manifest(path: Path, base: Path) -> str:
    """Find a final file whose bytes are not those the manifest lists."""
    if path.suffix == ".nc" or not path.is_relative_to(base):
        return ""
    stated = listed_in(base / MANIFEST).get(path.relative_to(base).as_posix())
    if stated is None or stated == sha256(path.read_bytes()):
        return ""
    return f"its bytes are not those that {MANIFEST} lists"


def listed_in(manifest: Path) -> dict[str, str]:
    """Read what a manifest lists: nothing where there is none, or one that is damaged."""
    try:
        return dict(json.loads(manifest.read_text(encoding="utf-8"))["sha256"])
    except (OSError, ValueError, LookupError, TypeError):
        return {}


def unlisted(manifest: Path, base: Path) -> str:
    """Name the first file that is not as a manifest lists it."""
    for name, stated in listed_in(manifest).items():
        path = base / name
        if not path.exists():
            return f"{name} is listed and missing"
        if sha256(path.read_bytes()) != stated:
            return f"{name} is not as listed"
    return ""


def base_of(path: Path) -> Path:
    """Find the folder that recorded paths are relative to.

    A product in a folder ``results`` belongs there; one that was copied away is looked up
    from the current folder.
    """
    parts = path.absolute().parts
    if "results" in parts[:-1]:
        last = len(parts) - 1 - parts[::-1].index("results")
        return Path(*parts[:last])
    return Path.cwd()


def find(what: str) -> list[Path]:
    """Find a product by its file name, or all its files by its key.

    Raises
    ------
    Refusal
        When it is neither a file nor the key of a product in ``results``.
    """
    if Path(what).is_file():
        return [Path(what).absolute()]
    named = sorted(Path("results").glob(f"*/*~{what}.*")) if what.isalnum() else []
    # A job that is at work, or was killed, has its file under another name.
    found = [path for path in named if path.suffix != PART]
    if not found:
        raise Refusal(
            f"'{what}' is neither a file nor the key of a product under results/; "
            f"give a path, or the twelve digits after the ~ in a name."
        )
    return [path.absolute() for path in found]
