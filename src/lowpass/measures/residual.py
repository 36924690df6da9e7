"""The gains of a layer's modes, as its tokens show them and as two formulas have them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from lowpass.labels import DIMENSIONS, VARIABLES, Card
from lowpass.measures.components import tokens_of
from lowpass.measures.eigen import over_modes
from lowpass.measures.matrices import mixing
from lowpass.measures.names import MEASURES
from lowpass.measures.predictions import filter_matrix, labelled, matrices_of, rule_of
from lowpass.registry import Refusal
from lowpass.residual import Modes, gain_defect, measured_gains
from lowpass.rounding import ROUNDING, Remainder

if TYPE_CHECKING:
    import xarray as xr

    from lowpass.gains import Rule

# What the two formulas speak of: one layer of one matrix, whose tokens are recorded.
OF = ("matrix", "transient", "frozen", "pair", "attention")
OF_MODES = ("replicate", "mode", "value_mode")
DIMENSIONS.enter("value_mode", Card("j", "mode of the values' projection"))

VARIABLES.enter(
    "layer_gain_real",
    Card(r"\mathrm{Re}\,u_i^*X_1w_j/u_i^*X_0w_j", "real part of a measured gain", dims=OF_MODES),
)
ROUNDING.enter("layer_gain_real", Remainder())


@MEASURES.add("layer_gain_real", of=OF)
def layer_gain_real(trajectory: xr.Dataset) -> xr.DataArray:
    """Measure the gains of a layer: coefficients of the tokens of layer 1 over those of layer 0.

    Returns
    -------
    (..., replicate, mode, value_mode) float
        Real parts; modes of the matrix and of the projection of values are those of their
        eigenvalues by decreasing modulus.
    """
    return gains_of(trajectory, lambda *seen: np.real(measured_gains(*seen[:3])))


VARIABLES.enter(
    "layer_gain_imag",
    Card(
        r"\mathrm{Im}\,u_i^*X_1w_j/u_i^*X_0w_j", "imaginary part of a measured gain", dims=OF_MODES
    ),
)
ROUNDING.enter("layer_gain_imag", Remainder())


@MEASURES.add("layer_gain_imag", of=OF)
def layer_gain_imag(trajectory: xr.Dataset) -> xr.DataArray:
    """Measure the gains of a layer, in the same order.

    Returns
    -------
    (..., replicate, mode, value_mode) float
        Imaginary parts.
    """
    return gains_of(trajectory, lambda *seen: np.imag(measured_gains(*seen[:3])))


VARIABLES.enter(
    "operator_gain_real",
    Card(r"\mathrm{Re}(s+h\lambda_i\mu_j)", "real part of a predicted gain", dims=OF_MODES),
)
ROUNDING.enter("operator_gain_real", Remainder())


@MEASURES.add("operator_gain_real", of=OF)
def operator_gain_real(trajectory: xr.Dataset) -> xr.DataArray:
    """Predict the gains of the operator sI ⊗ I + hM ⊗ Wᵀ, in the same order.

    Returns
    -------
    (..., replicate, mode, value_mode) float
        Real parts.
    """
    return gains_of(trajectory, lambda modes, _, __, rule: np.real(operator(modes, rule)))


VARIABLES.enter(
    "operator_gain_imag",
    Card(r"\mathrm{Im}(s+h\lambda_i\mu_j)", "imaginary part of a predicted gain", dims=OF_MODES),
)
ROUNDING.enter("operator_gain_imag", Remainder())


@MEASURES.add("operator_gain_imag", of=OF)
def operator_gain_imag(trajectory: xr.Dataset) -> xr.DataArray:
    """Predict the gains of the operator sI ⊗ I + hM ⊗ Wᵀ, in the same order.

    Returns
    -------
    (..., replicate, mode, value_mode) float
        Imaginary parts.
    """
    return gains_of(trajectory, lambda modes, _, __, rule: np.imag(operator(modes, rule)))


VARIABLES.enter(
    "written_gain_real",
    Card(r"\mathrm{Re}((s+h\lambda_i)\mu_j)", "real part of the gain of note 1", dims=OF_MODES),
)
ROUNDING.enter("written_gain_real", Remainder())


@MEASURES.add("written_gain_real", of=OF)
def written_gain_real(trajectory: xr.Dataset) -> xr.DataArray:
    """Predict gains as if the skip went through the projection of values too.

    Returns
    -------
    (..., replicate, mode, value_mode) float
        Real parts, in the same order; those of (2I - τL)W_V for a residual layer.
    """
    return gains_of(trajectory, lambda modes, _, __, rule: np.real(written(modes, rule)))


VARIABLES.enter(
    "written_gain_imag",
    Card(
        r"\mathrm{Im}((s+h\lambda_i)\mu_j)", "imaginary part of the gain of note 1", dims=OF_MODES
    ),
)
ROUNDING.enter("written_gain_imag", Remainder())


@MEASURES.add("written_gain_imag", of=OF)
def written_gain_imag(trajectory: xr.Dataset) -> xr.DataArray:
    """Predict gains as if the skip went through the projection of values too.

    Returns
    -------
    (..., replicate, mode, value_mode) float
        Imaginary parts, in the same order.
    """
    return gains_of(trajectory, lambda modes, _, __, rule: np.imag(written(modes, rule)))


VARIABLES.enter(
    "operator_defect",
    Card(
        r"\max_{ij}|u_i^*X_1w_j-(s+h\lambda_i\mu_j)u_i^*X_0w_j|/\|X_0\|",
        "largest defect of a predicted gain",
        dims=("replicate",),
    ),
)
ROUNDING.enter("operator_defect", Remainder())


@MEASURES.add("operator_defect", of=OF)
def operator_defect(trajectory: xr.Dataset) -> xr.DataArray:
    """Compare the first layer with the operator sI ⊗ I + hM ⊗ Wᵀ, in its worst mode.

    Returns
    -------
    (..., replicate) float
        Relative to the tokens; rounding.
    """
    return defect_of(trajectory, operator)


VARIABLES.enter(
    "written_defect",
    Card(
        r"\max_{ij}|u_i^*X_1w_j-(s+h\lambda_i)\mu_ju_i^*X_0w_j|/\|X_0\|",
        "largest defect of a gain of note 1",
        dims=("replicate",),
    ),
)
ROUNDING.enter("written_defect", Remainder())


@MEASURES.add("written_defect", of=OF)
def written_defect(trajectory: xr.Dataset) -> xr.DataArray:
    """Compare the first layer with gains whose skip goes through the projection of values.

    Returns
    -------
    (..., replicate) float
        Relative to the tokens; rounding where that projection is the identity or there is no
        skip.
    """
    return defect_of(trajectory, written)


def operator(modes: Modes, rule: Rule) -> np.ndarray:
    """Give the gains (mode, value_mode) of a layer's operator."""
    return modes.gains(float(rule.skip), float(rule.step))


