"""What leaving out the neighbours of a point, too, does to the choice of a bandwidth."""

from __future__ import annotations

import numpy as np

from lowpass.domains import Bandwidths, Count, NonNegative
from lowpass.labels import VARIABLES, Card
from lowpass.smoothing.bandwidth import select
from lowpass.smoothing.criteria import curves
from lowpass.smoothing.estimators import smooth
from lowpass.studies.names import STUDIES, Answers, Observed, Watch

VARIABLES.enter(
    "blocked_score",
    Card("CV_w(h)", "squared error of predicting from outside the window", dims=("bandwidth",)),
)
VARIABLES.enter(
    "blocked_score_selected", Card("CV_w(h^*)", "smallest error of predicting from outside")
)
VARIABLES.enter(
    "residual_correlation",
    Card(r"\rho_1", "correlation of the residuals of successive keys"),
)


@STUDIES.add("blocking", of=("values",))
def blocking(
    observed: Observed,
    watch: Watch,
    *,
    bandwidths: Bandwidths,
    window: NonNegative = 0.0,
    thin: Count = 1,
) -> Answers:
    """Choose a bandwidth by predicting each value from those outside a window around it.

    Parameters
    ----------
    observed : Dataset
        ``key_position`` (key, feature), of one feature and ascending, and ``value`` (key).
    watch : callable
        Hands on the bandwidths one by one, so that somebody may count them.
    bandwidths : mapping
        Geometric grid the criterion is computed on.
    window : float
        Keys at most so far away are left out, in the units of the keys; 0 leaves out one alone.
    thin : int
        Take every so manieth key.

    Returns
    -------
    Dataset
        Criterion over bandwidths, the selected one, the fit at the keys, and how alike the
        residuals of neighbours are.

    Raises
    ------
    Refusal
        If the lowest score lies at an end of the grid.

    References
    ----------
    .. [1] chu1991.
    .. [2] burman1994.
    """
    import xarray as xr

    taken = observed.isel(key=slice(None, None, thin))
    k, v = taken["key_position"].values, taken["value"].values
    grid = bandwidths.grid()
    options = {"window": window}
    score = curves(k, v, watch(grid), ("blocked",), options=options)["blocked"]
    h = select(grid, score)
    fit = smooth(k, k, v, h)
    left = v - fit
    return xr.Dataset(
        {
            "key_position": taken["key_position"],
            "value": taken["value"],
            "blocked_score": ("bandwidth", score),
            "bandwidth_selected": h,
            "blocked_score_selected": score.min(),
            "fit": ("query", fit),
            "residual_correlation": np.corrcoef(left[1:], left[:-1])[0, 1],
        },
        {"bandwidth": grid, "query": taken["key"].values, "key": taken["key"].values},
    )
