"""Numbers of a result beside those expected of it, and which of them differ.

What may differ is an account of rounding's; here stands how it is asked for.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from lowpass.rounding import Rounding, largest
from lowpass.verify.numbers import EVERYWHERE, Numbers, Place

# Numbers as a file of expected ones holds them: by variable, place and statistic.
Held = Mapping[str, Mapping[str, Mapping[str, float | str]]]
# Enough to compare relative errors of 1e-8, and so few that most stay as they are elsewhere.
DIGITS = 12


class Difference(NamedTuple):
    """Hold a number that differs, or one of them where the other is not there."""

    variable: str
    place: str
    statistic: str
    expected: float | str | None
    found: float | str | None
    tolerance: float = 0.0

    @property
    def spot(self) -> str:
        """Say which number it is."""
        place = f" at {self.place}" if self.place not in (EVERYWHERE, "") else ""
        return f"{self.variable}{place}{f': {self.statistic}' if self.statistic else ''}"

    @property
    def told(self) -> str:
        """Say how the number differs from what was expected."""
        if self.found is None:
            return f"{self.spot} is missing"
        if self.expected is None:
            return f"{self.spot} was not expected"
        if isinstance(self.found, str) or isinstance(self.expected, str):
            return f"{self.spot} is {self.found} and not {self.expected}"
        return (
            f"{self.spot} is {self.found:.12g} and not {self.expected:.12g}, "
            f"which may differ by {self.tolerance:.1e}"
        )

    @property
    def change(self) -> str:
        """Say what the number was and what it is now."""
        old, new = (
            "nothing" if each is None else each if isinstance(each, str) else f"{each:.12g}"
            for each in (self.expected, self.found)
        )
        return f"{self.spot}: {old} -> {new}"


def held(numbers: Numbers) -> dict[str, dict[str, dict[str, float | str]]]:
    """Round numbers to the digits that are kept; JSON has no infinity, so it is text."""
    return {
        variable: {
            place: {name: shortened(value) for name, value in each.statistics.items()}
            for place, each in places.items()
        }
        for variable, places in numbers.items()
    }


def shortened(value: float | str) -> float | str:
    """Keep some digits of a finite number, and write an infinite one."""
    if isinstance(value, str | int):
        return value
    return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else str(value)


def number(value: float | str) -> float | str:
    """Read a number that may be infinite."""
    return float(value) if value in ("inf", "-inf") else value


def differences(
    expected: Held, found: Numbers, account: Callable[[str], Rounding]
) -> list[Difference]:
    """List the numbers that differ by more than rounding explains.

    Parameters
    ----------
    expected : mapping
        By variable, place and statistic.
    found : dict
        The same of a result, with the floor of the arithmetic at every place.
    account : callable
        Gives the account of rounding of a variable.

    Returns
    -------
    list of Difference
        Changed verdicts first.
    """
    listed = [
        each
        for variable in sorted({*expected, *found})
        for each in in_variable(
            variable, expected.get(variable), found.get(variable), account(variable)
        )
    ]
    return sorted(listed, key=lambda each: each.statistic != "verdict")


def in_variable(
    variable: str,
    expected: Mapping[str, Mapping[str, float | str]] | None,
    found: Mapping[str, Place] | None,
    rounding: Rounding,
) -> Iterator[Difference]:
    """Find the differences in one variable; what is there on one side only is one of them."""
    if expected is None or found is None:
        yield one_sided(variable, "", expected is not None)
        return
    for place in [*expected, *(each for each in found if each not in expected)]:
        if place in expected and place in found:
            yield from at_place(variable, place, expected[place], found[place], rounding)
        else:
            yield one_sided(variable, place, place in expected)


def one_sided(variable: str, place: str, is_expected: bool) -> Difference:
    """Say that a variable or place is expected and not found, or found and not expected."""
    return Difference(variable, place, "", *(("there", None) if is_expected else (None, "there")))


def at_place(
    variable: str,
    place: str,
    expected: Mapping[str, float | str],
    found: Place,
    rounding: Rounding,
) -> Iterator[Difference]:
    """Find the differences between the statistics of one place."""
    stated = {name: number(value) for name, value in expected.items()}
    around = [value for value in stated.values() if not isinstance(value, str)]
    for name in [*stated, *(each for each in found.statistics if each not in stated)]:
        one, other = stated.get(name), found.statistics.get(name)
        if one is None or other is None or isinstance(one, str) or isinstance(other, str):
            if one != other:
                yield Difference(variable, place, name, one, other)
            continue
        # A pattern may cancel, and feels the rounding of all values that it is made of.
        left, right = (largest(*around), 0.0) if name == "pattern" else (one, other)
        tolerance = rounding.tolerance(left, right, around, found.floor)
        if one != other and not abs(one - other) <= tolerance:
            yield Difference(variable, place, name, one, other, tolerance)
