"""A trajectory of patches as a person sees it: the picture at each recorded depth."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from lowpass import fourier, pictures
from lowpass.labels import DIMENSIONS, VARIABLES, Card
from lowpass.measures.components import tokens_of
from lowpass.measures.names import MEASURES
from lowpass.registry import Refusal
from lowpass.rounding import DECADES, ROUNDING, Logarithm, Remainder

if TYPE_CHECKING:
    import xarray as xr

DIMENSIONS.enter("pixel_row", Card("", "pixel row"))
DIMENSIONS.enter("pixel_column", Card("", "pixel column"))
DIMENSIONS.enter("radial_frequency", Card("f", "frequency", units="1/patch"))
DIMENSIONS.enter("wave_frequency", Card("f", "frequency of a plane wave", units="1/patch"))

PIXELS = ("pixel_row", "pixel_column")
PLACES = ("row", "column", "patch_row", "patch_column")


VARIABLES.enter(
    "picture",
    Card(
        "X",
        "picture",
        dims=("replicate", "recorded_layer", "pixel_row", "pixel_column"),
    ),
)


@MEASURES.add("picture", of="picture", ordered=True)
def picture(trajectory: xr.Dataset) -> xr.DataArray:
    """Put the patches of every recorded layer together.

    Parameters
    ----------
    trajectory : Dataset
        Of tokens that are patches of a picture.

    Returns
    -------
    (..., replicate, recorded_layer, pixel_row, pixel_column) float
        Grey levels as at the start: 0 is black and 1 is white.
    """
    return assembled(trajectory, tokens_of(trajectory))


VARIABLES.enter(
    "fitted_picture",
    Card(
        "aX+b",
        "picture, as near to the photograph as brightness and contrast bring it",
        dims=("replicate", "recorded_layer", "pixel_row", "pixel_column"),
    ),
)
ROUNDING.enter("fitted_picture", Remainder())


@MEASURES.add("fitted_picture", of="picture", ordered=True)
def fitted_picture(trajectory: xr.Dataset) -> xr.DataArray:
    """Change every picture's brightness and contrast so that it comes nearest to the first.

    Layer norm leaves no grey level as it is; what a picture still tells of the first one is what
    a person would see who may turn two knobs.

    Returns
    -------
    (..., replicate, recorded_layer, pixel_row, pixel_column) float
        Least-squares fit of the first picture by each; all of one grey where nothing is alike.
    """
    seen = picture(trajectory)
    first = seen.sel(recorded_layer=0, drop=True)
    across, alone, mean = moments(seen, first)
    gain = across / alone.where(alone > 0, 1.0)
    return (first.mean(PIXELS) + gain * (seen - mean)).transpose(*seen.dims)


VARIABLES.enter(
    "picture_correlation",
    Card("r", "correlation with the photograph", dims=("replicate", "recorded_layer")),
)
ROUNDING.enter("picture_correlation", Remainder())


@MEASURES.add("picture_correlation", of="picture", ordered=True)
def picture_correlation(trajectory: xr.Dataset) -> xr.DataArray:
    """Correlate the pixels of every picture with those of the first.

    Returns
    -------
    (..., replicate, recorded_layer) float
        In [-1, 1]; zero for a picture of one grey.
    """
    seen = picture(trajectory)
    first = seen.sel(recorded_layer=0, drop=True)
    across, alone, _ = moments(seen, first)
    spread = (alone * moments(first, first)[1]) ** 0.5
    return across / spread.where(spread > 0, 1.0)


def moments(
    seen: xr.DataArray, first: xr.DataArray
) -> tuple[xr.DataArray, xr.DataArray, xr.DataArray]:
    """Give the covariance of pictures with the first one, their variance, and their mean."""
    mean = seen.mean(PIXELS)
    off = seen - mean
    return (off * (first - first.mean(PIXELS))).mean(PIXELS), (off**2).mean(PIXELS), mean


VARIABLES.enter(
    "log10_radial_power",
    Card(
        r"\log_{10}\overline{|\hat X|^2}",
        "decimal logarithm of the mean power",
        dims=("replicate", "recorded_layer", "radial_frequency"),
        infinite="a frequency at which nothing is left",
    ),
)
ROUNDING.enter("log10_radial_power", Logarithm(reach=DECADES, power=2))


@MEASURES.add("log10_radial_power", of="picture", ordered=True)
def log10_radial_power(trajectory: xr.Dataset) -> xr.DataArray:
    """Average the power of what differs from the mean patch over directions, and in a patch.

    The transform runs over the grid of patches, once for each pixel of a patch. The binary
    exponent is added to the logarithm, so that nothing underflows.

    Returns
    -------
    (..., replicate, recorded_layer, radial_frequency) float
        Of the unitary cosine transform of the high-frequency component.
    """
    return log_power(trajectory, "radial_frequency", fourier.radial_spectrum)


VARIABLES.enter(
    "log10_dft_amplitude_2d",
    Card(
        r"\log_{10}\sqrt{\langle|\hat X|^2\rangle}",
        "decimal logarithm of the amplitude of plane waves",
        dims=("replicate", "recorded_layer", "wave_frequency"),
        infinite="a frequency at which nothing is left",
    ),
)
ROUNDING.enter("log10_dft_amplitude_2d", Logarithm(reach=DECADES))


@MEASURES.add("log10_dft_amplitude_2d", of="picture", ordered=True)
def log10_dft_amplitude_2d(trajectory: xr.Dataset) -> xr.DataArray:
    """Average the amplitude of plane waves of patches over directions, and in a patch.

    The root mean square, of the unitary Fourier transform of what differs from the mean patch.
    Others draw this one; :func:`log10_radial_power` is the default, since a Fourier transform
    joins opposite edges of a picture and takes their jump for power at all frequencies.

    Returns
    -------
    (..., replicate, recorded_layer, wave_frequency) float
        Decimal logarithm. No frequency is shifted, lost or weighted twice, odd sides included.

    References
    ----------
    .. [1] park2022, Fourier analysis of feature maps.
    """
    log = log_power(trajectory, "wave_frequency", fourier.radial_wave_spectrum)
    return log / 2


def log_power(
    trajectory: xr.Dataset, dim: str, spectrum: Callable[[np.ndarray], tuple]
) -> xr.DataArray:
    """Take log10 of the mean power at each frequency, with the binary exponent added to it."""
    import xarray as xr

    seen = on_grid(trajectory, trajectory["hc"])
    frequency, power, *_ = spectrum(seen.values)
    seen = seen.isel(feature=0)
    with np.errstate(divide="ignore"):
        logarithm = np.log10(power.mean(axis=-2))
    exponent = trajectory["hc_exponent"].transpose(*seen.dims[:-2]).values
    leading = {name: seen[name] for name in seen.dims[:-2] if name in seen.coords}
    return xr.DataArray(
        logarithm + 2 * np.log10(2) * exponent[..., None],
        {**leading, dim: frequency},
        (*seen.dims[:-2], dim),
    )


def places_of(trajectory: xr.Dataset) -> dict[str, np.ndarray]:
    """Say where tokens and features lie in a picture.

    Raises
    ------
    Refusal
        When tokens are no patches of a picture.
    """
    if not set(PLACES) <= set(trajectory.coords):
        raise Refusal(
            "these tokens are no patches of a picture, so there is nothing to see; take measures "
            "of pictures where data.generator is 'image'."
        )
    return {name: trajectory[name].values for name in PLACES}


def on_grid(trajectory: xr.Dataset, x: xr.DataArray) -> xr.DataArray:
    """Lay tokens (..., token, feature) out as the grid of patches (..., feature, row, column)."""
    import xarray as xr

    places = places_of(trajectory)
    steps = {name: np.unique(places[name], return_inverse=True)[1] for name in ("row", "column")}
    single = np.zeros(1, dtype=int)
    each = np.swapaxes(x.values, -1, -2)[..., None]
    grid = pictures.assembled(each, **steps, patch_row=single, patch_column=single)
    leading = {name: x[name] for name in x.dims[:-2] if name in x.coords}
    return xr.DataArray(grid, leading, (*x.dims[:-2], "feature", "row", "column"))


def assembled(trajectory: xr.Dataset, x: xr.DataArray) -> xr.DataArray:
    """Put tokens (..., token, feature) together to pictures (..., pixel_row, pixel_column)."""
    import xarray as xr

    seen = pictures.assembled(x.values, **places_of(trajectory))
    leading = {name: x[name] for name in x.dims[:-2] if name in x.coords}
    pixels = {
        "pixel_row": np.arange(seen.shape[-2]),
        "pixel_column": np.arange(seen.shape[-1]),
    }
    return xr.DataArray(seen, {**leading, **pixels}, (*x.dims[:-2], *pixels))
