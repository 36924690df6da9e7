"""Build attention matrices and let them act, layer after layer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr

from lowpass import spectra
from lowpass.eigen import slem
from lowpass.frozen import waning_share
from lowpass.integrators import INTEGRATORS
from lowpass.kernels import KERNELS, logits, scaled
from lowpass.layernorm import layer_norm
from lowpass.layers import Block
from lowpass.masks import masked
from lowpass.registry import Refusal
from lowpass.remedies import REMEDIES, Filter
from lowpass.spec.attention import Attention, parse
from lowpass.spec.depth import recorded_layers
from lowpass.spec.inside import combinations
from lowpass.stages.components import labels_of, rows
from lowpass.stages.dynamics import Made, mask_of, states
from lowpass.stages.inside import stack, together
from lowpass.stages.projections import Projections, drawn, weights_of, with_identities
from lowpass.stages.trajectory import Trajectory

# Coefficients of the identity, of attention and of its square.
POWERS = 3
SQUARE = ("replicate", "query", "key")

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
    axes, seed = recipe["params"].get("inside", {}), recipe.get("seed", 0)
    specs = [parse(params, "recipe") for params in combinations(recipe["params"])]
    headers, runs = [], []
    for spec in specs:
        made, block = first_layer(spec, data, seed), block_of(spec)
        headers.append(header(spec, data, made, block))
        recorded = set(headers[-1]["recorded_layer"].values.tolist())
        runs.append(rows(states(spec, data, made, block, seed), recorded))
    return Trajectory(stack("attention", with_identities(headers), axes), together(runs, axes))


def block_of(spec: Attention) -> Block:
    """Say how a layer is put together from its heads."""
    knobs = spec.model_dump(include=set(REMEDIES.facts(spec.remedy)["knobs"]))
    return Block(spec.skip, spec.step, spec.norm, REMEDIES[spec.remedy](spec.strength, **knobs))


def first_layer(spec: Attention, data: xr.Dataset, seed: int) -> Made:
    """Compute attention from the first of what is stated: itself, logits, q and k."""
    projections = drawn(spec, data, seed)
    if "attention" in data:
        made = Made(data["attention"].values[:, None], projections, None)
    elif spec.beta is None:
        raise Refusal("attention.beta: is not given, and the data state no attention; write it.")
    else:
        scores = scores_of(spec, data, projections)
        largest = np.abs(np.where(scores == -np.inf, 0.0, scores)).max(axis=(1, 2, 3))
        made = Made(KERNELS[spec.kernel](scores), projections, largest)
    if spec.value_unit == "one" or projections.w_v is None:
        return made
    modulus = slem(made.attention.mean(axis=1))
    if (modulus == 0).any():
        raise Refusal(
            f"attention.value_unit: |λ₂| of replicate {np.argmin(modulus)} is zero, and "
            "'inverse_slem' divides by it; write 'value_unit: one', or another kernel."
        )
    in_units = projections._replace(w_v=projections.w_v / modulus[:, None, None])
    return made._replace(projections=in_units)


def scores_of(spec: Attention, data: xr.Dataset, projections: Projections) -> np.ndarray:
    """Compute masked logits (replicate, head, query, key) of layer 0."""
    beta, mask = spec.beta or 0.0, mask_of(spec, data)
    given = {"score": spec.score, "mask": mask, "mask_width": spec.mask_width, "beta": beta}
    if "logits" in data:
        stated = scaled(data["logits"].values, beta)
        return masked(stated, mask, mask_width=spec.mask_width)[:, None]
    if "q" in data:
        return logits(data["q"].values, data["k"].values, **given)[:, None]
    x = layer_norm(data["x"].values) if spec.norm == "pre" else data["x"].values
    heads = [projections.compared(head, spec.n_heads) for head in range(spec.n_heads)]
    return np.stack([logits(x @ w_q, x @ w_k, **given) for w_q, w_k in heads], axis=1)


def header(spec: Attention, data: xr.Dataset, made: Made, block: Block) -> xr.Dataset:
    """Describe what is known before the first layer."""
    a = made.attention.mean(axis=1) if spec.n_heads > 1 else made.attention[:, 0]
    return xr.Dataset(
        {
            **weights_of(made.projections),
            **matrix_of(spec, made, a),
            **logits_of(spec, data, made),
            **numbers_of(spec, made, block),
            **filter_of(block.remedy, len(a)),
            **shares_of(spec),
        },
        {
            "layer": np.arange(spec.depth + 1),
            "recorded_layer": recorded_layers(spec.record, spec.depth),
            **labels_of(data),
        },
    )


def numbers_of(spec: Attention, made: Made, block: Block) -> Variables:
    """Label what is one number for each replicate."""
    n_replicates, _, _, n_tokens = made.attention.shape
    split = spec.arithmetic == "split"
    floor = 0.0 if split else spectra.rounding_floor(spec.arithmetic, n_tokens)
    tolerances = INTEGRATORS.facts(spec.integrator)
    numbers = {
        "inverse_temperature": spec.beta,
        "key_penalty": spec.beta if spec.score == "l2" else 0.0,
        "max_logit": made.max_logit,
        "log10_rounding_floor": np.log10(floor) if floor else -np.inf,
        "recomputed": spec.layers == "recomputed",
        "skip_weight": block.skip,
        "step_size": block.step,
        "integrator_rtol": tolerances["rtol"],
        "integrator_atol": tolerances["atol"],
    }
    return {
        name: (("replicate",), np.broadcast_to(np.asarray(value, float), n_replicates))
        for name, value in numbers.items()
        if value is not None
    }


def matrix_of(spec: Attention, made: Made, a: np.ndarray) -> Variables:
    """Label attention and its mode, and several heads beside their mean; or only its |λ₂|."""
    if spec.matrix == "summarised":
        return {"slem": (("replicate",), slem(a))}
    pi = spectra.stationary(a)
    mean: Variables = {"attention": (SQUARE, a), "stationary": (("replicate", "token"), pi)}
    if spec.n_heads == 1:
        return mean
    by_head = (("replicate", "head", "query", "key"), made.attention)
    return {**mean, "attention_by_head": by_head}


def logits_of(spec: Attention, data: xr.Dataset, made: Made) -> Variables:
    """Label logits that data state, as no weights and tokens would make them again."""
    if "logits" not in data or "attention" in data or spec.matrix == "summarised":
        return {}
    return {"logits": (SQUARE, scores_of(spec, data, made.projections)[:, 0])}


def shares_of(spec: Attention) -> Variables:
    """Label the share of attention in every layer, where it is not all of it."""
    if spec.layers != "waning":
        return {}
    layer = np.arange(spec.depth + 1)
    return {"layer_share": (("layer",), np.where(layer, waning_share(layer), 0.0))}


def filter_of(remedy: Filter, n_replicates: int) -> Variables:
    """Label the coefficients of a filter, as many for each."""

    def filled(coefficients: tuple[float, ...]) -> np.ndarray:
        row = np.pad(coefficients, (0, POWERS - len(coefficients)))
        return np.tile(row, (n_replicates, 1))

    dims = ("replicate", "power")
    return {
        "high_coefficient": (dims, filled(remedy.high)),
        "mean_coefficient": (dims, filled(remedy.mean)),
        "source_weight": (("replicate",), np.full(n_replicates, remedy.source)),
    }
