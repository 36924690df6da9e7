"""A trajectory of patches as a person sees it: the picture at each recorded depth."""

from __future__ import annotations

import numpy as np
import xarray as xr

from lowpass import fourier, pictures
from lowpass.labels import DIMENSIONS, VARIABLES, Card
from lowpass.measures.components import tokens_of
from lowpass.measures.names import MEASURES
from lowpass.registry import Refusal

DIMENSIONS.enter("pixel_row", Card("", "pixel row"))
DIMENSIONS.enter("pixel_column", Card("", "pixel column"))
DIMENSIONS.enter("radial_frequency", Card("f", "frequency", units="1/pixel"))

PLACES = ("row", "column", "patch_row", "patch_column")


VARIABLES.enter(
    "picture",
    Card(
        "X",
        "picture",
        dims=("replicate", "recorded_layer", "pixel_row", "pixel_column"),
    ),
)


@MEASURES.add("picture", of="picture")
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
    "log10_radial_power",
    Card(
        r"\log_{10}\overline{|\hat X|^2}",
        "decimal logarithm of the mean power",
        dims=("replicate", "recorded_layer", "radial_frequency"),
        infinite="a frequency at which nothing is left",
    ),
)


@MEASURES.add("log10_radial_power", of="picture")
def log10_radial_power(trajectory: xr.Dataset) -> xr.DataArray:
    """Average the power of the picture without its mean patch over rings of frequency.

    The binary exponent is added to the logarithm, so that nothing underflows.

    Returns
    -------
    (..., replicate, recorded_layer, radial_frequency) float
        Of the unitary transform of the high-frequency component.
    """
    seen = assembled(trajectory, trajectory["hc"])
    frequency, power, _ = fourier.radial_spectrum(seen.values)
    with np.errstate(divide="ignore"):
        logarithm = np.log10(power)
    exponent = trajectory["hc_exponent"].transpose(*seen.dims[:-2]).values
    leading = {name: seen[name] for name in seen.dims[:-2]}
    return xr.DataArray(
        logarithm + 2 * np.log10(2) * exponent[..., None],
        {**leading, "radial_frequency": frequency},
        (*seen.dims[:-2], "radial_frequency"),
    )


def assembled(trajectory: xr.Dataset, x: xr.DataArray) -> xr.DataArray:
    """Put tokens (..., token, feature) together to pictures (..., pixel_row, pixel_column).

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
    places = {name: trajectory[name].values for name in PLACES}
    seen = pictures.assembled(x.values, **places)
    leading = {name: x[name] for name in x.dims[:-2] if name in x.coords}
    pixels = {
        "pixel_row": np.arange(seen.shape[-2]),
        "pixel_column": np.arange(seen.shape[-1]),
    }
    return xr.DataArray(seen, {**leading, **pixels}, (*x.dims[:-2], *pixels))
