"""How far tokens are from one shared row in the composite norm, and the bound of Dong et al."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from lowpass import collapse
from lowpass.labels import VARIABLES, Card
from lowpass.measures.layered import depth, with_layers
from lowpass.measures.names import MEASURES
from lowpass.rounding import ROUNDING, Logarithm

if TYPE_CHECKING:
    import xarray as xr

RECORDED = ("replicate", "recorded_layer")
ALIKE = "all tokens are equal"

VARIABLES.enter(
    "log10_composite_norm",
    Card(
        r"\log_{10}\|R\|_{1,\infty}",
        "decimal logarithm of the composite norm of R",
        dims=RECORDED,
        infinite=ALIKE,
    ),
)
ROUNDING.enter("log10_composite_norm", Logarithm())


@MEASURES.add("log10_composite_norm")
def log10_composite_norm(trajectory: xr.Dataset) -> xr.DataArray:
    """Give the composite norm of what is left of the tokens without their mean.

    Returns
    -------
    (..., replicate, recorded_layer) float
        Decimal logarithm of √(‖R‖₁ ‖R‖_∞). The mean row is near the one that minimises it, so
        that this is an upper bound on the residual that Dong et al. define.

    References
    ----------
    .. [1] dong2021, section 2.
    """
    return of_rest(trajectory, collapse.composite_norm)


VARIABLES.enter(
    "log10_composite_norm_infimum",
    Card(
        r"\log_{10}\inf_y\|X-1y^\top\|_{1,\infty}",
        "decimal logarithm of a lower bound on that norm for every row",
        dims=RECORDED,
        infinite=ALIKE,
    ),
)
ROUNDING.enter("log10_composite_norm_infimum", Logarithm())


@MEASURES.add("log10_composite_norm_infimum")
def log10_composite_norm_infimum(trajectory: xr.Dataset) -> xr.DataArray:
    """Bound the composite norm of the residual from below, whatever row is taken away.

    Returns
    -------
    (..., replicate, recorded_layer) float
        Decimal logarithm, at most that of the residual from the mean row. A linear program of
        n d unknowns is solved for each layer.

    References
    ----------
    .. [1] dong2021, section 2.
    """
    return of_rest(trajectory, collapse.composite_norm_infimum)


VARIABLES.enter(
    "log10_dong_bound",
    Card(
        r"\log_{10}(4b/\sqrt{d})^{(3^L-1)/2}r^{3^L}",
        "decimal logarithm of the bound on the residual by Dong",
        dims=("replicate", "layer"),
        infinite="the bound, or its inverse, is beyond the powers of ten that a float can name",
    ),
)
ROUNDING.enter("log10_dong_bound", Logarithm())


@MEASURES.add("log10_dong_bound", of="weights")
def log10_dong_bound(trajectory: xr.Dataset) -> xr.DataArray:
    r"""Bound the residual after each layer of self-attention that is computed anew.

    Dong et al. write the logits as :math:`X W_{QK} X^\top / \sqrt{d_{qk}}`, and here they are
    :math:`\beta X W_Q (X W_K)^\top / \sqrt{d_{qk}}`; so the inverse temperature belongs to
    :math:`W_{QK} = \beta W_Q W_K^\top`, and :math:`b = \|W_{QK}\|_1 \|W_V\|_{1,\infty}`.
    With a projection of outputs W_V W_O takes the place of W_V; without either that is the
    identity, whose norm is one. A skip, layer norm or a remedy are no part of the theorem. The
    residual r at layer 0 takes the best row away: its lower bound is used, so that what stays
    below this stays below the theorem's.

    Returns
    -------
    (..., replicate, layer) float
        Decimal logarithm. It is above the start where 4 b r² > √d, and falls doubly
        exponentially where it is less.

    References
    ----------
    .. [1] dong2021, theorem 2.2, for one head without bias.
    """
    start = log10_composite_norm_infimum(trajectory.sel(recorded_layer=[0]))
    start = start.isel(recorded_layer=0, drop=True)
    factor = log10_dong_factor(trajectory).transpose(*start.dims)
    values = collapse.log10_dong_bound(factor.values, start.values, depth(trajectory))
    return with_layers(trajectory, start, values)


def log10_dong_factor(trajectory: xr.Dataset) -> xr.DataArray:
    """Give log10 of 4 b/√d (..., replicate)."""
    rows = ("feature", "projected")
    w_q, w_k = (trajectory[name].transpose(..., *rows) for name in ("w_q", "w_k"))
    beta = trajectory["inverse_temperature"]
    column = abs(beta) * columns_of_product(w_q, w_k)
    factor = 4 * column / np.sqrt(trajectory.sizes["projected"])
    values = [trajectory[name] for name in ("w_v", "w_o") if name in trajectory]
    if values:
        square = [each.transpose(..., *rows).values for each in values]
        product = square[0] if len(square) == 1 else square[0] @ square[1]
        one = values[0].transpose(..., *rows)[..., 0, 0]
        factor = factor * one.copy(data=collapse.composite_norm(product))
    return np.log10(factor)


def columns_of_product(w_q: xr.DataArray, w_k: xr.DataArray) -> xr.DataArray:
    """Give ‖W_Q W_Kᵀ‖₁."""
    product = w_q.values @ np.swapaxes(w_k.values, -1, -2)
    one = w_q[..., 0, 0].drop_vars(["feature", "projected"], errors="ignore")
    return one.copy(data=collapse.column_norm(product))


def of_rest(trajectory: xr.Dataset, norm: Callable[[np.ndarray], np.ndarray]) -> xr.DataArray:
    """Take log10 of a norm of what differs from the token mean."""
    exponent = trajectory["hc_exponent"]
    rest = trajectory["hc"].transpose(*exponent.dims, "token", "feature").values
    with np.errstate(divide="ignore"):
        return np.log10(2) * exponent + np.log10(norm(rest))
