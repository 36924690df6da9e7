"""How far a correct number may lie from the same number of another machine.

Another processor, or another BLAS, adds in another order. What that does depends on what
a variable is: a number keeps its leading digits, a defect has none, and a curve that was
followed in plain arithmetic below its floor is noise. An account of that stands beside
the card of a variable; no stage reads it, so that a changed tolerance reruns nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from lowpass.registry import Registry

# Accounts, by the name of a variable, or by that of a claim as "claim A05".
ROUNDING = Registry("account of rounding")

# The variable that says where plain arithmetic ends, as a decimal logarithm.
FLOOR = "log10_rounding_floor"
# Between six BLAS kernels, and three sets of instructions of numpy, numbers of the paper differed
# by 1e-13 of themselves, and logarithms of ratios 400 layers deep by 2e-13; larger matrices and
# worse conditioned ones need the rest.
RELATIVE = 1e-8
# What cancels leaves some units in the last place of what it is the difference of; up to
# 1e-14 of it was seen.
RESIDUE = 1e-12
# In plain arithmetic a ratio was off by up to 75 of its floors while it fell, and came to rest
# up to 100 of them high.
FLOORS = 1000.0
# Decades that float64 holds.
DECADES = 53 * math.log10(2)


@dataclass(frozen=True)
class Rounding:
    """Compare a number relative to itself, and to the largest of those around it.

    Parameters
    ----------
    relative : float
        Largest relative error of a correct value.
    """

    relative: float = RELATIVE

    def tolerance(
        self, one: float, other: float, around: Sequence[float], floor: float = -math.inf
    ) -> float:
        """Give the largest difference that rounding explains.

        Parameters
        ----------
        one, other : float
            The numbers to compare; an infinite one equals itself only.
        around : sequence of float
            All numbers expected at the same place.
        floor : float
            Decimal logarithm of the smallest ratio that the arithmetic can follow.
        """
        return self.relative * largest(one, other) + RESIDUE * largest(*around)

    @property
    def arranged(self) -> bool:
        """Whether a weighted mean of values is a number, and no noise."""
        return True


@dataclass(frozen=True)
class Remainder(Rounding):
    """Compare what is left where larger numbers cancel, such as a defect.

    Parameters
    ----------
    magnitude : float
        Of what cancels.
    """

    magnitude: float = 1.0

    def tolerance(
        self, one: float, other: float, around: Sequence[float], floor: float = -math.inf
    ) -> float:
        """Give some units in the last place of what cancels."""
        return self.relative * largest(one, other) + RESIDUE * self.magnitude


@dataclass(frozen=True)
class Logarithm(Rounding):
    """Compare decimal logarithms.

    The error of a power grows with its exponent, as that of a logarithm does here.

    Parameters
    ----------
    floored : bool
        Whether it is a ratio that plain arithmetic follows down to its floor only.
    reach : float
        Decades below the largest amplitude around it where the rounding of that one begins.
    power : float
        Of the amplitude: two where it is the square of one, ln 10 where logarithms are natural.
    end : float
        Decimal logarithm of the smallest value that is no noise, whatever stands around it.
    """

    floored: bool = False
    reach: float = math.inf
    power: float = 1
    end: float = -math.inf

    def tolerance(
        self, one: float, other: float, around: Sequence[float], floor: float = -math.inf
    ) -> float:
        """Give a difference in decades: any, where both are noise."""
        exact = self.relative * max(1.0, largest(one, other))
        ends = floor if self.floored else -math.inf
        top = max(filter(math.isfinite, around), default=0.0) / self.power
        ends = max(ends, top - self.reach, self.end)
        if math.isinf(ends):
            return exact
        above = max(one, other) / self.power - ends
        share = FLOORS * 10.0 ** -max(above, -1.0)
        return math.inf if share >= 1 else exact - self.power * math.log10(1 - share)

    @property
    def arranged(self) -> bool:
        """Whether a weighted mean of values is a number, and no noise."""
        return math.isinf(self.reach) and math.isinf(self.end)


@dataclass(frozen=True)
class Departure(Rounding):
    """Compare how far a computed curve left another, which is chance once it is far away.

    Steps that are too long amplify rounding, and an integrator that adapts its steps may cut
    them elsewhere.

    Parameters
    ----------
    relative : float
        Largest relative error while it is near.
    lost : float
        Share of the whole from which a departure says only that the curve is lost.
    """

    relative: float = 1e-5
    lost: float = 0.1

    def tolerance(
        self, one: float, other: float, around: Sequence[float], floor: float = -math.inf
    ) -> float:
        """Give a difference: any, where both are lost."""
        if math.isfinite(one) and math.isfinite(other) and min(abs(one), abs(other)) > self.lost:
            return math.inf
        return self.relative * largest(one, other) + RESIDUE

    @property
    def arranged(self) -> bool:
        """Whether a weighted mean of values is a number, and no noise."""
        return False


@dataclass(frozen=True)
class Fitted(Rounding):
    """Compare what was fitted to a ratio, which is noise where plain arithmetic ends.

    Parameters
    ----------
    of : Rounding
        How it compares in split form, which has no floor.
    off : float
        Largest difference where the arithmetic has one.
    """

    of: Rounding = field(default_factory=Rounding)
    off: float = 0.1

    def tolerance(
        self, one: float, other: float, around: Sequence[float], floor: float = -math.inf
    ) -> float:
        """Give the tolerance of the split form, or a wider one where noise was fitted."""
        exact = self.of.tolerance(one, other, around, floor)
        return exact if math.isinf(floor) else exact + self.off


def largest(*numbers: float) -> float:
    """Give the largest magnitude of those numbers that are finite."""
    return max((abs(number) for number in numbers if math.isfinite(number)), default=0.0)


def account(name: str, default: Rounding) -> Rounding:
    """Find the account of rounding of a variable or claim, or take the default."""
    return ROUNDING[name] if name in ROUNDING else default
