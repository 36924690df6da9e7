"""Values between minus one and one.

It owns the affine map that carries the values of every output there and back, so
that a constant comes back as it was and no average leaves the range of its values.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Hull:
    """Hold the range of values, output by output.

    Parameters
    ----------
    low, high : (output,) float
        The least and the largest value of each.
    """

    low: np.ndarray
    high: np.ndarray

    @classmethod
    def of(cls, value: np.ndarray) -> Hull:
        """Take the range of values, (key, output) float with at least one key."""
        return cls(value.min(axis=0), value.max(axis=0))

    @property
    def middle(self) -> np.ndarray:
        """The middle of each range, in the units of the values; of a constant, itself."""
        return np.clip(self.low / 2 + self.high / 2, self.low, self.high)

    @property
    def exponent(self) -> np.ndarray:
        """How many times two must halve a distance from the middle, (output,) int."""
        return np.frexp(np.maximum(self.high - self.middle, self.middle - self.low))[1]

    def inward(self, value: np.ndarray) -> np.ndarray:
        """Carry values, (key, output) float, to [-1, 1]; a constant becomes zero."""
        return np.ldexp(value - self.middle, -self.exponent)

    def outward(self, unit: np.ndarray) -> np.ndarray:
        """Carry fits back, (query, output) float."""
        return np.ldexp(unit, self.exponent) + self.middle

    def clipped(self, fit: np.ndarray) -> np.ndarray:
        """Take from averages, (query, output) float, what rounding put out of the range."""
        return np.clip(fit, self.low, self.high)
