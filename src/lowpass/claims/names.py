"""The judges of claims, and what a judge may say.

A judge maps the stored experiments to up to three numbers; it never says a
verdict, which is arithmetic.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from lowpass.registry import Registry

# Every recipe of a judgement names all ids, to list what was not examined; so a judge needs a name
# of its own, or adding one would change the code behind judgements that never ask it.
CLAIMS = Registry("judge")


@dataclass(frozen=True)
class Number:
    """Hold a Monte-Carlo number: the median over replicates, and an interval for it."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Measured:
    """Hold what a judge measured.

    Parameters
    ----------
    as_written : float
        Distance of the statement, as the notes make it, from what was computed.
    under_condition : float, optional
        The same under the condition of the register.
    trend : float, optional
        Distance of a measured log-slope from its predicted exponent.
    witness : str
        Which stored value decides: experiment, variable and place.
    repaired_distance : float, optional
        Distance of the repaired statement, printed on a line of its own.
    numbers : mapping of str to Number
        What the paper quotes.
    """

    as_written: float
    under_condition: float | None = None
    trend: float | None = None
    witness: str = ""
    repaired_distance: float | None = None
    numbers: dict[str, Number] = field(default_factory=dict)
