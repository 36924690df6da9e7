"""Domains that annotate parameters.

It owns which values a parameter may have: the annotation of a function's
parameter is read by the configuration's validator, so a range is stated once,
beside the mathematics that needs it.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np
from annotated_types import Ge, Gt, Lt
from pydantic import BaseModel, ConfigDict, Field, model_validator

from lowpass.registry import Refusal

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


class Bandwidths(BaseModel):
    """Span a geometric grid of bandwidths."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)

    low: Positive = Field(description="smallest bandwidth, in the units of the keys")
    high: Positive = Field(description="largest bandwidth, in the units of the keys")
    count: Annotated[int, Ge(3)] = Field(description="number of bandwidths")

    @model_validator(mode="after")
    def ascend(self) -> Bandwidths:
        """Refuse a grid whose ends do not ascend."""
        if self.low >= self.high:
            raise Refusal(
                f"low {self.low:g} is not below high {self.high:g}; a grid needs two different "
                f"ends, so exchange them."
            )
        return self

    def grid(self) -> np.ndarray:
        """Lay the bandwidths out, in equal ratios."""
        return np.geomspace(self.low, self.high, self.count)
