"""Runge–Kutta steps of adapted length.

It owns how tokens follow a slope to within a tolerance; the formulas are those of scipy.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from lowpass.registry import Refusal


def solved(
    slope: Callable[[np.ndarray], np.ndarray],
    x: np.ndarray,
    time: float,
    *,
    formula: str,
    tolerance: float,
) -> np.ndarray:
    """Follow a slope for some time.

    Parameters
    ----------
    slope : callable
        Maps tokens to their rate of change.
    x : (token, feature) float
        On the scale of one.
    time : float
        Not negative.
    formula : str
        A method of ``scipy.integrate.solve_ivp``, such as "RK45".
    tolerance : float
        Of each step, relative and absolute.

    Returns
    -------
    (token, feature) float

    Raises
    ------
    Refusal
        If steps become too short.

    References
    ----------
    .. [1] dormand1980.
    """
    from scipy.integrate import solve_ivp

    if time == 0:
        return x
    found = solve_ivp(
        lambda _, y: slope(y.reshape(x.shape)).ravel(),
        (0.0, time),
        x.ravel(),
        method=formula,
        rtol=tolerance,
        atol=tolerance,
        t_eval=(time,),
    )
    if not found.success:
        raise Refusal(
            f"{formula} with the tolerance {tolerance:g} gave up within a time of {time:g} "
            f"({found.message}) Raise the tolerance, or use the method 'eigh'."
        )
    return found.y[:, -1].reshape(x.shape)
