"""Domains that annotate parameters.

It owns which values a parameter may have: the annotation of a function's
parameter is read by the configuration's validator, so a range is stated once,
beside the mathematics that needs it.
"""

from __future__ import annotations

from typing import Annotated

from annotated_types import Ge, Gt, Lt
from pydantic import BaseModel, ConfigDict, Field

Positive = Annotated[float, Gt(0)]
NonNegative = Annotated[float, Ge(0)]
Share = Annotated[float, Ge(0), Lt(1)]
# Float64 resolves no finer one, and a coarser one means nothing.
Tolerance = Annotated[float, Ge(1e-13), Lt(1)]
Count = Annotated[int, Ge(1)]
Index = Annotated[int, Ge(0)]


class Tensor(BaseModel):
    """Say which array of a file is meant, what its axes are, and which part of it is taken."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)

    dims: list[str] = Field(min_length=1, description="names of all its axes, in order")
    name: str | None = Field(
        None, description="what the file calls it; left out where the file holds one array"
    )
    at: dict[str, Index] | None = Field(
        None, description="axes of which one index is taken, counted from 0"
    )
