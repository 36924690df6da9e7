"""One product as it lies there: its bytes, its digests, its numbers, what made it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from lowpass import store
from lowpass.plan import Point
from lowpass.provenance import History, digest_of, history, mismatch
from lowpass.records import NAME, canonical, sha256
from lowpass.registry import Refusal
from lowpass.rounding import Remainder, Rounding, account
from lowpass.verify.comparing import held
from lowpass.verify.numbers import Numbers, of_claims, of_dataset

AGAIN = "run the workflow, as 'make paper' does"
# Says of a record why the code that is here is not the code that made it; nothing where it is.
Judge = Callable[[dict[str, Any]], str]


class Product:
    """Look at one product of a plan.

    Parameters
    ----------
    point : Point
        An experiment, or the claims.
    folder : Path
        What planned paths are relative to.
    """

    def __init__(self, point: Point, folder: Path) -> None:
        self.point = point
        self.folder = folder
        self.path = folder / point.path

    @cached_property
    def sha256(self) -> str:
        """Digest of the file."""
        return sha256(self.path.read_bytes())

    @cached_property
    def history(self) -> History:
        """The records on the way to the product, its own first.

        Raises
        ------
        Refusal
            When the product is not there.
        """
        if not self.path.exists():
            raise Refusal(f"there is no {self.point.path}; {AGAIN}.")
        return history(self.point.path, self.folder)

    @property
    def record(self) -> dict[str, Any]:
        """The product's own record."""
        return self.history[self.point.path][0]

    def check(self, judge: Judge) -> None:
        """Refuse a product that a run of the workflow would replace.

        Raises
        ------
        Refusal
            When it is missing, was made by other code, or not from what is there.
        """
        for path, (record, _) in self.history.items():
            if why := judge(record):
                raise Refusal(f"{path} is out of date ({why}); {AGAIN}.")
        if why := mismatch(self.history):
            raise Refusal(f"{why}; {AGAIN}.")

    @cached_property
    def digest(self) -> str:
        """Digest of the content, which is that of the record.

        Raises
        ------
        Refusal
            When the content was edited after it was written.
        """
        digest = digest_of(self.path, self.record)
        if digest != self.record["digest"]:
            raise Refusal(
                f"{self.point.path} differs from its own record, so it was edited after it was "
                f"written; delete it, then {AGAIN}."
            )
        return digest

    @cached_property
    def content(self) -> Any:
        """The dataset of an experiment, or the verdicts by claim."""
        if self.path.suffix == ".nc":
            return store.read(self.path)
        verdicts = json.loads(self.path.read_text(encoding="utf-8"))
        return {claim: entry for claim, entry in verdicts.items() if claim != NAME}

    @cached_property
    def values(self) -> str:
        """Digest of the stored values, to the last bit, whatever made them."""
        if self.path.suffix != ".nc":
            return sha256(canonical(self.content))
        return sha256(
            canonical(
                {
                    str(name): [list(variable.dims), str(variable.dtype), raw(variable.values)]
                    for name, variable in self.content.variables.items()
                }
            )
        )

    @cached_property
    def numbers(self) -> Numbers:
        """The named numbers."""
        return (of_dataset if self.path.suffix == ".nc" else of_claims)(self.content)

    def account(self, name: str) -> Rounding:
        """Give the account of rounding of one of its variables, or of a claim."""
        if self.path.suffix == ".nc":
            return account(name, Rounding())
        return account(f"claim {name}", Remainder())

    @property
    def code(self) -> dict[str, str]:
        """Digest of the code of each stage that the product went through."""
        marks: dict[str, set[str]] = {}
        for record, _ in self.history.values():
            marks.setdefault(record["recipe"]["stage"], set()).add(record["code"])
        return {stage: sha256(canonical(sorted(each)))[:16] for stage, each in marks.items()}

    def expectation(self) -> Mapping[str, Any]:
        """Give everything that a file of expected results holds."""
        return {
            "key": self.point.key,
            "recipe": self.point.recipe,
            "sha256": self.sha256,
            "digest": self.digest,
            "values": self.values,
            "code": self.code,
            "versions": self.record["versions"],
            "numbers": held(self.numbers),
        }


def raw(values: np.ndarray) -> str:
    """Digest the bytes of numbers, or the texts."""
    if values.dtype.kind in "UO":
        return sha256(canonical(values.tolist()))
    return sha256(np.ascontiguousarray(values).tobytes())
