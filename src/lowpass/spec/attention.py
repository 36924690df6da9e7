"""Parameters of the attention stage: one attention matrix, and how it is iterated."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from lowpass.domains import Count, Index, NonNegative
from lowpass.kernels import KERNELS, MASKS, SCORES
from lowpass.layers import STARTS, WEIGHTS
from lowpass.registry import Refusal
from lowpass.spec.base import Spec, build, place


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
    beta: NonNegative = Field(description="inverse temperature")
    depth: Count = Field(description="number of layers")
    record: Literal["all", "geometric"] | list[Index] = Field(
        "geometric", description="layers whose tensors are stored"
    )
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
    if isinstance(spec.record, list) and max(spec.record, default=0) > spec.depth:
        raise Refusal(
            f"{place(where, 'record')}: layer {max(spec.record)} lies beyond the last layer "
            f"{spec.depth}, so it cannot be stored; record it in a deeper run or leave it out."
        )
    return spec


def recorded_layers(record: str | list[int], depth: int) -> list[int]:
    """List the layers whose tensors are stored.

    Parameters
    ----------
    record : str or list of int
        ``"all"``, ``"geometric"`` (0, 1, 2, 3, 4, 6, 8, 12, ... and the last), or the layers.
    depth : int
        The last layer.

    Returns
    -------
    list of int
        In ascending order, layer 0 and none beyond ``depth``.
    """
    if isinstance(record, list):
        return sorted({0, *record})
    if record == "all":
        return list(range(depth + 1))
    powers = [2**k for k in range(depth.bit_length())]
    halves = [3 * 2**k for k in range(depth.bit_length())]
    return sorted({layer for layer in [0, *powers, *halves, depth] if layer <= depth})
