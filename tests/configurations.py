"""A configuration of two small experiments, and the plan of what it becomes when edited."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lowpass.plan import Plan
from lowpass.whole import whole_plan

ROOT = Path(__file__).parents[1]
NAME = "mine.yaml"
TOKENS = """\
  tokens:
    why: Two temperatures.
    data: {generator: gaussian, n_tokens: 8, d_model: 4}
    attention: {beta: [1, 3], depth: 4}
    spectra: [slem, min_attention]
    replicates: 20
"""
TABLE = """\
  table:
    why: Real input.
    data: {generator: series, path: workflow/resources/nile.csv, key: year, value: flow}
    smoothing: {study: selection, bandwidths: {low: 0.5, high: 50, count: 9}}
"""
TEXT = f"seed: 7\nexperiments:\n{TOKENS}{TABLE}"
# The lines on which the experiments begin.
TOKENS_LINE, TABLE_LINE = 3, 9


def edited(*changes: tuple[str, str]) -> str:
    """Replace texts that stand in the configuration exactly once."""
    text = TEXT
    for old, new in changes:
        assert text.count(old) == 1, f"the configuration holds {old!r} {text.count(old)} times"
        text = text.replace(old, new)
    return text


def adding(lines: str) -> tuple[str, str]:
    """Give the change that adds lines at the end of the experiment ``tokens``."""
    return "    replicates: 20\n", f"    replicates: 20\n{lines}"


def zipping(columns: str, given: str = "") -> tuple[str, str]:
    """Give the change that sweeps columns side by side in place of the inverse temperature."""
    return "{beta: [1, 3], depth: 4}", f"{{{given}depth: 4}}\n    zip: {{case: {{{columns}}}}}"


def planned(text: str, folder: Path, command_line: Mapping[str, Any] | None = None) -> Plan:
    """Write a configuration and plan it."""
    path = folder / NAME
    path.write_text(text, encoding="utf-8")
    return whole_plan(path, NAME, ROOT, command_line)


def keys(plan: Plan) -> set[tuple[str, str]]:
    """Give stage and key of every point."""
    return {(point.stage, point.key) for point in plan}


def lost(before: Plan, after: Plan) -> Counter[str]:
    """Count the points of each stage that a plan has no more."""
    return Counter(stage for stage, _ in keys(before) - keys(after))
