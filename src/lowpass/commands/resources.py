"""Say what jobs need by estimate, and what they used: the exit code is 1 where that is more."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any


def add(commands: Any) -> None:
    """Describe the command."""
    resources = commands.add_parser(
        "resources", help="say what jobs are estimated to need, and what they used"
    )
    resources.add_argument("--configfile", default=None, help="the configuration of the results")
    resources.add_argument("--json", action="store_true", help="answer in JSON, job by job")


def run(asked: argparse.Namespace) -> int:
    """Read the logs in the current folder."""
    import json

    from lowpass import project
    from lowpass.resources import Resources
    from lowpass.resources.spent import as_lines, beyond, spent
    from lowpass.whole import whole_plan

    path = Path(asked.configfile) if asked.configfile else project.ROOT / project.CONFIG
    plan = whole_plan(path, asked.configfile or project.CONFIG, project.ROOT)
    found = spent(plan, Resources(project.ROOT), Path())
    over = beyond(found)
    if asked.json:
        lines = [json.dumps([each.as_object() for each in found], indent=1)]
    else:
        lines = [*as_lines(found)]
        lines += [
            f"more than estimated: {each.point.path} ({each.used.megabytes} MB, "
            f"estimated {each.megabytes} MB)"
            for each in over
        ]
    print("\n".join(lines))
    return int(bool(over))
