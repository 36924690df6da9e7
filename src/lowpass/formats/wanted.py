"""The array that is wanted of a file, with the refusals that every format shares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from lowpass.registry import Refusal, did_you_mean

# Longer lists are cut in messages, which are one line.
NAMES_SHOWN = 12
# What to do with a type of which no number can be read, by numpy's letter for it.
ADVICE = {
    "f": "it has more digits than float64 holds. Save array.astype(numpy.float64)",
    "c": "a weight or a feature is one real number. Save its real part, or its modulus",
    "b": "truth is no number. Save array.astype(float), or give it as a mask",
    "O": "Python objects are pickled, and a pickle runs code when it is opened. "
    "Save an array of numbers, all rows of one length",
    "S": "text is no number. Save array.astype(float)",
    "U": "text is no number. Save array.astype(float)",
    "M": "a date is no number. Save a difference of dates as float",
    "m": "a duration is no number. Divide it by its unit and save that",
    "V": "it has fields, or is a type that numpy does not know, such as bfloat16. "
    "Save one field, or array.astype(numpy.float32)",
}


@dataclass(frozen=True)
class Wanted:
    """Say which array is wanted, and which part of it.

    Parameters
    ----------
    path : str
        The file's name; its suffix is its format.
    where : str
        How messages call the array.
    dims : tuple of str
        Names of all its axes, in order.
    name : str, optional
        What the file calls it.
    at : mapping of str to int
        Axes of which one index is taken.
    truth : bool
        Whether truth values will do as well as numbers.
    """

    path: str
    where: str
    dims: tuple[str, ...]
    name: str | None = None
    at: Mapping[str, int] = field(default_factory=dict)
    truth: bool = False

    def index(self, shape: Sequence[int]) -> tuple[int | slice, ...]:
        """Give the index that takes the wanted part of an array of this shape.

        Raises
        ------
        Refusal
            If the axes are not as many as their names, one is empty, or an
            index lies outside.
        """
        if len(shape) != len(self.dims):
            raise Refusal(
                f"{self.where} has the shape {tuple(shape)}, and dims names {len(self.dims)} axes: "
                f"{', '.join(self.dims)}; every axis needs a name. Name {len(shape)}."
            )
        for axis, size in zip(self.dims, shape, strict=True):
            if size < 1:
                raise Refusal(
                    f"{self.where} has the shape {tuple(shape)}; its axis '{axis}' is empty, so "
                    "there is nothing to read. Save an array with numbers in it."
                )
            if not 0 <= self.at.get(axis, 0) < size:
                raise Refusal(
                    f"{self.where}: at takes {axis} {self.at[axis]}, and the axis has {size} "
                    f"entries; they are counted from 0. Write a number from 0 to {size - 1}."
                )
        return tuple(self.at.get(axis, slice(None)) for axis in self.dims)


def damaged(wanted: Wanted, reason: object) -> Refusal:
    """Phrase the refusal of what cannot be read."""
    said = " ".join(str(reason).split()).rstrip(".")
    return Refusal(
        f"{wanted.where} cannot be read ({said}); the file is damaged or incomplete. "
        "Copy or save it again."
    )


def refuse_type(dtype: np.dtype, wanted: Wanted) -> None:
    """Refuse what is not made of real numbers that float64 holds, or of truth where it will do."""
    if wanted.truth and dtype.kind == "b":
        return
    if dtype.kind not in "iu" and not (dtype.kind == "f" and dtype.itemsize <= 8):
        advice = ADVICE.get(dtype.kind, "no number can be read from it. Save array.astype(float)")
        raise Refusal(f"{wanted.where} is of type {dtype}; {advice}.")


def refuse_name(wanted: Wanted, suffix: str) -> None:
    """Refuse a name where a file cannot have any."""
    if wanted.name is not None:
        raise Refusal(
            f"{wanted.where} is wanted by name; a {suffix} file holds one array, which has none. "
            "Leave out name."
        )


def chosen(wanted: Wanted, names: Sequence[str]) -> str:
    """Find the wanted name among those a file holds."""
    if not names:
        raise Refusal(
            f"{wanted.path}: there is no array in this file; nothing can be read. Save one into it."
        )
    known = ", ".join(names[:NAMES_SHOWN])
    known += f" and {len(names) - NAMES_SHOWN} more" if len(names) > NAMES_SHOWN else ""
    if wanted.name is None and len(names) != 1:
        raise Refusal(
            f"{wanted.where} is not named, and the file holds {len(names)} arrays; which one is "
            f"meant cannot be told. Write its name. Known: {known}."
        )
    name = names[0] if wanted.name is None else wanted.name
    if name not in names:
        raise Refusal(
            f"{wanted.path}: no array is called '{name}'{did_you_mean(name, names)} Known: {known}."
        )
    if names.count(name) > 1:
        raise Refusal(
            f"{wanted.path}: two arrays are called '{name}'; which one is meant cannot be told. "
            "Save each once."
        )
    return name
