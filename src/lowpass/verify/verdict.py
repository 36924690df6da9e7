"""How far a product agrees with what is expected of it, and the sentence that says so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lowpass.registry import Refusal
from lowpass.telling import flat, told
from lowpass.verify import expected
from lowpass.verify.comparing import Difference, differences
from lowpass.verify.product import Judge, Product

# From the strictest to the weakest.
LEVELS = {
    "file": "byte for byte as expected",
    "digest": "record and content as expected, in a file of another layout",
    "values": "every stored value as expected, to the last bit",
    "numbers": "every named number as expected, within its tolerance",
}
# A message lists so many parameters, cut to so many characters.
LISTED = 4
SHOWN = 60


@dataclass
class Answer:
    """Hold how far one product agrees, or why it does not."""

    name: str
    level: str = ""
    why: str = ""
    differences: list[Difference] = field(default_factory=list)
    count: int = 0


def verify(name: str, product: Product, file: Path, judge: Judge) -> Answer:
    """Find the strictest level on which a product agrees with what is expected of it.

    Parameters
    ----------
    name : str
        Of the experiment, or ``claims``.
    product : Product
        As planned.
    file : Path
        What is expected.
    judge : callable
        Says of a record why the code that is here is not the code that made it.

    Returns
    -------
    Answer
        Its level is empty where the product does not agree, or cannot be compared.
    """
    try:
        wanted = expected.read(file, file.name)
        check_asked(product, wanted)
        product.check(judge)
        if product.sha256 == wanted["sha256"]:
            return Answer(name, "file")
        if product.digest == wanted["digest"]:
            return Answer(name, "digest")
        why = f"bytes differ: {reason(product, wanted)}"
        if product.values == wanted["values"]:
            return Answer(name, "values", why)
        found = differences(wanted["numbers"], product.numbers, product.account)
        return Answer(name, "" if found else "numbers", why, found, count(wanted["numbers"]))
    except Refusal as refusal:
        return Answer(name, why=str(refusal))


def check_asked(product: Product, wanted: Mapping[str, Any]) -> None:
    """Refuse to compare results of other parameters than those that were expected.

    Raises
    ------
    Refusal
        Naming some of the parameters.
    """
    if product.point.key != wanted["key"]:
        raise Refusal(
            f"nothing to compare, since the configuration asks other parameters than are "
            f"expected: {asked_otherwise(wanted['recipe'], product.point.recipe)}; "
            f"{expected.ACCEPT}."
        )


def asked_otherwise(old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    """Name the parameters in which two recipes differ, with their new and old values."""
    sides = [dict(flat(recipe, "")) for recipe in (new, old)]
    names = [name for name in {**sides[0], **sides[1]} if differs(name, *sides)]
    if not names:
        return "the recipe is the same, but a file that it reads has changed"
    listed = [
        f"{name.removeprefix('.params.section').removeprefix('.params').lstrip('.')} is "
        f"{short(sides[0], name)} and not {short(sides[1], name)}"
        for name in names[:LISTED]
    ]
    more = [f"and {len(names) - LISTED} more"] if len(names) > LISTED else []
    return ", ".join([*listed, *more])


def differs(name: str, one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Say whether a parameter has two values, or only one."""
    return (name in one) != (name in other) or one[name] != other[name]


def short(values: Mapping[str, Any], name: str) -> str:
    """Write a parameter's value, cut where it is long."""
    text = told(values[name]) if name in values else "nothing"
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 3]}..."


def reason(product: Product, wanted: Mapping[str, Any]) -> str:
    """Say what may have changed the bytes of a product."""
    versions = product.record["versions"]
    libraries = [
        f"{name} {versions.get(name)} for {wanted['versions'].get(name)}"
        for name in {**versions, **wanted["versions"]}
        if versions.get(name) != wanted["versions"].get(name)
    ]
    if libraries:
        return f"made by other library versions, {', '.join(libraries)}"
    stages = [stage for stage, mark in product.code.items() if wanted["code"].get(stage) != mark]
    if stages:
        return f"made by other code of {', '.join(sorted(stages))}"
    return "made by the same code and libraries on another machine, or with another BLAS kernel"


def count(numbers: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> int:
    """Count the numbers that are expected."""
    return sum(len(each) for places in numbers.values() for each in places.values())


def level_of(answers: Sequence[Answer]) -> str:
    """Give the weakest level among some answers; none where one of them has none."""
    order = ["", *reversed(LEVELS)]
    return min((answer.level for answer in answers), key=order.index, default="")
