"""A frozen attention matrix, applied again and again.

It owns how a layer follows from the one before it, in split form beyond machine
precision, and in one floating array.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from lowpass.splits import Split, binary_exponent, remove_stationary


def iterate_split(attention: np.ndarray, state: Split, stationary: np.ndarray) -> Iterator[Split]:
    r"""Apply one matrix for ever, in split form.

    Each layer is :math:`R \leftarrow (I - 1\pi^\top) A R` followed by an exact
    change of exponent; s never changes. A stored row of A sums to one only to
    rounding. In an unsplit array that error is relative to the surviving part
    and soon hides the dying one. Here A never multiplies s, and what the error
    adds to A R is relative to R itself: its part along 1 is projected out, the
    rest is one more rounding. The relative error of R therefore grows only
    linearly with depth, however small R becomes.

    Parameters
    ----------
    attention : (..., query, key) float
        Row-stochastic.
    state : Split
        The start.
    stationary : (..., token) float
        Left eigenvector π of A to the eigenvalue one, entrywise accurate.

    Yields
    ------
    Split
        The start (layer 0), then one state for each layer, without end.
    """
    while True:
        yield state
        mixed = attention @ state.rest
        remove_stationary(stationary, mixed, out=mixed)
        shift = binary_exponent(mixed)
        # A product with a power of two is exact, as ldexp is, and takes a fraction of its time.
        mixed *= np.ldexp(1.0, -shift)[..., None, None]
        state = Split(state.kept, mixed, state.exponent + shift, state.kept_exponent)


def iterate_plain(attention: np.ndarray, x: np.ndarray, dtype: str) -> Iterator[np.ndarray]:
    """Apply one matrix for ever, in one floating array.

    Parameters
    ----------
    attention : (..., query, key) float
    x : (..., token, feature) float
    dtype : str
        ``"float64"`` or ``"float32"``. The ratio of HC to DC stalls between
        :func:`lowpass.spectra.rounding_floor` and the rounding of a sum, 2 n u.

    Yields
    ------
    (..., token, feature) float
        The start (layer 0), then one array for each layer, without end.
    """
    attention, x = attention.astype(dtype, copy=False), x.astype(dtype)
    while True:
        yield x
        x = attention @ x
