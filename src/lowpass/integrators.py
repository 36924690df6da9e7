r"""How tokens are taken along a flow.

It owns the ways of advancing :math:`\dot X = F(X)` by some time. Each entry is a
function of the rate F, the tokens and the time; the facts ``rtol`` and ``atol`` are
its tolerances, relative to an entry and to the largest one, and zero where a step is
taken as it comes.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from lowpass.registry import Refusal, Registry

INTEGRATORS = Registry("integrator")

Rate = Callable[[np.ndarray], np.ndarray]

# The tightest that a pair of these orders follows without fighting its own rounding.
RK45 = {"rtol": 1e-10, "atol": 1e-12}
DOP853 = {"rtol": 1e-12, "atol": 1e-14}


@INTEGRATORS.add("euler", rtol=0.0, atol=0.0)
def euler(rate: Rate, x: np.ndarray, time: float) -> np.ndarray:
    r"""Take one explicit step, :math:`X + hF(X)`, which is a layer with a skip connection.

    Of first order: halving the step halves the error at a fixed time.

    Parameters
    ----------
    rate : callable
        F.
    x : (..., token, feature) float
    time : float
        h.

    Returns
    -------
    (..., token, feature) float
    """
    return x + time * rate(x)


@INTEGRATORS.add("rk45", **RK45)
def rk45(rate: Rate, x: np.ndarray, time: float) -> np.ndarray:
    """Solve the flow by the pair of Dormand and Prince of orders five and four.

    Parameters
    ----------
    rate : callable
        F.
    x : (..., token, feature) float
        Of one replicate, since the steps are chosen for all that is given.
    time : float

    Returns
    -------
    (..., token, feature) float
        Right to some units of the tolerance.

    Raises
    ------
    Refusal
        If the flow leaves the range of floats, or its steps vanish.

    References
    ----------
    .. [1] virtanen2020, scipy.integrate.
    """
    return solved(rate, x, time, "RK45", **RK45)


@INTEGRATORS.add("dop853", **DOP853)
def dop853(rate: Rate, x: np.ndarray, time: float) -> np.ndarray:
    """Solve the flow by the pair of Dormand and Prince of order eight.

    Parameters
    ----------
    rate : callable
        F.
    x : (..., token, feature) float
        Of one replicate, since the steps are chosen for all that is given.
    time : float

    Returns
    -------
    (..., token, feature) float
        Right to some units of the tolerance.

    Raises
    ------
    Refusal
        If the flow leaves the range of floats, or its steps vanish.

    References
    ----------
    .. [1] hairer1993, section II.10.
    """
    return solved(rate, x, time, "DOP853", **DOP853)


def solved(
    rate: Rate, x: np.ndarray, time: float, method: str, *, rtol: float, atol: float
) -> np.ndarray:
    """Solve a flow to a tolerance, of the largest entry at its start where it is absolute."""
    from scipy.integrate import solve_ivp

    largest = np.abs(x).max(initial=0.0)
    if time == 0 or largest == 0:
        return x + time * rate(x)

    def flat(_: float, y: np.ndarray) -> np.ndarray:
        if not np.isfinite(y).all():
            raise _beyond(time)
        return rate(y.reshape(x.shape)).ravel()

    with np.errstate(over="ignore", invalid="ignore"):
        found = solve_ivp(
            flat, (0.0, time), x.ravel(), method=method, rtol=rtol, atol=atol * largest
        )
    if not found.success or not np.isfinite(found.y[:, -1]).all():
        raise _beyond(time)
    return found.y[:, -1].reshape(x.shape)


def _beyond(time: float) -> Refusal:
    """Compose the refusal of a flow that no float can hold."""
    return Refusal(
        f"the flow of these layers leaves the range of floats within a time of {time:g}, one "
        f"layer; it grows too fast to be followed. Write a smaller 'step', or fewer layers."
    )
