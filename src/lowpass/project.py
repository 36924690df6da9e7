"""Where the project lies, and which configuration it runs when none is named."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CONFIG = "config/paper.yaml"
