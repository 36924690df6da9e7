"""Parameters of the attention stage: one attention matrix, and how it is iterated."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from lowpass.domains import Count, NonNegative
from lowpass.kernels import KERNELS, SCORES
from lowpass.masks import MASKS
from lowpass.spec.base import Spec, build
from lowpass.spec.depth import Record, check_recorded
from lowpass.starts import STARTS
from lowpass.weights import WEIGHTS


def known_kernel(name: str) -> str:
    """Refuse a name that no attention kernel has."""
    KERNELS[name]
    return name


def known_score(name: str) -> str:
    """Refuse a name that no score has."""
    SCORES[name]
    return name


def known_mask(name: str) -> str:
    """Refuse a name that no mask has."""
    MASKS[name]
    return name


def known_weights(name: str) -> str:
    """Refuse a name that no weight distribution has."""
    WEIGHTS[name]
    return name


def known_start(name: str) -> str:
    """Refuse a name that no start has."""
    STARTS[name]
    return name


class Attention(Spec):
    """Say which attention matrix is built and how it acts, layer after layer."""

    kernel: Annotated[str, AfterValidator(known_kernel)] = Field(
        "softmax", description="how scores become a mixing matrix"
    )
    score: Annotated[str, AfterValidator(known_score)] = Field(
        "dot", description="how a query is compared with a key"
    )
    weights: Annotated[str, AfterValidator(known_weights)] = Field(
        "untied", description="how the query and key projections are drawn"
    )
    mask: Annotated[str, AfterValidator(known_mask)] = Field(
        "none", description="which keys a query may see"
    )
    start: Annotated[str, AfterValidator(known_start)] = Field(
        "tokens", description="what the iteration starts from"
    )
    layers: Literal["frozen"] = Field("frozen", description="one matrix for all layers")
    beta: NonNegative | None = Field(
        None,
        description="inverse temperature, dimensionless; left out where a file states attention",
    )
    depth: Count = Field(description="number of layers")
    record: Record = Field("geometric", description="layers whose tensors are stored")
    arithmetic: Literal["split", "float64", "float32"] = Field(
        "split", description="how a layer is computed"
    )


def parse(params: dict[str, Any], where: str) -> Attention:
    """Validate the parameters of the attention stage.

    Raises
    ------
    Refusal
        When a layer to record lies beyond the last layer.
    """
    spec = build(Attention, params, where)
    check_recorded(spec.record, spec.depth, where)
    return spec
