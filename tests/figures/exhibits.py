"""What the figures show, made small: experiments in miniature, and verdicts on them.

It runs the real stages, so that a figure is tested on what it will be given.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

import lowpass.claims.judges  # noqa: F401  (registers the judges)
from lowpass.claims.judge import judge
from lowpass.claims.names import CLAIMS
from lowpass.claims.register import REGISTER
from lowpass.plan.config import load

ROOT = Path(__file__).parents[2]
# Those that the workflow runs too, and all others.
FILES = ("config/smoke.yaml", "tests/miniatures.yaml")


@cache
def miniatures() -> dict[str, dict[str, Any]]:
    """Read the section of every experiment in miniature."""
    read = [load(ROOT / file, file).experiments for file in FILES]
    sections = {name: section for each in read for name, section in each.items()}
    return {name: each.model_dump(exclude_defaults=True) for name, each in sections.items()}


def experiment(laboratory, name: str) -> xr.Dataset:
    """Run one experiment."""
    return laboratory.run(miniatures()[name])


def verdicts(experiments: dict[str, xr.Dataset]) -> dict[str, Any]:
    """Judge every claim that has a judge, and add a record as the claims file has it."""
    judged = {CLAIMS.facts(name)["claim"]: name for name in CLAIMS}
    recipe = {"params": {"judged": judged, "register": list(REGISTER)}}
    return {"$record": {"stage": "claims"}, **judge(recipe, experiments)}


def everything(laboratory) -> dict[str, Any]:
    """Make all that any figure asks for."""
    experiments = {name: experiment(laboratory, name) for name in miniatures()}
    return {**experiments, "claims": verdicts(experiments)}


def drawn(line) -> np.ndarray:
    """Give the points of a line in data coordinates."""
    return np.asarray(line.get_xydata(), dtype=float)


def is_stored(line, series: np.ndarray) -> bool:
    """Tell whether a line follows one of the series (..., layer), at some or all layers."""
    layer, heights = drawn(line).T
    candidates = series.reshape(-1, series.shape[-1])[:, layer.astype(int)]
    return bool((candidates == heights).all(axis=1).any())
