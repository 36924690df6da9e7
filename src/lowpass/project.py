"""Where the project lies, and what it uses there when nothing else is named."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CONFIG = "config/paper.yaml"
# Folder of the paper's template, its sections and its bibliography.
TEXTS = "workflow/paper"
