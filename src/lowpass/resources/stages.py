"""What the stages from data to spectra hold and do, counted array by array."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lowpass.graphs import GRAPHS
from lowpass.labels import VARIABLES
from lowpass.resources.measures import (
    SEARCHED,
    WORKSPACE,
    arrays_of,
    operations_of,
    searched,
    states_of,
)
from lowpass.resources.sizes import Size
from lowpass.resources.work import Work
from lowpass.spec.depth import recorded_layers
from lowpass.spec.inside import combinations, swept_along

# Share of a multiply-add within a product, in operations on an entry of an array.
PRODUCT = 0.2
# Operations on an entry of a matrix: of its spectrum, for each of n modes; of a search for its
# second mode; of making it once; of Sinkhorn's scaling, by which it is made again and again.
SPECTRUM, SEARCH, MAKING, SCALING = 4.0, 300.0, 50.0, 2000.0
# What the calls of numpy take, as many operations: of one head, and of what a layer records.
CALL, LAYER = 5e5, 2e6
# Calls of the field in a layer that is solved and not stepped.
SOLVED = 300
# Products of a method for a layer of heat, where it is more than one.
STEPS = {"rk45": SOLVED, "dop853": SOLVED, "chebyshev": 100, "taylor": 10}
# Matrices at once while one is made: scores, their masked copy, exponentials, and a mask.
MAKING_HELD = 3.5
# The same of a graph: affinity and Laplacian, its symmetric form, modes with what finds them, and
# the heat kernel with its two products.
GRAPH_HELD = 13.0
# States at once of each run: the split, its components and their squares, the last and the next.
STATES_HELD = 8.0
# Bytes of the objects of each run: its parameters, labels and streams.
RUN_HELD = 1e5
# Dimensions with a place for every token, and places along those that only count a few.
ALONG_TOKENS = "token query key mode frequency radial_frequency wave_frequency"
FEW = 24
# Copies of data while they are made: content, numbers as they are stored, float64, judged.
DATA_HELD = 4.0


def of_data(params: Mapping[str, Any], size: Size) -> Work:
    """Estimate the drawing or the reading of data."""
    held = DATA_HELD * size.stored + 2.0 * size.file
    return Work(held, 100.0 * size.stored + 100.0 * size.file, size.stored, size)


def of_attention(params: Mapping[str, Any], data: Work) -> Work:
    """Estimate layers of attention: matrices of every run stay, and one at a time is made.

    Counted in ``stages.attention`` and ``stages.dynamics``: a run holds the matrix of every head,
    with a remedy that of its filter too. A file holds those of all runs, stacked where there are
    several, beside the mean of several heads.
    """
    size, runs = data.size, combinations(params)
    one, several = runs[0], len(runs) > 1
    heads = max(run["n_heads"] for run in runs)
    filtered = any(run["remedy"] != "none" or run["arithmetic"] == "float32" for run in runs)
    several = several and one["matrix"] == "stored"
    matrices = len(runs) * (heads + filtered + several * heads + (heads > 1) * (1 + several))
    widths = 2 * len(runs) * (weights_of(one, size) + heads * mapped(one))
    layers, recorded = one["depth"] + 1, len(recorded_layers(one["record"], one["depth"]))
    held = (
        data.stored
        + (matrices + MAKING_HELD * heads) * size.square
        + size.squares * size.square
        + widths * size.weights
        + (STATES_HELD * len(runs)) * size.state
        + RUN_HELD * len(runs)
    )
    kept = 0 if one["matrix"] == "summarised" else 1 + size.squares + (heads > 1) * heads
    stored = len(runs) * (
        kept * size.square
        + (weights_of(one, size) + 2 * mapped(one)) * size.weights
        + recorded * size.state
        + 32.0 * layers * size.replicates
    )
    operations = sum(of_run(run, size) for run in runs) + 10 * stored
    return Work(held, operations, stored, size, len(runs), layers, recorded, kept)


def mapped(run: Mapping[str, Any]) -> bool:
    """Say whether values or outputs are projected."""
    names = {run["values"], run.get("output", "identity")}
    return names != {"identity"} or run["value_scale"] != 1


def weights_of(run: Mapping[str, Any], size: Size) -> int:
    """Count the projections of queries and keys; what is stated needs none."""
    return 0 if size.squares or size.queries else 2


def of_run(run: Mapping[str, Any], size: Size) -> float:
    """Count the operations of one run of layers."""
    replicates, n, d = size.replicates, size.tokens, size.features
    entries = float(replicates * run["n_heads"] * n**2)
    scaled = SCALING if run["kernel"] == "sinkhorn" else MAKING
    making = entries * (scaled + 2 * PRODUCT * d)
    split = replicates * n**2 * (SEARCH + SPECTRUM * n * (run["matrix"] == "stored"))
    again = making if run["layers"] == "recomputed" else 0.0
    state = replicates * n * d
    field = again + entries * PRODUCT * d + state * (60 + PRODUCT * d)
    # A solver takes replicates one after the other.
    solved = run["integrator"] != "euler"
    times, calls = (SOLVED, SOLVED * replicates) if solved else (run["sublayers"],) * 2
    layers = run["depth"] * (times * field + calls * CALL * run["n_heads"] + LAYER)
    return making + split + 200.0 * replicates * d**2 + layers


def of_diffusion(params: Mapping[str, Any], data: Work) -> Work:
    """Estimate the flow of heat: Laplacians, modes and kernels of every run stay.

    Counted in ``stages.diffusion`` and ``heat_equation``.
    """
    size, runs = data.size, combinations(params)
    one, several = runs[0], len(runs) > 1
    layers, recorded = one["depth"] + 1, len(recorded_layers(one["record"], one["depth"]))
    weighed = 2 * GRAPHS.facts(one["graph"])["needs_weights"] + 2 * mapped(one)
    # The Laplacian and its modes; the heat kernel; both once more where they are stacked.
    matrices = len(runs) * (4 + 2 * several) + GRAPH_HELD
    held = (
        data.stored
        + matrices * size.square
        + 2 * len(runs) * weighed * size.weights
        + STATES_HELD * len(runs) * size.state
        + RUN_HELD * len(runs)
    )
    stored = len(runs) * (
        2 * size.square
        + weighed * size.weights
        + recorded * size.state
        + 32.0 * layers * size.replicates
    )
    replicates, n, d = size.replicates, size.tokens, size.features
    products = STEPS.get(one["method"], 1)
    layer = replicates * n * d * (60 + 2 * PRODUCT * n) + LAYER
    each = replicates * n**2 * (4 * SPECTRUM * n + MAKING)
    each += one["depth"] * layer * products
    operations = len(runs) * each + 10 * stored
    return Work(held, operations, stored, size, len(runs), layers, recorded, 2)


def of_spectra(params: Mapping[str, Any], trajectory: Work) -> Work:
    """Estimate measures: the trajectory is read, and each of them takes its own beside it."""
    size, measures = trajectory.size, params["measures"]
    lengths = lengths_of(trajectory)
    stored = sum(bytes_of(name, lengths, trajectory.runs) for name in measures)
    square = trajectory.runs * size.square
    states = trajectory.runs * trajectory.recorded * size.state
    most = max(arrays_of(name, trajectory) * square + states_of(name) * states for name in measures)
    held = trajectory.stored + most + 2.0 * stored + WORKSPACE * size.square / size.replicates
    if SEARCHED in measures:
        held += searched(trajectory)
    operations = sum(operations_of(name, trajectory) for name in measures)
    return trajectory._replace(
        held=held, operations=operations + 10.0 * trajectory.stored, stored=stored
    )


def lengths_of(trajectory: Work) -> dict[str, int]:
    """Give the lengths of the dimensions that results of measures have."""
    size = trajectory.size
    return {
        "replicate": size.replicates,
        "layer": trajectory.layers,
        "recorded_layer": trajectory.recorded,
        "feature": size.features,
        "projected": size.features,
        "value_mode": size.features,
        # A picture has as many numbers as its tokens.
        "pixel_row": size.tokens,
        "pixel_column": size.features,
        **dict.fromkeys(ALONG_TOKENS.split(), size.tokens),
    }


def bytes_of(name: str, lengths: Mapping[str, int], runs: int) -> float:
    """Give the bytes of a variable."""
    product = 8.0 * runs
    for dim in VARIABLES[name].dims:
        product *= lengths.get(dim, FEW)
    return product


def full(params: Mapping[str, Any]) -> dict[str, Any]:
    """Put back the axes that a recipe keeps under ``inside``, each at its first value."""
    swept = swept_along(params.get("inside", {}))
    return {**params, **{name: values[0] for name, values in swept.items()}}
