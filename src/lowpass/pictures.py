"""Tokens that are patches of a picture.

It owns the way from grey levels to tokens, and from tokens back to grey levels:
what a person sees of a layer. Files are opened elsewhere; here a picture is bytes
or an array.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import numpy as np

from lowpass.data import GENERATORS
from lowpass.domains import Count
from lowpass.registry import Refusal

if TYPE_CHECKING:
    from PIL.Image import Image

# The largest level of each greyscale mode that Pillow reads.
WHITE = {"L": 255, "I;16": 65535, "I;16B": 65535}


@GENERATORS.add("image", kind="tokens", reads=True, picture=True)
def image(content: bytes, *, path: str, patch: Count = 4, copies: Count = 1) -> dict:
    """Cut a greyscale picture into square patches, each of them a token.

    Parameters
    ----------
    content : bytes
        Of an image file, 8 or 16 bits deep.
    path : str
        The picture, in grey; named from the project's folder.
    patch : int
        Side of a patch in pixels; it divides height and width.
    copies : int
        Number of replicates, all of them this picture: as many draws of random weights.

    Returns
    -------
    dict of str to array
        ``x`` (replicate, token, feature): grey levels as the file states them, 0 for
        black and 1 for white, a feature for each pixel of a patch. ``row`` and
        ``column`` (token,) of a patch's first pixel, ``patch_row`` and
        ``patch_column`` (feature,) of a pixel within its patch.

    Raises
    ------
    Refusal
        If it is no greyscale picture, or patches do not tile it.
    """
    levels = grey_levels(content, path)
    height, width = levels.shape
    if height % patch or width % patch:
        raise Refusal(
            f"{path}: {height} x {width} pixels are no whole number of patches of {patch} x "
            f"{patch}; tokens tile the picture. Crop it, or choose a patch that divides both."
        )
    tiles = levels.reshape(height // patch, patch, width // patch, patch).swapaxes(1, 2)
    x = tiles.reshape(-1, patch * patch)
    row, column = np.indices(tiles.shape[:2]) * patch
    patch_row, patch_column = np.indices((patch, patch))
    return {
        "x": np.repeat(x[None], copies, axis=0),
        "row": row.ravel(),
        "column": column.ravel(),
        "patch_row": patch_row.ravel(),
        "patch_column": patch_column.ravel(),
    }


def grey_levels(content: bytes, path: str) -> np.ndarray:
    """Read the grey levels of a picture.

    Parameters
    ----------
    content : bytes
    path : str
        The file it came from, for messages.

    Returns
    -------
    (pixel_row, pixel_column) float
        In [0, 1].

    Raises
    ------
    Refusal
        If the content is no picture, has colours or transparency, or several frames.
    """
    from PIL import Image

    try:
        with Image.open(io.BytesIO(content)) as picture:
            check_grey(picture, path)
            return np.asarray(picture, dtype=np.float64) / WHITE[picture.mode]
    except Refusal:
        raise
    except Exception as fault:
        raise Refusal(
            f"{path}: cannot be read as a picture ({type(fault).__name__}); give a PNG, TIFF or "
            f"JPEG file that is whole."
        ) from None


def check_grey(picture: Image, path: str) -> None:
    """Refuse a picture that is more than one array of grey levels."""
    frames = getattr(picture, "n_frames", 1)
    if frames > 1:
        raise Refusal(
            f"{path}: holds {frames} pictures; tokens are patches of one. Save one of them."
        )
    if picture.mode not in WHITE or "transparency" in picture.info:
        see_through = ", with transparency" if "transparency" in picture.info else ""
        raise Refusal(
            f"{path}: is not greyscale but of the mode {picture.mode}{see_through}; a pixel is "
            f'one number here. Convert it: python -c "from PIL import Image; '
            f"Image.open('{path}').convert('L').save('grey.png')\"."
        )


def assembled(
    x: np.ndarray,
    *,
    row: np.ndarray,
    column: np.ndarray,
    patch_row: np.ndarray,
    patch_column: np.ndarray,
) -> np.ndarray:
    """Put patches back where they were cut out.

    Parameters
    ----------
    x : (..., token, feature) float
    row, column : (token,) int
        Of a patch's first pixel.
    patch_row, patch_column : (feature,) int
        Of a pixel within its patch.

    Returns
    -------
    (..., pixel_row, pixel_column) float

    Raises
    ------
    Refusal
        If the patches leave a gap or overlap.
    """
    down = row[:, None] + patch_row
    across = column[:, None] + patch_column
    shape = (int(down.max()) + 1, int(across.max()) + 1)
    covered = np.zeros(shape, dtype=int)
    np.add.at(covered, (down, across), 1)
    if (covered != 1).any():
        place = np.argwhere(covered != 1)[0]
        raise Refusal(
            f"pixel {place.tolist()} is covered by {covered[tuple(place)]} patches; a picture is "
            "put together from patches that tile it. Give every token its own row and column."
        )
    picture = np.empty((*x.shape[:-2], *shape))
    picture[..., down, across] = x
    return picture
