"""Let heat flow between tokens, layer after layer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import xarray as xr

from lowpass.diffusion import heat_kernel
from lowpass.flows import iterate_heat, refuse_low_order
from lowpass.graphs import GRAPHS
from lowpass.heat_equation import HeatEquation, is_stable, log10_exact_gain, log10_step_gain
from lowpass.laplacians import LAPLACIANS, stationary_of
from lowpass.modes import with_constant
from lowpass.spec.depth import recorded_layers
from lowpass.spec.diffusion import Diffusion, parse
from lowpass.spec.inside import combinations
from lowpass.splits import Split
from lowpass.stages.components import State, labels_of, of_split, rows
from lowpass.stages.inside import stack, together
from lowpass.stages.projections import (
    Projections,
    comparisons,
    maps,
    weights_of,
    with_identities,
)
from lowpass.stages.trajectory import Trajectory
from lowpass.starts import tokens

Variables = dict[str, tuple[tuple[str, ...], np.ndarray]]


def diffusion(recipe: Mapping[str, Any], data: xr.Dataset) -> Trajectory:
    """Let heat flow over a block of replicates.

    Parameters
    ----------
    recipe : mapping
        ``params`` (those of the specification; ``inside`` maps swept ones to values) and, where
        weights are drawn, ``seed``.
    data : Dataset
        Tokens ``x`` (replicate, token, feature); for the graph 'grid' with their ``row`` and
        ``column`` (token).

    Returns
    -------
    Trajectory
        Laplacian, its eigenvalues, whether any mode grows and, by the method 'eigh', the heat
        kernel of one layer at once; components layer by layer, in split form.
    """
    axes, seed = recipe["params"].get("inside", {}), recipe.get("seed", 0)
    specs = [parse(params, "recipe") for params in combinations(recipe["params"])]
    headers, runs = [], []
    for spec in specs:
        equation, first = equation_of(spec, data, seed)
        headers.append(first)
        recorded = set(first["recorded_layer"].values.tolist())
        runs.append(rows(states(spec, data["x"].values, equation), recorded))
    return Trajectory(stack("diffusion", with_identities(headers), axes), together(runs, axes))


def equation_of(spec: Diffusion, data: xr.Dataset, seed: int) -> tuple[HeatEquation, xr.Dataset]:
    """Build the equation of every replicate, and what is known before the first layer."""
    # They are those that attention draws, so that the two can be compared.
    needs = GRAPHS.facts(spec.graph)["needs_weights"]
    weights = comparisons(spec.weights, data, seed) if needs else (None, None)
    w_v = spec.value_scale * maps("values", spec.values, data, seed) if spec.maps_values else None
    x, beta = data["x"].values, spec.beta or 0.0
    affinity = GRAPHS[spec.graph](x, places(data), beta, weights if needs else None)
    laplacian = LAPLACIANS[spec.laplacian](affinity)
    equation = HeatEquation(laplacian, stationary_of(affinity, spec.laplacian), w_v)
    header = xr.Dataset(
        {
            **weights_of(Projections(*weights, w_v, None)),
            **matrices_of(spec, equation),
            **numbers_of(spec, equation),
        },
        {
            "layer": np.arange(spec.depth + 1),
            "recorded_layer": recorded_layers(spec.record, spec.depth),
            **labels_of(data),
        },
    )
    return equation, header


def matrices_of(spec: Diffusion, equation: HeatEquation) -> Variables:
    """Label the Laplacian with what it keeps, and the heat kernel where modes make it."""
    laplacian, pi = equation.laplacian, equation.stationary
    square = ("replicate", "query", "key")
    made: Variables = {
        "laplacian_matrix": (square, laplacian),
        "stationary": (("replicate", "token"), pi),
    }
    if spec.method == "eigh" and equation.values is None:
        made["heat_kernel"] = (square, heat_kernel(laplacian, spec.diffusion_time, pi))
    if spec.method != "chebyshev":
        value = with_constant(equation.modes.eigenvalue)
        made["laplacian_eigenvalue"] = (("replicate", "mode"), value)
    return made


def numbers_of(spec: Diffusion, equation: HeatEquation) -> Variables:
    """Label what is one number for each replicate; sums of polynomials never see the modes."""
    time, count = spec.diffusion_time, len(equation.laplacian)
    numbers = {
        "log10_rounding_floor": np.full(count, -np.inf),
        "layer_time": np.full(count, time),
    }
    if spec.method == "taylor":
        numbers["log10_truncation"] = refuse_low_order(equation, time, spec.taylor_order)
    if spec.method != "chebyshev":
        gain = gain_of(spec, equation)
        numbers |= {"log10_mode_gain": gain, "stable": is_stable(gain).astype(np.int8)}
    return {name: (("replicate",), value) for name, value in numbers.items()}


def gain_of(spec: Diffusion, equation: HeatEquation) -> np.ndarray:
    """Give log10 of the largest factor by which a layer changes a mode (replicate)."""
    order = {"euler": 1, "taylor": spec.taylor_order}.get(spec.method)
    if order is None:
        return log10_exact_gain(equation, spec.diffusion_time)
    return log10_step_gain(equation, spec.diffusion_time, order)


def places(data: xr.Dataset) -> np.ndarray | None:
    """Count the rows and columns of tokens in steps of one (token, axis); None without any."""
    if not {"row", "column"} <= set(data.coords):
        return None
    counted = [np.unique(data[axis].values, return_inverse=True)[1] for axis in ("row", "column")]
    return np.stack(counted, axis=-1)


def states(spec: Diffusion, x: np.ndarray, equation: HeatEquation) -> Iterator[State]:
    """Yield the components of layer 0, 1, ..., depth."""
    pi = equation.stationary
    first = Split.of(*tokens(x, equation.laplacian, pi))
    flow = iterate_heat(equation, first, time=spec.diffusion_time, method=spec.method, **spec.knobs)
    for _, split in zip(range(spec.depth + 1), flow, strict=False):
        yield of_split(split, pi)
