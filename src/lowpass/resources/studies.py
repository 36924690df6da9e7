"""What studies of smoothers hold and do, for one set of observations at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from lowpass.resources.sizes import Size
from lowpass.resources.work import Work
from lowpass.spec.inside import combinations

Params = Mapping[str, Any]
Taken = tuple[float, float, float]
Count = Callable[[Params, Size], Taken]

# Bandwidths that a search tries after the grid.
SEARCHED = 60


def of_smoothing(params: Params, data: Work) -> Work:
    """Estimate a study: replicates and runs follow each other, and their answers stay."""
    size, runs = data.size, combinations(params)
    taken = [STUDIES.get(run["study"], dense)(run, size) for run in runs]
    times = size.replicates
    stored = times * sum(each[2] for each in taken)
    held = data.stored + max(each[0] for each in taken) + 3.0 * stored
    operations = times * sum(each[1] for each in taken)
    return Work(held, operations, stored, size, len(runs))


def dense(params: Params, size: Size) -> Taken:
    """Count what smooths by whole matrices, of any pair of queries and keys.

    Weights, distances, what is made of them and what is compared, as ``studies.identities``
    and ``studies.selection`` have them.
    """
    n = size.tokens + size.queries
    grid = params.get("bandwidths")
    tries = SEARCHED + (grid["count"] if grid else 0)
    return 16.0 * 8 * n**2, tries * 100.0 * n**2 + 1e9, 3.0 * 8 * n**2


def selection(params: Params, size: Size) -> Taken:
    """Count the criteria of a curve: distances, weights, their squares, and folds of them."""
    n, tries = size.tokens, SEARCHED + params["bandwidths"]["count"]
    return 8.0 * 8 * n**2, tries * 500.0 * n**2 + 1e9, 8.0 * (n**2 + 20 * n + 8 * tries)


def blocking(params: Params, size: Size) -> Taken:
    """Count the distances of some keys after the other, and a window around each."""
    n = size.tokens // params["thin"]
    tries = SEARCHED + params["bandwidths"]["count"]
    return 1.5 * 8 * n**2, tries * 50.0 * n**2 + 1e9, 8.0 * (10 * n + 8 * tries)


def plane(params: Params, size: Size) -> Taken:
    """Count weights of all keys at all keys, then at the places of a raster."""
    n, raster = size.tokens // params["thin"], params["raster"] ** 2
    tries = params["bandwidths"]["count"] ** 2
    operations = tries * 200.0 * n**2 + 50.0 * n * raster + 1e9
    return 8.0 * (8 * n**2 + 4 * n * raster), operations, 8.0 * (8 * raster + 4 * n)


def pooling(params: Params, size: Size) -> Taken:
    """Count smoothers of all queries, and the covariances of errors of all keys."""
    n, tries = size.tokens + size.queries, SEARCHED + params["bandwidths"]["count"]
    return 16.0 * 8 * n**2, tries * 200.0 * n**2 + 1e9, 8.0 * 20 * (n + tries)


def response(params: Params, size: Size) -> Taken:
    """Count the Laplacian of a ring with its modes, and what each bandwidth leaves of waves."""
    n, tries = size.tokens, params["bandwidths"]["count"]
    operations = 100.0 * float(n) ** 3 + tries * 2000.0 * n**2 + 1e9
    return 30.0 * 8 * n**2, operations, 8.0 * 20 * n * tries


def convergence(params: Params, size: Size) -> Taken:
    """Count transforms of as many places as keys, for every bandwidth that is tried."""
    n = size.tokens // params["thin"]
    return 100.0 * 8 * n, SEARCHED * 2000.0 * n + 1e9, 4e3


def contest(params: Params, size: Size) -> Taken:
    """Count features of all keys, and the weights of the rivals' keys."""
    n, d, terms = params["n_keys"], params["n_features"], params["most_terms"]
    held = 8.0 * n * (8 * d + 8 * terms + 4 * size.queries)
    return held, 2000.0 * n * (terms + d) + 1e9, 1e4


def random_features(params: Params, size: Size) -> Taken:
    """Count directions that are drawn together, and the features of both signs."""
    drawn = 8.0 * DRAWN * (2 * size.features + 4 * LEVELS)
    return drawn, params["rounds"] * DRAWN * (400.0 + 40 * size.features) + 1e9, 1e4


# Directions that are drawn at a time, and norms at which each is evaluated.
DRAWN, LEVELS = 32_768, 10
STUDIES: dict[str, Count] = {
    "selection": selection,
    "blocking": blocking,
    "plane": plane,
    "pooling": pooling,
    "response": response,
    "convergence": convergence,
    "contest": contest,
    "random_features": random_features,
}
