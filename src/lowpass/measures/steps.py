r"""How far layers are from the flows that they are said to be steps of.

Two equations are compared with: the layers' own, :math:`\dot X = g(A)XW_V`, and the one
that note 1 writes, :math:`\dot X = -(I - A)XW_V`. Each computes attention as the layers
do, from one matrix or from its own tokens.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from lowpass.equations import Equation, Softmax, relative_distance
from lowpass.labels import VARIABLES, Card
from lowpass.measures.components import tokens_of
from lowpass.measures.matrices import mixing
from lowpass.measures.names import MEASURES
from lowpass.registry import Refusal
from lowpass.remedies import Filter, laplacian
from lowpass.rounding import ROUNDING, Departure, Remainder

if TYPE_CHECKING:
    import xarray as xr

RECORDED = ("replicate", "recorded_layer")
VANISHED = "nothing is left of what it is relative to"

Place = tuple[int, ...]
Filters = Callable[[Place], Filter]

VARIABLES.enter(
    "flow_error",
    Card(
        r"\|X_t-X(th)\|/\|X(th)\|",
        "relative distance of layers from their own flow",
        dims=RECORDED,
        infinite=VANISHED,
    ),
)
ROUNDING.enter("flow_error", Departure())


@MEASURES.add("flow_error", of=("matrix", "flow", "pair"))
def flow_error(trajectory: xr.Dataset) -> xr.DataArray:
    """Compare recorded layers with the solution of their own equation after as much time.

    Of layer 1 it is the error of one step, of a later one that of all steps before it.

    Returns
    -------
    (..., replicate, recorded_layer) float
        Not negative; zero at layer 0. For one matrix the solution is right to rounding, for
        recomputed attention to 1e-12.

    References
    ----------
    .. [1] hairer1993, section II.3.
    """
    return errors(trajectory, own_filters(trajectory))


VARIABLES.enter(
    "note_flow_error",
    Card(
        r"\|X_t-\tilde X(th)\|/\|\tilde X(th)\|",
        "relative distance of layers from the flow −(I − A)XW_V",
        dims=RECORDED,
        infinite=VANISHED,
    ),
)
ROUNDING.enter("note_flow_error", Remainder())


@MEASURES.add("note_flow_error", of=("matrix", "flow", "pair"))
def note_flow_error(trajectory: xr.Dataset) -> xr.DataArray:
    """Compare recorded layers with the solution of note 1's equation after as much time.

    Returns
    -------
    (..., replicate, recorded_layer) float
        As for :func:`flow_error`, with which it agrees for the remedy 'laplacian' of strength
        one.
    """
    return errors(trajectory, note_filter)


VARIABLES.enter(
    "quotient_error",
    Card(
        r"\|(X_1-X_0)/h-\dot X_0\|/\|\dot X_0\|",
        "relative distance of the difference quotient from its own equation",
        dims=("replicate",),
        infinite=VANISHED,
    ),
)
ROUNDING.enter("quotient_error", Remainder())


@MEASURES.add("quotient_error", of=("matrix", "flow", "pair"))
def quotient_error(trajectory: xr.Dataset) -> xr.DataArray:
    """Compare the difference quotient of the first layer with its equation's right-hand side.

    Returns
    -------
    (..., replicate) float
        Zero to rounding where a layer is one explicit step; of the first order in the step
        where it is the solution of the flow.

    Raises
    ------
    Refusal
        Where the tokens of layers 0 and 1 are not both recorded.
    """
    return quotients(trajectory, own_filters(trajectory))


VARIABLES.enter(
    "note_quotient_error",
    Card(
        r"\|(X_1-X_0)/h+(I-A)X_0W_V\|/\|(I-A)X_0W_V\|",
        "relative distance of the difference quotient from −(I − A)XW_V",
        dims=("replicate",),
        infinite=VANISHED,
    ),
)
ROUNDING.enter("note_quotient_error", Remainder())


@MEASURES.add("note_quotient_error", of=("matrix", "flow", "pair"))
def note_quotient_error(trajectory: xr.Dataset) -> xr.DataArray:
    """Compare the difference quotient of the first layer with note 1's right-hand side.

    Returns
    -------
    (..., replicate) float
        Not negative.

    Raises
    ------
    Refusal
        As for :func:`quotient_error`.
    """
    return quotients(trajectory, note_filter)


def errors(trajectory: xr.Dataset, filters: Filters) -> xr.DataArray:
    """Compare recorded layers with solutions of the equations of some filters."""
    like, step = trajectory["hc_exponent"], numbers(trajectory, "step_size")
    layers = trajectory["recorded_layer"].values.astype(float)
    found = np.empty(like.shape)
    # Runs of one job may differ in how they step along one and the same solution.
    solved: dict[Any, list[np.ndarray]] = {}
    for place, equation, x in equations(trajectory, filters):
        times = layers * step[place]
        key = (times.tobytes(), x[0].tobytes(), *marks(equation))
        if key not in solved:
            solved[key] = list(equation.solution(x[0], times.tolist()))
        pairs = zip(x, solved[key], strict=True)
        found[place] = [relative_distance(one, other) for one, other in pairs]
    return like.copy(data=found)


def quotients(trajectory: xr.Dataset, filters: Filters) -> xr.DataArray:
    """Compare first difference quotients with the rates of the equations of some filters."""
    recorded = trajectory["recorded_layer"].values.tolist()
    if not {0, 1} <= set(recorded):
        raise Refusal(
            f"the difference quotient needs the tokens of layers 0 and 1, and layers {recorded} "
            f"are recorded; write 'record: geometric'."
        )
    like, step = trajectory["skip_weight"], numbers(trajectory, "step_size")
    found = np.empty(like.shape)
    for place, equation, x in equations(trajectory.sel(recorded_layer=[0, 1]), filters):
        quotient = (x[1] - x[0]) / step[place]
        found[place] = relative_distance(quotient, equation.rate(x[0]))
    return like.copy(data=found)


def equations(
    trajectory: xr.Dataset, filters: Filters
) -> Iterator[tuple[Place, Equation, np.ndarray]]:
    """Yield every run's place, equation and tokens (recorded_layer, token, feature)."""
    dims = trajectory["hc_exponent"].dims
    x = tokens_of(trajectory).transpose(*dims, "token", "feature").values
    attention = mixing(trajectory).transpose(*dims[:-1], "query", "key").values
    values, recomputed = value_maps(trajectory), numbers(trajectory, "recomputed")
    for place in np.ndindex(x.shape[:-3]):
        a = recomputing(trajectory, place) if recomputed[place] else attention[place]
        yield place, Equation(filters(place), values[place], a), x[place]


