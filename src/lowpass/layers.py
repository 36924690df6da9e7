r"""How a layer follows from the one before it.

It owns the one step that all dynamics share,

.. math:: X \to s X + h \sum_a M_a(N(X)) W_a,

with attention M of each head a, its projection of values W, a skip connection of
weight s, a step h, and layer norm N before the heads, after the sum, or not at all;
and the two arithmetics a step can be taken in: split, beyond machine precision, or
one floating array.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any, NamedTuple

import numpy as np

from lowpass import splits
from lowpass.layernorm import layer_norm, layer_norm_split
from lowpass.remedies import Filter

# Tokens in one of the two arithmetics.
State = Any
Head = Callable[[State], State]


class Arithmetic(NamedTuple):
    """Hold the operations on tokens that a layer is made of."""

    weighed: Callable[[Sequence[tuple[float, float, State]]], State]
    mapped: Callable[[State, np.ndarray], State]
    normalised: Callable[[State], State]


def weighed_arrays(terms: Sequence[tuple[float, float, np.ndarray]]) -> np.ndarray:
    """Add multiples of arrays, with factors of their own for the token means.

    Parameters
    ----------
    terms : sequence of (float, float, array)
        The factor of what differs between tokens, that of the mean, and tokens
        (..., token, feature).

    Returns
    -------
    (..., token, feature) float
        Of the arrays' precision.
    """
    total = np.zeros_like(terms[0][2])
    for high, mean, x in terms:
        total += x if high == 1 else high * x
        if mean != high:
            total += (mean - high) * x.mean(axis=-2, keepdims=True)
    return total


SPLIT = Arithmetic(splits.weighed, splits.mapped, layer_norm_split)
PLAIN = Arithmetic(weighed_arrays, np.matmul, layer_norm)


def split_along(weights: np.ndarray) -> Arithmetic:
    """Make the split arithmetic whose sums stay split along weights (..., token)."""
    return Arithmetic(lambda terms: splits.weighed(terms, weights), splits.mapped, layer_norm_split)


@dataclass(frozen=True)
class Block:
    """Say how a layer is put together from its heads.

    Attributes
    ----------
    skip : float
        s, the weight of the tokens themselves.
    step : float
        h, the weight of what the heads give.
    norm : str
        Where layer norm stands: ``"none"``, ``"pre"`` or ``"post"``.
    remedy : Filter
        What is made of attention.
    """

    skip: float = 0.0
    step: float = 1.0
    norm: str = "none"
    remedy: Filter = field(default_factory=Filter)


def filtered(arithmetic: Arithmetic, remedy: Filter, head: Head, y: State, first: State) -> State:
    """Apply a filter of attention to tokens.

    Parameters
    ----------
    arithmetic : Arithmetic
    remedy : Filter
    head : callable
        Applies A.
    y, first : tokens
        Of this layer, and of layer 0.
    """
    power, terms = y, []
    for place, (a, b) in enumerate(zip(remedy.high, remedy.mean, strict=True)):
        power = head(power) if place else power
        if a or b:
            terms.append((a, b, power))
    if remedy.source:
        terms.append((remedy.source, remedy.source, first))
    # A filter whose coefficients are all zero leaves nothing.
    terms = terms or [(0.0, 0.0, y)]
    alone = len(terms) == 1 and terms[0][:2] == (1.0, 1.0)
    return terms[0][2] if alone else arithmetic.weighed(terms)


def iterate(
    arithmetic: Arithmetic,
    start: State,
    heads: Callable[[State, int], Sequence[tuple[Head, np.ndarray | None]]],
    block: Block,
) -> Iterator[State]:
    """Apply layer after layer, for ever.

    Parameters
    ----------
    arithmetic : Arithmetic
        ``SPLIT`` or ``PLAIN``.
    start : Split or (..., token, feature) float
    heads : callable
        Gives, for the (normalised) tokens and the number of a layer, what every head
        applies, and its projection of values (..., feature, feature), None for the identity.
    block : Block

    Yields
    ------
    Split or (..., token, feature) float
        The start (layer 0), then one state for each layer, without end.
    """
    x, first = start, None
    if block.remedy.source:
        first = arithmetic.normalised(start) if block.norm == "pre" else start
    # Nothing here holds a layer longer than it is needed.
    del start
    for layer in count(1):
        yield x
        x = following(arithmetic, x, first, lambda y, layer=layer: heads(y, layer), block)


def following(
    arithmetic: Arithmetic,
    x: State,
    first: State | None,
    heads: Callable[[State], Sequence[tuple[Head, np.ndarray | None]]],
    block: Block,
) -> State:
    """Take one step.

    Parameters
    ----------
    arithmetic : Arithmetic
    x : Split or (..., token, feature) float
    first : the same, or None
        What the heads saw at layer 0, where the remedy returns to it.
    heads : callable
        Gives the heads for the tokens they see.
    block : Block
    """
    y = arithmetic.normalised(x) if block.norm == "pre" else x
    terms = [] if block.skip == 0 else [(block.skip, block.skip, x)]
    for head, values in heads(y):
        mixed = filtered(arithmetic, block.remedy, head, y, first)
        mixed = mixed if values is None else arithmetic.mapped(mixed, values)
        terms.append((block.step, block.step, mixed))
    alone = len(terms) == 1 and block.step == 1
    x = terms[0][2] if alone else arithmetic.weighed(terms)
    return arithmetic.normalised(x) if block.norm == "post" else x
