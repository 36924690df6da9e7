"""What one bandwidth for two features costs, against one for each."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from annotated_types import Ge

from lowpass.domains import Bandwidths, Count
from lowpass.labels import DIMENSIONS, VARIABLES, Card
from lowpass.registry import Refusal
from lowpass.smoothing.bandwidth import select_bandwidth, select_bandwidths
from lowpass.smoothing.estimators import smooth
from lowpass.studies.names import STUDIES, Answers, Observed, Watch

DIMENSIONS.enter("scaling", Card("s", "how the bandwidths of two features are tied"))
DIMENSIONS.enter("abscissa", Card("q_1", "first feature of a query"))
DIMENSIONS.enter("ordinate", Card("q_2", "second feature of a query"))
VARIABLES.enter(
    "scaled_bandwidth", Card("h_a", "bandwidth of a feature", dims=("scaling", "feature"))
)
VARIABLES.enter(
    "scaled_score", Card("CV(h)", "leave-one-out error of tied bandwidths", dims=("scaling",))
)
VARIABLES.enter(
    "one_bandwidth_excess", Card("e-1", "error of one bandwidth over that of two, less one")
)
VARIABLES.enter("plane_fit", Card("f", "fit on a raster", dims=("ordinate", "abscissa")))
VARIABLES.enter(
    "plane_reach",
    Card(r"\min_i|q-k_i|_h", "bandwidths to the nearest key", dims=("ordinate", "abscissa")),
)

# Of the range of the keys, beyond its ends.
MARGIN = 0.05


@STUDIES.add("plane", of=("values",))
def plane(
    observed: Observed,
    watch: Watch,
    *,
    bandwidths: Bandwidths,
    raster: Annotated[int, Ge(2)] = 64,
    thin: Count = 1,
) -> Answers:
    """Choose bandwidths for two features by leave-one-out, tied in three ways, then fit a raster.

    Parameters
    ----------
    observed : Dataset
        ``key_position`` (key, feature) of two features, and ``value`` (key).
    watch : callable
        Hands on the bandwidths one by one, so that somebody may count them.
    bandwidths : mapping
        What a bandwidth lies between, in the units of the keys, and how many are scanned.
    raster : int
        Places along each feature at which the fit is computed.
    thin : int
        Take every so manieth key.

    Returns
    -------
    Dataset
        Bandwidths and leave-one-out error for one bandwidth, for one in standard deviations of
        each feature, and for one of each; the fit of the last on a raster, with the distance
        to the nearest key.

    Raises
    ------
    Refusal
        If there are not two features, or a bandwidth lies at an end of its bracket.
    """
    import xarray as xr

    taken = observed.isel(key=slice(None, None, thin))
    k, v = taken["key_position"].values, taken["value"].values
    if k.shape[1] != 2:
        raise Refusal(
            f"the keys have {k.shape[1]} features; a plane has two. Name two columns of positions."
        )
    chosen, scores = tied(k, v, bandwidths, watch)
    told = [name for name in ("key_position", "value", "rows_left_out") if name in taken]
    found = xr.Dataset(
        {
            "scaled_bandwidth": (("scaling", "feature"), chosen),
            "scaled_score": ("scaling", scores),
            "one_bandwidth_excess": scores[0] / scores[-1] - 1,
        },
        {"scaling": ["one", "one per spread", "each its own"]},
    )
    return xr.merge([taken[told], found, raster_of(k, v, chosen[-1], raster)], join="exact")


def raster_of(k: np.ndarray, v: np.ndarray, h: np.ndarray, count: int) -> Answers:
    """Fit a raster over the keys (key, feature), and say how far the nearest key is."""
    import xarray as xr

    across, up = (margined(feature, count) for feature in k.T)
    query = np.stack(np.meshgrid(across, up), axis=-1).reshape(-1, 2)
    apart = np.square((query[:, None, :] - k) / h).sum(axis=-1)
    place, shape = ("ordinate", "abscissa"), (count, count)
    return xr.Dataset(
        {
            "plane_fit": (place, smooth(query, k, v, h).reshape(shape)),
            "plane_reach": (place, np.sqrt(apart.min(axis=1)).reshape(shape)),
        },
        {"abscissa": across, "ordinate": up},
    )


def tied(
    k: np.ndarray, v: np.ndarray, bandwidths: Bandwidths, watch: Watch
) -> tuple[np.ndarray, np.ndarray]:
    """Choose bandwidths (scaling, feature) with their scores (scaling,)."""
    ends, count = (bandwidths.low, bandwidths.high), bandwidths.count
    spread = k.std(axis=0)
    one = select_bandwidth(k, v, between=ends, count=count, watch=watch)
    even = select_bandwidth(
        k / spread, v, between=(ends[0] / spread.max(), ends[1] / spread.min()), count=count
    )
    own = select_bandwidths(k, v, between=[ends, ends], count=count)
    for place in (one.place, even.place, *own.places):
        if place != "interior":
            raise Refusal(
                f"a bandwidth lies at the {place} of {ends[0]:g} … {ends[1]:g}; the least error "
                "may lie beyond it. Widen the grid."
            )
    chosen = np.stack([np.full(2, one.at), even.at * spread, own.bandwidth])
    return chosen, np.array([one.score, even.score, own.score])


def margined(feature: np.ndarray, count: int) -> np.ndarray:
    """Space places evenly over the range of a feature (key,), with a margin."""
    edge = MARGIN * np.ptp(feature)
    return np.linspace(feature.min() - edge, feature.max() + edge, count)
