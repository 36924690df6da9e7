"""What an iteration starts from.

It owns the registry of starts: functions of the tokens, the mixing matrix and
its stationary distribution that give a stationary part and a transient one.
"""

from __future__ import annotations

import numpy as np

from lowpass.registry import Refusal, Registry
from lowpass.splits import along, remove_stationary

STARTS = Registry("start")


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
    return along(stationary, x)[..., 0, :], remove_stationary(stationary, x)


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
