"""What the template is told: all numbers, texts and names that it may print.

This module owns the composition of one JSON object out of the recipe, the
claims, the figures and the experiments; it knows no typography.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lowpass.claims.intervals import LEVEL
from lowpass.figures.names import FIGURES
from lowpass.paper.numbers import exact, parameter, rounded
from lowpass.paper.quoting import counts, fill, flattened, numbers_of, quotable, sources
from lowpass.paper.summary import summary
from lowpass.provenance import record_in
from lowpass.records import NAME
from lowpass.registry import Refusal
from lowpass.store import read


@dataclass(frozen=True)
class Shown:
    """Hold one product that the paper shows: its file, its name, and its record."""

    path: Path
    name: str
    record: dict[str, Any]

    @classmethod
    def of(cls, path: Path) -> Shown:
        """Read the record of a product."""
        return cls(path, path.name.partition("~")[0], record_in(path)[0])


def compose(
    recipe: Mapping[str, Any], inputs: Sequence[Path], bibliography: str, record: str
) -> dict[str, Any]:
    """Compose what the template is told.

    Parameters
    ----------
    recipe : mapping
        Of the paper.
    inputs : sequence of Path
        Claims, figures and experiments.
    bibliography : str
        BibLaTeX; statements may cite its keys.
    record : str
        JSON, the description of the document.

    Returns
    -------
    dict
        Plain data; numbers are texts as printed.
    """
    shown = [Shown.of(path) for path in inputs]
    claims = judged(shown)
    sections = recipe["params"]["experiments"]
    known = quotable(claims, sections)
    keys = re.findall(r"^@\w+\{([^,\s]+),", bibliography, flags=re.MULTILINE)
    level = exact(LEVEL * 100)
    return {
        "record": record,
        "key": json.loads(record)["key"],
        "seed": parameter(recipe["seed"]) if "seed" in recipe else "",
        "level": f"{level} %",
        "counts": counts(claims),
        "quotes": known,
        "claims": [statement(claim, entry, keys) for claim, entry in claims.items()],
        "figures": [figure(each, known) for each in shown if each.path.suffix == ".pdf"],
        "experiments": {
            each.name: experiment(each, sections[each.name], recipe["params"]["why"][each.name])
            for each in shown
            if each.path.suffix == ".nc"
        },
        "products": [product(each) for each in shown],
        "versions": versions([json.loads(record), *(each.record for each in shown)]),
    }


def judged(shown: Sequence[Shown]) -> dict[str, dict[str, Any]]:
    """Read the claims, in the order of the register; none where there is no such file."""
    claims: dict[str, dict[str, Any]] = {}
    for each in shown:
        if each.path.suffix == ".json":
            claims |= json.loads(each.path.read_text(encoding="utf-8"))
    claims.pop(NAME, None)
    return claims


def statement(claim: str, entry: Mapping[str, Any], keys: Sequence[str]) -> dict[str, Any]:
    """Tell a claim: its words, its sources, and its numbers as printed."""
    words = ("title", "says", "condition", "repaired", "verdict", "witness")
    return {
        "id": claim,
        **{name: entry.get(name) or "" for name in words},
        "sources": sources(entry["source"], keys),
        "experiments": entry.get("experiments", []),
        "margin": rounded(entry["margin_decades"], 2) if "margin_decades" in entry else "",
        "repaired_holds": entry.get("repaired_holds"),
        **dict(numbers_of({**entry, "numbers": {}})),
    }


def figure(each: Shown, known: Mapping[str, str]) -> dict[str, str]:
    """Tell a figure: its file, the section it stands in, and its caption."""
    facts = FIGURES.facts(each.name)
    for name in ("section", "caption"):
        if name not in facts:
            raise Refusal(
                f"figure '{each.name}': is registered without a {name}, so the paper cannot place "
                f"it; add {name}= to its registration."
            )
    return {
        "name": each.name,
        "file": each.path.name,
        "section": facts["section"],
        "caption": fill(facts["caption"], known, f"figure '{each.name}'"),
        "key": each.record["key"],
    }


def experiment(each: Shown, section: Mapping[str, Any], why: str) -> dict[str, Any]:
    """Tell an experiment: why it exists, its parameters, and what it measured."""
    return {
        "why": why,
        "key": each.record["key"],
        "file": each.path.name,
        "parameters": [list(pair) for pair in flattened(section)],
        "cases": {
            axis: [parameter(label) for label in columns["label"]]
            for axis, columns in section.get("zip", {}).items()
        },
        "summary": summary(read(each.path)),
    }


def product(each: Shown) -> dict[str, str]:
    """Tell where a product lies and what made it."""
    stage = each.record["recipe"]["stage"]
    return {
        "stage": stage,
        "name": each.name,
        "file": f"results/{stage}/{each.path.name}",
        "key": each.record["key"],
        "code": each.record["code"],
    }


def versions(recorded: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """List the libraries that computed anything shown; two versions where they differ."""
    found: dict[str, set[str]] = {}
    for each in recorded:
        for name, version in each.get("versions", {}).items():
            found.setdefault(name, set()).add(version)
    return {name: ", ".join(sorted(each)) for name, each in sorted(found.items())}
