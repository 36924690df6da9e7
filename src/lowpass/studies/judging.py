"""How observations judge bandwidths: criteria, their lowest points, and leaving one out."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from lowpass.labels import DIMENSIONS, VARIABLES, Card
from lowpass.rounding import ROUNDING, Remainder
from lowpass.smoothing import criteria, estimators, refits, trials
from lowpass.smoothing.minimum import Minimum, lowest
from lowpass.studies.names import Watch

# Criteria that need no block, and the variable of each.
EVER = ("loo", "gcv", "aicc", "kfold")
CURVES = {
    "loo": "loo_score",
    "gcv": "gcv_score",
    "aicc": "aicc_score",
    "kfold": "kfold_score",
    "blocked": "blocked_score",
}
NEVER_FITS = "a fit so narrow has no degrees of freedom left"
AXIS = ("bandwidth",)
EACH = ("bandwidth_criterion",)
PROBE = ("probe_bandwidth",)

DIMENSIONS.enter("bandwidth_criterion", Card("", "criterion of a bandwidth"))
DIMENSIONS.enter("probe_bandwidth", Card("h", "bandwidth"))
VARIABLES.enter(
    "gcv_score",
    Card("GCV(h)", "generalised cross-validation", dims=AXIS, infinite=NEVER_FITS),
)
VARIABLES.enter(
    "aicc_score", Card("AICc(h)", "corrected criterion of Akaike", dims=AXIS, infinite=NEVER_FITS)
)
VARIABLES.enter(
    "aicc_error",
    Card("e^{AICc-1}", "mean squared error that AICc expects", dims=AXIS, infinite=NEVER_FITS),
)
VARIABLES.enter("kfold_score", Card("CV(h)", "mean squared error of predicting a fold", dims=AXIS))
VARIABLES.enter(
    "variance_dof", Card(r"\mathrm{tr}\,AA^\top", "degrees of freedom of the variance", dims=AXIS)
)
VARIABLES.enter(
    "error_dof",
    Card(r"\mathrm{tr}(2A-AA^\top)", "degrees of freedom lost to the errors", dims=AXIS),
)
VARIABLES.enter(
    "bandwidth_by_criterion", Card("h^*", "bandwidth that a criterion selects", dims=EACH)
)
VARIABLES.enter(
    "error_by_criterion",
    Card(r"\hat E", "squared error that a criterion expects", dims=EACH, infinite=NEVER_FITS),
)
VARIABLES.enter(
    "at_end_by_criterion",
    Card(r"1_{\mathrm{end}}", "one where that is an end of the grid", dims=EACH),
)
VARIABLES.enter(
    "valleys_by_criterion", Card(r"n_{\min}", "number of valleys of a criterion", dims=EACH)
)
VARIABLES.enter("own_weight", Card(r"\max_i A_{ii}", "largest weight of itself", dims=PROBE))
VARIABLES.enter(
    "shortcut_lost", Card("n_0/n", "share of points that the shortcut does not predict", dims=PROBE)
)
VARIABLES.enter("shortcut_error", Card(r"\delta_{1-A}", "error of the shortcut", dims=PROBE))
VARIABLES.enter(
    "left_out_error", Card(r"\delta_{-\infty}", "error of leaving out by a logit", dims=PROBE)
)
VARIABLES.enter(
    "trace_error", Card(r"\delta_{\mathrm{tr}}", "error of GCV from the trace", dims=PROBE)
)
ROUNDING.enter("left_out_error", Remainder())
# Where a point has nearly all of its own weight, what is left of one keeps few digits.
ROUNDING.enter("shortcut_error", Remainder(magnitude=100))
ROUNDING.enter("trace_error", Remainder(magnitude=100))


@dataclass(frozen=True)
class Record:
    """Hold observations, the smoother asked about, and what its criteria need.

    Parameters
    ----------
    key : (key, feature) float
    value : (key,) float
    smoother : dict
        ``kernel``, ``degree``, ``period``.
    options : dict
        ``folds``, and one of ``window`` and ``neighbours`` where blocks are asked for.
    """

    key: np.ndarray
    value: np.ndarray
    smoother: dict[str, Any]
    options: dict[str, Any]

    @property
    def names(self) -> tuple[str, ...]:
        """Criteria that can be computed."""
        return (*EVER, "blocked") if len(self.options) > 1 else EVER

    def tried(self, bandwidth: float) -> trials.Trial:
        """Try the smoother of one bandwidth."""
        return trials.trial(self.key, self.value, bandwidth, **self.smoother)

    def judge(self, name: str) -> Callable[[float], float]:
        """Give a criterion as a function of the bandwidth."""
        judge = criteria.criterion(name, self.options)
        return lambda bandwidth: judge(self.tried(bandwidth))

    def matrix(self, bandwidth: float) -> np.ndarray:
        """Give the smoother of one bandwidth at its own keys."""
        return estimators.smoother_matrix(self.key, self.key, bandwidth, **self.smoother)


def judged(
    record: Record, grid: np.ndarray, watch: Watch
) -> tuple[dict[str, Any], dict[str, Minimum]]:
    """Score every bandwidth of a grid, and search the valleys of every criterion.

    Returns
    -------
    variables : dict
        Of a dataset.
    minima : dict of str to Minimum
        By criterion.
    """
    scores, dof = scanned(record, grid, watch)
    minima = {name: searched(record, name, grid, scores[name]) for name in record.names}
    curves = {CURVES[name]: ("bandwidth", score) for name, score in scores.items()}
    found = {
        "bandwidth_by_criterion": [each.at for each in minima.values()],
        "error_by_criterion": [expected(*each) for each in minima.items()],
        "at_end_by_criterion": [float(each.place != "interior") for each in minima.values()],
        "valleys_by_criterion": [len(each.valleys) for each in minima.values()],
    }
    return {
        **curves,
        "aicc_error": ("bandwidth", np.exp(scores["aicc"] - 1)),
        **{name: ("bandwidth", counts) for name, counts in dof.items()},
        **{name: ("bandwidth_criterion", np.array(values)) for name, values in found.items()},
        "bandwidth_criterion": list(record.names),
    }, minima


def searched(record: Record, name: str, grid: np.ndarray, scores: np.ndarray) -> Minimum:
    """Search the valleys of a criterion, or say that the grid ends before it is finite."""
    if np.isinf(scores).all():
        return Minimum(float(grid[-1]), math.inf, "high end", (), grid, scores)
    return lowest(record.judge(name), grid, scores)


def expected(name: str, found: Minimum) -> float:
    """Give the squared error that the lowest score of a criterion stands for."""
    return math.exp(found.score - 1) if name == "aicc" else found.score


def scanned(
    record: Record, grid: np.ndarray, watch: Watch
) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Score bandwidths by every criterion, and count degrees of freedom, with one smoother."""
    judges = {name: criteria.criterion(name, record.options) for name in record.names}
    scores, counts = [], []
    for bandwidth in watch(grid):
        tried = record.tried(bandwidth)
        scores.append([judge(tried) for judge in judges.values()])
        left = tried.fitted
        fit, error = (1 - left.spare).sum(), (1 - left.left).sum()
        counts.append([fit, 2 * fit - error, error])
    dof = ("effective_dof", "variance_dof", "error_dof")
    return (
        dict(zip(judges, np.array(scores).T, strict=True)),
        dict(zip(dof, np.array(counts).T, strict=True)),
    )


