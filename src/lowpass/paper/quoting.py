"""What texts may quote: measured numbers, parameters and counts, under their names.

This module owns the names between braces, such as ``{A05.slem_beta_3}``, and
refuses one that stands for nothing.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from lowpass.paper.numbers import exact, interval, parameter, rounded
from lowpass.registry import Refusal, did_you_mean

VERDICTS = ("holds", "conditional", "asymptotic", "refuted", "not examined")
DISTANCES = ("as_written", "under_condition", "trend", "repaired_distance")
TOLERANCES = ("tolerance", "trend_tolerance")
PLACE = re.compile(r"\{([^{}]+)\}")
KEY = re.compile(r"[a-z]+\d{4}[a-z]?")


def quotable(
    claims: Mapping[str, Mapping[str, Any]], sections: Mapping[str, Mapping[str, Any]]
) -> dict[str, str]:
    """List everything that can be quoted, as printed.

    Parameters
    ----------
    claims : mapping
        Judged claims by id.
    sections : mapping
        Canonical sections of the experiments, by name.

    Returns
    -------
    dict of str to str
        ``A05.trend``, ``A05.slem_beta_3``, ``counts.holds``, ``nile.data.key`` ...
    """
    texts = {f"counts.{name}": str(count) for name, count in counts(claims).items()}
    for claim, entry in claims.items():
        for name, text in numbers_of(entry):
            texts[f"{claim}.{name}"] = text
    for experiment, section in sections.items():
        for path, text in flattened(section):
            texts[f"{experiment}.{path}"] = text
    return texts


def counts(claims: Mapping[str, Mapping[str, Any]]) -> dict[str, int]:
    """Count the claims of each verdict, all that were examined, and all."""
    found = [entry["verdict"] for entry in claims.values()]
    by_verdict = {name: found.count(name) for name in VERDICTS}
    return {
        **by_verdict,
        "examined": len(found) - by_verdict["not examined"],
        "statements": len(found),
    }


def numbers_of(entry: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """List a claim's distances, tolerances and numbers, as printed."""
    for name in DISTANCES:
        if entry.get(name) is not None:
            yield name, rounded(entry[name], 2)
    for name in TOLERANCES:
        if entry.get(name) is not None:
            yield name, exact(entry[name])
    for name, number in entry.get("numbers", {}).items():
        yield name, interval(*(rounded(number[end]) for end in ("value", "low", "high")))


def flattened(section: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, str]]:
    """List a section's parameters by path; the columns of a zip are lists of their own."""
    for name, value in section.items():
        if isinstance(value, dict):
            yield from flattened(value, f"{path}{name}.")
        else:
            yield f"{path}{name}", parameter(value)


def fill(text: str, known: Mapping[str, str], where: str) -> str:
    """Replace every name between braces by what it stands for.

    Raises
    ------
    Refusal
        When a name stands for nothing.

    Examples
    --------
    >>> fill("|λ₂| = {A05.slem}", {"A05.slem": "0.61 [0.55, 0.66]"}, "figure 'decay'")
    '|λ₂| = 0.61 [0.55, 0.66]'
    """
    for name in PLACE.findall(text):
        if name not in known:
            raise Refusal(
                f"{where}: the text quotes {{{name}}}, which no claim measured and no experiment "
                f"sets{did_you_mean(name, known)} Correct the name or add the number to a claim."
            )
    return PLACE.sub(lambda place: known[place[1]], text)


def sources(text: str, keys: Collection[str]) -> list[dict[str, str]]:
    """Split a statement's source into plain words and citations.

    Parameters
    ----------
    text : str
        Parts between semicolons; a part that begins with a key is a citation.
    keys : collection of str
        Of the bibliography.

    Examples
    --------
    >>> sources("note 1 (1); wang2022, theorem 1", ["wang2022"])
    [{'words': 'note 1 (1)'}, {'cite': 'wang2022', 'words': 'theorem 1'}]
    """
    parts = []
    for part in text.split("; "):
        key, _, place = part.partition(", ")
        if KEY.fullmatch(key) and key not in keys:
            raise Refusal(
                f"source '{text}': the bibliography has no '{key}'{did_you_mean(key, keys)} "
                f"Add it to references.bib."
            )
        parts.append({"cite": key, "words": place} if key in keys else {"words": part})
    return parts
