"""The whole plan of a configuration: its experiments and all that shows them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import lowpass.claims.judges
import lowpass.figures.gallery  # noqa: F401  (registers the figures)
from lowpass.claims.names import CLAIMS
from lowpass.claims.register import REGISTER
from lowpass.figures.names import FIGURES
from lowpass.plan import Plan, Point, load
from lowpass.plan.plan import file_digest
from lowpass.project import TEXTS

# What a paper cannot be without, beside the sections that lie there.
NEEDED = ("paper.typ", "references.bib")


def whole_plan(
    config: Path, name: str, root: Path, command_line: Mapping[str, Any] | None = None
) -> Plan:
    """Plan a configuration's experiments, claims, figures and paper.

    Parameters
    ----------
    config : Path
        The configuration file.
    name : str
        How messages call it.
    root : Path
        Folder of the project.
    command_line : mapping, optional
        Values that replace top-level ones of the file.

    Raises
    ------
    Refusal
        At the first fault of the configuration.
    """
    read = load(config, name, command_line)
    sections = {key: section.model_dump() for key, section in read.experiments.items()}
    plan = Plan(read.seed, sections, f"{name}: experiments", root)
    claims = add_claims(plan)
    figures = [
        add_figure(plan, figure, claims)
        for figure in sorted(FIGURES)
        if set(FIGURES.facts(figure)["experiments"]) <= set(plan.experiments)
    ]
    shown = [plan.experiments[key] for key in sorted(plan.experiments)]
    params = {
        "figures": [figure.slug for figure in figures],
        "experiments": sections_of(shown),
        "why": {key: section["why"] for key, section in sections.items()},
        "sha256": {name: file_digest(root, f"{TEXTS}/{name}", "paper") for name in texts(root)},
    }
    plan.add("paper", "paper", params, (claims, *figures, *shown), seed=seeded(shown))
    return plan


def texts(root: Path) -> list[str]:
    """List what the paper is typeset from, below its folder; a new section is found there."""
    folder = root / TEXTS
    found = (path.relative_to(folder) for path in folder.rglob("*.typ"))
    # An editor's own files begin with a dot.
    shown = {path.as_posix() for path in found if not path.name.startswith(".")}
    return sorted(shown.union(NEEDED))


def add_claims(plan: Plan) -> Point:
    """Plan the judgement of every claim whose experiments are there."""
    judged = {
        CLAIMS.facts(judge)["claim"]: judge
        for judge in sorted(CLAIMS)
        if set(CLAIMS.facts(judge)["experiments"]) <= set(plan.experiments)
    }
    needed = {name for judge in judged.values() for name in CLAIMS.facts(judge)["experiments"]}
    shown = [plan.experiments[name] for name in sorted(needed)]
    params = {"judged": judged, "register": list(REGISTER), "experiments": sections_of(shown)}
    return plan.add("claims", "claims", params, tuple(shown), seed=seeded(shown))


def add_figure(plan: Plan, figure: str, claims: Point) -> Point:
    """Plan one figure of its experiments, or of the claims."""
    shown = [plan.experiments[name] for name in sorted(FIGURES.facts(figure)["experiments"])]
    if not shown:
        params = {"figure": figure, "experiments": claims.recipe["params"]["experiments"]}
        return plan.add("figures", figure, params, (claims,), seed="seed" in claims.recipe)
    params = {"figure": figure, "experiments": sections_of(shown)}
    return plan.add("figures", figure, params, tuple(shown), seed=seeded(shown))


def sections_of(points: list[Point]) -> dict[str, Any]:
    """Give the canonical section of every experiment, to be read off what shows it."""
    return {point.slug: point.recipe["params"]["section"] for point in points}


def seeded(points: list[Point]) -> bool:
    """Say whether anything shown was drawn at random."""
    return any("seed" in point.recipe for point in points)
