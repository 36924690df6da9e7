"""What a smoother may be given.

It owns the one place where observations are read: as float64, in two
dimensions, finite and of one length. Whole numbers, single precision, views,
read-only arrays and keys without a feature axis are welcome; what cannot be
smoothed is refused by its name and index.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from lowpass.registry import Refusal


@dataclass(frozen=True)
class Sample:
    """Observations that can be smoothed.

    Attributes
    ----------
    query : (query, feature) float
        Where a fit is wanted; there may be none.
    key : (key, feature) float
        Where something was observed; at least one place.
    value : (key, output) float
        What was observed; no outputs, where only weights are wanted.
    bandwidth : (feature,) float
        h, in the units of each feature; positive.
    weight : (key,) float, optional
        How much an observation counts; not negative, and not zero throughout.
    period : (feature,) float, optional
        After which keys repeat, in the units of each feature; inf where they do not.
    number : (query,) int, optional
        By which a refusal calls a query, where it is not by its place.
    """

    query: np.ndarray
    key: np.ndarray
    value: np.ndarray
    bandwidth: np.ndarray
    weight: np.ndarray | None = None
    period: np.ndarray | None = None
    number: np.ndarray | None = None

    def at(self, rows: slice | np.ndarray) -> Sample:
        """Keep some of the queries, and the numbers by which refusals call them."""
        number = np.arange(len(self.query)) if self.number is None else self.number
        return replace(self, query=self.query[rows], number=number[rows])

    def called(self, row: int) -> int:
        """Give the number by which a refusal calls a query."""
        return row if self.number is None else int(self.number[row])

    def centred(self) -> Sample:
        """Count positions from the mean of the keys: the fits of kernels of a distance stay."""
        return replace(self.key_centred(), query=self.query - self.key.mean(axis=0))

    def key_centred(self) -> Sample:
        """Count keys alone from their mean: the fits of kernels of a product stay."""
        return replace(self, key=self.key - self.key.mean(axis=0))


def checked(
    query: ArrayLike,
    key: ArrayLike,
    value: ArrayLike | None,
    bandwidth: ArrayLike,
    weight: ArrayLike | None = None,
    *,
    period: ArrayLike | None = None,
) -> Sample:
    """Read observations, or refuse them.

    Parameters
    ----------
    query : (query, feature) or (query,) float
    key : (key, feature) or (key,) float
        Without a feature axis, there is one feature.
    value : (key,) or (key, output) float, optional
    bandwidth : float or (feature,) float
    weight : (key,) float, optional
    period : float or (feature,) float, optional
        The circumference, where keys lie on a circle; inf for a feature that lies on a line.

    Returns
    -------
    Sample
        In double precision; the arguments are not changed.

    Raises
    ------
    Refusal
        If a number is missing, infinite or complex, lengths do not match, there is no key, a
        bandwidth or a period is not positive, or no weight is.
    """
    k = _places(key, "key")
    q = k if query is key else _places(query, "query")
    if q.shape[1] != k.shape[1]:
        raise Refusal(
            f"queries have {q.shape[1]} features and keys have {k.shape[1]}; a distance needs the "
            "same number. Give both the same columns."
        )
    if k.size == 0:
        raise Refusal(
            f"the keys have shape {k.shape}; an average needs at least one. Give an observation."
        )
    v = np.empty((len(k), 0)) if value is None else _values(value, len(k))
    h = _scales(bandwidth, k.shape[1], "bandwidth")
    p = None if period is None else _scales(period, k.shape[1], "period")
    return Sample(q, k, v, h, None if weight is None else _counts(weight, len(k)), p)


def numbers(given: ArrayLike, name: str) -> np.ndarray:
    """Read an array in double precision, or refuse what is no number.

    Parameters
    ----------
    given : array_like
    name : str
        How a refusal calls it.

    Returns
    -------
    (...) float

    Raises
    ------
    Refusal
        If it holds text, complex numbers, masked entries, or rows of different lengths.
    """
    if isinstance(given, np.ma.MaskedArray) and given.mask.any():
        raise Refusal(
            f"{name} [{_first(np.ma.getmaskarray(given))}] is masked; an average needs every "
            "number. Leave those observations out."
        )
    try:
        read = np.asarray(given)
        whole = read.dtype.kind in "biufO"
        read = read.astype(np.float64) if whole else read
    except (TypeError, ValueError):
        whole = False
    if not whole:
        raise Refusal(
            f"{name} is {_what(given)}; a distance and an average need real numbers. Convert it."
        )
    return np.ascontiguousarray(read) if read.ndim else read


def _what(given: ArrayLike) -> str:
    kind = getattr(given, "dtype", type(given).__name__)
    return f"of type {kind}"


def _first(bad: np.ndarray) -> str:
    return ", ".join(str(i) for i in np.argwhere(bad)[0])


def _finite(given: ArrayLike, name: str) -> np.ndarray:
    read = numbers(given, name)
    bad = ~np.isfinite(read)
    if bad.any():
        where = f" [{_first(bad)}]" if read.ndim else ""
        raise Refusal(
            f"{name}{where} is {read[bad][0]}; it would reach every fit. Leave that one out, or "
            "fill it in."
        )
    return read


def _places(given: ArrayLike, name: str) -> np.ndarray:
    read = _finite(given, name)
    if read.ndim == 1:
        read = read[:, None]
    if read.ndim != 2:
        raise Refusal(
            f"{name} has shape {read.shape}; places are ({name},) or ({name}, feature). Reshape it."
        )
    return read


def _values(given: ArrayLike, n_keys: int) -> np.ndarray:
    read = _finite(given, "value")
    if read.ndim not in (1, 2):
        raise Refusal(
            f"value has shape {read.shape}; values are (key,) or (key, output). Reshape it."
        )
    _same_length(len(read), n_keys, "value")
    return read[:, None] if read.ndim == 1 else read


def _same_length(n_given: int, n_keys: int, name: str) -> None:
    if n_given != n_keys:
        raise Refusal(
            f"{name} has {n_given} entries and there are {n_keys} keys; each key needs its own. "
            "Check that both come from the same observations."
        )


def _counts(given: ArrayLike, n_keys: int) -> np.ndarray:
    read = _finite(given, "weight")
    if read.ndim != 1:
        raise Refusal(f"weight has shape {read.shape}; weights are (key,). Give each key one.")
    _same_length(len(read), n_keys, "weight")
    if (read < 0).any():
        raise Refusal(
            f"weight [{_first(read < 0)}] is {read[read < 0][0]:.6g}; an observation counts for "
            "nothing at least. Use a weight of zero or more."
        )
    if not read.any():
        raise Refusal("every weight is 0; an average divides by their sum. Let one key count.")
    return read


def _scales(given: ArrayLike, n_features: int, name: str) -> np.ndarray:
    read = numbers(given, name)
    if read.ndim > 1 or read.size not in (1, n_features):
        raise Refusal(
            f"{name} has shape {read.shape} and there are {n_features} features; it is one number, "
            "or one for each feature. Give so many."
        )
    read = np.array(np.broadcast_to(read, n_features))
    # Features that lie on a line repeat after an infinite distance.
    bad = ~(read > 0) | (np.isinf(read) & (name == "bandwidth"))
    if bad.any():
        raise Refusal(
            f"{name} [{_first(bad)}] is {read[bad][0]:.6g}; a length must be positive, and a "
            "bandwidth finite. Use a number above zero."
        )
    return read
