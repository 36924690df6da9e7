"""How much one layer, or many, enlarge or contract what differs between tokens; and bounds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lowpass import contraction, powers
from lowpass.labels import VARIABLES, Card
from lowpass.measures.layered import over_layers
from lowpass.measures.matrices import mixing, of_matrices
from lowpass.measures.names import MEASURES
from lowpass.rounding import ROUNDING, Logarithm, Remainder

if TYPE_CHECKING:
    import xarray as xr

VARIABLES.enter("hc_gain", Card(r"\|CAC\|_2", "largest gain of HC in a layer", dims=("replicate",)))
ROUNDING.enter("hc_gain", Remainder())


@MEASURES.add("hc_gain", of="matrix")
def hc_gain(trajectory: xr.Dataset) -> xr.DataArray:
    """Give the largest factor by which one layer enlarges the high-frequency component.

    Returns
    -------
    (..., replicate) float
        Not negative. Above one a layer can enlarge it, although none does for ever.
    """
    return of_matrices(mixing(trajectory), contraction.hc_gain)


VARIABLES.enter(
    "hc_gain_rms",
    Card(r"\|CAC\|_F/\sqrt{n-1}", "root mean square gain of HC in a layer", dims=("replicate",)),
)
ROUNDING.enter("hc_gain_rms", Remainder())


@MEASURES.add("hc_gain_rms", of=("matrix", "pair"))
def hc_gain_rms(trajectory: xr.Dataset) -> xr.DataArray:
    """Give the root mean square factor by which one layer changes a random component.

    Returns
    -------
    (..., replicate) float
        Not negative; at most the largest gain.
    """
    return of_matrices(mixing(trajectory), contraction.hc_gain_rms)


VARIABLES.enter(
    "ca_gain", Card(r"\|CA\|_F", "bound on the gain of HC by a Frobenius norm", dims=("replicate",))
)
ROUNDING.enter("ca_gain", Remainder())


@MEASURES.add("ca_gain", of="matrix")
def ca_gain(trajectory: xr.Dataset) -> xr.DataArray:
    """Bound the largest gain by the norm of the matrix without its column means.

    Returns
    -------
    (..., replicate) float
        At least the largest gain; zero where all rows are equal.
    """
    return of_matrices(mixing(trajectory), contraction.ca_gain)


VARIABLES.enter(
    "column_gain",
    Card(r"\sqrt{\|A\|_1}", "bound on the gain of HC by column sums", dims=("replicate",)),
)


@MEASURES.add("column_gain", of="matrix")
def column_gain(trajectory: xr.Dataset) -> xr.DataArray:
    """Bound the largest gain by the root of the largest column sum.

    Returns
    -------
    (..., replicate) float
        At least the largest gain; in [1, √n], one where columns sum to one.
    """
    return of_matrices(mixing(trajectory), contraction.column_gain)


VARIABLES.enter(
    "dobrushin", Card(r"\tau_1", "coefficient of ergodicity by Dobrushin", dims=("replicate",))
)
ROUNDING.enter("dobrushin", Remainder())


@MEASURES.add("dobrushin", of="matrix")
def dobrushin(trajectory: xr.Dataset) -> xr.DataArray:
    """Give the largest factor by which one layer changes the oscillation max z - min z.

    Returns
    -------
    (..., replicate) float
        In [0, 1]: one where two queries share no key.

    References
    ----------
    .. [1] seneta2006, chapter 4.
    """
    return of_matrices(mixing(trajectory), contraction.dobrushin)


VARIABLES.enter(
    "projective_diameter",
    Card(
        r"\Delta",
        "projective diameter of attention",
        dims=("replicate",),
        infinite="two queries do not see the same keys",
    ),
)
ROUNDING.enter("projective_diameter", Remainder())


# The entries of a heat kernel are right relative to the largest, and logarithms tell.
@MEASURES.add("projective_diameter", of="attention")
def projective_diameter(trajectory: xr.Dataset) -> xr.DataArray:
    """Give the largest distance of two rows in Hilbert's metric, in nats.

    Returns
    -------
    (..., replicate) float
        Not negative; of softmax the largest P_ij + P_kl - P_il - P_kj of its logits. Infinite
        where a mask, or underflow, gives two queries different zeros.

    References
    ----------
    .. [1] seneta2006, chapter 3.
    """
    return of_matrices(mixing(trajectory), contraction.projective_diameter)


VARIABLES.enter(
    "birkhoff",
    Card(r"\tanh(\Delta/4)", "coefficient of contraction by Birkhoff", dims=("replicate",)),
)
ROUNDING.enter("birkhoff", Remainder())


@MEASURES.add("birkhoff", of="attention")
def birkhoff(trajectory: xr.Dataset) -> xr.DataArray:
    """Give the factor by which one layer contracts Hilbert's metric.

    Returns
    -------
    (..., replicate) float
        In [0, 1]; at least Dobrushin's coefficient.

    References
    ----------
    .. [1] seneta2006, chapter 3.
    """
    return of_matrices(mixing(trajectory), contraction.birkhoff)


VARIABLES.enter(
    "tanh_bound", Card(r"\tanh\alpha", "bound on contraction by the logits", dims=("replicate",))
)


@MEASURES.add("tanh_bound", of="logits")
def tanh_bound(trajectory: xr.Dataset) -> xr.DataArray:
    """Bound Birkhoff's coefficient of one softmax by the largest modulus of a logit.

    Returns
    -------
    (..., replicate) float
        In [0, 1]: one where what it is below one is less than rounding.
    """
    largest = trajectory["max_logit"]
    return largest.copy(data=np.tanh(largest.values))


VARIABLES.enter(
    "wang_bound",
    Card(
        r"\sqrt{ne^{2\alpha}/(e^{2\alpha}+n-1)}",
        "bound on the gain of HC by Wang",
        dims=("replicate",),
    ),
)


@MEASURES.add("wang_bound", of="logits")
def wang_bound(trajectory: xr.Dataset) -> xr.DataArray:
    """Bound the largest gain of HC in a layer of softmax by the logits, without W_V.

    Returns
    -------
    (..., replicate) float
        In [1, √n]: never below one.

    References
    ----------
    .. [1] wang2022, the rate of convergence, with W_V = I.
    """
    largest, n_tokens = trajectory["max_logit"], trajectory.sizes["token"]
    return largest.copy(data=contraction.wang_bound(largest.values, n_tokens))


VARIABLES.enter(
    "log10_power_gain",
    Card(
        r"\log_{10}\|(CAC)^t\|_2",
        "decimal logarithm of the largest gain of HC in t layers",
        dims=("replicate", "layer"),
        infinite="a layer leaves nothing of the component",
    ),
)
ROUNDING.enter("log10_power_gain", Logarithm())


@MEASURES.add("log10_power_gain", of="matrix")
def log10_power_gain(trajectory: xr.Dataset) -> xr.DataArray:
    """Give the largest factor by which the layers up to each one change the component.

    Returns
    -------
    (..., replicate, layer) float
        Decimal logarithm; zero at layer 0. It may rise before it falls at the rate of |λ₂|.
    """
    return over_layers(trajectory, mixing(trajectory), powers.log10_power_gain)
