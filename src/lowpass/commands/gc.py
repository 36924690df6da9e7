"""List results that no configuration plans; delete nothing."""

from __future__ import annotations

import argparse
from typing import Any


def add(commands: Any) -> None:
    """Describe the command."""
    gc = commands.add_parser("gc", help="list results here that no configuration plans")
    gc.add_argument(
        "--configfile",
        nargs="+",
        default=[],
        help="configurations beside those in config/ whose results are kept",
    )
    gc.add_argument("--paths", action="store_true", help="only paths, one a line, for xargs rm")


def run(asked: argparse.Namespace) -> int:
    """List what is planned by none."""
    from lowpass import project
    from lowpass.garbage import as_text, plans, unplanned

    planned = plans(project.ROOT, asked.configfile)
    found = unplanned(planned.values(), project.ROOT)
    if asked.paths:
        print("".join(f"{path}\n" for path in found), end="")
    else:
        print(as_text(found, planned))
    return 0
