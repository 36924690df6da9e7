"""What the eigenvalues of attention predict of an iterated layer, before any is taken."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from lowpass import gains
from lowpass.frozen import dual
from lowpass.labels import VARIABLES, Card
from lowpass.measures.components import tokens_of
from lowpass.measures.matrices import mixing, slem
from lowpass.measures.names import MEASURES
from lowpass.remedies import Filter
from lowpass.rounding import DECADES, ROUNDING, Logarithm, Remainder
from lowpass.spectra import taper

if TYPE_CHECKING:
    import xarray as xr

VARIABLES.enter(
    "predicted_growth",
    Card(
        r"\max_{j,i\geq2}|s+h\mu_jg(\lambda_i)|",
        "predicted growth of the transient component",
        dims=("replicate",),
    ),
)


@MEASURES.add("predicted_growth", of=("matrix", "transient", "frozen", "pair"))
def predicted_growth(trajectory: xr.Dataset) -> xr.DataArray:
    """Predict the factor by which one layer multiplies the transient component, in the end.

    Returns
    -------
    (..., replicate) float
        From eigenvalues of attention and of the map of values, the weights of skip and step,
        and the coefficients of the filter.
    """
    return predicted(trajectory, gains.growth)


VARIABLES.enter(
    "predicted_rate",
    Card(
        r"\max_{j,i\geq2}|s+h\mu_jg(\lambda_i)|/\max_j|s+h\mu_jg_1|",
        "predicted rate of the transient ratio",
        dims=("replicate",),
        infinite="a layer leaves nothing of the stationary component",
    ),
)


@MEASURES.add("predicted_rate", of=("matrix", "transient", "frozen", "pair"))
def predicted_rate(trajectory: xr.Dataset) -> xr.DataArray:
    """Predict the factor by which one layer multiplies the transient ratio, in the end.

    Returns
    -------
    (..., replicate) float
        Of attention alone |λ₂|. Above one where a layer sharpens. A remedy that returns to
        the tokens of layer 0 has the rate one where it settles.
    """
    if rule_of(trajectory).is_plain:
        return slem(trajectory)
    return predicted(trajectory, gains.rate)


VARIABLES.enter(
    "predicted_stability",
    Card(
        r"\max_{j,i}|s+h\mu_jg(\lambda_i)|",
        "predicted factor of the distance to a fixed point",
        dims=("replicate",),
    ),
)


@MEASURES.add("predicted_stability", of=("matrix", "transient", "frozen", "pair"))
def predicted_stability(trajectory: xr.Dataset) -> xr.DataArray:
    """Predict the largest factor by which one layer multiplies any mode, the constant one too.

    Returns
    -------
    (..., replicate) float
        Tokens settle where it is below one. The constant mode decides only where no other
        gain is larger.

    References
    ----------
    .. [1] nguyen2023.
    """
    return predicted(trajectory, gains.stability)


VARIABLES.enter(
    "second_gain_share",
    Card(r"|g_3|/|g_2|", "second-largest gain over the largest", dims=("replicate",)),
)


@MEASURES.add("second_gain_share", of=("matrix", "transient", "frozen", "pair"))
def second_gain_share(trajectory: xr.Dataset) -> xr.DataArray:
    """Compare the two largest gains of transient modes, which says how deep a rate shows.

    Returns
    -------
    (..., replicate) float
        In [0, 1]. After t layers the rate is off by a multiple of its power t. One where
        both have the same modulus, as those of a complex pair have.
    """
    return predicted(trajectory, gains.second_share)


VARIABLES.enter(
    "predicted_rate_error",
    Card(
        r"\max\{(1-q)q^{L/2},|\hat w|\}",
        "predicted relative error of an averaged rate",
        dims=("replicate",),
    ),
)
ROUNDING.enter("predicted_rate_error", Remainder())


@MEASURES.add("predicted_rate_error", of=("matrix", "transient", "frozen", "pair"))
def predicted_rate_error(trajectory: xr.Dataset) -> xr.DataArray:
    """Predict how far the depth suffices for the tapered rate, up to a factor of order one.

    Returns
    -------
    (..., replicate) float
        What the second gains of the transient and of the constant mode, and the turning of
        the largest ones, leave of their swings in the later half of the layers.
    """
    steps = trajectory.sizes["layer"] - 1
    first = min((steps + 1) // 2, max(steps - 1, 0))
    weights = taper(steps - first)
    return predicted(
        trajectory, lambda rule, eigenvalue: gains.rate_error(rule, eigenvalue, first, weights)
    )


VARIABLES.enter(
    "sharpening_edge",
    Card(
        r"-\max_i2(1-\mathrm{Re}\,\lambda_i)/(1-|\lambda_i|^2)",
        "value scale at which a residual layer ceases to sharpen",
        dims=("replicate",),
        infinite="a mode that differs between tokens is never damped",
    ),
)


@MEASURES.add("sharpening_edge", of=("matrix", "pair"))
def sharpening_edge(trajectory: xr.Dataset) -> xr.DataArray:
    """Predict between which negative number and zero μ makes X + μAX sharpen.

    Returns
    -------
    (..., replicate) float
        At most -1, and -2/(1 + λ) of the least eigenvalue where all are real. Above zero, and
        below this number, the transient ratio falls.
    """
    eigenvalue = gains.other_eigenvalues(matrices_of(trajectory))
    return labelled(trajectory, gains.sharpening_edge(eigenvalue))


VARIABLES.enter(
    "log10_mode_ratio",
    Card(
        r"\log_{10}\|Cv\|/\|Jv\|",
        "decimal logarithm of the HC/DC ratio of the mode of largest gain",
        dims=("replicate",),
        infinite="the mode has no mean",
    ),
)
ROUNDING.enter("log10_mode_ratio", Logarithm())


@MEASURES.add("log10_mode_ratio", of=("matrix", "transient", "frozen", "pair"))
def log10_mode_ratio(trajectory: xr.Dataset) -> xr.DataArray:
    """Give the HC/DC ratio of the transient mode of largest gain.

    Where a layer sharpens, tokens become that mode, and their own HC/DC ratio tends to this
    one: the mean of the mode then hides that of the tokens.

    Returns
    -------
    (..., replicate) float
        Decimal logarithm.
    """
    attention, rule = matrices_of(trajectory), rule_of(trajectory)
    stationary = trajectory["stationary"].transpose(..., "token").values
    ratio = np.empty(attention.shape[:-2])
    for place in np.ndindex(ratio.shape):
        each, a = rule.at(place), attention[place]
        if each.is_even_handed:
            mode = gains.largest_mode(a, stationary[place], each.transient)
        else:
            filtered = filter_matrix(each, a)
            weights = dual(filtered, each.mean.sum())
            mode = gains.largest_mode(filtered, weights, each.layered)
        ratio[place] = gains.mode_ratio(mode)
    return labelled(trajectory, ratio)


VARIABLES.enter(
    "log10_fixed_point_distance",
    Card(
        r"\log_{10}\|X_t-X^*\|/\|X^*\|",
        "decimal logarithm of the distance to the fixed point",
        dims=("replicate", "recorded_layer"),
        infinite="the tokens are at the fixed point",
    ),
)
# What is left beside a fixed point is rounding, relative to it.
ROUNDING.enter("log10_fixed_point_distance", Logarithm(reach=12, end=-DECADES))


@MEASURES.add("log10_fixed_point_distance", of=("matrix", "transient", "frozen", "source", "pair"))
def log10_fixed_point_distance(trajectory: xr.Dataset) -> xr.DataArray:
    """Compare recorded tokens with those that the layer would leave as they are.

    Returns
    -------
    (..., replicate, recorded_layer) float
        Decimal logarithm, relative to the norm of the fixed point: it falls to rounding where
        the fixed point is stable, and rises for ever where it is not.

    References
    ----------
    .. [1] nguyen2023.
    """
    exponent, rule = trajectory["hc_exponent"], rule_of(trajectory)
    x = tokens_of(trajectory).transpose(*exponent.dims, "token", "feature")
    attention = matrices_of(trajectory)
    matrix = np.empty(attention.shape)
    for place in np.ndindex(attention.shape[:-2]):
        matrix[place] = filter_matrix(rule.at(place), attention[place])
    layer = rule.skip[..., None, None] * np.eye(trajectory.sizes["token"])
    layer = layer + rule.step[..., None, None] * matrix
    first = np.asarray(x.sel(recorded_layer=0).values)
    end = np.expand_dims(gains.fixed_point(layer, rule.step * rule.source, first), -3)
    with np.errstate(divide="ignore"):
        distance = np.log10(np.linalg.norm(x.values - end, axis=(-2, -1)))
    return exponent.copy(data=distance - np.log10(np.linalg.norm(end, axis=(-2, -1))))


def matrices_of(trajectory: xr.Dataset) -> np.ndarray:
    """Give the matrices (..., replicate, query, key)."""
    return mixing(trajectory).transpose(..., "query", "key").values


def labelled(trajectory: xr.Dataset, values: np.ndarray) -> xr.DataArray:
    """Label one number for each matrix."""
    first = mixing(trajectory).transpose(..., "query", "key")[..., 0, 0]
    return first.drop_vars(["query", "key"], errors="ignore").copy(data=values)


def predicted(trajectory: xr.Dataset, function: Callable[..., np.ndarray]) -> xr.DataArray:
    """Apply a function of a layer's rule and of the eigenvalues of attention."""
    eigenvalue = gains.other_eigenvalues(matrices_of(trajectory))
    return labelled(trajectory, function(rule_of(trajectory), eigenvalue))


