"""Which layers of a trajectory are stored with their tensors."""

from __future__ import annotations

from typing import Literal

from lowpass.domains import Index
from lowpass.registry import Refusal
from lowpass.spec.base import place

Record = Literal["all", "geometric"] | list[Index]


def check_recorded(record: str | list[int], depth: int, where: str) -> None:
    """Refuse to store a layer beyond the last one.

    Raises
    ------
    Refusal
        Naming the layer.
    """
    if isinstance(record, list) and max(record, default=0) > depth:
        raise Refusal(
            f"{place(where, 'record')}: layer {max(record)} lies beyond the last layer "
            f"{depth}, so it cannot be stored; record it in a deeper run or leave it out."
        )


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
