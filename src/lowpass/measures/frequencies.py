"""What a trajectory does to Fourier modes along its tokens, measured and in closed form."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from lowpass import fourier, ring, spectra
from lowpass.labels import DIMENSIONS, VARIABLES, Card
from lowpass.measures.components import mean_of, tokens_of
from lowpass.measures.matrices import mixing, of_matrices
from lowpass.measures.names import MEASURES
from lowpass.rounding import ROUNDING, Remainder

if TYPE_CHECKING:
    import xarray as xr

DIMENSIONS.enter("frequency", Card("k", "periods along the tokens"))
VARIABLES.enter(
    "dft_mean_defect",
    Card(
        r"\max|F^{-1}e_1\hat z_1-Jz|",
        "largest difference between zero frequency and token mean",
        dims=("replicate",),
    ),
)
ROUNDING.enter("dft_mean_defect", Remainder(magnitude=10.0))


@MEASURES.add("dft_mean_defect")
def dft_mean_defect(trajectory: xr.Dataset) -> xr.DataArray:
    """Compare the zero-frequency part of the tokens' Fourier transform with their mean.

    Returns
    -------
    (..., replicate) float
        Largest absolute difference over tokens and features of layer 0.
    """
    first = trajectory.sel(recorded_layer=[0])
    x = tokens_of(first).isel(recorded_layer=0, drop=True)
    mean = mean_of(first).isel(recorded_layer=0, drop=True)
    zero_frequency = x.copy(data=spectra.dft_mean(x.values))
    return abs(zero_frequency - mean).max(("token", "feature"))


VARIABLES.enter(
    "input_mode_gain",
    Card(r"\|A f_k\|", "gain of an input mode", dims=("replicate", "frequency")),
)


@MEASURES.add("input_mode_gain", of="matrix", ordered=True)
def input_mode_gain(trajectory: xr.Dataset) -> xr.DataArray:
    """Measure how much of a Fourier mode is left after one layer, whatever it turned into.

    Returns
    -------
    (..., replicate, frequency) float
        One at frequency zero.
    """
    return over_frequencies(trajectory, fourier.input_mode_gain)


VARIABLES.enter(
    "output_spectrum",
    Card(r"\|e_k^\top FA\|", "spectrum of mixed white noise", dims=("replicate", "frequency")),
)


@MEASURES.add("output_spectrum", of="matrix", ordered=True)
def output_spectrum(trajectory: xr.Dataset) -> xr.DataArray:
    """Measure how strongly each frequency comes out of a layer when white noise goes in.

    Returns
    -------
    (..., replicate, frequency) float
        In units of the noise. Published spectra of attention maps are these row norms of F A Fᴴ,
        not the gains of modes; at frequency zero it is √n ‖column means‖, which is one only
        where columns sum to one.

    References
    ----------
    .. [1] wang2022, the spectrum of an attention map.
    """
    return over_frequencies(trajectory, fourier.output_spectrum)


VARIABLES.enter(
    "gain_rank_correlation",
    Card(r"\rho_S(k,\|Af_k\|)", "rank correlation of frequency and gain", dims=("replicate",)),
)


@MEASURES.add("gain_rank_correlation", of="matrix", ordered=True)
def gain_rank_correlation(trajectory: xr.Dataset) -> xr.DataArray:
    """Tell whether the gain of an input mode falls with its frequency, from one period on.

    Returns
    -------
    (..., replicate) float
        Spearman's, in [-1, 1]: -1 for a low-pass filter, near zero where the order of tokens
        means nothing to attention; zero where all gains are equal.

    References
    ----------
    .. [1] spearman1904.
    """
    return of_matrices(
        mixing(trajectory), lambda a: fourier.rank_correlation(fourier.input_mode_gain(a))
    )


VARIABLES.enter(
    "offdiagonal_dft_energy",
    Card(
        r"\sum_{k\neq l}|(FAF^H)_{kl}|^2/\|A\|_F^2",
        "share of attention that couples different frequencies",
        dims=("replicate",),
    ),
)
ROUNDING.enter("offdiagonal_dft_energy", Remainder())


@MEASURES.add("offdiagonal_dft_energy", of="matrix", ordered=True)
def offdiagonal_dft_energy(trajectory: xr.Dataset) -> xr.DataArray:
    """Measure how far the Fourier transform is from diagonalising the attention matrix.

    Returns
    -------
    (..., replicate) float
        In [0, 1]: zero where attention depends on the distance of tokens on a ring only.
    """
    return of_matrices(mixing(trajectory), fourier.offdiagonal_energy)


VARIABLES.enter(
    "bessel_gain",
    Card(
        r"I_k(\beta)/I_0(\beta)",
        "predicted gain of attention on a circle",
        dims=("replicate", "frequency"),
    ),
)


@MEASURES.add("bessel_gain", of="temperature")
def bessel_gain(trajectory: xr.Dataset) -> xr.DataArray:
    """Predict the gain of attention whose logits are β cos(θᵢ − θⱼ), for a dense circle.

    Returns
    -------
    (..., replicate, frequency) float
        In [0, 1].

    References
    ----------
    .. [1] olver2010, equation 10.32.3.
    """
    return on_frequencies(trajectory, trajectory["inverse_temperature"], ring.bessel_gain)


VARIABLES.enter(
    "gaussian_gain",
    Card(
        r"e^{-k^2/2\beta}", "gain of the heat equation on a circle", dims=("replicate", "frequency")
    ),
)


@MEASURES.add("gaussian_gain", of="temperature")
def gaussian_gain(trajectory: xr.Dataset) -> xr.DataArray:
    """Predict the gain of the heat equation on a circle after the time 1/(2β).

    Returns
    -------
    (..., replicate, frequency) float
        In [0, 1].
    """
    return on_frequencies(trajectory, trajectory["inverse_temperature"], ring.gaussian_gain)


VARIABLES.enter(
    "ring_heat_gain",
    Card(
        r"e^{-\tau(2-2\cos\omega)}", "gain of diffusion on a ring", dims=("replicate", "frequency")
    ),
)


@MEASURES.add("ring_heat_gain", of="diffusion", ordered=True)
def ring_heat_gain(trajectory: xr.Dataset) -> xr.DataArray:
    """Predict the gain of one layer of diffusion on a ring of tokens.

    Returns
    -------
    (..., replicate, frequency) float
        In [0, 1].
    """
    turn = 2 * np.pi / trajectory.sizes["token"]
    return on_frequencies(
        trajectory, trajectory["layer_time"], lambda k, time: ring.ring_heat_gain(turn * k, time)
    )


def on_frequencies(trajectory: xr.Dataset, parameter: xr.DataArray, gain) -> xr.DataArray:
    """Compute a closed form (frequency, parameter) at every frequency that the tokens resolve."""
    import xarray as xr

    k = xr.DataArray(np.arange(trajectory.sizes["token"] // 2 + 1), dims="frequency")
    values = gain(k.values, parameter.values[..., None])
    return xr.DataArray(
        values, {**parameter.coords, "frequency": k.values}, (*parameter.dims, "frequency")
    )


def over_frequencies(
    trajectory: xr.Dataset, spectrum: Callable[[np.ndarray], np.ndarray]
) -> xr.DataArray:
    """Apply a function of matrices (..., query, key) that gives (..., frequency)."""
    import xarray as xr

    a = mixing(trajectory).transpose(..., "query", "key")
    values = spectrum(a.values)
    return xr.DataArray(
        values,
        {**coords_of(a), "frequency": np.arange(values.shape[-1])},
        (*a.dims[:-2], "frequency"),
    )


def coords_of(matrix: xr.DataArray) -> dict:
    """Give the coordinates of the dimensions before a matrix's own two."""
    return {name: matrix[name] for name in matrix.dims[:-2] if name in matrix.coords}
