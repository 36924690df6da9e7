"""A plane of keys as one query sees it, once by distances and once by dot products."""

from __future__ import annotations

import numpy as np

from lowpass.labels import DIMENSIONS, VARIABLES, Card
from lowpass.registry import Refusal
from lowpass.smoothing import axial, converters, estimators
from lowpass.studies.laying import Variables

# Powers of e that weights fall by, one contour each.
CONTOURS = 8

DIMENSIONS.enter("reading", Card(r"\alpha", "what weights are made of"))
DIMENSIONS.enter("contour", Card("m", "powers of e that a weight has fallen by"))
VARIABLES.enter("key_along", Card("u", "key, along the query", dims=("key",)))
VARIABLES.enter("key_across", Card("s", "key, across the query", dims=("key",)))
VARIABLES.enter(
    "key_away",
    Card(r"\rho", "lifted key, off the axis", dims=("key",)),
)
VARIABLES.enter("query_norm", Card(r"\|q\|", "norm of the query"))
VARIABLES.enter("largest_key_norm", Card(r"\sqrt{M}", "largest norm of a key"))
VARIABLES.enter(
    "view_weights",
    Card(r"\tilde\alpha", "weight of a key for the query", dims=("reading", "key")),
)
VARIABLES.enter(
    "contour_radius",
    Card("r_m", "distance from the query where a Gaussian has fallen", dims=("contour",)),
)
VARIABLES.enter(
    "contour_along",
    Card("u_m", "way along the query where attention has fallen", dims=("contour",)),
)
VARIABLES.enter(
    "contour_lifted_radius",
    Card(
        r"\rho_m",
        "distance from the query where a Gaussian of lifted keys has fallen",
        dims=("contour",),
    ),
)


def viewed(q: np.ndarray, k: np.ndarray, t: float) -> Variables:
    """See keys (key, 2) from the query (query, 2) whose length ranks in the middle.

    Contours begin where no key can count more: on the query, or as far along it as any key is
    long.

    Raises
    ------
    Refusal
        If there is no plane.
    """
    if k.shape[1] < 2:
        raise Refusal(
            "keys have 1 feature; the picture of a plane needs 2. Draw more with 'n_features'."
        )
    norms = np.linalg.norm(q, axis=1)
    chosen = q[np.argsort(norms)[len(q) // 2]][None]
    along, across = axial.along_and_across(chosen[0], k)
    norm, radius = float(np.linalg.norm(chosen)), float(np.linalg.norm(k, axis=1).max())
    lift = converters.plain_smoother(chosen, k, t).key[:, -1]
    lines = axial.contours(norm, radius, t, CONTOURS)
    weights = {
        "of distances": estimators.distance_attention(chosen, k, t)[0],
        "of dot products": estimators.dot_product_attention(chosen, k, np.eye(len(k)), t)[0],
    }
    return {
        "key_along": ("key", along),
        "key_across": ("key", across),
        "key_away": ("key", np.copysign(np.hypot(across, lift), across)),
        "query_norm": ((), norm),
        "largest_key_norm": ((), radius),
        "reading": ("reading", list(weights)),
        "view_weights": (("reading", "key"), np.stack(list(weights.values()))),
        "contour": ("contour", np.arange(1, CONTOURS + 1)),
        "contour_radius": ("contour", lines.radius),
        "contour_along": ("contour", lines.along),
        "contour_lifted_radius": ("contour", lines.lifted_radius),
    }
