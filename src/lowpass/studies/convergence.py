"""How fast the error of a smoother falls as keys become many, and what its ends cost."""

from __future__ import annotations

from typing import Annotated, Literal, NamedTuple

import numpy as np
from pydantic import AfterValidator

from lowpass.domains import Count, Positive
from lowpass.kernels import softmax
from lowpass.registry import Refusal
from lowpass.scores import l2
from lowpass.smoothing.errors import Ends, Errors, best_bandwidth, of_distance, pointwise_errors
from lowpass.smoothing.leading import Leading, bias_constant, leading_error
from lowpass.studies.names import STUDIES, Answers, Observed, Watch

# Distances from the end at which the bias is told, in bandwidths.
PLACES = np.arange(25) / 8
# So many queries show whether attention is the smoother.
QUERIES = 16
# Fewer keys are no regular design: bandwidths would lie between their spacing and the whole.
FEWEST = 16
# The widest bandwidth that is tried, as a share of the interval.
WIDEST = 0.6
# Steps of a design are equal but for rounding.
EVENNESS = 1e-9


class Curve(NamedTuple):
    """Hold the truth at every key, with two derivatives, and how far values scatter about it."""

    truth: np.ndarray
    slope: np.ndarray
    curvature: np.ndarray
    noise: float


@STUDIES.add("convergence", of=("truth", "grid"))
def convergence(
    observed: Observed,
    watch: Watch,
    *,
    beta: Positive,
    thin: Count = 1,
    kernel: Annotated[str, AfterValidator(of_distance)] = "gaussian",
    degree: Literal[0, 1] = 0,
    ends: Ends = "open",
) -> Answers:
    """Find the bandwidth of least integrated error, and the error there; no value is drawn.

    Parameters
    ----------
    observed : Dataset
        ``key_position`` (key, feature) in the middle of equal shares of [0, 1]; ``truth`` with
        ``truth_slope`` and ``truth_curvature`` (key); ``noise``.
    watch : callable
        Hands on the bandwidths that are tried.
    beta : float
        Inverse temperature of attention by distances, which stays the same for any number of
        keys; its bandwidth is one over the root of it.
    thin : int
        Take every so manieth key; odd, so that they stay in the middle of their shares.
    kernel : str
        Name of a smoothing kernel of distances.
    degree : {0, 1}
        Fit constants, as attention does, or lines.
    ends : {"open", "joined"}
        Whether the interval has two ends, or is a ring.

    Returns
    -------
    Dataset
        The least error and its bandwidth, exactly and to leading order; the share of variance
        in it; the error at the bandwidth that stays; and the bias near the end in units of its
        leading order.
    """
    import xarray as xr

    curve = thinned(observed, thin)
    kind = {"kernel": kernel, "degree": degree, "ends": ends}
    n = len(curve.truth)

    def at(bandwidth: float) -> Errors:
        return pointwise_errors(curve.truth, bandwidth, **kind)

    best = best_bandwidth(lambda h: at(h).integrated(curve.noise), 1.5 / n, WIDEST, watch=watch)
    least, stays, fixed = at(best), beta**-0.5, at(beta**-0.5)
    leading = leading_error(curve.slope, curve.curvature, curve.noise, **kind)
    return xr.Dataset(
        {
            "kept_keys": n,
            **errors_of(least, best, leading, curve.noise),
            "mise_fixed": fixed.integrated(curve.noise),
            "bias_fixed": fixed.integrated(0.0),
            "attention_gap": attention_gap(curve.truth, fixed, stays),
            **end_of(least, best, curve, kind),
        },
        {"end_place": PLACES},
    )


def thinned(observed: Observed, thin: int) -> Curve:
    """Keep every so manieth key, the first of them half a step from the end."""
    place = observed["key_position"].values[:, 0]
    n = len(place)
    if np.abs(place * n - np.arange(n) - 0.5).max() > EVENNESS * n:
        raise Refusal(
            "key_position is not (i + 1/2)/n for i = 0, ..., n - 1, so sums over keys are no "
            "convolutions; take a generator of evenly spaced keys, as 'wave'."
        )
    if thin % 2 == 0 or n % thin or n < FEWEST * thin:
        raise Refusal(
            f"smoothing.thin is {thin} for {n} keys; one key of an odd number, which divides all, "
            f"is kept, and {FEWEST} or more are. Choose such a divisor."
        )
    kept = slice(thin // 2, None, thin)
    return Curve(
        observed["truth"].values[kept],
        observed["truth_slope"].values[kept],
        observed["truth_curvature"].values[kept],
        float(observed["noise"]),
    )


def errors_of(least: Errors, bandwidth: float, leading: Leading, noise: float) -> dict[str, float]:
    """Label the least error and the bandwidth it is at."""
    n = len(least.bias)
    error = least.integrated(noise)
    return {
        "mise": error,
        "mise_bandwidth": bandwidth,
        "mise_leading": leading.error(n),
        "mise_bandwidth_leading": leading.bandwidth(n),
        "variance_share": 1 - least.integrated(0.0) / error,
    }


def end_of(least: Errors, bandwidth: float, curve: Curve, kind: dict) -> dict:
    """Divide the bias at some keys by what it is proportional to, and give the limit."""
    n = len(least.bias)
    key = np.minimum(np.rint(PLACES * bandwidth * n).astype(int), n // 2)
    room = (key + 0.5) / (n * bandwidth)
    steep = kind["degree"] == 0 and kind["ends"] == "open"
    unit = bandwidth * curve.slope[key] if steep else bandwidth**2 * curve.curvature[key]

    def limit(distance: np.ndarray) -> np.ndarray:
        # A ring has no end, however near its first key is.
        far = distance if kind["ends"] == "open" else np.full_like(distance, np.inf)
        return bias_constant(kind["kernel"], 0 if steep else 1, far)

    return {
        "end_distance": ("end_place", room),
        "end_bias": ("end_place", least.bias[key] / unit),
        "end_bias_leading": ("end_place", limit(room)),
        "end_constant": float(limit(np.zeros(1))[0]),
    }


def attention_gap(truth: np.ndarray, fixed: Errors, bandwidth: float) -> float:
    """Let attention average the truth, and compare with the expected fit at some queries."""
    n = len(truth)
    place = (np.arange(n)[:, None] + 0.5) / n
    some = np.linspace(0, n - 1, QUERIES).astype(int)
    weights = softmax(l2(place[some], place) / bandwidth**2)
    return float(np.abs(weights @ truth - truth[some] - fixed.bias[some]).max())
