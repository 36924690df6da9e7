"""Which way to a fit suits a sample.

It owns the choice of a method: it knows all of them by importing their modules. What it picks
depends on sizes, bandwidth and kernel alone, never on values, on time or on what is installed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from lowpass.smoothing import binned, gridded, shortcuts, tiled
from lowpass.smoothing.checks import Sample, checked
from lowpass.smoothing.methods import METHODS, refuse_unsuited
from lowpass.smoothing.weights import refuse_unknown

# What stands for a choice among the methods.
AUTO = "auto"
# Fewer pairs of a query and a key fit in one piece of the matrix.
FEW_PAIRS = 2**18
# A series pays with so many pairs.
MANY_PAIRS = 2**22
MODULES = (binned, gridded, shortcuts, tiled)


@dataclass(frozen=True)
class Choice:
    """Hold what was picked.

    Parameters
    ----------
    method : str
        Name in ``METHODS``.
    reason : str
        Why, in one sentence.
    """

    method: str
    reason: str


def choose(sample: Sample, *, kernel: str = "gaussian", degree: int = 0) -> Choice:
    """Pick the fastest method that is as good as exact, to 1e-12 of the range of the values.

    The matrix itself for less than 2^18 pairs of a query and a key; Fourier series for 2^22
    pairs or more, where a Gaussian of at most two features averages and the bandwidth is not
    too small beside the range of the keys; tiles for all else. Methods that approximate
    (``"binned"``) or draw are never picked.

    Parameters
    ----------
    sample : Sample
    kernel : str
        Name in ``PROFILES``.
    degree : {0, 1}

    Returns
    -------
    Choice
    """
    n_pairs = len(sample.query) * len(sample.key)
    if n_pairs < FEW_PAIRS:
        return Choice("exact", f"{n_pairs} pairs of a query and a key are few.")
    if n_pairs < MANY_PAIRS:
        return Choice("tiled", f"{n_pairs} pairs of a query and a key are too few for a series.")
    said = gridded.objection(sample, kernel, degree)
    if said:
        return Choice("tiled", said)
    return Choice("gridded", f"{n_pairs} pairs cost no more than their points do in a series.")


def choice_for(
    query: ArrayLike,
    key: ArrayLike,
    bandwidth: ArrayLike,
    *,
    kernel: str = "gaussian",
    degree: int = 0,
    period: ArrayLike | None = None,
) -> Choice:
    """Say which method ``smooth(..., method="auto")`` takes, and why.

    Parameters
    ----------
    query, key, bandwidth, kernel, degree, period
        As for :func:`lowpass.smoothing.estimators.smooth`.

    Returns
    -------
    Choice

    Raises
    ------
    Refusal
        As :func:`lowpass.smoothing.checks.checked` does.

    Examples
    --------
    >>> choice_for(range(3000), range(3000), 9.0).method
    'gridded'
    """
    sample = checked(query, key, None, bandwidth, period=period)
    return choose(sample, kernel=kernel, degree=degree)


def smoothed(
    sample: Sample, *, kernel: str, degree: int, beyond: str, method: str = AUTO
) -> tuple[np.ndarray, Choice]:
    """Smooth by a method that is named, or picked, and say which one it was.

    Parameters
    ----------
    sample : Sample
    kernel : str
        Name in ``PROFILES``.
    degree : {0, 1}
    beyond : {"nearest", "refuse", "nan"}
    method : str
        Name in ``METHODS``, or ``"auto"``.

    Returns
    -------
    fit : (query, output) float
    choice : Choice

    Raises
    ------
    Refusal
        If there is no such method, or it is not made for the sample.
    """
    refuse_unknown(beyond)
    if method == AUTO:
        choice = choose(sample, kernel=kernel, degree=degree)
    else:
        refuse_unsuited(method, sample, kernel=kernel, degree=degree)
        choice = Choice(method, "It was asked for.")
    fit = METHODS[choice.method](sample, kernel=kernel, degree=degree, beyond=beyond)
    return fit, choice
