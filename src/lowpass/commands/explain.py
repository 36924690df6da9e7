"""Say what would run and why, in parameters and code."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any


def add(commands: Any) -> None:
    """Describe the command."""
    explain = commands.add_parser("explain", help="say what would run here, and why")
    explain.add_argument("targets", nargs="*", metavar="TARGET", help="an experiment, a file, ...")
    explain.add_argument("--configfile", default=None, help="the configuration to plan")
    how = explain.add_mutually_exclusive_group()
    how.add_argument("--all", "--verbose", action="store_true", help="name every product")
    how.add_argument("--json", action="store_true", help="answer in JSON")
    how.add_argument(
        "--forgotten",
        action="store_true",
        help="list only products of other code that Snakemake cannot tell, a path a line",
    )


def run(asked: argparse.Namespace) -> int:
    """Explain; the exit code is 0 whenever there is an answer."""
    from lowpass import project
    from lowpass.explaining import telling
    from lowpass.explaining.answer import Answer
    from lowpass.rules import Rules
    from lowpass.whole import whole_plan

    path = Path(asked.configfile) if asked.configfile else project.ROOT / project.CONFIG
    plan = whole_plan(path, asked.configfile or project.CONFIG, project.ROOT)
    answer = Answer(Rules(plan, project.ROOT), project.ROOT, asked.targets)
    if asked.forgotten:
        lines = telling.forgotten(answer)
    elif asked.json:
        lines = [telling.as_json(answer)]
    else:
        lines = [telling.as_text(answer, every=asked.all)]
    print("".join(f"{line}\n" for line in lines), end="")
    return 0
