"""Build attention matrices and let them act, layer after layer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from lowpass import layers, spectra
from lowpass.kernels import attend
from lowpass.spec.attention import Attention, parse, recorded_layers
from lowpass.stages.inside import combinations, stack, stack_arrays
from lowpass.stages.trajectory import Layer, Trajectory
from lowpass.streams import stream


def attention(recipe: Mapping[str, Any], data: xr.Dataset) -> Trajectory:
    """Iterate attention on a block of replicates.

    Parameters
    ----------
    recipe : mapping
        ``params`` (those of the specification; ``inside`` maps swept ones to values) and ``seed``.
    data : Dataset
        Tokens ``x`` (replicate, token, feature).

    Returns
    -------
    Trajectory
        Weights, attention and stationary distribution at once; components layer by layer.
    """
    axes = recipe["params"].get("inside", {})
    specs = [parse(params, "recipe") for params in combinations(recipe["params"])]
    headers = [header(spec, data, recipe["seed"]) for spec in specs]
    runs = [layers_of(spec, data, fixed) for spec, fixed in zip(specs, headers, strict=True)]
    return Trajectory(stack("attention", headers, axes), together(runs, axes))


def header(spec: Attention, data: xr.Dataset, seed: int) -> xr.Dataset:
    """Draw the weights and build the attention matrix of every replicate."""
    x = data["x"].values
    shape = {"weights": spec.weights, "d_model": x.shape[-1]}
    drawn = [
        layers.WEIGHTS[spec.weights](stream(seed, "weights", shape, int(replicate)), x.shape[-1])
        for replicate in data["replicate"].values
    ]
    w_q, w_k = (np.stack(each) for each in zip(*drawn, strict=True))
    a = attend(
        x @ w_q, x @ w_k, score=spec.score, kernel=spec.kernel, mask=spec.mask, beta=spec.beta
    )
    floor = (
        -np.inf
        if spec.arithmetic == "split"
        else np.log10(spectra.rounding_floor(spec.arithmetic, x.shape[-2]))
    )
    return xr.Dataset(
        {
            "w_q": (("replicate", "feature", "projected"), w_q),
            "w_k": (("replicate", "feature", "projected"), w_k),
            "attention": (("replicate", "query", "key"), a),
            "stationary": (("replicate", "token"), spectra.stationary(a)),
            "log10_rounding_floor": ("replicate", np.full(len(x), floor)),
        },
        {
            "layer": np.arange(spec.depth + 1),
            "recorded_layer": recorded_layers(spec.record, spec.depth),
            **{name: data[name] for name in ("replicate", "token", "feature")},
        },
    )


class State(NamedTuple):
    """Hold a layer's components, each with its binary exponent."""

    dc: tuple[np.ndarray, np.ndarray]
    hc: tuple[np.ndarray, np.ndarray]
    stationary: np.ndarray
    transient: np.ndarray


def layers_of(spec: Attention, data: xr.Dataset, fixed: xr.Dataset) -> Iterator[Layer]:
    """Yield norms at every layer, and tensors at the recorded ones."""
    recorded = set(fixed["recorded_layer"].values.tolist())
    for layer, state in enumerate(states(spec, data["x"].values, fixed)):
        dc, dc_exponent = state.dc
        hc, hc_exponent = state.hc
        n_tokens = hc.shape[-2]
        row: dict[str, tuple[tuple[str, ...], np.ndarray]] = {
            "log10_dc_norm": (("replicate",), norm_of_mean(dc, dc_exponent, n_tokens)),
            "log10_hc_norm": (("replicate",), spectra.log10_norm(hc, hc_exponent)),
            "log10_stationary_norm": (("replicate",), norm_of_mean(state.stationary, 0, n_tokens)),
            "log10_transient_norm": (
                ("replicate",),
                spectra.log10_norm(state.transient, hc_exponent),
            ),
        }
        if layer in recorded:
            row["dc"] = (("replicate", "feature"), dc)
            row["dc_exponent"] = (("replicate",), dc_exponent)
            row["hc"] = (("replicate", "token", "feature"), hc)
            row["hc_exponent"] = (("replicate",), hc_exponent)
        yield row


def norm_of_mean(mean: np.ndarray, exponent: np.ndarray | int, n_tokens: int) -> np.ndarray:
    """Take log10 of the Frobenius norm of a row (..., feature) repeated for every token."""
    return spectra.log10_norm(mean[..., None, :], exponent) + 0.5 * np.log10(n_tokens)


def states(spec: Attention, x: np.ndarray, fixed: xr.Dataset) -> Iterator[State]:
    """Yield the components of layer 0, 1, ..., depth."""
    a, pi = fixed["attention"].values, fixed["stationary"].values
    stationary, transient = layers.STARTS[spec.start](x, a, pi)
    count = range(spec.depth + 1)
    if spec.arithmetic == "split":
        first = layers.Split.of(stationary, transient)
        for _, split in zip(count, layers.iterate_split(a, first, pi), strict=False):
            mean = layers.dc_scaled(split, pi)
            yield State(mean, layers.hc(split), split.stationary, split.transient)
        return
    whole = stationary[..., None, :] + transient
    for _, plain in zip(count, layers.iterate_plain(a, whole, spec.arithmetic), strict=False):
        array = plain.astype(float)
        mean = array.mean(axis=-2)
        kept = (pi[..., None, :] @ array)[..., 0, :]
        one = np.zeros(len(array), dtype=np.int64)
        high = array - mean[..., None, :]
        yield State((mean, one), (high, one), kept, array - kept[..., None, :])


def together(runs: list[Iterator[Layer]], axes: Mapping[str, Any]) -> Iterator[Layer]:
    """Advance the runs of a job in step, so that one layer of each is held at a time."""
    for rows in zip(*runs, strict=True):
        yield {
            name: ((*axes, *dims), stack_arrays([row[name][1] for row in rows], axes))
            for name, (dims, _) in rows[0].items()
        }