def left_out(record: Record, probes: np.ndarray) -> dict[str, Any]:
    """Compare leaving one out by the shortcut, by a logit, and by as many fits.

    Returns
    -------
    dict
        Errors in units of the range of the values; a point without a prediction counts in
        none, but in a share of its own.
    """
    rows = [compared(record, float(bandwidth)) for bandwidth in probes]
    names = ("own_weight", "shortcut_lost", "shortcut_error", "left_out_error", "trace_error")
    columns = zip(names, np.array(rows).T, strict=True)
    return {
        **{name: ("probe_bandwidth", column) for name, column in columns},
        "probe_bandwidth": probes,
    }


def compared(record: Record, bandwidth: float) -> tuple[float, ...]:
    """Compare ways of leaving one out at one bandwidth."""
    k, v, smoother = record.key, record.value, record.smoother
    truth = refits.refitted(k, v, bandwidth, **smoother)
    short, own = refits.shortcut(k, v, bandwidth, **smoother)
    tried, lost = record.tried(bandwidth), ~np.isfinite(short)
    slip, off = (
        np.where(np.isfinite(each), abs(each - truth) / np.ptp(v), 1.0)
        for each in (np.where(lost, truth, short), trials.loo_residuals(tried))
    )
    residual = v - record.matrix(bandwidth) @ v
    with np.errstate(divide="ignore", invalid="ignore"):
        formula = np.square(residual / (1 - own.mean())).mean()
    gcv = criteria.criterion("gcv", {})(tried)
    known = np.isfinite(formula) and np.isfinite(gcv)
    trace = abs(formula - gcv) / gcv if known else 1.0
    return tuple(float(each) for each in (own.max(), lost.mean(), slip.max(), off.max(), trace))
