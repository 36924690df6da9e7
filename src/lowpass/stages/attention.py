"""Build attention matrices and let them act, layer after layer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import xarray as xr

from lowpass import layers, spectra
from lowpass.kernels import KERNELS, attend, scaled
from lowpass.masks import masked
from lowpass.registry import Refusal
from lowpass.spec.attention import Attention, parse
from lowpass.spec.depth import recorded_layers
from lowpass.splits import Split
from lowpass.stages.components import State, labels_of, of_plain, of_split, rows
from lowpass.stages.inside import combinations, stack, together
from lowpass.stages.trajectory import Trajectory
from lowpass.starts import STARTS
from lowpass.streams import stream
from lowpass.weights import WEIGHTS

Variables = dict[str, tuple[tuple[str, ...], np.ndarray]]


def attention(recipe: Mapping[str, Any], data: xr.Dataset) -> Trajectory:
    """Iterate attention on a block of replicates.

    Parameters
    ----------
    recipe : mapping
        ``params`` (those of the specification; ``inside`` maps swept ones to values) and, where
        weights are drawn, ``seed``.
    data : Dataset
        Tokens ``x`` (replicate, token, feature); what a file stated of ``q`` and ``k``
        (replicate, token, projected), ``logits`` or ``attention`` (replicate, query, key)
        stands in for what would be drawn or computed.

    Returns
    -------
    Trajectory
        Weights, attention and stationary distribution at once; components layer by layer.
    """
    axes = recipe["params"].get("inside", {})
    specs = [parse(params, "recipe") for params in combinations(recipe["params"])]
    headers = [header(spec, data, recipe.get("seed", 0)) for spec in specs]
    runs = [
        rows(states(spec, data["x"].values, fixed), set(fixed["recorded_layer"].values.tolist()))
        for spec, fixed in zip(specs, headers, strict=True)
    ]
    return Trajectory(stack("attention", headers, axes), together(runs, axes))


def header(spec: Attention, data: xr.Dataset, seed: int) -> xr.Dataset:
    """Build the attention matrix of every replicate, and what is known before the first layer."""
    variables = mixing(spec, data, seed)
    _, a = variables["attention"]
    n_replicates, n_tokens = a.shape[:2]
    beta = {} if spec.beta is None else {"inverse_temperature": np.full(n_replicates, spec.beta)}
    floor = (
        -np.inf
        if spec.arithmetic == "split"
        else np.log10(spectra.rounding_floor(spec.arithmetic, n_tokens))
    )
    return xr.Dataset(
        {
            **variables,
            "stationary": (("replicate", "token"), spectra.stationary(a)),
            "log10_rounding_floor": ("replicate", np.full(n_replicates, floor)),
            **{name: ("replicate", values) for name, values in beta.items()},
        },
        {
            "layer": np.arange(spec.depth + 1),
            "recorded_layer": recorded_layers(spec.record, spec.depth),
            **labels_of(data),
        },
    )


def mixing(spec: Attention, data: xr.Dataset, seed: int) -> Variables:
    """Compute the attention matrix from the first of what is stated: itself, logits, q and k."""
    square = ("replicate", "query", "key")
    if "attention" in data:
        return {"attention": (square, data["attention"].values)}
    if spec.beta is None:
        raise Refusal("attention.beta: is not given, and the data state no attention; write it.")
    if "logits" in data:
        scores = masked(scaled(data["logits"].values, spec.beta), spec.mask)
        return {"attention": (square, KERNELS[spec.kernel](scores))}
    weights = {} if "q" in data else drawn(spec, data, seed)
    x = data["x"].values
    q, k = (data[name].values if name in data else x @ weights[f"w_{name}"][1] for name in "qk")
    a = attend(q, k, score=spec.score, kernel=spec.kernel, mask=spec.mask, beta=spec.beta)
    return {**weights, "attention": (square, a)}


def drawn(spec: Attention, data: xr.Dataset, seed: int) -> Variables:
    """Draw the projections of every replicate, each from its own stream."""
    d_model = data.sizes["feature"]
    shape = {"weights": spec.weights, "d_model": d_model}
    pairs = [
        WEIGHTS[spec.weights](stream(seed, "weights", shape, int(replicate)), d_model)
        for replicate in data["replicate"].values
    ]
    w_q, w_k = (np.stack(each) for each in zip(*pairs, strict=True))
    dims = ("replicate", "feature", "projected")
    return {"w_q": (dims, w_q), "w_k": (dims, w_k)}


def states(spec: Attention, x: np.ndarray, fixed: xr.Dataset) -> Iterator[State]:
    """Yield the components of layer 0, 1, ..., depth."""
    a, pi = fixed["attention"].values, fixed["stationary"].values
    # The start is handed on without a name here, so that it goes when its layer has gone.
    if spec.arithmetic == "split":
        run = layers.iterate_split(a, Split.of(*STARTS[spec.start](x, a, pi)), pi)
        for _, split in zip(range(spec.depth + 1), run, strict=False):
            yield of_split(split, pi)
        return
    run = layers.iterate_plain(a, whole(*STARTS[spec.start](x, a, pi)), spec.arithmetic)
    for _, plain in zip(range(spec.depth + 1), run, strict=False):
        yield of_plain(plain, pi)


def whole(stationary: np.ndarray, transient: np.ndarray) -> np.ndarray:
    """Put the tokens together again: (..., token, feature)."""
    return stationary[..., None, :] + transient