def written(modes: Modes, rule: Rule) -> np.ndarray:
    """Give the gains (mode, value_mode) that note 1 has for it."""
    return modes.written_gains(float(rule.skip), float(rule.step))


def gains_of(trajectory: xr.Dataset, function: Callable[..., np.ndarray]) -> xr.DataArray:
    """Apply a function of modes, two layers of tokens and a rule that gives one for each mode."""
    found = each_first_layer(trajectory, function)
    like = over_modes(mixing(trajectory), lambda a: a[..., 0])
    wide = like.expand_dims(value_mode=np.arange(found.shape[-1]), axis=-1)
    return wide.copy(data=found)


def defect_of(trajectory: xr.Dataset, gains: Callable[[Modes, Rule], np.ndarray]) -> xr.DataArray:
    """Give the largest defect of the gains that are said of each layer."""
    worst = each_first_layer(
        trajectory,
        lambda modes, before, after, rule: gain_defect(
            modes, before, after, gains(modes, rule)
        ).max(),
    )
    return labelled(trajectory, worst)


def each_first_layer(trajectory: xr.Dataset, function: Callable[..., np.ndarray]) -> np.ndarray:
    """Apply a function to the first layer of every run, with the modes of its filter.

    Raises
    ------
    Refusal
        Where the tokens of layers 0 and 1 are not both recorded.
    """
    recorded = trajectory["recorded_layer"].values.tolist()
    if not {0, 1} <= set(recorded):
        raise Refusal(
            f"the gain of a layer is read off the tokens of layers 0 and 1, and layers {recorded} "
            f"are recorded; write 'record: [0, 1]'."
        )
    attention, rule = matrices_of(trajectory), rule_of(trajectory)
    dims = mixing(trajectory).transpose(..., "query", "key").dims[:-2]
    x = tokens_of(trajectory.sel(recorded_layer=[0, 1]))
    x = x.transpose(*dims, "recorded_layer", "token", "feature").values
    maps = maps_of(trajectory, dims, x.shape[-1])
    places = list(np.ndindex(attention.shape[:-2]))
    found = [
        function(
            Modes.of(first_matrix(rule.at(place), attention[place]), maps[place]),
            *x[place],
            rule.at(place),
        )
        for place in places
    ]
    return np.reshape(found, (*attention.shape[:-2], *np.shape(found[0])))


def first_matrix(rule: Rule, attention: np.ndarray) -> np.ndarray:
    """Form what the first layer multiplies tokens with; its source is these tokens themselves."""
    return filter_matrix(rule, attention) + rule.source * np.eye(attention.shape[-1])


def maps_of(trajectory: xr.Dataset, dims: tuple, width: int) -> np.ndarray:
    """Give the map of values (..., feature, feature), which a missing projection leaves out."""
    shape = tuple(trajectory.sizes[dim] for dim in dims)
    product = np.broadcast_to(np.eye(width), (*shape, width, width))
    for name in ("w_v", "w_o"):
        if name in trajectory:
            product = product @ trajectory[name].transpose(*dims, "feature", "projected").values
    return product
