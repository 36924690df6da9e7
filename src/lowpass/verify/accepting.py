"""Results become the expected ones, and what that changes is said."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from lowpass.registry import Refusal
from lowpass.verify import expected
from lowpass.verify.comparing import differences
from lowpass.verify.product import Judge, Product
from lowpass.verify.verdict import asked_otherwise, count


def accept(products: Mapping[str, Product], folder: Path, judge: Judge) -> list[str]:
    """Expect from now on what is there.

    Parameters
    ----------
    products : mapping
        By name.
    folder : Path
        Of the files of expected results.
    judge : callable
        Says of a record why the code that is here is not the code that made it.

    Returns
    -------
    list of str
        A line for each product, and one for each number that changed.

    Raises
    ------
    Refusal
        When a product is missing, out of date or was edited; nothing is written then.
    """
    contents = {}
    lines = []
    for name, product in products.items():
        file = folder / f"{name}.json"
        try:
            product.check(judge)
            contents[file] = json.loads(json.dumps(product.expectation()))
        except Refusal as refusal:
            raise Refusal(f"{name}: nothing is accepted, since {refusal}") from None
        lines += said(name, product, contents[file], file)
    expected.write(contents)
    return lines


def said(name: str, product: Product, content: dict[str, Any], file: Path) -> list[str]:
    """Say what is new in what is expected of a product."""
    numbers = f"{count(content['numbers'])} numbers"
    if not file.exists():
        return [f"{name}: {numbers} are expected for the first time"]
    try:
        old = expected.read(file, file.name)
    except Refusal:
        return [f"{name}: {numbers} are expected anew; the file that was there could not be read"]
    if old["key"] != content["key"]:
        asked = asked_otherwise(old["recipe"], content["recipe"])
        return [f"{name}: other parameters are asked: {asked}"]
    if {**old, **content} == old:
        return [f"{name}: nothing changed"]
    changed = differences(old["numbers"], product.numbers, product.account)
    return [
        f"{name}: {len(changed)} of {count(old['numbers'])} numbers changed by more than their "
        f"tolerance",
        *(f"  {difference.change}" for difference in changed),
    ]


def forget(strays: Iterable[Path]) -> list[str]:
    """Delete files that expect something of what is not planned."""
    lines = []
    for stray in strays:
        stray.unlink()
        lines.append(f"{stray.stem}: is no longer planned, and {stray.name} is deleted")
    return lines
