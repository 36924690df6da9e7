"""Show findings: a table for a person, a file for a program."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from .measuring import Row, Samples

HEAD = ("what", "case", "ours", "against", "theirs", "ratio", "target")
SCALES = {
    "s": ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")),
    "B": ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"), (1, "B")),
}
VERDICTS = {True: "met", False: "missed", None: ""}


def amount(value: float, unit: str) -> str:
    """Write a value with three digits in a unit that suits it.

    Examples
    --------
    >>> amount(0.0000523, "s")
    '52.3 µs'
    >>> amount(0, "B")
    '0 B'
    """
    size, name = next((scale for scale in SCALES[unit] if abs(value) >= scale[0]), SCALES[unit][-1])
    return f"{value / size:.3g} {name}" if value < 1000 * size else f"{value / size:.0f} {name}"


def cell(samples: Samples, unit: str) -> str:
    """Write the least value, and in brackets by how much the median lies above it."""
    text = amount(samples.best, unit)
    return f"{text} (+{samples.spread:.0%})" if len(samples.values) > 1 else text


def target(row: Row) -> str:
    """Write what a row aims at, and whether it got there."""
    if row.limit is not None:
        return f"ratio ≤ {row.limit:g} {VERDICTS[row.is_met]}"
    if row.ceiling is not None:
        return f"≤ {amount(row.ceiling, row.unit)} {VERDICTS[row.is_met]}"
    return ""


def cells(row: Row) -> tuple[str, ...]:
    """Write one row of the table."""
    ours, theirs = cell(row.ours, row.unit), cell(row.theirs, row.unit)
    return (row.what, row.case, ours, row.against, theirs, f"{row.ratio:.3g}", target(row))


def table(rows: Sequence[Row]) -> str:
    """Write rows below a head, each column as wide as it has to be."""
    lines = [HEAD, *map(cells, rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEAD))]
    return "\n".join(
        "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )


def save(path: Path, found: Mapping[str, Sequence[Row]], machine: Mapping[str, Any]) -> None:
    """Write every sample of every row, and the machine they were taken on."""
    topics = {
        topic: [{**asdict(row), "ratio": row.ratio, "is_met": row.is_met} for row in rows]
        for topic, rows in found.items()
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    text = json.dumps({"machine": machine, "topics": topics}, indent=1, ensure_ascii=False)
    part.write_text(text + "\n", encoding="utf-8")
    os.replace(part, path)
