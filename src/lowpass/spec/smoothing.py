"""Parameters of the smoothing stage: the bandwidths compared and the band's level."""

from __future__ import annotations

from typing import Annotated, Any

from annotated_types import Ge, Gt, Lt
from pydantic import Field

from lowpass.domains import Positive
from lowpass.registry import Refusal
from lowpass.spec.base import Spec, build, place


class Bandwidths(Spec):
    """Span a geometric grid of bandwidths."""

    low: Positive = Field(description="smallest bandwidth, in the units of the keys")
    high: Positive = Field(description="largest bandwidth, in the units of the keys")
    count: Annotated[int, Ge(3)] = Field(description="number of bandwidths")


class Smoothing(Spec):
    """Say how a bandwidth is chosen and how wide the band is."""

    bandwidths: Bandwidths = Field(description="geometric grid the criterion is computed on")
    level: Annotated[float, Gt(0), Lt(1)] = Field(
        0.95, description="pointwise coverage of the band"
    )


def parse(params: dict[str, Any], where: str) -> Smoothing:
    """Validate the parameters of the smoothing stage.

    Raises
    ------
    Refusal
        When the grid of bandwidths does not ascend.
    """
    spec = build(Smoothing, params, where)
    if spec.bandwidths.low >= spec.bandwidths.high:
        raise Refusal(
            f"{place(where, 'bandwidths')}: low {spec.bandwidths.low:g} is not below high "
            f"{spec.bandwidths.high:g}; a grid needs two different ends, so exchange them."
        )
    return spec
