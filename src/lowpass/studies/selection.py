"""Which bandwidth observations ask for by each criterion, and what is fitted with one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from annotated_types import Ge, Gt, Lt

from lowpass.domains import Bandwidths, Count, Positive
from lowpass.registry import Refusal
from lowpass.smoothing import bands, estimators
from lowpass.smoothing.minimum import Minimum
from lowpass.studies.judging import Record, judged, left_out
from lowpass.studies.names import STUDIES, Answers, Observed, Watch

if TYPE_CHECKING:
    import xarray as xr

Profile = Literal["gaussian", "laplace", "epanechnikov", "tricube", "triangle", "boxcar", "exp_dot"]
Criterion = Literal["loo", "gcv", "aicc", "kfold", "blocked"]


@STUDIES.add("selection", of=("values",))
def selection(
    observed: Observed,
    watch: Watch,
    *,
    bandwidths: Bandwidths,
    kernel: Profile = "gaussian",
    degree: Literal[0, 1] = 0,
    criterion: Criterion = "loo",
    folds: Annotated[int, Ge(2)] = 10,
    neighbours: Count | None = None,
    window: Positive | None = None,
    level: Annotated[float, Gt(0), Lt(1)] = 0.95,
    probes: Bandwidths | None = None,
) -> Answers:
    """Choose a bandwidth by several criteria, then fit with that of one of them and a band.

    Parameters
    ----------
    observed : Dataset
        ``key_position`` (key, feature), ``value`` (key), and ``period`` where keys lie on a
        circle.
    watch : callable
        Hands on the bandwidths one by one, so that somebody may count them.
    bandwidths : mapping
        Geometric grid the criteria are computed on, before each valley is searched.
    kernel : str
        How the weight of an observation falls with its distance.
    degree : int
        Of the polynomial fitted around each place: a constant or a line.
    criterion : str
        The one whose bandwidth the fit has.
    folds : int
        Parts that are predicted from the others, by the criterion "kfold".
    neighbours : int, optional
        Observations on either side that the criterion "blocked" leaves out with each.
    window : float, optional
        Distance up to which it leaves out observations instead, in the units of the keys.
    level : float
        Pointwise coverage of the band.
    probes : mapping, optional
        Geometric grid on which leaving one out is compared with as many fits.

    Returns
    -------
    Dataset
        Criteria over bandwidths and their lowest points; weights, fit and band at the keys.
        Positions count from their mean.
    """
    import xarray as xr

    blocks = {"neighbours": neighbours, "window": window}
    options = {"folds": folds, **{each: size for each, size in blocks.items() if size is not None}}
    record = recorded(observed, {"kernel": kernel, "degree": degree}, options)
    grid, place = bandwidths.grid(), observed["key"].values
    scored, minima = judged(record, grid, watch)
    h = interior(minima, criterion)
    answers = {
        **{name: observed[name] for name in ("key_position", "value")},
        **scored,
        **fitted(record, h, level),
        **({} if probes is None else left_out(record, probes.grid())),
        **routes(record, h),
    }
    return xr.Dataset(answers, {"bandwidth": grid, "query": place, "key": place})


def recorded(observed: Observed, smoother: dict[str, Any], options: dict[str, Any]) -> Record:
    """Take what is smoothed out of a dataset; positions count from their mean."""
    k = observed["key_position"].values
    period = float(observed["period"]) if "period" in observed else None
    return Record(
        k - k.mean(axis=0), observed["value"].values, {**smoother, "period": period}, options
    )


def interior(minima: dict[str, Minimum], criterion: str) -> float:
    """Take the bandwidth of one criterion, unless it was not searched for or is an end."""
    if criterion not in minima:
        raise Refusal(
            f"the criterion '{criterion}' has no block to leave out; it must know how far what is "
            "near lies. Give neighbours or a window."
        )
    found = minima[criterion]
    if found.place != "interior":
        raise Refusal(
            f"the lowest score lies at bandwidth {found.at:.3g}, an end of the grid "
            f"{found.grid[0]:.3g} ... {found.grid[-1]:.3g}; the minimum may lie beyond it. "
            "Widen the grid."
        )
    return found.at


def fitted(record: Record, h: float, level: float) -> dict[str, Any]:
    """Smooth at the keys with one bandwidth, and bound the fit."""
    weights = record.matrix(h)
    fit = weights @ record.value
    lower, upper = bands.pointwise_band(weights, record.value, fit, level=level)
    return {
        "bandwidth_selected": h,
        "temperature_selected": h**2,
        "loo_score_selected": record.judge("loo")(h),
        "nw_weights": (("query", "key"), weights),
        "fit": ("query", fit),
        "lower": ("query", lower),
        "upper": ("query", upper),
        "weight_sum_defect": ("query", abs(weights.sum(axis=-1) - 1)),
    }


def routes(record: Record, h: float) -> dict[str, xr.DataArray]:
    """Compute a Gaussian average at the keys by its textbook formula, and by attention.

    There is nothing to compute of another smoother.
    """
    import xarray as xr

    if record.smoother != {"kernel": "gaussian", "degree": 0, "period": None}:
        return {}
    k, v = record.key, record.value
    fits = {
        "Nadaraya-Watson": estimators.nadaraya_watson(k, k, v, h),
        "softmax of distances": estimators.distance_attention(k, k, h**2) @ v,
    }
    both = np.stack(list(fits.values()))
    return {"fit_by_route": xr.DataArray(both, {"route": list(fits)}, ("route", "query"))}
