"""What the pages of the HTML report are told.

The report tells what the paper tells. This module owns where a figure stands in
it and how text becomes HTML; the pages themselves are in workflow/report.
"""

from __future__ import annotations

import html
import logging
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lowpass.figures.names import FIGURES
from lowpass.figures.typesetting import (
    SUBSCRIPTS,
    SUBSCRIPTS_SPELT,
    SUPERSCRIPTS,
    SUPERSCRIPTS_SPELT,
)
from lowpass.plan import Plan, Point
from lowpass.plan.axes import swept_lists
from lowpass.provenance import parent_of, record_in
from lowpass.records import canonical

FORGOTTEN = "Missing metadata for file"
# Longer sweeps are told by their ends.
LISTED = 8


def told(plan: Plan, root: Path) -> dict[str, Any]:
    """Tell what a plan's paper is told, with every text as HTML.

    Parameters
    ----------
    plan : Plan
        All of its products are there, relative to the current folder.
    root : Path
        Folder of the project.

    Returns
    -------
    dict
        As `lowpass.paper.values.compose` gives it. A figure also has the ``path`` of its
        picture, and ``sections`` have a ``name``, the reason ``why`` of their experiment, and
        their ``figures``.

    Raises
    ------
    Refusal
        When a product was edited after it was written.
    """
    from lowpass.paper.values import compose

    (paper,) = (point for point in plan if point.stage == "paper")
    for point in paper.parents:
        parent_of(point.path)
    record, _ = record_in(Path(paper.path))
    bibliography = (root / "workflow" / "paper" / "references.bib").read_text(encoding="utf-8")
    pictures = {point.slug: point.path for point in paper.parents if point.stage == "figures"}
    # The paper takes figures in another form than the report.
    inputs = [
        Path(point.path).with_suffix(".pdf") if point.stage == "figures" else Path(point.path)
        for point in paper.parents
    ]
    values = compose(paper.recipe, inputs, bibliography, canonical(record))
    for figure in values["figures"]:
        figure["path"] = pictures[figure["name"]]
    return as_html({**values, "sections": sections_of(values)})


def sections_of(values: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Order the figures by section: those of no experiment first, then every experiment."""
    figures, experiments = values["figures"], values["experiments"]
    others = [figure["section"] for figure in figures if figure["section"] not in experiments]
    return [
        {
            "name": name,
            "why": experiments.get(name, {}).get("why", ""),
            "figures": [figure for figure in figures if figure["section"] == name],
        }
        for name in dict.fromkeys([*others, *experiments])
    ]


def section(figure: Point) -> str:
    """Name the section a figure stands in."""
    return FIGURES.facts(figure.slug)["section"]


def labels(figure: Point, experiments: Mapping[str, Point]) -> dict[str, str]:
    """Label a figure by its name, and by the swept parameters of its section's experiment.

    All figures of a section have the same parameters: where two differ in one, the report
    takes it for a switch between two forms of one figure.
    """
    name = {"figure": figure.slug}
    experiment = experiments.get(section(figure))
    if experiment is None:
        return name
    described = experiment.recipe["params"]["section"]
    lists = {parameter: values for _, parameter, values in swept_lists(described, figure.slug)}
    cases = {axis: columns["label"] for axis, columns in described.get("zip", {}).items()}
    return name | {axis: listed(values) for axis, values in (lists | cases).items()}


def listed(values: Sequence[Any]) -> str:
    """Write the values of a sweep on one line.

    Examples
    --------
    >>> listed([1.0, 3.0]), listed(range(1, 100))
    ('1, 3', '1 … 99 (99 values)')
    """
    from lowpass.paper.numbers import parameter

    if len(values) <= LISTED:
        return parameter(list(values))
    return f"{parameter(values[0])} … {parameter(values[-1])} ({len(values)} values)"


def as_html(value: Any) -> Any:
    """Turn every text of plain data into HTML.

    Examples
    --------
    >>> as_html(["‖W_V‖₂ < 10⁻³", "e^(−k²/2β)"])
    ['‖W<sub>V</sub>‖<sub>2</sub> &lt; 10<sup>−3</sup>', 'e<sup>−k<sup>2</sup>/2β</sup>']
    """
    if isinstance(value, dict):
        return {name: as_html(each) for name, each in value.items()}
    if isinstance(value, list):
        return [as_html(each) for each in value]
    return scripted(html.escape(value)) if isinstance(value, str) else value


def scripted(text: str) -> str:
    """Raise and lower what is written as a script in Unicode, or after ^ and _."""
    text = re.sub(r"\^\(((?:[^()]|\([^()]*\))*)\)", r"<sup>\1</sup>", text)
    text = re.sub(r"_([A-Z]+)\b", r"<sub>\1</sub>", text)
    raised = str.maketrans(SUPERSCRIPTS, SUPERSCRIPTS_SPELT.replace("-", "−"))
    lowered = str.maketrans(SUBSCRIPTS, SUBSCRIPTS_SPELT.replace("-", "−"))
    text = re.sub(f"[{SUPERSCRIPTS}]+", lambda run: f"<sup>{run[0].translate(raised)}</sup>", text)
    return re.sub(f"[{SUBSCRIPTS}]+", lambda run: f"<sub>{run[0].translate(lowered)}</sub>", text)


class Forgetting(logging.Filter):
    """Say once what Snakemake says of every file whose making it has forgotten."""

    said = False

    def filter(self, record: logging.LogRecord) -> bool:
        """Let the first of these warnings through, in other words, and none after it."""
        if not str(record.msg).startswith(FORGOTTEN):
            return True
        first, self.said = not self.said, True
        record.msg = (
            "lowpass: .snakemake/ no longer knows when these results were made, so the report is "
            "whole but for its statistics; to have them, delete results/ and run again."
        )
        return first
