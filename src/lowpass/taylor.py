r"""The exponential as a Taylor polynomial.

It owns :math:`\sum_{k \le p} Z^k / k!` for numbers and along a slope, with a bound on its error.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from lowpass.registry import Refusal

# A step that changes its start by more than this many powers of ten could overflow.
DECADES = 300


def polynomial(z: np.ndarray, order: int) -> np.ndarray:
    r"""Sum the exponential series of numbers.

    .. math:: \sum_{k=0}^{p} z^k / k!

    Parameters
    ----------
    z : (...) float or complex
    order : int
        Highest power, p.

    Returns
    -------
    (...) float or complex
    """
    total = np.ones_like(z, dtype=np.result_type(z, np.float64))
    term = total
    for k in range(1, order + 1):
        term = term * z / k
        total = total + term
    return total


def action(
    slope: Callable[[np.ndarray], np.ndarray], x: np.ndarray, time: float, order: int
) -> np.ndarray:
    r"""Apply the polynomial of a linear slope to tokens.

    .. math:: \sum_{k=0}^{p} \tau^k M^k x / k!, \qquad Mx = \mathrm{slope}(x)

    Parameters
    ----------
    slope : callable
        Maps tokens to their rate of change, linearly.
    x : (..., token, feature) float
    time : float
        τ.
    order : int
        p; one is explicit Euler, x + τ slope(x).

    Returns
    -------
    (..., token, feature) float
    """
    total = term = x
    for k in range(1, order + 1):
        term = slope(term) * (time / k)
        total = total + term
    return total


def refuse_overflow(reach: np.ndarray, order: int) -> None:
    """Insist that no term of a step leaves the range of floats.

    Parameters
    ----------
    reach : (...) float
        Bound on the norm of τM.
    order : int
        p.

    Raises
    ------
    Refusal
        Naming the reach.
    """
    largest = float(np.max(reach))
    if order * np.log10(max(largest, 1.0)) > DECADES:
        raise Refusal(
            f"a step of order {order} with τ times the largest rate {largest:.3g} leaves the range "
            "of floats. Give a layer less time, or use the method 'eigh'."
        )


def log10_error_bound(
    reach: np.ndarray, growth: np.ndarray, order: int, n_tokens: int
) -> np.ndarray:
    r"""Bound what the polynomial leaves out, and the rounding of its terms.

    .. math:: \frac{r^{p+1}}{(p+1)!} + (n + 2)(1 + r) u\, e^{r - g}, \qquad
              r \ge \|\tau M\|, \quad g \ge \ln \max_{s \le 1} \|e^{s \tau M}\|

    The first term is the remainder of the series in integral form. The second is rounding: the
    term of power k has gone through k sums of n products, and terms grow up to :math:`e^r`
    together before they cancel.

    Parameters
    ----------
    reach, growth : (...) float
        r and g, as given by :func:`lowpass.heat_equation.reach`; not negative.
    order : int
        p.
    n_tokens : int
        n, the length of the sums that make a term.

    Returns
    -------
    (...) float
        Decimal logarithm of the error, relative to the start times :math:`e^g`, the most that it
        can grow to, in the norm in which L is symmetric.

    References
    ----------
    .. [1] moler2003, method 1.
    """
    with np.errstate(divide="ignore"):
        left_out = (order + 1) * np.log(reach) - np.log(np.arange(1, order + 2)).sum()
    rounding = np.log((n_tokens + 2) * (1 + reach) * np.finfo(np.float64).eps) + reach - growth
    return np.logaddexp(left_out, rounding) / np.log(10)
