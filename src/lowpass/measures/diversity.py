"""How different the tokens of recorded layers are from each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lowpass import diversity, energy
from lowpass.labels import VARIABLES, Card
from lowpass.measures.layered import of_tokens
from lowpass.measures.matrices import mixing
from lowpass.measures.names import MEASURES
from lowpass.rounding import ROUNDING, Logarithm, Remainder

if TYPE_CHECKING:
    import xarray as xr

RECORDED = ("replicate", "recorded_layer")
ALIKE = "the tokens do not differ at all"

VARIABLES.enter(
    "effective_rank",
    Card(r"\exp H(\sigma(X)/\sum\sigma)", "effective rank of the tokens", dims=RECORDED),
)


@MEASURES.add("effective_rank")
def effective_rank(trajectory: xr.Dataset) -> xr.DataArray:
    """Give the exponential of the entropy of the tokens' normalised singular values.

    The tokens are taken as they are, with their mean, and put together relative to the larger
    of their two parts: it tends to one where the mean survives, and to the rank of what is left
    where nothing else does.

    Returns
    -------
    (..., replicate, recorded_layer) float
        In [1, min(n, d)]; zero where all tokens are zero.

    References
    ----------
    .. [1] roy2007, definition 1.
    """
    return of_tokens(trajectory, lambda x: diversity.effective_rank(diversity.singular_values(x)))


VARIABLES.enter(
    "hc_effective_rank",
    Card(
        r"\exp H(\sigma(CX)/\sum\sigma)",
        "effective rank of the high-frequency component",
        dims=RECORDED,
    ),
)


@MEASURES.add("hc_effective_rank")
def hc_effective_rank(trajectory: xr.Dataset) -> xr.DataArray:
    """Give the effective rank of what differs from the token mean, however small it is.

    Returns
    -------
    (..., replicate, recorded_layer) float
        In [1, min(n - 1, d)]: one where a single mode is left of it; zero where nothing is.

    References
    ----------
    .. [1] roy2007, definition 1.
    """
    return of_tokens(
        trajectory,
        lambda x: diversity.effective_rank(np.linalg.svd(x.rest, compute_uv=False)),
    )


VARIABLES.enter(
    "stable_rank", Card(r"\|X\|_F^2/\|X\|_2^2", "stable rank of the tokens", dims=RECORDED)
)


@MEASURES.add("stable_rank")
def stable_rank(trajectory: xr.Dataset) -> xr.DataArray:
    """Give the tokens' squared Frobenius norm over their squared spectral norm.

    Returns
    -------
    (..., replicate, recorded_layer) float
        In [1, min(n, d)], with the mean; zero where all tokens are zero.

    References
    ----------
    .. [1] rudelson2007, section 1.
    """
    return of_tokens(trajectory, lambda x: diversity.stable_rank(diversity.singular_values(x)))


VARIABLES.enter(
    "log10_stable_rank_excess",
    Card(
        r"\log_{10}(\|X\|_F^2/\|X\|_2^2-1)",
        "decimal logarithm of the stable rank above one",
        dims=RECORDED,
        infinite="the tokens have rank one",
    ),
)
ROUNDING.enter("log10_stable_rank_excess", Logarithm(floored=True, power=2))


@MEASURES.add("log10_stable_rank_excess")
def log10_stable_rank_excess(trajectory: xr.Dataset) -> xr.DataArray:
    """Give how far the stable rank is above one, far below what a sum with one can hold.

    Returns
    -------
    (..., replicate, recorded_layer) float
        Decimal logarithm; it falls by two decades where HC/DC falls by one.
    """
    return of_tokens(trajectory, diversity.log10_stable_rank_excess)


VARIABLES.enter(
    "mean_cosine",
    Card(r"\langle\cos(x_i,x_j)\rangle", "mean cosine of two different tokens", dims=RECORDED),
)
ROUNDING.enter("mean_cosine", Remainder())


@MEASURES.add("mean_cosine", of="pair")
def mean_cosine(trajectory: xr.Dataset) -> xr.DataArray:
    """Average the cosine over all pairs of different tokens; a CLS token counts like any other.

    Returns
    -------
    (..., replicate, recorded_layer) float
        In [-1/(n - 1), 1]: one where all tokens point the same way.
    """
    return 1 - 10 ** log10_cosine_gap(trajectory)


VARIABLES.enter(
    "log10_cosine_gap",
    Card(
        r"\log_{10}(1-\langle\cos(x_i,x_j)\rangle)",
        "decimal logarithm of one minus the mean cosine",
        dims=RECORDED,
        infinite="all tokens point the same way",
    ),
)
ROUNDING.enter("log10_cosine_gap", Logarithm(floored=True, power=2))


@MEASURES.add("log10_cosine_gap", of="pair")
def log10_cosine_gap(trajectory: xr.Dataset) -> xr.DataArray:
    """Give how far the mean cosine is below one, far below what a cosine can hold.

    Returns
    -------
    (..., replicate, recorded_layer) float
        Decimal logarithm, at most that of n/(n - 1).
    """
    return of_tokens(trajectory, diversity.log10_cosine_gap)


VARIABLES.enter(
    "log10_dirichlet_energy",
    Card(
        r"\log_{10}\frac{1}{2}\sum\pi_iA_{ij}\|x_i-x_j\|^2",
        "decimal logarithm of the Dirichlet energy",
        dims=RECORDED,
        infinite=ALIKE,
    ),
)
ROUNDING.enter("log10_dirichlet_energy", Logarithm())


@MEASURES.add("log10_dirichlet_energy", of="matrix")
def log10_dirichlet_energy(trajectory: xr.Dataset) -> xr.DataArray:
    """Weigh the squared distance of tokens by how often attention leads from one to the other.

    Returns
    -------
    (..., replicate, recorded_layer) float
        Decimal logarithm of ½ Σ π_i A_ij ‖x_i - x_j‖², which is ⟨X, (I - A)X⟩_π whether or not
        attention is reversible.

    References
    ----------
    .. [1] levin2017, section 13.2.
    """
    return of_pairs(trajectory, mixing(trajectory) * trajectory["stationary"].rename(token="query"))


VARIABLES.enter(
    "log10_edge_energy",
    Card(
        r"\log_{10}\frac{1}{2}\sum A_{ij}\|x_i-x_j\|^2",
        "decimal logarithm of the edge energy",
        dims=RECORDED,
        infinite=ALIKE,
    ),
)
ROUNDING.enter("log10_edge_energy", Logarithm())


@MEASURES.add("log10_edge_energy", of="matrix")
def log10_edge_energy(trajectory: xr.Dataset) -> xr.DataArray:
    """Weigh the squared distance of tokens by how much one attends to the other.

    Returns
    -------
    (..., replicate, recorded_layer) float
        Decimal logarithm of ½ Σ A_ij ‖x_i - x_j‖², every query counting alike.
    """
    return of_pairs(trajectory, mixing(trajectory))


def of_pairs(trajectory: xr.Dataset, weights: xr.DataArray) -> xr.DataArray:
    """Sum squared distances of tokens over pairs, one recorded layer at a time."""
    exponent = trajectory["hc_exponent"]
    dims = [dim for dim in exponent.dims if dim != "recorded_layer"]
    found = []
    for place in range(exponent.sizes["recorded_layer"]):
        here = {"recorded_layer": place}
        pairs = weights.isel(here, missing_dims="ignore").transpose(*dims, "query", "key")
        x = trajectory["hc"].isel(here).transpose(*dims, "token", "feature")
        powers = exponent.isel(here).transpose(*dims)
        found.append(energy.log10_pair_energy(pairs.values, x.values, powers.values))
    return exponent.copy(data=np.stack(found, axis=exponent.dims.index("recorded_layer")))
