"""What similarities of queries and keys are like: their signs, their symmetry, their order."""

from __future__ import annotations

import numpy as np

from lowpass.labels import DIMENSIONS, VARIABLES, Card
from lowpass.rounding import ROUNDING, Remainder
from lowpass.smoothing import nearness, similarity
from lowpass.studies.laying import Variables, laid_out

DIMENSIONS.enter("form", Card("B", "form that compares two points, as exp(xᵀBy/√d)"))
DIMENSIONS.enter("key_set", Card("K", "what was done to the keys"))
VARIABLES.enter(
    "negative_share",
    Card(r"P(\tilde\alpha<0)", "share of weights that are negative", dims=("similarity",)),
)
VARIABLES.enter(
    "outside_share",
    Card(
        r"P(f\notin[\min v,\max v])",
        "share of outputs outside the range of the values",
        dims=("similarity",),
    ),
)
VARIABLES.enter(
    "centred_normaliser_share",
    Card(
        r"|\sum_i\alpha_i|/\sum_i|\alpha_i|",
        "share of inner products with keys counted from their mean that does not cancel",
        dims=("query",),
    ),
)
ROUNDING.enter("centred_normaliser_share", Remainder())
VARIABLES.enter(
    "asymmetry",
    Card(
        r"\|\alpha-\alpha^\top\|_F/2\|\alpha\|_F",
        "asymmetry of a similarity",
        dims=("form",),
    ),
)
ROUNDING.enter("asymmetry", Remainder())
VARIABLES.enter(
    "negative_eigenvalue",
    Card(
        r"\max(0,-\lambda_1)/\max|\lambda|",
        "size of the least eigenvalue of a similarity below zero, over the largest",
        dims=("form",),
    ),
)
ROUNDING.enter("negative_eigenvalue", Remainder())
VARIABLES.enter(
    "disorder",
    Card(
        r"P(\alpha_i>\alpha_j,\,\|q-k_i\|>\|q-k_j\|)",
        "share of pairs of keys of which the farther one counts more",
        dims=("key_set",),
    ),
)
VARIABLES.enter(
    "nearest_wins",
    Card(
        r"P(\mathrm{argmax}\,\alpha=\mathrm{argmin}\,\|q-k\|)",
        "share of queries whose nearest key counts most",
        dims=("key_set",),
    ),
)


def signs(q: np.ndarray, k: np.ndarray, v: np.ndarray, t: float) -> Variables:
    """Ask of three similarities which signs they have, what cancels, and where averages lie."""
    logit = q @ k.T / t
    tables = {
        "exponential": np.exp(logit - logit.max(axis=1, keepdims=True)),
        "inner product": logit,
        "inner product, positive": abs(q) @ abs(k).T / t,
    }
    weights = {name: similarity.weights_of(each) for name, each in tables.items()}
    centred = q @ (k - k.mean(axis=0)).T
    left = np.stack([similarity.share_left(each) for each in tables.values()])
    return {
        **laid_out(
            "similarity",
            negative_share={name: float((each < 0).mean()) for name, each in weights.items()},
            outside_share={
                name: similarity.outside_share(each, v) for name, each in weights.items()
            },
        ),
        "normaliser_share": (("similarity", "query"), left),
        "centred_normaliser_share": ("query", similarity.share_left(centred)),
        "weight_sum_defect": ("query", abs(weights["exponential"].sum(axis=1) - 1)),
    }


def forms(k: np.ndarray, rng: np.random.Generator) -> Variables:
    """Compare keys with each other by drawn forms: of two maps, its symmetric part, of one map."""
    d = k.shape[1]
    one, other = rng.standard_normal((2, d, d)) / d**0.5
    named = {
        "two maps": one @ other.T,
        "two maps, symmetric part": (one @ other.T + other @ one.T) / 2,
        "one map": one @ one.T,
    }
    logits = {name: k @ form @ k.T / d**0.5 for name, form in named.items()}
    # A common factor changes neither symmetry nor signs, and keeps exponentials in range.
    tables = {name: np.exp(logit - logit.max()) for name, logit in logits.items()}
    return laid_out(
        "form",
        asymmetry={name: similarity.asymmetry(each) for name, each in tables.items()},
        negative_eigenvalue={
            name: similarity.negative_eigenvalue(each) for name, each in tables.items()
        },
    )


def nearest(q: np.ndarray, k: np.ndarray, far: np.ndarray) -> Variables:
    """Ask whether nearer keys count more: as drawn, of one length, and all of them moved away."""
    sets = {"as drawn": k, "of equal norm": nearness.equal_norms(k), "moved away": far}
    pairs = {name: (q @ each.T, nearness.distances(q, each)) for name, each in sets.items()}
    return laid_out(
        "key_set",
        disorder={name: float(nearness.disorder(*pair).mean()) for name, pair in pairs.items()},
        nearest_wins={
            name: float(nearness.nearest_wins(*pair).mean()) for name, pair in pairs.items()
        },
    )