def recomputing(trajectory: xr.Dataset, place: Place) -> Softmax:
    """Read how one run computes attention from tokens."""
    w_q, w_k = (matrices(trajectory, name)[place] for name in ("w_q", "w_k"))
    beta, penalty = (
        float(numbers(trajectory, name)[place]) for name in ("inverse_temperature", "key_penalty")
    )
    # Products are divided by the root of their number of features, distances are not.
    return Softmax(w_q, w_k, penalty or beta / np.sqrt(w_q.shape[-1]), penalty)


def marks(equation: Equation) -> tuple[Any, ...]:
    """Give what tells one equation from another, in a form that can be looked up."""
    a = equation.attention
    if isinstance(a, Softmax):
        mixing_by: tuple[Any, ...] = (a.w_q.tobytes(), a.w_k.tobytes(), a.scale, a.penalty)
    else:
        mixing_by = (a.tobytes(),)
    return equation.remedy, equation.values.tobytes(), mixing_by


def own_filters(trajectory: xr.Dataset) -> Filters:
    """Read the filter of every run."""
    high, mean = (matrices(trajectory, f"{part}_coefficient") for part in ("high", "mean"))
    runs = tuple(range(high.ndim - 1))
    # Powers that no run has would be computed for nothing.
    there = np.flatnonzero((high != 0).any(axis=runs) | (mean != 0).any(axis=runs))
    some = slice(there.max(initial=0) + 1)
    return lambda place: Filter(tuple(high[place][some]), tuple(mean[place][some]))


def note_filter(place: Place) -> Filter:
    """Give the filter of note 1's equation, A - I."""
    return laplacian(1.0)


def numbers(trajectory: xr.Dataset, name: str) -> np.ndarray:
    """Read what is one number for each run, (..., replicate)."""
    return trajectory[name].transpose(..., "replicate").values


def matrices(trajectory: xr.Dataset, name: str) -> np.ndarray:
    """Read what has dimensions of its own for each run, those of the runs first."""
    runs = trajectory["skip_weight"].dims
    return trajectory[name].transpose(*runs, ...).values


def value_maps(trajectory: xr.Dataset) -> np.ndarray:
    """Give W_V W_O of every run (..., feature, feature); the identity where none was drawn."""
    drawn = [matrices(trajectory, name) for name in ("w_v", "w_o") if name in trajectory]
    if not drawn:
        same = np.eye(trajectory.sizes["feature"])
        return np.broadcast_to(same, (*trajectory["skip_weight"].shape, *same.shape))
    return drawn[0] if len(drawn) == 1 else drawn[0] @ drawn[1]
