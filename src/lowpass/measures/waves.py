"""How much of each frequency there is in the tokens of recorded layers, taken as a row."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from lowpass import fourier
from lowpass.labels import VARIABLES, Card
from lowpass.measures.layered import split_tokens
from lowpass.measures.names import MEASURES
from lowpass.rounding import DECADES, ROUNDING, Logarithm

if TYPE_CHECKING:
    import xarray as xr

NOTHING_THERE = "nothing is left of a frequency"

VARIABLES.enter(
    "log10_dft_amplitude",
    Card(
        r"\log_{10}\sqrt{\langle|\hat x_k|^2\rangle}",
        "decimal logarithm of the amplitude of a frequency",
        dims=("replicate", "recorded_layer", "frequency"),
        infinite=NOTHING_THERE,
    ),
)
ROUNDING.enter("log10_dft_amplitude", Logarithm(reach=DECADES))


@MEASURES.add("log10_dft_amplitude", ordered=True)
def log10_dft_amplitude(trajectory: xr.Dataset) -> xr.DataArray:
    """Give the root mean square amplitude over features of each frequency along the tokens.

    Frequency zero comes from the mean and all others from what differs from it, each with its
    own binary exponent, so that none hides the other.

    Returns
    -------
    (..., replicate, recorded_layer, frequency) float
        Decimal logarithm. The transform is unitary; nothing is shifted or left out: frequencies
        0, 1, ... n // 2, an odd number of tokens included, and each counted once.
    """
    return over_waves(trajectory, root_mean_square)


VARIABLES.enter(
    "delta_log_amplitude",
    Card(
        r"\langle\ln|\hat x_k|-\ln|\hat x_0|\rangle",
        "log amplitude relative to that of frequency zero",
        dims=("replicate", "recorded_layer", "frequency"),
        infinite=NOTHING_THERE,
    ),
)
ROUNDING.enter("delta_log_amplitude", Logarithm(floored=True, reach=DECADES, power=np.log(10)))


@MEASURES.add("delta_log_amplitude", ordered=True)
def delta_log_amplitude(trajectory: xr.Dataset) -> xr.DataArray:
    """Average natural logarithms of amplitudes over features, less that of frequency zero.

    As Park and Kim draw it, but for tokens in a row, at all frequencies 0, 1, ... n // 2 without
    a shift, and without the 1e-6 that their program adds to an amplitude, below which nothing
    could be followed. A CLS token counts like any other; theirs is left out.

    Returns
    -------
    (..., replicate, recorded_layer, frequency) float
        Natural logarithm, dimensionless; zero at frequency zero. Minus infinity where nothing
        is left of a frequency in some feature, plus infinity where nothing is left of zero.

    References
    ----------
    .. [1] park2022, relative log amplitudes of feature maps.
    """
    log = over_waves(trajectory, mean_logarithm) * np.log(10)
    first = log.isel(frequency=0, drop=True)
    # Where frequency zero is empty, every other that is not lies infinitely far above it.
    away = log - first.where(np.isfinite(first), 0)
    delta = away.where(np.isfinite(first) | ~np.isfinite(log), np.inf)
    return delta.where(delta["frequency"] > 0, 0)


def over_waves(
    trajectory: xr.Dataset, together: Callable[[np.ndarray], np.ndarray]
) -> xr.DataArray:
    """Give log10 amplitudes (..., recorded_layer, frequency), features being put together."""
    import xarray as xr

    x, like = split_tokens(trajectory), trajectory["hc_exponent"]
    zero = together(np.sqrt(x.rest.shape[-2]) * np.abs(x.mean))
    others = together(fourier.amplitudes(x.rest)[..., 1:, :])
    zero, others = (
        values + np.log10(2) * exponent
        for values, exponent in ((zero, x.mean_exponent), (others, x.rest_exponent[..., None]))
    )
    log = np.concatenate([zero[..., None], others], axis=-1)
    leading = {name: like[name] for name in like.dims if name in like.coords}
    return xr.DataArray(
        log, {**leading, "frequency": np.arange(log.shape[-1])}, (*like.dims, "frequency")
    )


def root_mean_square(amplitude: np.ndarray) -> np.ndarray:
    """Give log10 of the root mean square over features (..., feature)."""
    with np.errstate(divide="ignore"):
        return np.log10((amplitude**2).mean(axis=-1)) / 2


def mean_logarithm(amplitude: np.ndarray) -> np.ndarray:
    """Give the mean over features (..., feature) of log10."""
    with np.errstate(divide="ignore"):
        return np.log10(amplitude).mean(axis=-1)
