"""Numbers of the matrix that one layer mixes tokens with."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lowpass import diversity, eigen, powers, spectra
from lowpass.labels import DIMENSIONS, VARIABLES, Card
from lowpass.measures.names import MEASURES
from lowpass.registry import Refusal
from lowpass.rounding import ROUNDING, Remainder

if TYPE_CHECKING:
    import xarray as xr


def mixing(trajectory: xr.Dataset) -> xr.DataArray:
    """Find the matrix (..., replicate, query, key) that a layer mixes with.

    Raises
    ------
    Refusal
        Where a flow was computed without forming its matrix.
    """
    for name in ("attention", "heat_kernel"):
        if name in trajectory:
            return trajectory[name]
    raise Refusal(
        "this trajectory has no mixing matrix, since its flow was computed without one; "
        "write 'method: eigh', or leave out the measures of a matrix."
    )


@MEASURES.add("slem", of="modulus")
def slem(trajectory: xr.Dataset) -> xr.DataArray:
    """Give the second-largest eigenvalue modulus of the attention matrix.

    A trajectory that does not store its matrix states this number itself.

    Returns
    -------
    (..., replicate) float
        In [0, 1].
    """
    if "slem" in trajectory:
        return trajectory["slem"]
    return of_matrices(mixing(trajectory), eigen.slem)


VARIABLES.enter(
    "row_sum_defect",
    Card(r"\max_i|\sum_jA_{ij}-1|", "largest defect of a row sum", dims=("replicate",)),
)
ROUNDING.enter("row_sum_defect", Remainder())


@MEASURES.add("row_sum_defect", of="matrix")
def row_sum_defect(trajectory: xr.Dataset) -> xr.DataArray:
    """Measure how far the rows of the attention matrix are from summing to one.

    Returns
    -------
    (..., replicate) float
        Non-negative.
    """
    return of_matrices(mixing(trajectory), spectra.row_sum_defect)


VARIABLES.enter(
    "unit_eigenvalue_defect",
    Card(
        r"|\lambda_1-1|",
        "distance of the largest eigenvalue from one",
        dims=("replicate",),
    ),
)
ROUNDING.enter("unit_eigenvalue_defect", Remainder())


@MEASURES.add("unit_eigenvalue_defect", of="matrix")
def unit_eigenvalue_defect(trajectory: xr.Dataset) -> xr.DataArray:
    """Measure how far the eigenvalue that should be one is from one.

    Returns
    -------
    (..., replicate) float
        Non-negative.
    """
    return of_matrices(mixing(trajectory), spectra.unit_eigenvalue_defect)


VARIABLES.enter(
    "min_attention",
    Card(r"\min A_{ij}", "smallest entry of the attention matrix", dims=("replicate",)),
)
# A heat kernel is put together from its modes, and small entries are what cancels there.
ROUNDING.enter("min_attention", Remainder())


@MEASURES.add("min_attention", of="matrix")
def min_attention(trajectory: xr.Dataset) -> xr.DataArray:
    """Give the smallest entry: positive entries make a stochastic matrix primitive.

    Returns
    -------
    (..., replicate) float
        At most 1/n.
    """
    return mixing(trajectory).min(("query", "key"))


VARIABLES.enter(
    "column_sum_defect",
    Card(r"\max_j|\sum_iA_{ij}-1|", "largest defect of a column sum", dims=("replicate",)),
)
ROUNDING.enter("column_sum_defect", Remainder())


@MEASURES.add("column_sum_defect", of="matrix")
def column_sum_defect(trajectory: xr.Dataset) -> xr.DataArray:
    """Measure how far the columns of the attention matrix are from summing to one.

    Returns
    -------
    (..., replicate) float
        Non-negative, at most n - 1: zero where the matrix keeps the token mean.
    """
    columns = mixing(trajectory).sum("query")
    return abs(columns - 1).max("key")


VARIABLES.enter(
    "max_column_sum",
    Card(r"\max_j\sum_iA_{ij}", "largest column sum", dims=("replicate",)),
)


@MEASURES.add("max_column_sum", of="matrix")
def max_column_sum(trajectory: xr.Dataset) -> xr.DataArray:
    """Give the attention that the most popular key receives.

    Returns
    -------
    (..., replicate) float
        In [1, n]: one where every key receives as much, n where one receives all.
    """
    return mixing(trajectory).sum("query").max("key")


VARIABLES.enter(
    "entropy",
    Card(r"-\langle\sum_jA_{ij}\ln A_{ij}\rangle", "mean entropy of a row", "nat", ("replicate",)),
)


@MEASURES.add("entropy", of="matrix")
def entropy(trajectory: xr.Dataset) -> xr.DataArray:
    """Average the entropy of what a query attends to over all queries, post-softmax.

    Returns
    -------
    (..., replicate) float
        In nats, in [0, ln n]: zero where each query sees one key, ln n where it sees all alike.
    """
    return of_matrices(mixing(trajectory), diversity.entropy)


VARIABLES.enter(
    "attention_effective_rank",
    Card(
        r"\exp H(\sigma(A)/\sum\sigma)",
        "effective rank of the attention matrix",
        dims=("replicate",),
    ),
)


@MEASURES.add("attention_effective_rank", of="matrix")
def attention_effective_rank(trajectory: xr.Dataset) -> xr.DataArray:
    """Give the exponential of the entropy of the matrix's normalised singular values.

    Returns
    -------
    (..., replicate) float
        In [1, n]: one where all rows are proportional, n for a permutation.

    References
    ----------
    .. [1] roy2007, definition 1.
    """
    return of_matrices(
        mixing(trajectory),
        lambda a: diversity.effective_rank(np.linalg.svd(a, compute_uv=False)),
    )


VARIABLES.enter(
    "attention_spread",
    Card(
        r"\max|A-A'|",
        "largest difference between the attention of runs of one job",
        dims=("replicate",),
    ),
)


@MEASURES.add("attention_spread", of="matrix", across=True)
def attention_spread(trajectory: xr.Dataset) -> xr.DataArray:
    """Compare the attention of all runs of one job, which were swept inside it.

    Returns
    -------
    (replicate) float
        Exactly zero where all of them saw the same tokens through the same weights.
    """
    attention = mixing(trajectory)
    swept = [dim for dim in attention.dims if dim not in ("replicate", "query", "key")]
    spread = attention.max(swept) - attention.min(swept)
    return spread.max(("query", "key"))


DIMENSIONS.enter("order", Card("K", "power that a line through A and A² stands for"))
VARIABLES.enter(
    "power_error",
    Card(
        r"\|A^K-(A+(K-1)(A^2-A))\|_\infty",
        "error of an approximate power of attention",
        dims=("replicate", "order"),
    ),
)
ROUNDING.enter("power_error", Remainder())
# Of the power two the line is exact.
ORDERS = (3, 4, 5, 6, 7, 8)


@MEASURES.add("power_error", of="matrix")
def power_error(trajectory: xr.Dataset) -> xr.DataArray:
    """Measure how far powers of attention are from what stands for them in GFSA.

    Returns
    -------
    (..., replicate, order) float
        In the maximal row sum, in [0, 2K - 2].

    References
    ----------
    .. [1] choi2024, section 4.
    """
    attention = mixing(trajectory).transpose(..., "query", "key")
    errors = powers.power_error(attention.values, ORDERS)
    one = attention[..., 0, 0].drop_vars(["query", "key"], errors="ignore")
    return one.expand_dims(order=list(ORDERS), axis=-1).copy(data=errors)


def of_matrices(attention: xr.DataArray, function) -> xr.DataArray:
    """Apply a function of matrices (..., query, key) that gives one number for each."""
    ordered = attention.transpose(..., "query", "key")
    return (
        ordered[..., 0, 0]
        .drop_vars(["query", "key"], errors="ignore")
        .copy(data=function(ordered.values))
    )
