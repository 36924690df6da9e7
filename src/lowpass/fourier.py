"""Frequencies of tokens in a row, or of pixels in a picture.

It owns what discrete Fourier and cosine transforms say about a mixing matrix or an
image, with every frequency counted once and none lost, odd sizes included.
"""

from __future__ import annotations

import numpy as np


def input_mode_gain(attention: np.ndarray) -> np.ndarray:
    r"""Give how much of each Fourier mode is left after mixing, whatever it turned into.

    .. math:: g_k = \|A f_k\| = \|F A F^H e_k\|, \qquad
              (f_k)_j = e^{2\pi i j k/n} / \sqrt n

    These are the column norms of the matrix in Fourier space. A real matrix
    treats the frequencies k and n - k alike, so that their root mean square is
    either of them.

    Parameters
    ----------
    attention : (..., query, key) float
        Attention or a heat kernel.

    Returns
    -------
    (..., frequency) float
        For 0, 1, ... n // 2 periods along the tokens. One at zero where rows
        sum to one.

    See Also
    --------
    output_spectrum : the row norms, which others publish.
    """
    from scipy.fft import rfft

    # The conjugate of A f_k, which has the same norm, is a transform of the rows.
    return np.linalg.norm(np.asarray(rfft(attention, axis=-1, norm="ortho")), axis=-2)


def output_spectrum(attention: np.ndarray) -> np.ndarray:
    r"""Give how strongly each frequency comes out of mixing when white noise goes in.

    .. math:: h_k = \|e_k^\top F A\| = \|e_k^\top F A F^H\|

    These are the row norms of the matrix in Fourier space: root mean square
    amplitudes, in units of the noise. F A Fᵀ, as published, has its columns in
    another order and the same row norms.

    Parameters
    ----------
    attention : (..., query, key) float
        Attention or a heat kernel.

    Returns
    -------
    (..., frequency) float
        For 0, 1, ... n // 2 periods along the tokens. At zero it is √n ‖π‖ for
        the column means π: one where columns sum to one, and up to √n where
        few tokens are seen.

    See Also
    --------
    input_mode_gain : the column norms, a gain that is one for the mean.

    References
    ----------
    .. [1] wang2022, the spectrum of an attention map.
    """
    from scipy.fft import rfft

    return np.linalg.norm(np.asarray(rfft(attention, axis=-2, norm="ortho")), axis=-1)


def _radius(shape: tuple[int, int]) -> np.ndarray:
    """Round the distance of every frequency from zero, in half periods along the longer side."""
    longer = max(shape)
    # Whole numbers are divided last, so that halves are exact on every machine.
    down, across = (np.arange(n) * longer / n for n in shape)
    distance = np.sqrt(down[:, None] ** 2 + across[None, :] ** 2)
    return np.floor(distance + 0.5).astype(np.int64)


def radial_spectrum(picture: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    r"""Average the power of pictures over directions.

    .. math:: P_b = \frac1{n_b} \sum_{b - \frac12 \le 2Nf < b + \frac12} |\hat u(f)|^2,
              \qquad \sum_b n_b P_b = \sum_{ij} u_{ij}^2

    with the unitary cosine transform û, the frequency f in cycles per pixel, and N
    pixels along the longer side. Cosines, the modes of heat that does not leave a
    picture, because its opposite edges do not meet: a Fourier transform takes the jump
    between them for power at all frequencies.

    Parameters
    ----------
    picture : (..., row, column) float
        Need not be square.

    Returns
    -------
    frequency : (bin,) float
        b/2N cycles per pixel, from zero to the corner at about 0.71. Above 1/2
        only oblique waves exist.
    power : (..., bin) float
        Mean over the frequencies of a bin, in squared units of the picture.
    count : (bin,) int
        How many frequencies a bin averages; never zero.

    References
    ----------
    .. [1] strang1999.
    """
    from scipy.fft import dctn

    radius = _radius((picture.shape[-2], picture.shape[-1])).ravel()
    count = np.bincount(radius)
    square = np.asarray(dctn(picture, type=2, norm="ortho", axes=(-2, -1))) ** 2
    total = np.empty((*picture.shape[:-2], count.size))
    for index in np.ndindex(picture.shape[:-2]):
        total[index] = np.bincount(radius, weights=square[index].ravel())
    return np.arange(count.size) / (2 * max(picture.shape[-2:])), total / count, count
