"""Give the final products their fixed names: a job of the workflow."""

from __future__ import annotations

import argparse
from typing import Any


def add(commands: Any) -> None:
    """Describe the command."""
    publish = commands.add_parser("publish", help="name the final products (a job)")
    publish.add_argument("--in", dest="inputs", nargs="+", required=True)
    publish.add_argument("--out", nargs="+", required=True)


def run(asked: argparse.Namespace) -> int:
    """Copy the final products and list them."""
    from lowpass.publish import publish

    publish(asked.inputs, asked.out)
    return 0
