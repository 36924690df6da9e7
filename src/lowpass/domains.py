"""Number domains that annotate parameters.

It owns which numbers a parameter may be: the annotation of a function's
parameter is read by the configuration's validator, so a range is stated once,
beside the mathematics that needs it.
"""

from __future__ import annotations

from typing import Annotated

from annotated_types import Ge, Gt

Positive = Annotated[float, Gt(0)]
NonNegative = Annotated[float, Ge(0)]
Count = Annotated[int, Ge(1)]
Index = Annotated[int, Ge(0)]
