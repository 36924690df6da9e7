"""Write down what a configuration may say: a schema for editors, and a page for people."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

SCHEMA = "workflow/schemas/config.schema.json"
PAGE = "config/README.md"


def add(commands: Any) -> None:
    """Describe the command."""
    commands.add_parser("describe", help=f"write {SCHEMA} and {PAGE} from the code")


def run(asked: argparse.Namespace) -> int:
    """Write what is not as the code has it."""
    from lowpass.project import ROOT

    for name, text in documents().items():
        print(f"{name}: {'written' if write(ROOT / name, text) else 'is current'}")
    return 0


def documents() -> dict[str, str]:
    """Give the text of each document, by its path in the project."""
    from lowpass.describing import page, schema

    return {SCHEMA: schema.as_text(), PAGE: page.as_text()}


def write(path: Path, text: str) -> bool:
    """Give a text its name, and say whether that changed anything."""
    from lowpass.writing import put

    if path.exists() and path.read_text(encoding="utf-8") == text:
        return False
    put({path: text.encode()})
    return True
