r"""A frozen attention matrix, applied again and again.

It owns how an iteration is set up and how it goes on beyond machine precision:
in the split form

.. math:: X = 1 s^\top + 2^e R, \qquad \pi^\top R = 0,

the part that survives and the part that dies are kept in different arrays, so
that neither rounds the other away.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from lowpass.registry import Refusal, Registry

WEIGHTS = Registry("weight distribution")
STARTS = Registry("start")


@WEIGHTS.add("untied")
def untied(rng: np.random.Generator, d_model: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw independent projections of queries and keys.

    Parameters
    ----------
    rng : numpy.random.Generator
    d_model : int

    Returns
    -------
    w_q, w_k : (feature, feature) float
        Independent entries, N(0, 1/d).
    """
    w_q, w_k = rng.standard_normal((2, d_model, d_model)) / np.sqrt(d_model)
    return w_q, w_k


@WEIGHTS.add("symmetric")
def symmetric(rng: np.random.Generator, d_model: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw projections whose dot-product logits are symmetric.

    Symmetric logits make softmax attention reversible, so its spectrum is real.

    Parameters
    ----------
    rng : numpy.random.Generator
    d_model : int

    Returns
    -------
    w_q, w_k : (feature, feature) float
        The identity, and (G + Gᵀ)/√2 with G ~ N(0, 1/d).
    """
    g = rng.standard_normal((d_model, d_model)) / np.sqrt(d_model)
    return np.eye(d_model), (g + g.T) / np.sqrt(2)


@WEIGHTS.add("tied")
def tied(rng: np.random.Generator, d_model: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw one projection for queries and keys alike.

    Parameters
    ----------
    rng : numpy.random.Generator
    d_model : int

    Returns
    -------
    w_q, w_k : (feature, feature) float
        Equal, with entries N(0, 1/d): the logits are a positive semi-definite
        Gram matrix.
    """
    w = rng.standard_normal((d_model, d_model)) / np.sqrt(d_model)
    return w, w


@WEIGHTS.add("identity")
def identity(rng: np.random.Generator, d_model: int) -> tuple[np.ndarray, np.ndarray]:
    """Compare the tokens as they are; nothing is random.

    Parameters
    ----------
    rng : numpy.random.Generator
        Not used.
    d_model : int

    Returns
    -------
    w_q, w_k : (feature, feature) float
        Both the identity.
    """
    return np.eye(d_model), np.eye(d_model)


def _along(stationary: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Average tokens with stationary weights: (..., token, feature) to (..., 1, feature)."""
    return stationary[..., None, :] @ x


def remove_stationary(
    stationary: np.ndarray, x: np.ndarray, out: np.ndarray | None = None
) -> np.ndarray:
    """Apply I - 1πᵀ; a constant vanishes exactly, not only to rounding.

    Parameters
    ----------
    stationary : (..., token) float
    x : (..., token, feature) float
    out : (..., token, feature) float, optional
        Where the result goes, which may be ``x`` itself.

    Returns
    -------
    (..., token, feature) float
        Its average with the stationary weights is zero to rounding.
    """
    rest = np.subtract(x, x[..., :1, :].copy(), out=out)
    rest -= _along(stationary, rest)
    return rest


def _unit(transient: np.ndarray) -> np.ndarray:
    """Find the exponent e of 2^e that brings the largest entry below one: (...) int."""
    largest = np.maximum(transient.max(axis=(-2, -1)), -transient.min(axis=(-2, -1)))
    # Its inverse has to be a float, and 2^1023 is the largest power of two that is.
    return np.maximum(np.frexp(largest)[1], -1023)


@STARTS.add("tokens")
def tokens(
    x: np.ndarray, attention: np.ndarray, stationary: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Start from the tokens themselves.

    Parameters
    ----------
    x : (..., token, feature) float
    attention : (..., query, key) float
        Not used.
    stationary : (..., token) float

    Returns
    -------
    mean_along_stationary : (..., feature) float
        s = πᵀx, the limit of the iteration.
    transient : (..., token, feature) float
        r = x - 1s, with πᵀr = 0.
    """
    return _along(stationary, x)[..., 0, :], remove_stationary(stationary, x)


@STARTS.add("no_stationary")
def no_stationary(
    x: np.ndarray, attention: np.ndarray, stationary: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Start from the tokens without their stationary part.

    Parameters
    ----------
    x : (..., token, feature) float
    attention : (..., query, key) float
        Not used.
    stationary : (..., token) float

    Returns
    -------
    mean_along_stationary : (..., feature) float
        Exactly zero: the iteration tends to nothing.
    transient : (..., token, feature) float
        r = x - 1πᵀx, with πᵀr = 0.
    """
    transient = remove_stationary(stationary, x)
    return np.zeros(transient.shape[:-2] + transient.shape[-1:]), transient


def _second_vector(attention: np.ndarray) -> np.ndarray:
    """Find the real right eigenvector of the second-largest modulus of one matrix."""
    value, vector = np.linalg.eig(attention)
    value[np.argmin(np.abs(value - 1))] = 0
    second = np.argmax(np.abs(value))
    # A double real eigenvalue splits into a pair at the root of the rounding unit.
    if abs(value[second].imag) > 1e-7 * abs(value[second]):
        raise Refusal(
            f"the second eigenvalue {value[second]:.3g} is complex; its mode turns instead of "
            "keeping its shape. Use weights with symmetric logits, such as 'symmetric'."
        )
    mode = np.real(vector[:, second])
    return mode / mode[np.argmax(np.abs(mode))]


@STARTS.add("second_mode")
def second_mode(
    x: np.ndarray, attention: np.ndarray, stationary: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Start from the slowest mode alone, the same in every feature.

    Parameters
    ----------
    x : (..., token, feature) float
        Only its number of features is used.
    attention : (..., query, key) float
    stationary : (..., token) float

    Returns
    -------
    mean_along_stationary : (..., feature) float
        Exactly zero.
    transient : (..., token, feature) float
        The right eigenvector of the second-largest modulus in every feature,
        scaled so that its largest entry is one; πᵀr = 0.

    Raises
    ------
    Refusal
        If that eigenvalue is complex beyond rounding.
    """
    mode = np.empty(attention.shape[:-1])
    for index in np.ndindex(attention.shape[:-2]):
        mode[index] = _second_vector(attention[index])
    transient = np.repeat(remove_stationary(stationary, mode[..., None]), x.shape[-1], axis=-1)
    return np.zeros(transient.shape[:-2] + transient.shape[-1:]), transient


@dataclass(frozen=True)
class Split:
    r"""Tokens as a surviving part and a dying part, :math:`X = 1 s^\top + 2^e R`.

    Attributes
    ----------
    stationary : (..., feature) float
        s, the part along the stationary mode.
    transient : (..., token, feature) float
        R, with max|R| in [1/2, 1), or all zero. Smaller only where R was given
        in floats below 2^-1023, whose digits are lost anyhow.
    exponent : (...) int
        e, exact.
    """

    stationary: np.ndarray
    transient: np.ndarray
    exponent: np.ndarray

    @classmethod
    def of(
        cls, stationary: np.ndarray, transient: np.ndarray, exponent: np.ndarray | int = 0
    ) -> Split:
        """Bring a transient to this scale, exactly.

        Parameters
        ----------
        stationary : (..., feature) float
            As given by an entry of ``STARTS``.
        transient : (..., token, feature) float
        exponent : (...) int
            Binary exponent that ``transient`` already carries.

        Returns
        -------
        Split
        """
        shift = _unit(transient)
        scaled = transient * np.ldexp(1.0, -shift)[..., None, None]
        return cls(stationary, scaled, np.asarray(exponent, dtype=np.int64) + shift)


def dc_scaled(state: Split, stationary: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    r"""Give the token mean with a binary exponent, so that it cannot underflow.

    .. math:: \tfrac1n 1^\top X = s + 2^e (\tfrac1n 1 - \pi)^\top R

    Parameters
    ----------
    state : Split
    stationary : (..., token) float
        π; where it is exactly uniform the mean is exactly s.

    Returns
    -------
    mean : (..., feature) float
    exponent : (...) int
        The token mean is ``mean * 2**exponent``: zero where s is not zero,
        else the exponent of the transient.
    """
    n_tokens = state.transient.shape[-2]
    leak = _along(1 / n_tokens - stationary, state.transient)[..., 0, :]
    survives = (state.stationary != 0).any(axis=-1)
    exponent = np.where(survives, 0, state.exponent)
    down = np.where(survives, state.exponent, 0)
    return state.stationary + np.ldexp(leak, down[..., None]), exponent


def dc(state: Split, stationary: np.ndarray) -> np.ndarray:
    """Give the token mean, the row that DC(X) repeats.

    Parameters
    ----------
    state : Split
    stationary : (..., token) float

    Returns
    -------
    (..., feature) float
        Underflows to zero where s is zero and the transient is below 1e-323;
        :func:`dc_scaled` does not.
    """
    mean, exponent = dc_scaled(state, stationary)
    return np.ldexp(mean, exponent[..., None])


def hc(state: Split) -> tuple[np.ndarray, np.ndarray]:
    """Give everything but the token mean, HC(X).

    Parameters
    ----------
    state : Split

    Returns
    -------
    high : (..., token, feature) float
        C R; its token mean is zero to rounding.
    exponent : (...) int
        HC(X) is ``high * 2**exponent``.
    """
    return state.transient - state.transient.mean(axis=-2, keepdims=True), state.exponent


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
        mixed = attention @ state.transient
        remove_stationary(stationary, mixed, out=mixed)
        shift = _unit(mixed)
        # A product with a power of two is exact, as ldexp is, and takes a fraction of its time.
        mixed *= np.ldexp(1.0, -shift)[..., None, None]
        state = Split(state.stationary, mixed, state.exponent + shift)


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
