"""Let heat flow between tokens, layer after layer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import xarray as xr

from lowpass.diffusion import heat_kernel
from lowpass.flows import iterate_heat
from lowpass.graphs import GRAPHS
from lowpass.laplacians import LAPLACIANS, stationary_of
from lowpass.modes import eigenvalues
from lowpass.spec.depth import recorded_layers
from lowpass.spec.diffusion import Diffusion, parse
from lowpass.splits import Split
from lowpass.stages.components import State, labels_of, of_split, rows
from lowpass.stages.inside import combinations, stack, together
from lowpass.stages.projections import comparisons
from lowpass.stages.trajectory import Trajectory
from lowpass.starts import tokens


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
        Laplacian and, by the method 'eigh', its eigenvalues and the heat kernel of one layer at
        once; components layer by layer, in split form.
    """
    axes, seed = recipe["params"].get("inside", {}), recipe.get("seed", 0)
    specs = [parse(params, "recipe") for params in combinations(recipe["params"])]
    headers = [header(spec, data, seed) for spec in specs]
    runs = [
        rows(states(spec, data["x"].values, fixed), set(fixed["recorded_layer"].values.tolist()))
        for spec, fixed in zip(specs, headers, strict=True)
    ]
    return Trajectory(stack("diffusion", headers, axes), together(runs, axes))


def header(spec: Diffusion, data: xr.Dataset, seed: int) -> xr.Dataset:
    """Build the Laplacian of every replicate, and what is known before the first layer."""
    x = data["x"].values
    # They are those that attention draws, so that the two can be compared.
    needs = GRAPHS.facts(spec.graph)["needs_weights"]
    weights = comparisons(spec.weights, data, seed) if needs else None
    affinity = GRAPHS[spec.graph](x, places(data), spec.beta or 0.0, weights)
    laplacian = LAPLACIANS[spec.laplacian](affinity)
    pi = stationary_of(affinity, spec.laplacian)
    square = ("replicate", "query", "key")
    variables = {
        "laplacian_matrix": (square, laplacian),
        "stationary": (("replicate", "token"), pi),
        "log10_rounding_floor": ("replicate", np.full(len(x), -np.inf)),
        "layer_time": ("replicate", np.full(len(x), spec.diffusion_time)),
    }
    if weights:
        dims = ("replicate", "feature", "projected")
        variables |= {name: (dims, w) for name, w in zip(("w_q", "w_k"), weights, strict=True)}
    if spec.method == "eigh":
        kernel = heat_kernel(laplacian, spec.diffusion_time, pi)
        variables["heat_kernel"] = (square, kernel)
        variables["laplacian_eigenvalue"] = (("replicate", "mode"), eigenvalues(laplacian, pi))
    return xr.Dataset(
        variables,
        {
            "layer": np.arange(spec.depth + 1),
            "recorded_layer": recorded_layers(spec.record, spec.depth),
            **labels_of(data),
        },
    )


def places(data: xr.Dataset) -> np.ndarray | None:
    """Count the rows and columns of tokens in steps of one (token, axis); None without any."""
    if not {"row", "column"} <= set(data.coords):
        return None
    counted = [np.unique(data[axis].values, return_inverse=True)[1] for axis in ("row", "column")]
    return np.stack(counted, axis=-1)


def states(spec: Diffusion, x: np.ndarray, fixed: xr.Dataset) -> Iterator[State]:
    """Yield the components of layer 0, 1, ..., depth."""
    laplacian, pi = fixed["laplacian_matrix"].values, fixed["stationary"].values
    first = Split.of(*tokens(x, laplacian, pi))
    flow = iterate_heat(laplacian, first, pi, time=spec.diffusion_time, method=spec.method)
    for _, split in zip(range(spec.depth + 1), flow, strict=False):
        yield of_split(split, pi)
