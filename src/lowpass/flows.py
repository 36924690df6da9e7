"""Heat that flows layer after layer.

It owns the iteration in split form, by which what differs between tokens falls (or rises) far
beyond the range of floats.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count

import numpy as np

from lowpass import chebyshev, taylor
from lowpass.diffusion import usable_times
from lowpass.heat_equation import HeatEquation, pieces, reach
from lowpass.integrators import solved
from lowpass.modes import Modes, balanced, refuse_missing, refuse_other_limits
from lowpass.registry import Refusal, Registry
from lowpass.splits import Split, binary_exponent, remove_stationary

FLOWS = Registry("heat flow")

# Rounding of e^8 times its value still leaves a term twelve digits.
MODEST = 8.0


def _scaled_sum(modes: Modes, amplitude: np.ndarray, log2: np.ndarray) -> tuple:
    """Sum modes of amplitude times 2**log2, with the binary exponent of the largest."""
    largest = np.abs(amplitude).max(axis=-1)
    mantissa, own = np.frexp(largest)
    size = np.where(mantissa > 0, log2 + own, -np.inf)
    top = size.max(axis=-1)
    exponent = np.where(np.isfinite(top), np.ceil(top), 0.0)
    unit = np.ldexp(amplitude, -own[..., None])
    weight = np.exp2(size - exponent[..., None])
    return modes.vector @ (weight[..., None] * unit), exponent.astype(np.int64)


def _start_of(equation: HeatEquation, start: Split) -> np.ndarray:
    """Give the amplitudes (..., mode, feature) of the start's modes."""
    weighted = equation.stationary[..., :, None] * start.rest
    return np.swapaxes(equation.modes.vector, -1, -2) @ weighted


@FLOWS.add("eigh", knobs=(), maps_values=True)
def eigh_flow(equation: HeatEquation, start: Split, time: float) -> Iterator[Split]:
    """Weigh the start's modes anew for each layer, so that no error adds up.

    The weights are kept relative to the largest, with an exact binary
    exponent, so that nothing underflows; the modes have no stationary part
    that could come back. A mode that the start lacks is there with its
    rounding, 1e-16, and shows once all others have fallen below that.

    Parameters
    ----------
    equation : HeatEquation
    start : Split
    time : float
        Diffusion time of one layer.

    Yields
    ------
    Split
    """
    yield start
    if equation.values is not None:
        yield from _mapped(equation, equation.values, start, time)
        return
    amplitude = _start_of(equation, start)
    for layer in count(1):
        log2 = -(layer * time) * equation.modes.eigenvalue / np.log(2)
        total, exponent = _scaled_sum(equation.modes, amplitude, log2)
        yield Split.of(start.kept, total, start.exponent + exponent, start.kept_exponent)


def _mapped(
    equation: HeatEquation, values: np.ndarray, start: Split, time: float
) -> Iterator[Split]:
    r"""Apply :math:`e^{-\tau \lambda_i W_V}` to each mode, layer by layer, with exponents."""
    from scipy.linalg import expm

    steps = pieces(equation, time / MODEST)
    rate = time / steps * equation.modes.eigenvalue
    kernel = expm(-rate[..., None, None] * values[..., None, :, :])
    amplitude = _start_of(equation, start)
    log2 = np.zeros(amplitude.shape[:-1])
    while True:
        for _ in range(steps):
            amplitude = (amplitude[..., None, :] @ kernel)[..., 0, :]
            shift = binary_exponent(amplitude[..., None, :])
            amplitude = np.ldexp(amplitude, -shift[..., None])
            log2 = log2 + shift
        total, exponent = _scaled_sum(equation.modes, amplitude, log2)
        yield Split.of(start.kept, total, start.exponent + exponent, start.kept_exponent)


def _stepped(
    equation: HeatEquation, start: Split, step: Callable[[np.ndarray], np.ndarray], steps: int = 1
) -> Iterator[Split]:
    """Repeat steps of what changes, rescaling exactly after each; a layer has several."""
    state = start
    while True:
        yield state
        for _ in range(steps):
            rest = remove_stationary(equation.stationary, step(state.rest))
            state = Split.of(state.kept, rest, state.exponent, state.kept_exponent)


@FLOWS.add("chebyshev", knobs=(), maps_values=False)
def chebyshev_flow(equation: HeatEquation, start: Split, time: float) -> Iterator[Split]:
    """Repeat one polynomial step, rescaling exactly after each.

    A layer is cut into steps in which the slowest mode keeps a good part of
    itself; otherwise the rounding of the sum would hide it.

    Parameters
    ----------
    equation : HeatEquation
        Without values: the interval of the polynomials is that of L.
    start : Split
    time : float
        Diffusion time of one layer.

    Yields
    ------
    Split
    """
    bounds = chebyshev.interval(equation.laplacian)
    n_steps = pieces(equation, time)
    step = np.array([time / n_steps])
    return _stepped(
        equation,
        start,
        lambda rest: chebyshev.exponential(equation.laplacian, rest, step, bounds)[0],
        n_steps,
    )


@FLOWS.add("euler", knobs=(), maps_values=True)
def euler_flow(equation: HeatEquation, start: Split, time: float) -> Iterator[Split]:
    r"""Take one explicit Euler step in each layer, which is a layer of a residual network.

    .. math:: X \leftarrow X - \tau L X W_V

    Outside its region of stability it goes on, and grows without bound.

    Parameters
    ----------
    equation : HeatEquation
    start : Split
    time : float
        Diffusion time of one layer, τ.

    Yields
    ------
    Split
    """
    taylor.refuse_overflow(reach(equation, time)[0], 1)
    return _stepped(equation, start, lambda r: taylor.action(equation.slope, r, time, 1))


