"""The projections of queries, keys, values and outputs, drawn for every replicate."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import xarray as xr

from lowpass.registry import Refusal
from lowpass.spec.attention import Attention
from lowpass.streams import stream
from lowpass.weights import VALUES, WEIGHTS


class Projections(NamedTuple):
    """Hold one layer's projections (replicate, feature, projected).

    Those of queries and keys are missing where the data state what they would give; those of
    values and outputs where they are the identity.
    """

    w_q: np.ndarray | None
    w_k: np.ndarray | None
    w_v: np.ndarray | None
    w_o: np.ndarray | None

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
    replicates = [int(replicate) for replicate in data["replicate"].values]
    # Layers that share their projections have those of the first.
    shape = {"d_model": d_model, **({"layer": layer} if layer > 1 else {})}
    w_q = w_k = w_v = w_o = None
    if not {"q", "logits", "attention"} & set(data):
        key = {"weights": spec.weights, **shape}
        draw = WEIGHTS[spec.weights]
        pairs = [draw(stream(seed, "weights", key, r), d_model) for r in replicates]
        w_q, w_k = (np.stack(each) for each in zip(*pairs, strict=True))
    if spec.values != "identity" or spec.value_scale != 1 or spec.value_unit != "one":
        key = {"values": spec.values, **shape}
        each = [VALUES[spec.values](stream(seed, "values", key, r), d_model) for r in replicates]
        w_v = spec.value_scale * np.stack(each)
    if spec.output != "identity":
        key = {"output": spec.output, **shape}
        each = [VALUES[spec.output](stream(seed, "output", key, r), d_model) for r in replicates]
        w_o = np.stack(each)
    return Projections(w_q, w_k, w_v, w_o)
