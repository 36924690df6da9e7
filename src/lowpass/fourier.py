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


def _summed(square: np.ndarray, bins: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sum pictures (..., row, column) over the pixels of each bin, and count these."""
    count = np.bincount(bins)
    total = np.empty((*square.shape[:-2], count.size))
    for index in np.ndindex(square.shape[:-2]):
        total[index] = np.bincount(bins, weights=square[index].ravel())
    return total, count


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
    square = np.asarray(dctn(picture, type=2, norm="ortho", axes=(-2, -1))) ** 2
    total, count = _summed(square, radius)
    return np.arange(count.size) / (2 * max(picture.shape[-2:])), total / count, count


def offdiagonal_energy(attention: np.ndarray) -> np.ndarray:
    r"""Give the share of a matrix that couples different frequencies.

    .. math:: \sum_{k \ne l} |(F A F^H)_{kl}|^2 \Big/ \|A\|_F^2
              = \|A - \mathcal C(A)\|_F^2 / \|A\|_F^2

    The nearest circulant matrix 𝒞(A), whose wrapped diagonals are the means of
    those of A, has the diagonal of F A Fᴴ. The difference is formed before the
    norm, so that the share of a circulant matrix is the square of rounding.

    Parameters
    ----------
    attention : (..., query, key) float
        Not zero. Frequency zero counts like every other, with its unit gain.

    Returns
    -------
    (...) float
        In [0, 1]: zero where A depends on the distance of tokens on a ring only.
    """
    n_tokens = attention.shape[-1]
    query = np.arange(n_tokens)[:, None]
    turned = attention[..., query, (query + np.arange(n_tokens)) % n_tokens]
    apart = turned - turned.mean(axis=-2, keepdims=True)
    return (apart**2).sum(axis=(-2, -1)) / (attention**2).sum(axis=(-2, -1))


def rank_correlation(gain: np.ndarray) -> np.ndarray:
    r"""Give Spearman's correlation of frequency and gain, without frequency zero.

    Parameters
    ----------
    gain : (..., frequency) float
        At frequencies 0, 1, 2, ... in this order.

    Returns
    -------
    (...) float
        In [-1, 1]: -1 where the gain falls throughout, 1 where it rises; zero
        where all gains are equal, or fewer than two frequencies are left.

    References
    ----------
    .. [1] spearman1904.
    """
    kept = gain[..., 1:]
    # How many gains are smaller, and half of those that are equal: the mean rank of ties.
    above = kept[..., :, None] - kept[..., None, :]
    rank = (np.sign(above).sum(axis=-1)) / 2
    place = np.arange(kept.shape[-1]) - (kept.shape[-1] - 1) / 2
    spread = np.sqrt((rank**2).sum(axis=-1) * (place @ place))
    together = rank @ place
    return np.divide(together, spread, out=np.zeros(spread.shape), where=spread > 0)


def amplitudes(x: np.ndarray) -> np.ndarray:
    r"""Give the modulus of each frequency of tokens in a row.

    .. math:: |\hat x_{ka}| = \frac1{\sqrt n} \Bigl| \sum_i x_{ia} e^{-2\pi i\, ik/n} \Bigr|

    The transform is unitary and nothing is shifted: frequency zero comes
    first. Those of k and n - k are equal for real tokens, and given once.

    Parameters
    ----------
    x : (..., token, feature) float

    Returns
    -------
    (..., frequency, feature) float
        For 0, 1, ... n // 2 periods along the tokens; an even n ends with the
        Nyquist frequency, and an odd one loses nothing.
    """
    from scipy.fft import rfft

    return np.abs(np.asarray(rfft(x, axis=-2, norm="ortho")))


def _wavenumber(shape: tuple[int, int]) -> np.ndarray:
    """Round the distance of every plane wave from zero, in periods along the longer side."""
    longer = max(shape)
    waves = [np.minimum(np.arange(n), n - np.arange(n)) for n in shape]
    down, across = (wave * longer / n for wave, n in zip(waves, shape, strict=True))
    distance = np.sqrt(down[:, None] ** 2 + across[None, :] ** 2)
    return np.floor(distance + 0.5).astype(np.int64)


def radial_wave_spectrum(picture: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    r"""Average the power of the plane waves of pictures over directions.

    As :func:`radial_spectrum`, with the unitary Fourier transform, to compare
    with what others draw. It joins opposite edges, whose jump it takes for
    power at all frequencies; the cosine transform is the default for that.

    Parameters
    ----------
    picture : (..., row, column) float
        Need not be square; sides may be odd.

    Returns
    -------
    frequency : (bin,) float
        b/N cycles per pixel, for N pixels along the longer side.
    power : (..., bin) float
        Mean over the plane waves of a bin, in squared units of the picture.
        Every wave counts once, its mirror image too.

    References
    ----------
    .. [1] park2022, Fourier analysis of feature maps.
    """
    from scipy.fft import fft2

    radius = _wavenumber((picture.shape[-2], picture.shape[-1])).ravel()
    square = np.abs(np.asarray(fft2(picture, norm="ortho", axes=(-2, -1)))) ** 2
    total, count = _summed(square, radius)
    return np.arange(count.size) / max(picture.shape[-2:]), total / count


def in_phase_gain(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    r"""Give by how much each frequency was multiplied, its sign included.

    .. math:: g_k = \operatorname{Re} \sum_a \overline{\hat x_{ka}} \hat y_{ka} \Big/
              \sum_a |\hat x_{ka}|^2

    Parameters
    ----------
    before, after : (..., token, feature) float

    Returns
    -------
    (..., frequency) float
        For 0, 1, ... n // 2 periods along the tokens. Where a circulant matrix acted it is the
        real part of an eigenvalue; zero where there was nothing of a frequency.
    """
    from scipy.fft import rfft

    x, y = (np.asarray(rfft(each, axis=-2, norm="ortho")) for each in (before, after))
    power = (np.abs(x) ** 2).sum(axis=-1)
    shared = np.real(x.conj() * y).sum(axis=-1)
    return np.divide(shared, power, out=np.zeros_like(power), where=power > 0)
