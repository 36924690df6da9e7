"""Tell where products come from: the exit code is 1 where any is in trouble."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any


def add(commands: Any) -> None:
    """Describe the command."""
    trace = commands.add_parser("trace", help="tell where a product comes from, and check it")
    trace.add_argument("what", nargs="+", metavar="FILE|KEY", help="a product, or its key")
    trace.add_argument("--json", action="store_true", help="answer in JSON")
    trace.add_argument("--diff", action="store_true", help="compare two products' parameters")
    trace.add_argument("--configfile", default=None, help="the plan to compare with")


def run(asked: argparse.Namespace) -> int:
    """Walk back from each product."""
    from lowpass import project, telling
    from lowpass.registry import Refusal
    from lowpass.trace import OK, Tracer, find

    if asked.diff and len(asked.what) != 2:
        raise Refusal(f"command line: --diff compares two products, not {len(asked.what)}.")
    found = [find(what) for what in asked.what]
    tracer = Tracer(project.ROOT, planned_keys(asked.configfile))
    if asked.diff:
        first, second = (tracer.trace(paths[0]) for paths in found)
        print("\n".join(telling.difference(first, second)) or "no parameter differs")
        return 0
    nodes = [tracer.trace(path) for paths in found for path in paths]
    tell = telling.as_json if asked.json else telling.as_text
    print(tell(nodes))
    return int(any(each.status != OK for node in nodes for each in node.walk()))


def planned_keys(configfile: str | None) -> set[str]:
    """List the keys that a configuration plans."""
    from lowpass import project
    from lowpass.whole import whole_plan

    path = Path(configfile) if configfile else project.ROOT / project.CONFIG
    plan = whole_plan(path, configfile or project.CONFIG, project.ROOT)
    return {point.key for point in plan}
