"""The projections of queries, keys, values and outputs, drawn for every replicate."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import xarray as xr

from lowpass.registry import Refusal
from lowpass.spec.attention import Attention
from lowpass.streams import stream
from lowpass.weights import VALUES, WEIGHTS

Variables = dict[str, tuple[tuple[str, ...], np.ndarray]]


class Projections(NamedTuple):
    """Hold one layer's projections (replicate, feature, projected).

    Those of queries and keys are missing where the data state what they would give; those of
    values and outputs where they are the identity.
    """

    w_q: np.ndarray | None
    w_k: np.ndarray | None
    w_v: np.ndarray | None
    w_o: np.ndarray | None

    def of(self, replicates: slice) -> Projections:
        """Give those of some replicates."""
        return Projections(*(None if each is None else each[replicates] for each in self))

    def compared(self, head: int, n_heads: int) -> tuple[np.ndarray, np.ndarray]:
        """Give the shares of the projections of queries and keys that are a head's."""
        assert self.w_q is not None
        assert self.w_k is not None
        part = share(self.w_q.shape[-1], head, n_heads)
        return self.w_q[..., part], self.w_k[..., part]

    def values(self, head: int, n_heads: int, d_model: int) -> np.ndarray | None:
        """Give a head's map of values (replicate, feature, feature); None for the identity.

        What a head gives goes through its share of the projection of outputs.
        """
        if n_heads == 1 and self.w_v is None and self.w_o is None:
            return None
        part, same = share(d_model, head, n_heads), np.eye(d_model)
        w_v = same if self.w_v is None else self.w_v
        w_o = same if self.w_o is None else self.w_o
        return w_v[..., part] @ w_o[..., part, :]


def share(width: int, head: int, n_heads: int) -> slice:
    """Give the projected features that belong to a head."""
    return slice(head * width // n_heads, (head + 1) * width // n_heads)


def drawn(spec: Attention, data: xr.Dataset, seed: int, layer: int = 1) -> Projections:
    """Draw the projections of a layer, each kind from a stream of its own.

    Raises
    ------
    Refusal
        When the heads do not divide the features.
    """
    d_model = data.sizes["feature"]
    if d_model % spec.n_heads:
        raise Refusal(
            f"attention.n_heads: {spec.n_heads} heads cannot share {d_model} features evenly; "
            f"write a divisor of {d_model}."
        )
    w_q = w_k = w_v = w_o = None
    if not {"q", "logits", "attention"} & set(data):
        w_q, w_k = comparisons(spec.weights, data, seed, layer)
    if spec.values != "identity" or spec.value_scale != 1 or spec.value_unit != "one":
        w_v = spec.value_scale * maps("values", spec.values, data, seed, layer)
    if spec.output != "identity":
        w_o = maps("output", spec.output, data, seed, layer)
    return Projections(w_q, w_k, w_v, w_o)


def comparisons(
    weights: str, data: xr.Dataset, seed: int, layer: int = 1
) -> tuple[np.ndarray, np.ndarray]:
    """Draw the projections (replicate, feature, projected) of queries and of keys."""
    draw, d_model = WEIGHTS[weights], data.sizes["feature"]
    streams = streams_of("weights", weights, data, seed, layer)
    w_q, w_k = (np.stack(each) for each in zip(*(draw(s, d_model) for s in streams), strict=True))
    return w_q, w_k


def maps(what: str, values: str, data: xr.Dataset, seed: int, layer: int = 1) -> np.ndarray:
    """Draw the projections (replicate, feature, projected) of values, or those of outputs."""
    draw, d_model = VALUES[values], data.sizes["feature"]
    return np.stack([draw(s, d_model) for s in streams_of(what, values, data, seed, layer)])


def streams_of(
    what: str, name: str, data: xr.Dataset, seed: int, layer: int
) -> Iterator[np.random.Generator]:
    """Open the stream of every replicate; layers that share projections have the first's."""
    shape = {"d_model": data.sizes["feature"], **({"layer": layer} if layer > 1 else {})}
    for replicate in data["replicate"].values:
        yield stream(seed, what, {what: name, **shape}, int(replicate))


def with_identities(headers: list[xr.Dataset]) -> list[xr.Dataset]:
    """Write projections of values that only some runs have out as the identity in the others."""
    drawn_somewhere = {name for each in headers for name in ("w_v", "w_o") if name in each}
    return [each.assign(identities(each, drawn_somewhere - set(each))) for each in headers]


def identities(header: xr.Dataset, names: set[str]) -> Variables:
    """Give the identity under each name, for every replicate."""
    width = header.sizes["feature"]
    same = np.tile(np.eye(width), (header.sizes["replicate"], 1, 1))
    return {name: (("replicate", "feature", "projected"), same) for name in sorted(names)}


def weights_of(projections: Projections) -> Variables:
    """Label the projections that were drawn."""
    dims = ("replicate", "feature", "projected")
    every = {
        "w_q": projections.w_q,
        "w_k": projections.w_k,
        "w_v": projections.w_v,
        "w_o": projections.w_o,
    }
    return {name: (dims, value) for name, value in every.items() if value is not None}