def rule_of(trajectory: xr.Dataset) -> gains.Rule:
    """Read what a layer does with attention; what a trajectory does not state is plain."""
    like = mixing(trajectory).transpose(..., "query", "key")[..., 0, 0]

    def stated(name: str, dim: str | None, plain: float | list[float]) -> np.ndarray:
        if name in trajectory:
            return trajectory[name].transpose(*like.dims, *([dim] if dim else [])).values
        return np.broadcast_to(np.asarray(plain, float), (*like.shape, *np.shape(plain)))

    return gains.Rule(
        high=stated("high_coefficient", "power", [0.0, 1.0, 0.0]),
        mean=stated("mean_coefficient", "power", [0.0, 1.0, 0.0]),
        source=stated("source_weight", None, 0.0),
        skip=stated("skip_weight", None, 0.0),
        step=stated("step_size", None, 1.0),
        value_eigenvalue=values_of(trajectory, like),
    )


def values_of(trajectory: xr.Dataset, like: xr.DataArray) -> np.ndarray:
    """Find the eigenvalues (..., replicate, value) of the map of values; one for the identity."""
    maps = [
        trajectory[name].transpose(*like.dims, "feature", "projected").values
        for name in ("w_v", "w_o")
        if name in trajectory
    ]
    if not maps:
        return np.ones((*like.shape, 1))
    return np.linalg.eigvals(maps[0] @ maps[1] if len(maps) > 1 else maps[0])


def filter_matrix(rule: gains.Rule, attention: np.ndarray) -> np.ndarray:
    """Form the filter (query, key) of a rule without leading dimensions."""
    return Filter(tuple(rule.high), tuple(rule.mean)).matrix(attention)