@FLOWS.add("taylor", knobs=("taylor_order",), maps_values=True)
def taylor_flow(
    equation: HeatEquation, start: Split, time: float, *, taylor_order: int
) -> Iterator[Split]:
    """Apply one Taylor polynomial of the exponential in each layer.

    Parameters
    ----------
    equation : HeatEquation
    start : Split
    time : float
        Diffusion time of one layer.
    taylor_order : int
        Highest power of the Laplacian.

    Yields
    ------
    Split
        Its error is bounded by :func:`lowpass.taylor.log10_error_bound`.

    Raises
    ------
    Refusal
        If that bound leaves no digit.
    """
    refuse_low_order(equation, time, taylor_order)
    return _stepped(equation, start, lambda r: taylor.action(equation.slope, r, time, taylor_order))


def refuse_low_order(equation: HeatEquation, time: float, order: int) -> np.ndarray:
    """Insist that a Taylor polynomial resembles the exponential.

    Parameters
    ----------
    equation : HeatEquation
    time : float
        Diffusion time of one layer.
    order : int
        Highest power of the Laplacian.

    Returns
    -------
    (...) float
        Decimal logarithm of the bound on the error of a layer.

    Raises
    ------
    Refusal
        If what is left out may be as large as what is computed.
    """
    far, growth = reach(equation, time)
    bound = taylor.log10_error_bound(far, growth, order, equation.laplacian.shape[-1])
    if (bound >= 0).any():
        raise Refusal(
            f"a Taylor polynomial of order {order} leaves out up to 10^{bound.max():.2g} times "
            f"what it acts on where τλ_max is {far.max():.3g}, so that no digit may be right. "
            "Give a layer less time, raise 'taylor_order', or use the method 'eigh'."
        )
    return bound


@FLOWS.add("rk45", knobs=("tolerance",), maps_values=True)
def rk45_flow(
    equation: HeatEquation, start: Split, time: float, *, tolerance: float
) -> Iterator[Split]:
    """Integrate with the Runge–Kutta pair of orders five and four.

    Parameters
    ----------
    equation : HeatEquation
    start : Split
    time : float
        Diffusion time of one layer.
    tolerance : float
        Of each step, relative to the largest entry.

    Yields
    ------
    Split

    References
    ----------
    .. [1] dormand1980.
    """
    return _integrated(equation, start, time, "RK45", tolerance)


@FLOWS.add("dop853", knobs=("tolerance",), maps_values=True)
def dop853_flow(
    equation: HeatEquation, start: Split, time: float, *, tolerance: float
) -> Iterator[Split]:
    """Integrate with the Runge–Kutta method of order eight.

    Parameters
    ----------
    equation : HeatEquation
    start : Split
    time : float
        Diffusion time of one layer.
    tolerance : float
        Of each step, relative to the largest entry.

    Yields
    ------
    Split

    References
    ----------
    .. [1] hairer1993.
    """
    return _integrated(equation, start, time, "DOP853", tolerance)


def _integrated(
    equation: HeatEquation, start: Split, time: float, formula: str, tolerance: float
) -> Iterator[Split]:
    """Integrate each equation of a batch by itself, so that none shapes the steps of another."""
    n_steps = pieces(equation, time)
    members = {index: equation.member(index) for index in np.ndindex(start.rest.shape[:-2])}

    def step(rest: np.ndarray) -> np.ndarray:
        after = np.empty_like(rest)
        for index, each in members.items():
            after[index] = solved(
                each.slope, rest[index], time / n_steps, formula, rtol=tolerance, atol=tolerance
            )
        return after

    return _stepped(equation, start, step, n_steps)


def iterate_heat(
    equation: HeatEquation, start: Split, *, time: float, method: str, **knobs: float
) -> Iterator[Split]:
    r"""Let heat flow for ever, in split form.

    .. math:: \dot X = -L X W_V, \qquad X_t = 1 s^\top + R_t

    The part along the constant never changes; the rest keeps its own binary
    exponent, so that it can fall (or, where L is indefinite or W_V has eigenvalues on the left,
    rise) far beyond the range of floats.

    Parameters
    ----------
    equation : HeatEquation
    start : Split
        Such as ``Split.of(*STARTS["tokens"](x, laplacian, stationary))``.
    time : float
        Diffusion time τ of one layer, not negative.
    method : str
        A name in ``FLOWS``.
    **knobs : float
        Those that the method's facts name, as ``taylor_order`` and ``tolerance``.

    Returns
    -------
    iterator of Split
        The start (layer 0), then one state for each layer, without end.

    Raises
    ------
    Refusal
        If the time is negative, a number is not finite, rows do not sum to
        zero, the balance does not hold, or the method says why it cannot.
    """
    usable_times(time)
    refuse_missing(start.rest, "token")
    balanced(equation.laplacian, equation.stationary)
    refuse_other_limits(equation.laplacian)
    if equation.values is not None:
        refuse_missing(equation.values, "the map of values")
        if not FLOWS.facts(method)["maps_values"]:
            raise Refusal(
                f"the method '{method}' follows the real eigenvalues of the Laplacian alone, and "
                "values that are mapped have others. Use the method 'eigh'."
            )
    return FLOWS[method](equation, start, time, **knobs)
